"""Pairs: whether one bot is better than another on what both did, and the questions that both answered."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from predibot.scoring.arguments import Floats, Ints, instances_of, sequence_of, within_floats
from predibot.scoring.evaluation.averages import Average
from predibot.scoring.evaluation.book import Book
from predibot.scoring.evaluation.horizon_series import edge_average, horizon_averages
from predibot.scoring.inference.bootstrap import FEW_CLUSTERS
from predibot.scoring.inference.clusters import difference
from predibot.scoring.inference.power import smallest_detectable
from predibot.scoring.inference.student_t import t_quantile, t_two_sided
from predibot.scoring.inference.uncertainty import (
    AT_ONCE,
    Comparison,
    Uncertainty,
    benjamini_hochberg,
    comparisons,
    fullest,
    mean_of,
)
from predibot.scoring.records.edge import Edges, edges
from predibot.scoring.records.horizon_returns import SETTLED, HorizonReturns, stakes_open
from predibot.scoring.records.moments import Moments
from predibot.scoring.records.track_record import Forecasts, TrackRecord

SIGNIFICANCE = 0.05
MOST_OPEN_STAKES = 0.10
"""Above this share of dollars on open markets nobody is called better by those that settled early."""
MOST_IN_PAIRS = 60
"""The most bots that are compared, those with the most values: pairs grow with the square."""
_LEAST = 1e-100
"""A smaller tail has no finite quantile."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two bots beside each other, on what both have a value of."""

    first: str
    second: str
    metric: str
    """What is compared: `brier`, where lower is better, or `edge` or `return_<horizon>`, where higher is."""
    n: int
    clusters: int
    difference: float | None
    """The first's mean less the second's; None where they have nothing in common."""
    low: float | None
    high: float | None
    p_value: float | None
    p_adjusted: float | None
    """Corrected for all pairs of this metric (Benjamini and Hochberg)."""
    detectable: float | None
    """The smallest true difference that so many clusters would show four times in five."""
    cluster_standard_error: float | None = None
    """From the differences between clusters; None where the interval is drawn."""
    price_standard_error: float | None = None
    """From the prices that were paid."""
    without_best: float | None = None
    """The difference without the event that speaks most for the leading bot."""
    open_stakes: float | None = None
    """At settlement: the larger of both bots' shares of dollars on open markets."""
    dependence: float = 1.0
    """D: how many clusters moved as one, by the gains of the difference on the same days."""
    apart: int = 0
    """Events (markets for `brier`) on which both have values, but never within `NEAR_HOURS` of each other."""

    @property
    def standard_error(self) -> float | None:
        """Return the larger of both standard errors, times the square root of D; None where neither is known."""
        known = [each for each in (self.cluster_standard_error, self.price_standard_error) if each is not None]
        return max(known) * math.sqrt(self.dependence) if known else None

    @property
    def settles_early(self) -> bool:
        """Return whether too many dollars are open for the settled ones to speak for the whole."""
        return self.open_stakes is not None and self.open_stakes > MOST_OPEN_STAKES

    @property
    def better(self) -> str | None:
        """Return the better bot; None where that is open, or on too few clusters."""
        if self.difference is None or self.p_adjusted is None or self.clusters < FEW_CLUSTERS:
            return None
        if self.p_adjusted > SIGNIFICANCE or self.difference == 0.0 or self.settles_early:
            return None
        lower_is_better = self.metric == "brier"
        return self.first if (self.difference < 0.0) == lower_is_better else self.second


@within_floats
def brier_pairs(forecasts: Forecasts, uncertainty: Uncertainty, *, by_edge: Sequence[Pair] = ()) -> tuple[Pair, ...]:
    """Return every pair of forecasters by their squared errors on the questions both answered, as in `return_pairs`.

    Of more than `MOST_IN_PAIRS`, only those with the most forecasts are compared.

    Args:
        by_edge: The same pairs by their edges. What moved edges together moved squared errors too. So intervals are
            widened by D, are at least as wide as those of the edges, and p-values are at least as large. Without
            them, days and prices are ignored.

    Raises:
        ValueError: If an argument is of another class.
    """
    instances_of(forecasts=(forecasts, Forecasts), uncertainty=(uncertainty, Uncertainty))
    sequence_of("by_edge", by_edge, "one of by_edge", Pair)
    edge_of = {frozenset((each.first, each.second)): each for each in by_edge}
    drawn = _draw_pairs(forecasts, uncertainty)
    return adjust_pairs([_widen(pair, edge_of.get(frozenset((pair.first, pair.second)))) for pair in drawn])


@within_floats
def return_pairs(
    record: TrackRecord, returns: HorizonReturns, uncertainty: Uncertainty, *, book: Book | None = None
) -> tuple[Pair, ...]:
    """Return every pair of bots by the returns of decisions both made: on one event, at about the same time.

    Of more than `MOST_IN_PAIRS`, only those with the most such decisions are compared.

    Args:
        book: The record's book, where the caller has it.

    Raises:
        ValueError: If an argument is of another class.
    """
    instances_of(record=(record, TrackRecord), returns=(returns, HorizonReturns))
    instances_of(uncertainty=(uncertainty, Uncertainty), book=(book, Book | None))
    average = horizon_averages(returns, book or Book.of(record), ("mean_return",))["mean_return"]
    pairs = _pairs_by_prices(f"return_{returns.label}", record.bots, average, uncertainty)
    if returns.label != SETTLED:
        return adjust_pairs(pairs)
    still_open = dict(zip(record.bots, np.nan_to_num(stakes_open(record)).tolist(), strict=True))
    return adjust_pairs(
        [replace(pair, open_stakes=max(still_open[pair.first], still_open[pair.second])) for pair in pairs]
    )


@within_floats
def edge_pairs(
    record: TrackRecord, uncertainty: Uncertainty, *, found: Edges | None = None, book: Book | None = None
) -> tuple[Pair, ...]:
    """Return every pair of bots by their edge on the events that both were asked about at about the same time.

    Pairs of a bot without an edge have no difference. Of more than `MOST_IN_PAIRS` bots,
    only those that were asked most are compared.

    Args:
        found: The result of `edges`, where the caller has it.
        book: The record's book, likewise.

    Raises:
        ValueError: If an argument is of another class.
    """
    instances_of(record=(record, TrackRecord), uncertainty=(uncertainty, Uncertainty))
    instances_of(found=(found, Edges | None), book=(book, Book | None))
    found = edges(record) if found is None else found
    average = _edge_average(record, found, book or Book.of(record))
    return adjust_pairs(_pairs_by_prices("edge", record.bots, average, uncertainty))


def _edge_average(record: TrackRecord, found: Edges, book: Book) -> Average:
    """Return the average of edges by decision, if a bot decided twice in a slot; else by slot."""
    of_slots = book.subject * len(record.bots) + record.decision_bot
    if np.unique(of_slots).size == of_slots.size:
        return edge_average(found, book)
    each = np.arange(record.decided_at.size)
    of_each = edges(replace(record, decision_slot=each.astype(np.float64)))
    # With the subjects of the runs again.
    return replace(edge_average(of_each, replace(book, subject=each)), book=book)


def _pairs_by_prices(metric: str, bots: Sequence[str], average: Average, uncertainty: Uncertainty) -> list[Pair]:
    known = average.decision[~np.isnan(average.value)]
    n = np.bincount(average.book.record.decision_bot[known], minlength=len(bots))
    compared = fullest(n, MOST_IN_PAIRS)
    beside = average.compare(compared)
    pairs = []
    for first, second in combinations(range(compared.size), 2):
        found, apart = beside.difference(first, second, uncertainty.confidence)
        pairs.append(_pair(metric, bots[compared[first]], bots[compared[second]], found, apart))
    return pairs


def _draw_pairs(forecasts: Forecasts, uncertainty: Uncertainty) -> list[Pair]:
    bots = forecasts.forecasters
    compared = fullest(np.bincount(forecasts.forecaster, minlength=len(bots)), MOST_IN_PAIRS)
    own = forecasts.only(np.isin(forecasts.forecaster, compared))
    # A file states itself what is one question.
    subject = own.question if own.made_at is None or own.market is None else own.market
    at = np.zeros(own.probability.shape) if own.made_at is None else own.made_at
    bot = np.searchsorted(compared, own.forecaster)
    moments = Moments.of(bot, subject, own.question, at, compared.size)
    means, clusters = moments.means(own.squared_errors()), own.cluster[moments.row]
    both = list(combinations(range(compared.size), 2))
    pairs: list[Pair] = []
    for start in range(0, len(both), AT_ONCE):
        some = both[start : start + AT_ONCE]
        matched = [moments.match(*each) for each in some]
        # Both scores are in [0, 1].
        differences = [
            mean_of(difference(means[ours], means[theirs]), clusters[ours], (-1.0, 1.0)) for ours, theirs, _ in matched
        ]
        found = comparisons(differences, uncertainty)
        for (first, second), each, (*_, apart) in zip(some, found, matched, strict=True):
            pairs.append(_pair("brier", bots[compared[first]], bots[compared[second]], each, apart))
    return pairs


def _widen(pair: Pair, edge: Pair | None) -> Pair:
    """Return a pair by Brier score; what the edges of the same pair know widens its interval and p-value."""
    if edge is None or pair.difference is None or pair.p_value is None or pair.clusters < 2:
        return pair
    # Rounded, because sums depend on their order.
    wider, freedom = math.sqrt(round(edge.dependence, 9)), pair.clusters - 1.0
    p_value, low, high = pair.p_value, pair.low, pair.high
    if wider != 1.0:
        p_value = t_two_sided(t_quantile(max(p_value / 2.0, _LEAST), freedom) / wider, freedom)
    if low is not None and high is not None:
        below, above = _arms(edge, mirrored=edge.first == pair.first)
        low = max(pair.difference - max(wider * (pair.difference - low), below), -1.0)
        high = min(pair.difference + max(wider * (high - pair.difference), above), 1.0)
    return replace(
        pair,
        low=low,
        high=high,
        p_value=max(p_value, edge.p_value or 0.0),
        detectable=None if pair.detectable is None else pair.detectable * wider,
        dependence=edge.dependence,
    )


def _arms(edge: Pair, *, mirrored: bool) -> tuple[float, float]:
    """Return how far an edge's interval reaches below and above; squared errors gain where edges lose."""
    if edge.low is None or edge.high is None or edge.difference is None:
        return 0.0, 0.0
    below, above = edge.difference - edge.low, edge.high - edge.difference
    return (above, below) if mirrored else (below, above)


def adjust_pairs(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """Return pairs with p-values corrected for their number (Benjamini and Hochberg)."""
    p_values = [each.p_value for each in pairs if each.p_value is not None]
    adjusted = iter(benjamini_hochberg(p_values).tolist() if p_values else [])
    return tuple(each if each.p_value is None else replace(each, p_adjusted=next(adjusted)) for each in pairs)


def _pair(metric: str, first: str, second: str, found: Comparison | None, apart: int) -> Pair:
    if found is None:
        return Pair(first, second, metric, 0, 0, None, None, None, None, None, None, apart=apart)
    error = found.standard_error
    detectable = None if error is None else smallest_detectable(error, found.clusters)
    own: dict[str, Any] = {name: getattr(found, name) for name in _OF_COMPARISON}
    return Pair(first, second, metric, p_adjusted=None, detectable=detectable, apart=apart, **own)


_OF_COMPARISON = (
    *("n", "clusters", "difference", "low", "high", "p_value", "without_best", "dependence"),
    *("cluster_standard_error", "price_standard_error"),
)
"""What a pair has of the comparison it is made from, under the same names."""


@dataclass(frozen=True, slots=True, eq=False)
class PairQuestions:
    """The n_q questions on which two bots are compared: a market, at moments at most six hours apart."""

    market: Ints
    first_at: Floats
    """The instant of the first's forecast, (n_q,), in seconds since 1970."""
    second_at: Floats
    first: Floats
    """The first's probability of YES, (n_q,); the mean of several at that moment, as all below."""
    second: Floats
    price_yes: Floats
    """The price of YES that the first was booked at, (n_q,)."""
    payout_yes: Floats
    """(n_q,), NaN where the market is open."""
    error_difference: Floats
    """The first's squared error less the second's, (n_q,), NaN where the market paid neither 0 nor 1. Its mean is the
    difference of their pair by Brier score."""


def match_questions(record: TrackRecord, first: str, second: str) -> PairQuestions:
    """Return the questions on which two bots of a record are compared, unsettled ones too, matched as by
    `brier_pairs`.
    """
    both = np.array([record.bots.index(first), record.bots.index(second)])
    decider = record.decision_bot[record.bet_decision]
    rows = record.forecast_rows()
    rows = rows[np.isin(decider[rows], both)]
    decision, market = record.bet_decision[rows], record.bet_market[rows]
    _, slot = np.unique(record.slots()[decision], return_inverse=True)
    asked = slot * max(record.payout_yes.size, 1) + market
    made_at, is_second = record.decided_at[decision], (decider[rows] == both[1]).astype(np.int64)
    moments = Moments.of(is_second, market, asked, made_at, 2)
    ours, theirs, _ = moments.match(0, 1)
    forecasts, payout = record.bet_probability[rows], record.payouts()[market]
    outcome = np.where((payout == 0.0) | (payout == 1.0), payout, np.nan)
    means, errors = moments.means(forecasts), moments.means((forecasts - outcome) ** 2)
    row, other = moments.row[ours], moments.row[theirs]
    return PairQuestions(
        market=market[row],
        first_at=made_at[row],
        second_at=made_at[other],
        first=means[ours],
        second=means[theirs],
        price_yes=moments.means(record.bet_price_yes[rows])[ours],
        payout_yes=payout[row],
        error_difference=errors[ours] - errors[theirs],
    )
