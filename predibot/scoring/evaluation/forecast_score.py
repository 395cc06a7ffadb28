"""Forecast scores: how good each forecaster's probabilities were on settled questions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf, log, log1p

import numpy as np

from predibot.scoring.arguments import Floats, Ints, instances_of, none_if_nan, within_floats
from predibot.scoring.inference.bootstrap import Estimate
from predibot.scoring.inference.clusters import cluster_codes, cluster_sums
from predibot.scoring.inference.intervals import estimate_of_brier
from predibot.scoring.inference.price_implied import Exclusion, ShareLots, run_ends, variances
from predibot.scoring.inference.uncertainty import Ratio, Uncertainty, intervals_of_each, mean_of
from predibot.scoring.metrics.agreement import rank_correlation
from predibot.scoring.metrics.calibration import (
    CalibrationBins,
    MurphyDecomposition,
    calibration_bins,
    calibration_error_by_chance,
    expected_calibration_error,
    murphy_decomposition,
)
from predibot.scoring.metrics.difficulty import difficulty_adjusted
from predibot.scoring.metrics.probability import CLIP, brier_score, brier_skill_score, log_score, surprises
from predibot.scoring.records.track_record import Forecasts


@dataclass(frozen=True, slots=True)
class ForecastScore:
    """How good the probabilities of one forecaster were; None where there is no value."""

    n: int = 0
    """Forecasts on questions that came out YES or NO: all but the market's scores rest on them."""
    clusters: int = 0
    brier: float | None = None
    brier_by_event: float | None = None
    """The mean over events of the mean over their forecasts: every event counts once."""
    log_score: float | None = None
    accuracy: float | None = None
    """The share called correctly, a probability above 0.5 being a call for YES."""
    calibration_error: float | None = None
    calibration_error_by_chance: float | None = None
    """The mean by chance, if all these forecasts were right; None without intervals."""
    calibration_error_by_chance_high: float | None = None
    """The 95 % quantile of the same."""
    calibration: CalibrationBins | None = field(default=None, compare=False)
    """Arrays; the score compares without them."""
    murphy: MurphyDecomposition | None = None
    n_market: int = 0
    """Those of the n with a known market price."""
    market_brier: float | None = None
    """The Brier score of that price on the same forecasts."""
    market_log_score: float | None = None
    skill_vs_market: float | None = None
    """1 - Brier / Brier of the price, on the same forecasts."""
    adjusted_brier: float | None = None
    """The Brier score on the average question, if all had answered the same ones."""
    n_confidence: int = 0
    """Those of the n with a stated confidence."""
    confidence_and_error: float | None = None
    """Rank correlation of confidence and squared error; below zero, surer forecasts were better."""
    intervals: Mapping[str, Estimate] = field(default_factory=dict)
    """By name: of the Brier and log scores, the accuracy, the market's Brier score and the skill."""


@within_floats
def forecast_scores(
    forecasts: Forecasts, *, uncertainty: Uncertainty | None = None, adjust: bool = True, draws: bool = True
) -> tuple[ForecastScore, ...]:
    """Return one score a forecaster, in the order of the table.

    Args:
        uncertainty: How intervals are made; None makes none.
        adjust: Whether scores adjusted for difficulty are wanted: they cost time, and mean nothing for parts.
        draws: Whether what needs draws is wanted; the intervals of Brier scores need none.

    Raises:
        ValueError: If an argument is of another class.
    """
    instances_of(forecasts=(forecasts, Forecasts), uncertainty=(uncertainty, Uncertainty | None))
    parts = tuple(of_each(forecasts))
    adjusted = _adjust_briers(forecasts) if adjust else [None] * len(parts)
    intervals = _intervals(parts, uncertainty, draws)
    seed = uncertainty.seed if uncertainty and draws else None
    return tuple(_score(*each, seed) for each in zip(parts, adjusted, intervals, strict=True))


def of_each(forecasts: Forecasts) -> Iterator[Forecasts]:
    """Yield the forecasts of each forecaster, in the order of the table, each in the order of the rows."""
    order = np.argsort(forecasts.forecaster, kind="stable")
    ends = np.searchsorted(forecasts.forecaster[order], np.arange(len(forecasts.forecasters) + 1))
    for start, end in pairwise(ends):
        yield forecasts.only(order[start:end])


def _score(
    own: Forecasts, adjusted: float | None, intervals: Mapping[str, Estimate], seed: int | None
) -> ForecastScore:
    if own.probability.size == 0:
        return ForecastScore()
    probabilities, happened = own.probability, own.outcome
    priced = own.only(~np.isnan(own.market_probability))
    confident = np.flatnonzero(~np.isnan(own.confidence)) if own.confidence is not None else np.zeros(0, dtype=np.int64)
    market = priced.market_probability.size > 0
    chance = None if seed is None or not intervals else calibration_error_by_chance(probabilities, seed=seed)
    return ForecastScore(
        n=probabilities.size,
        clusters=np.unique(own.cluster).size,
        brier=brier_score(probabilities, happened),
        brier_by_event=_by_event(own),
        log_score=log_score(probabilities, happened),
        accuracy=float(np.mean((probabilities > 0.5) == (happened == 1.0))),
        calibration_error=expected_calibration_error(probabilities, happened),
        calibration_error_by_chance=None if chance is None else chance.mean,
        calibration_error_by_chance_high=None if chance is None else chance.high,
        calibration=calibration_bins(probabilities, happened, clusters=own.cluster),
        murphy=murphy_decomposition(probabilities, happened),
        n_market=priced.market_probability.size,
        market_brier=brier_score(priced.market_probability, priced.outcome) if market else None,
        market_log_score=log_score(priced.market_probability, priced.outcome) if market else None,
        skill_vs_market=none_if_nan(brier_skill_score(priced.probability, priced.market_probability, priced.outcome))
        if market
        else None,
        adjusted_brier=adjusted,
        n_confidence=confident.size,
        confidence_and_error=_confidence_and_error(own, confident),
        intervals=intervals,
    )


def _intervals(
    parts: Sequence[Forecasts], uncertainty: Uncertainty | None, draws: bool
) -> list[Mapping[str, Estimate]]:
    """Return each forecaster's intervals by score; none without forecasts, or above the limit of forecasters."""
    if uncertainty is not None and not draws:
        return [brier_intervals(own, uncertainty.confidence) for own in parts]
    drawn = intervals_of_each([_ratios(own) for own in parts], uncertainty)
    if uncertainty is None:
        return drawn
    return [
        {**brier_intervals(own, uncertainty.confidence), **named} if named else named
        for own, named in zip(parts, drawn, strict=True)
    ]


def brier_intervals(own: Forecasts, confidence: float) -> Mapping[str, Estimate]:
    """Return the intervals of one forecaster's Brier score and of the market's."""
    priced = own.only(~np.isnan(own.market_probability))
    scored = {"brier": (own, own.probability), "market_brier": (priced, priced.market_probability)}
    return {name: _brier(*each, confidence) for name, each in scored.items() if each[1].size}


def _brier(own: Forecasts, probabilities: Floats, confidence: float) -> Estimate:
    codes, errors = cluster_codes(own.cluster), (probabilities - own.outcome) ** 2
    sums = cluster_sums(errors, np.ones_like(errors), codes)
    market = own.question if own.market is None else own.market
    at = np.zeros(probabilities.shape) if own.made_at is None else own.made_at
    # Of simultaneous forecasts the less certain counts as the later one, so that the order of rows does not matter.
    order = np.lexsort((probabilities, probabilities * (1.0 - probabilities), at, market, codes))
    # A squared error moves by 1 - 2 p with the outcome.
    held = ShareLots(
        cell=codes[order],
        market=market[order],
        shares=(1.0 - 2.0 * probabilities)[order],
        price_yes=probabilities[order],
        later_yes=own.outcome[order],
        paid=np.ones(probabilities.shape, dtype=np.bool_),
    )
    exclusion = None
    if own.exclusive is not None and (own.exclusive >= 0).any():
        exclusion = Exclusion(own.exclusive[order], at[order], np.full(probabilities.shape, np.inf), own.outcome[order])
    ends = run_ends(held.market, held.cell)
    variance = float(variances(held, sums.clusters, ends=ends, exclusion=exclusion).sum())
    return estimate_of_brier(sums, probabilities.size, variance, confidence)


def _ratios(own: Forecasts) -> Mapping[str, Ratio]:
    priced = own.only(~np.isnan(own.market_probability))
    error, market_error = priced.squared_errors(), (priced.market_probability - priced.outcome) ** 2
    right = ((own.probability > 0.5) == (own.outcome == 1.0)).astype(np.float64)
    return {
        "log_score": mean_of(surprises(own.probability, own.outcome), own.cluster, (-log1p(-CLIP), -log(CLIP))),
        "accuracy": mean_of(right, own.cluster, (0.0, 1.0)),
        "skill_vs_market": Ratio(market_error - error, market_error, priced.cluster, (-inf, 1.0)),
    }


def _by_event(own: Forecasts) -> float:
    errors = own.squared_errors()
    sums = cluster_sums(errors, np.ones_like(errors), cluster_codes(own.cluster))
    return float(np.mean(sums.numerators / sums.denominators))


def _confidence_and_error(own: Forecasts, rows: Ints) -> float | None:
    if own.confidence is None or rows.size < 3:
        return None
    return none_if_nan(rank_correlation(own.confidence[rows], own.squared_errors()[rows]))


def _adjust_briers(forecasts: Forecasts) -> list[float | None]:
    """Return each forecaster's difficulty-adjusted Brier score, None where it cannot be compared."""
    none: list[float | None] = [None] * len(forecasts.forecasters)
    # With one forecaster there is nothing to compare.
    if np.unique(forecasts.forecaster).size < 2:
        return none
    adjusted = difficulty_adjusted(forecasts.squared_errors(), forecasts.forecaster, forecasts.question)
    # The array ends with the last forecaster who answered anything.
    return [none_if_nan(value) for value in adjusted] + none[adjusted.size :]
