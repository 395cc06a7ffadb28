"""The leaderboard's pairs: whether one bot is better than another on what both did, or only luckier."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from predibot.scoring.arguments import Floats, Ints, instance_of
from predibot.scoring.bootstrap import FEW_CLUSTERS, ratio_sums
from predibot.scoring.comparison import Comparison, benjamini_hochberg
from predibot.scoring.forecasts import Forecasts
from predibot.scoring.horizon import HorizonReturns
from predibot.scoring.power import smallest_detectable
from predibot.scoring.record import TrackRecord
from predibot.scoring.uncertainty import AT_ONCE, Ratio, Uncertainty, comparisons, fullest, mean_of

SIGNIFICANCE = 0.05
MOST_IN_PAIRS = 60
"""How many are compared with each other, those with the most values: their pairs grow with the square."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two bots beside each other, on what both have a value of."""

    first: str
    second: str
    metric: str
    """What was compared: `brier`, where lower is better, or `return_<horizon>`, where higher is."""
    n: int
    """How many values both have."""
    clusters: int
    difference: float | None
    """The mean of the first less that of the second; None where they have nothing in common."""
    low: float | None
    high: float | None
    p_value: float | None
    p_adjusted: float | None
    """The p-value, corrected for all pairs of this metric (Benjamini and Hochberg)."""
    detectable: float | None
    """The smallest true difference that so many clusters would show four times in five."""

    @property
    def better(self) -> str | None:
        """Return who is better; None where nobody can say, or on too few clusters to say anything."""
        if self.difference is None or self.p_adjusted is None or self.clusters < FEW_CLUSTERS:
            return None
        if self.p_adjusted > SIGNIFICANCE or self.difference == 0.0:
            return None
        lower_is_better = self.metric == "brier"
        return self.first if (self.difference < 0.0) == lower_is_better else self.second


def brier_pairs(forecasts: Forecasts, uncertainty: Uncertainty) -> tuple[Pair, ...]:
    """Return every pair of forecasters by their squared errors on the questions both answered.

    Of more than `MOST_IN_PAIRS`, only those with the most forecasts are compared.

    Raises:
        ValueError: If an argument is of another class.
    """
    instance_of("forecasts", forecasts, Forecasts)
    instance_of("uncertainty", uncertainty, Uncertainty)
    errors = forecasts.squared_errors()
    return _pairs(
        "brier",
        forecasts.forecasters,
        _Answers(errors, forecasts.forecaster, forecasts.question, forecasts.cluster),
        uncertainty,
    )


def return_pairs(record: TrackRecord, returns: HorizonReturns, uncertainty: Uncertainty) -> tuple[Pair, ...]:
    """Return every pair of bots by what the decisions both made returned: on one event, at one slot.

    Of more than `MOST_IN_PAIRS`, only those with the most such decisions are compared.

    Raises:
        ValueError: If an argument is of another class.
    """
    instance_of("record", record, TrackRecord)
    instance_of("returns", returns, HorizonReturns)
    instance_of("uncertainty", uncertainty, Uncertainty)
    rows = np.flatnonzero(~np.isnan(returns.value))
    event = record.decision_event[rows]
    _, slot = np.unique(record.slots()[rows], return_inverse=True)
    _, code = np.unique(event, return_inverse=True)
    answers = _Answers(returns.value[rows], record.decision_bot[rows], slot * (code.max(initial=0) + 1) + code, event)
    return _pairs(f"return_{returns.label}", record.bots, answers, uncertainty)


@dataclass(frozen=True, slots=True, eq=False)
class _Answers:
    """What is compared, (m,) each: a value, whose it is, of what, and with what it belongs together."""

    values: Floats
    bot: Ints
    subject: Ints
    cluster: Ints

    def of(self, bots: Ints) -> "_Answers":
        """Return those of some bots, given in order, which are numbered anew."""
        rows = np.flatnonzero(np.isin(self.bot, bots))
        bot = np.searchsorted(bots, self.bot[rows])
        return _Answers(self.values[rows], bot, self.subject[rows], self.cluster[rows])


def _pairs(metric: str, bots: Sequence[str], answers: _Answers, uncertainty: Uncertainty) -> tuple[Pair, ...]:
    compared = fullest(np.bincount(answers.bot, minlength=len(bots)), MOST_IN_PAIRS)
    table, clusters = _table(answers.of(compared), compared.size)
    both = list(combinations(range(compared.size), 2))
    pairs: list[Pair] = []
    for start in range(0, len(both), AT_ONCE):
        some = both[start : start + AT_ONCE]
        differences = [_difference(table[:, first], table[:, second], clusters) for first, second in some]
        for (first, second), ratio, found in zip(some, differences, comparisons(differences, uncertainty), strict=True):
            pairs.append(_pair(metric, bots[compared[first]], bots[compared[second]], ratio, found))
    p_values = [each.p_value for each in pairs if each.p_value is not None]
    adjusted = iter(benjamini_hochberg(p_values).tolist() if p_values else [])
    return tuple(each if each.p_value is None else replace(each, p_adjusted=next(adjusted)) for each in pairs)


def _table(answers: _Answers, bots: int) -> tuple[Floats, Ints]:
    """Return the value of each bot on each subject, (subjects, bots), NaN for none, and the clusters, (subjects,).

    Of a bot that was asked the same twice, by two recipes, the mean counts.
    """
    subjects, first, code = np.unique(answers.subject, return_index=True, return_inverse=True)
    cell = code * bots + answers.bot
    n = np.bincount(cell, minlength=subjects.size * bots)
    sums = np.bincount(cell, answers.values, subjects.size * bots)
    table = np.where(n > 0, sums / np.maximum(n, 1), np.nan).reshape(subjects.size, bots)
    return table, answers.cluster[first]


def _difference(first: Floats, second: Floats, clusters: Ints) -> Ratio:
    rows = np.flatnonzero(~(np.isnan(first) | np.isnan(second)))
    return mean_of(first[rows] - second[rows], clusters[rows])


def _pair(metric: str, first: str, second: str, ratio: Ratio, found: Comparison | None) -> Pair:
    if found is None:
        return Pair(first, second, metric, 0, 0, None, None, None, None, None, None)
    sums, _ = ratio_sums(ratio.numerators, ratio.denominators, ratio.clusters)
    return Pair(
        first=first,
        second=second,
        metric=metric,
        n=found.n,
        clusters=found.clusters,
        difference=found.difference,
        low=found.low,
        high=found.high,
        p_value=found.p_value,
        p_adjusted=None,
        detectable=smallest_detectable(sums.standard_error, sums.clusters),
    )
