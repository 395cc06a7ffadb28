"""Scorecards: how good each bot was, with how many values stand behind every number."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from predibot.domain.decision import STATUSES
from predibot.scoring.arguments import Floats
from predibot.scoring.horizon import HorizonReturns, horizon_returns, observed_prices, payouts_as_of
from predibot.scoring.knowledge import KNOWLEDGE
from predibot.scoring.prices import MAX_GAP_SECONDS
from predibot.scoring.probability import surprises
from predibot.scoring.record import TrackRecord
from predibot.scoring.risk import sharpe_ratio

HORIZONS_DAYS = (1, 2, 7)
_DAYS_PER_YEAR = 365.0


@dataclass(frozen=True, slots=True)
class HorizonScore:
    """What the decisions of a bot returned by one horizon; None where there is no value."""

    days: float | None
    """None for `settled`."""
    mean_return: float | None
    """The mean over its decisions that have a value; with $1 an event, dollars and share alike."""
    n: int
    """How many those are."""
    coverage: float | None
    """n over all its decisions whose horizon has passed, refused and failed ones too, in [0, 1].

    Contaminated decisions are in no number here.
    """
    sharpe: float | None
    """Annual, of one return a date; None for `settled`."""
    market_mean_return: float | None
    """The mean of `market_price` on the same decisions."""
    n_market: int
    """Those of the n on which it has a value too."""
    n_passed: int
    """Its decisions whose horizon has passed; all of them, for `settled`."""
    n_unpriced: int
    """Those of them that were not refused and did not fail, and have no value."""


@dataclass(frozen=True, slots=True)
class Scorecard:
    """How good a bot was as of an instant; None where there is no value."""

    bot: str
    decisions: int
    """Of any status."""
    forecasts: int
    """Probabilities stated, with money on them or not; from here to the horizons, not by contaminated decisions."""
    settled: int
    """Forecasts on markets that paid 0 or 1."""
    void: int
    """Forecasts on markets that settled otherwise, which no score of probabilities uses."""
    brier: float | None
    n_brier: int
    brier_open: float | None
    """Mean squared distance to the latest price of markets that are not settled; no Brier score."""
    n_brier_open: int
    log_score: float | None
    skill_vs_market: float | None
    """1 - Brier / Brier of p0 on the same forecasts."""
    horizons: Mapping[str, HorizonScore]
    """By label: days, and last `settled`."""
    cost_usd: float | None
    """None where a part is unknown."""
    cost_known_usd: float
    refused: int
    failed: int
    abstained: int
    clean: int
    """Decisions of any status whose model cannot have learned how the event ended, or that have no model."""
    contaminated: int
    """Those whose event had ended before the model's knowledge cutoff: left out of the scores."""
    unknown: int
    """Those whose model has no known cutoff: in the scores."""


def scorecards(
    record: TrackRecord,
    *,
    horizons_days: Sequence[float] = HORIZONS_DAYS,
    max_gap_seconds: float = MAX_GAP_SECONDS,
) -> tuple[Scorecard, ...]:
    """Return one scorecard a bot, in the record's order.

    Only what had happened by `record.as_of` counts.

    Args:
        record: What was done, and what prices did.
        horizons_days: Times after each decision in units of 24 hours.
        max_gap_seconds: How old an observation may be to be a price.

    Raises:
        ValueError: If a horizon is not above zero or is asked for twice.

    Source:
        The definitions are those of the project's scoring contract.
    """
    counts = _count_decisions(record, record.made())
    scores = _score_forecasts(record, max_gap_seconds)
    horizons = [
        (returns.label, _score_horizon(record, returns))
        for returns in horizon_returns(record, horizons_days, max_gap_seconds=max_gap_seconds)
    ]
    return tuple(
        Scorecard(
            bot=bot,
            decisions=sum(counts.of_status[name][row] for name in STATUSES),
            forecasts=scores.forecasts[row],
            settled=scores.brier[row].n,
            void=scores.void[row],
            brier=scores.brier[row].mean,
            n_brier=scores.brier[row].n,
            brier_open=scores.brier_open[row].mean,
            n_brier_open=scores.brier_open[row].n,
            log_score=scores.surprise[row].mean,
            skill_vs_market=_skill(scores.brier[row].mean, scores.brier_of_market[row].mean),
            horizons={label: of_bots[row] for label, of_bots in horizons},
            cost_usd=counts.cost_usd[row],
            cost_known_usd=counts.cost_known_usd[row],
            refused=counts.of_status["refused"][row],
            failed=counts.of_status["failed"][row],
            abstained=counts.of_status["abstained"][row],
            clean=counts.of_knowledge["clean"][row],
            contaminated=counts.of_knowledge["contaminated"][row],
            unknown=counts.of_knowledge["unknown"][row],
        )
        for row, bot in enumerate(record.bots)
    )


@dataclass(frozen=True, slots=True)
class _Mean:
    """A mean, None of nothing, and how many values it is of."""

    mean: float | None
    n: int


@dataclass(frozen=True, slots=True)
class _Counts:
    """Decisions of each bot; lists have one entry a bot."""

    of_status: Mapping[str, list[int]]
    of_knowledge: Mapping[str, list[int]]
    cost_usd: list[float | None]
    cost_known_usd: list[float]


@dataclass(frozen=True, slots=True)
class _ForecastScores:
    """Forecasts of each bot; lists have one entry a bot."""

    forecasts: list[int]
    void: list[int]
    brier: list[_Mean]
    brier_of_market: list[_Mean]
    brier_open: list[_Mean]
    surprise: list[_Mean]


def _count_decisions(record: TrackRecord, made: NDArray[np.bool_]) -> _Counts:
    bots, bot, status = len(record.bots), record.decision_bot[made], record.decision_status[made]
    cost = record.decision_cost_usd[made]
    unknown = np.bincount(bot[np.isnan(cost)], minlength=bots)
    total = np.bincount(bot, np.nan_to_num(cost), bots)
    codes = record.decision_knowledge
    knowledge = np.zeros(bot.shape, dtype=np.int8) if codes is None else codes[made]
    return _Counts(
        of_status={
            name: np.bincount(bot[status == index], minlength=bots).tolist() for index, name in enumerate(STATUSES)
        },
        of_knowledge={
            name: np.bincount(bot[knowledge == index], minlength=bots).tolist() for index, name in enumerate(KNOWLEDGE)
        },
        cost_usd=[None if unknown[row] else float(total[row]) for row in range(bots)],
        cost_known_usd=np.bincount(bot, record.decision_cost_known_usd[made], bots).tolist(),
    )


def _score_forecasts(record: TrackRecord, gap: float) -> _ForecastScores:
    rows = np.flatnonzero(~np.isnan(record.bet_probability) & record.scored()[record.bet_decision])
    bots, bot = len(record.bots), record.decision_bot[record.bet_decision[rows]]
    forecast, market = record.bet_probability[rows], record.bet_market[rows]
    payout = payouts_as_of(record)[market]
    settled = (payout == 0.0) | (payout == 1.0)
    is_open = np.isnan(payout)
    happened = np.where(settled, payout, np.nan)
    latest = np.full(rows.shape, np.nan)
    at = np.full(int(is_open.sum()), record.as_of)
    after = record.decided_at[record.bet_decision[rows[is_open]]]
    latest[is_open] = observed_prices(record, market[is_open], at, after, gap)
    surprise = np.where(settled, surprises(forecast, payout), np.nan)
    return _ForecastScores(
        forecasts=np.bincount(bot, minlength=bots).tolist(),
        void=np.bincount(bot[~settled & ~is_open], minlength=bots).tolist(),
        brier=_means(bot, (forecast - happened) ** 2, bots),
        brier_of_market=_means(bot, (record.bet_price_yes[rows] - happened) ** 2, bots),
        brier_open=_means(bot, (forecast - latest) ** 2, bots),
        surprise=_means(bot, surprise, bots),
    )


def _score_horizon(record: TrackRecord, returns: HorizonReturns) -> list[HorizonScore]:
    bots, bot = len(record.bots), record.decision_bot
    has_value = ~np.isnan(returns.value)
    answered = np.isin(record.decision_status, (STATUSES.index("recorded"), STATUSES.index("abstained")))
    passed = np.bincount(bot[returns.passed], minlength=bots).tolist()
    unpriced = np.bincount(bot[returns.passed & answered & ~has_value], minlength=bots).tolist()
    own = _means(bot, returns.value, bots)
    market = _means(bot, np.where(has_value, returns.market_value, np.nan), bots)
    sharpe = _sharpe_of_dates(record, returns)
    return [
        HorizonScore(
            days=returns.days,
            mean_return=own[row].mean,
            n=own[row].n,
            coverage=own[row].n / passed[row] if passed[row] else None,
            sharpe=sharpe[row],
            market_mean_return=market[row].mean,
            n_market=market[row].n,
            n_passed=passed[row],
            n_unpriced=unpriced[row],
        )
        for row in range(bots)
    ]


def _sharpe_of_dates(record: TrackRecord, returns: HorizonReturns) -> list[float | None]:
    """Return the annual Sharpe ratio of each bot's series of one return a date."""
    bots = len(record.bots)
    if returns.days is None:
        return [None] * bots
    rows = np.flatnonzero(~np.isnan(returns.value))
    days, day = np.unique(record.decision_day[rows], return_inverse=True)
    cell = record.decision_bot[rows] * days.size + day
    sums = np.bincount(cell, returns.value[rows], bots * days.size).reshape(bots, days.size)
    n = np.bincount(cell, minlength=bots * days.size).reshape(bots, days.size)
    periods_per_year = _DAYS_PER_YEAR / returns.days
    series = (sums[row, n[row] > 0] / n[row, n[row] > 0] for row in range(bots))
    return [_or_none(sharpe_ratio(one, periods_per_year)) if one.size else None for one in series]


def _means(bot: NDArray[np.int64], values: Floats, bots: int) -> list[_Mean]:
    """Return the mean of each bot's values that are not NaN."""
    known = ~np.isnan(values)
    n = np.bincount(bot[known], minlength=bots).tolist()
    sums = np.bincount(bot[known], values[known], bots).tolist()
    return [_Mean(total / count if count else None, count) for total, count in zip(sums, n, strict=True)]


def _skill(brier: float | None, brier_of_market: float | None) -> float | None:
    if brier is None or not brier_of_market:
        return None
    return 1.0 - brier / brier_of_market


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else value
