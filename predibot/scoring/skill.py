"""Skill: what forecasts would have scored beside the price, as stated, blended, pooled or recalibrated."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from predibot.scoring.arguments import Floats, Ints, instances_of, numbers, same_length, shares, within_floats
from predibot.scoring.inference.clusters import cluster_codes
from predibot.scoring.inference.power import smallest_detectable
from predibot.scoring.inference.uncertainty import Comparison, Ratio, Uncertainty, comparisons
from predibot.scoring.metrics.pooling import pool_probabilities
from predibot.scoring.metrics.price_step import MEMBER_CLIP, fit_step, step_from_price
from predibot.scoring.metrics.recalibration import fit_recalibration
from predibot.scoring.records.track_record import DAY_SECONDS, Forecasts

STATED, BLEND_10, BLEND_20, CALIBRATED, RECALIBRATED = "as stated", "blend .1", "blend .2", "calibrated", "recalibrated"
ALL_POOLED = "all pooled"
"""The forecaster that is the mean log-odds of all answers to a question, at least two; pools are not among them."""
PLACEBO, PLACEBO_DAYS = "placebo", 10
"""The price blended toward the one of so many days before, which knows nothing more: any gain is luck."""
VERDICT_EVENTS = 1_000
"""With fewer events there is no verdict, only the difference that could be detected."""
SIGNIFICANCE = 0.05
MOST_LEAKED = 0.02
"""A gain that rests on so small a share of rows could be a leak of their outcomes."""
_LEAST_FITTED = 30
"""Rows that must have settled before a recalibration is fitted."""
_REPEATS_BELOW = 1e-4
"""A forecaster that is never farther from the price repeats it, but for rounding."""
_GROWTH = 1.05
"""A fit is made again once so many times as many rows have settled."""


@dataclass(frozen=True, slots=True)
class SkillTry:
    """One way to use one forecaster, beside the price on the same rows."""

    forecaster: str
    variant: str
    """`as stated`, `blend .1`, `blend .2`, `calibrated` or `recalibrated`."""
    n: int
    events: int
    difference: float
    """Its Brier score less the price's, each event weighing one on each day: below zero is better."""
    low: float | None
    high: float | None
    p_adjusted: float | None
    """Multiplied by the number of tries (Bonferroni), at most 1."""
    detectable: float | None
    """The smallest true difference that so many events would show four times in five."""
    without_best_1: float | None
    """The difference without the 1 % of rows that speak most for it; None where nothing would be left."""
    without_best_2: float | None
    leak_rows: int | None
    """The number of rows that carry all of the gain; None where there is no gain."""


@dataclass(frozen=True, slots=True)
class Skill:
    """All tries, and whether any of them beats the price."""

    tries: tuple[SkillTry, ...]
    placebo: SkillTry | None = None
    """The price, moved toward the one of ten days before; None without earlier prices."""
    fitted: Mapping[str, float] = field(default_factory=dict)
    """The step that `calibrated` would take now, by forecaster."""

    @property
    def events(self) -> int:
        """Return the number of events of the forecaster with the most."""
        return max((each.events for each in self.tries), default=0)

    @property
    def best(self) -> SkillTry | None:
        """Return the try with the least chance of being luck among those better than the price, else the nearest.

        Tries on enough events for a verdict come first.
        """
        tries = [each for each in self.tries if each.events >= VERDICT_EVENTS] or self.tries
        ahead = [each for each in tries if each.difference < 0.0]
        if ahead:
            return min(ahead, key=lambda each: (2.0 if each.p_adjusted is None else each.p_adjusted, each.difference))
        return min(tries, key=lambda each: each.difference, default=None)

    @property
    def helps(self) -> bool | None:
        """Return whether the best try beats the price once all are counted; None on too few events to say."""
        best = self.best
        if best is None or best.events < VERDICT_EVENTS:
            return None
        return best.difference < 0.0 and best.p_adjusted is not None and best.p_adjusted < SIGNIFICANCE


@dataclass(frozen=True, slots=True, eq=False)
class _ForecasterRows:
    """The settled forecasts of one forecaster, (n,) each."""

    name: str
    price: Floats
    probability: Floats
    outcome: Floats
    cluster: Ints
    made_at: Floats
    settled_at: Floats

    def only(self, rows: NDArray[np.bool_] | Ints) -> "_ForecasterRows":
        named = ("price", "probability", "outcome", "cluster", "made_at", "settled_at")
        return replace(self, **{name: getattr(self, name)[rows] for name in named})

    def losses(self, forecasts: Floats) -> Ratio:
        """Return how much worse than the price some forecasts are; an event weighs one in all on each day."""
        more = (forecasts - self.outcome) ** 2 - (self.price - self.outcome) ** 2
        # All markets of an event that were asked on a UTC day weigh one together, as in edge.
        day = np.unique(np.floor(self.made_at / DAY_SECONDS), return_inverse=True)[1]
        cell = cluster_codes(self.cluster) * max(day.max(initial=0) + 1, 1) + day
        _, index, rows = np.unique(cell, return_inverse=True, return_counts=True)
        weights = 1.0 / rows[index]
        return Ratio(weights * more, weights, self.cluster)


@within_floats
def skill_of(
    forecasts: Forecasts,
    *,
    settled_at: ArrayLike | None = None,
    earlier_prices: ArrayLike | None = None,
    pools: Set[str] = frozenset(),
    uncertainty: Uncertainty | None = None,
) -> Skill:
    """Return what forecasts would have scored beside the price, each in five ways, and all of them pooled.

    As stated; a fixed share of the way from the price, .1 and .2; by the share that settled forecasts had earned
    (`fit_step`), and recalibrated (`fit_recalibration`, logistic), both fitted only on what had settled before the UTC
    day of a forecast. Intervals and the number of events go by cluster. Forecasts without a price are left out, as are
    forecasters who repeat the price. All markets of an event weigh one together on each UTC day, as in edge.

    Args:
        forecasts: Settled forecasts with prices, and `made_at` for whatever is fitted.
        settled_at: When each outcome was known, in seconds, (n,). By default when
            the forecast was made, so that it is known to all that are made on later days.
        earlier_prices: The price ten days before each forecast, (n,), in [0, 1],
            NaN where unknown. None makes no placebo.
        pools: Forecasters made of others, which have no voice of their own when all are pooled.

    Raises:
        ValueError: If an argument is of another class, a length differs, or a price is out of range.
    """
    how = Uncertainty() if uncertainty is None else uncertainty
    instances_of(forecasts=(forecasts, Forecasts), uncertainty=(how, Uncertainty), pools=(pools, Set))
    n = forecasts.probability.size
    made = np.zeros(n) if forecasts.made_at is None else forecasts.made_at
    settled = made if settled_at is None else numbers("settled_at", settled_at)
    earlier = np.full(n, np.nan) if earlier_prices is None else shares("earlier_prices", earlier_prices, allow_nan=True)
    same_length(forecasts=forecasts.probability, settled_at=settled, earlier_prices=earlier)
    if not all(isinstance(each, str) for each in pools):
        raise ValueError("pools are no names; give those of forecasters")
    every = list(_each_forecaster(forecasts, made, settled))
    if pooled := _pool(forecasts, [each.name for each in every if each.name not in pools], made, settled):
        every.append(pooled)
    named = [(each, variant, each.losses(given)) for each in every for variant, given in _variants(each).items()]
    found = comparisons([losses for *_, losses in named], how)
    tries = tuple(
        _try(each.name, variant, losses, estimate, len(named))
        for (each, variant, losses), estimate in zip(named, found, strict=True)
        if estimate is not None
    )
    return Skill(tries, _placebo(forecasts, made, earlier, how), {each.name: _fit(each) for each in every})


def _each_forecaster(forecasts: Forecasts, made: Floats, settled: Floats) -> Iterator[_ForecasterRows]:
    priced = ~np.isnan(forecasts.market_probability)
    for number, name in enumerate(forecasts.forecasters):
        rows = priced & (forecasts.forecaster == number)
        distance = np.abs(forecasts.probability[rows] - forecasts.market_probability[rows])
        if distance.max(initial=0.0) >= _REPEATS_BELOW:
            yield _series(name, forecasts, made, settled).only(rows)


def _series(name: str, forecasts: Forecasts, made: Floats, settled: Floats) -> _ForecasterRows:
    price, cluster = forecasts.market_probability, forecasts.cluster
    return _ForecasterRows(name, price, forecasts.probability, forecasts.outcome, cluster, made, settled)


def _pool(forecasts: Forecasts, names: Sequence[str], made: Floats, settled: Floats) -> _ForecasterRows | None:
    """Return the pool of some forecasters on questions with two answers at least, at their mean price."""
    own = np.isin(forecasts.forecaster, [forecasts.forecasters.index(name) for name in names])
    rows = np.flatnonzero(own & ~np.isnan(forecasts.market_probability))
    _, first, question = np.unique(forecasts.question[rows], return_index=True, return_inverse=True)
    answers = np.full((first.size, len(forecasts.forecasters)), np.nan)
    answers[question, forecasts.forecaster[rows]] = forecasts.probability[rows]
    asked = (~np.isnan(answers)).sum(axis=1) >= 2
    if not asked.any():
        return None
    pooled = pool_probabilities(np.clip(answers, MEMBER_CLIP, 1.0 - MEMBER_CLIP), method="log_odds")
    prices = np.bincount(question, forecasts.market_probability[rows]) / np.bincount(question)
    last = np.full(first.size, -np.inf)
    np.maximum.at(last, question, made[rows])
    whole = _series(ALL_POOLED, forecasts.only(rows[first]), last, settled[rows[first]])
    return replace(whole, probability=pooled, price=prices).only(asked)


def _variants(each: _ForecasterRows) -> Mapping[str, Floats]:
    return {
        STATED: each.probability,
        BLEND_10: step_from_price(each.price, each.probability, 0.1),
        BLEND_20: step_from_price(each.price, each.probability, 0.2),
        CALIBRATED: _walk(each, _calibration_rule),
        RECALIBRATED: _walk(each, _recalibration_rule),
    }


def _calibration_rule(past: _ForecasterRows) -> "_Rule":
    step = _fit(past)
    return lambda now: step_from_price(now.price, now.probability, step)


def _recalibration_rule(past: _ForecasterRows) -> "_Rule":
    try:
        if past.price.size >= _LEAST_FITTED:
            fitted = fit_recalibration(past.probability, past.outcome, method="logistic")
            return lambda now: fitted(now.probability)
    except ValueError:
        # No stretch is the likeliest, as where all outcomes are alike.
        pass
    return lambda now: now.probability


def _fit(past: _ForecasterRows) -> float:
    """Return the step that forecasts have earned, where each event weighs one in all."""
    _, event, rows = np.unique(past.cluster, return_inverse=True, return_counts=True)
    return fit_step(past.price, past.probability, past.outcome, 1.0 / rows[event])


_Rule = Callable[[_ForecasterRows], Floats]


def _walk(each: _ForecasterRows, fit: Callable[[_ForecasterRows], _Rule]) -> Floats:
    """Return the forecasts of each day by the rule fitted on what had settled before it, (n,)."""
    found = np.empty_like(each.probability)
    days, known = np.floor(each.made_at / DAY_SECONDS) * DAY_SECONDS, np.sort(each.settled_at)
    fitted, rule = -1, fit(each.only(each.settled_at < -math.inf))
    for day in np.unique(days):
        settled = int(np.searchsorted(known, day))
        if settled > fitted * _GROWTH:
            fitted, rule = settled, fit(each.only(each.settled_at < day))
        now = days == day
        found[now] = rule(each.only(now))
    return found


def _placebo(forecasts: Forecasts, made: Floats, earlier: Floats, how: Uncertainty) -> SkillTry | None:
    rows = np.flatnonzero(~np.isnan(earlier) & ~np.isnan(forecasts.market_probability))
    rows = rows[np.unique(forecasts.question[rows], return_index=True)[1]]
    if not rows.size:
        return None
    own = _series(PLACEBO, forecasts, made, made).only(rows)
    losses = own.losses(step_from_price(own.price, earlier[rows], 0.2))
    (found,) = comparisons([losses], how)
    return None if found is None else _try(PLACEBO, BLEND_20, losses, found, 1)


def _try(name: str, variant: str, losses: Ratio, found: Comparison, tries: int) -> SkillTry:
    order = np.argsort(losses.numerators)
    worst_last, weights = losses.numerators[order], losses.denominators[order]

    def without(share: float) -> float | None:
        first = math.ceil(share * worst_last.size)
        return float(worst_last[first:].sum() / weights[first:].sum()) if first < worst_last.size else None

    error = found.cluster_standard_error
    p = found.p_value
    return SkillTry(
        forecaster=name,
        variant=variant,
        n=found.n,
        events=found.clusters,
        difference=found.estimate,
        low=found.low,
        high=found.high,
        p_adjusted=None if p is None else min(1.0, p * tries),
        detectable=None if error is None else smallest_detectable(error, found.clusters),
        without_best_1=without(0.01),
        without_best_2=without(0.02),
        leak_rows=_leak_rows(worst_last) if found.estimate < 0.0 else None,
    )


def _leak_rows(losses: Floats) -> int:
    """Return the number of the best rows that carry all of a gain; `losses` rise, and their sum is below zero."""
    return int(np.argmax(np.cumsum(losses[::-1])[::-1] >= 0.0)) if losses[-1] >= 0.0 else losses.size
