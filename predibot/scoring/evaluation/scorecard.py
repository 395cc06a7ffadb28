"""Scorecards: how good each bot was, with the number of values behind every figure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from predibot.domain.decision import STATUSES
from predibot.scoring.arguments import Floats, instances_of, none_if_nan, within_floats
from predibot.scoring.evaluation.book import Book
from predibot.scoring.evaluation.forecast_score import ForecastScore, forecast_scores
from predibot.scoring.evaluation.horizon_series import edge_average, horizon_averages, horizon_series
from predibot.scoring.evaluation.sharpe import sharpe_intervals, sharpe_ratios
from predibot.scoring.inference.bootstrap import Estimate
from predibot.scoring.inference.uncertainty import Uncertainty
from predibot.scoring.metrics.conventions import CONVENTIONS, Convention
from predibot.scoring.price_lookup import MAX_GAP_SECONDS
from predibot.scoring.records.edge import Edges, edges
from predibot.scoring.records.horizon_returns import HorizonReturns, horizon_returns, observed_prices, stakes_open
from predibot.scoring.records.knowledge import KNOWLEDGE
from predibot.scoring.records.replicates import ReplicateScores, replicate_scores
from predibot.scoring.records.track_record import TrackRecord, settled_forecasts

HORIZONS_DAYS = (1, 2, 7)


@dataclass(frozen=True, slots=True)
class HorizonScore:
    """The returns of a bot's decisions by one horizon; None where there is no value.

    With $1 an event, a return is dollars and share alike. All numbers are of scored decisions: clean ones, or
    unknown ones on a card apart.
    """

    days: float | None
    mean_return: float | None
    """The mean at the mid over the decisions with a value."""
    n: int
    coverage: float | None
    """n over all its decisions whose horizon has passed, refused and failed ones too, in [0, 1]."""
    sharpe: float | None
    """Annual, by the chosen convention; None for `now` and `settled`."""
    market_mean_return: float | None
    """The mean of `market_price` on the same decisions."""
    n_market: int
    n_passed: int
    """Decisions whose horizon has passed; all for `now` and `settled`."""
    n_unpriced: int
    """Decisions past the horizon without a value, neither refused nor failed."""
    clusters: int = 0
    quote_mean_return: float | None = None
    """The mean if bets were carried out against the book, with fees: the headline."""
    n_quote: int = 0
    """Those of the n with a value at the quote: also those without money on anything, which returned 0. Zero if no
    stake by then has one."""
    n_unquoted: int = 0
    """Those of the n with a bet that the book did not offer, or that is open where one side of the book is empty."""
    friction: float | None = None
    """The mean return at the mid less that at the quote, on exactly those."""
    net_mean_return: float | None = None
    """The mean less the cost of the decisions."""
    n_net: int = 0
    drift: float | None = None
    """The mean move of prices toward the forecasts, in [-1, 1]; above zero the market came to agree."""
    n_drift: int = 0
    """Forecasts that differ from the price, with a known later price."""
    mean_return_by_event: float | None = None
    """The mean over events of the mean over their decisions, at the mid: every event counts once."""
    quote_mean_return_by_event: float | None = None
    open_stakes: float | None = None
    """The share of dollars on open markets, in [0, 1]; None without a bet."""
    intervals: Mapping[str, Estimate] = field(default_factory=dict)
    """By the name of each mean here; empty where none were asked for."""


@dataclass(frozen=True, slots=True)
class EdgeScore:
    """How much closer a bot was to what happened than the prices; above zero it knew more than they did."""

    edge: float | None = None
    """The mean over all events and slots it was asked about, in [-1, 1]; None without an answer that has a price."""
    n: int = 0
    board_n: int = 0
    """Events and slots with a price about which any bot of the board was asked; the n are some of them."""
    clusters: int = 0
    settled_part: float | None = None
    """The part of the edge on settled markets; the rest is on open ones at their last prices."""
    by_event: float | None = None
    """The mean over events of the mean over their slots: every event counts once."""
    asked: int = 0
    """Markets of all its scored decisions."""
    answered: int = 0
    """Asked markets with a stated probability."""
    counted: int = 0
    """Asked markets that have paid or have a price: the edge is over these."""
    settled: int = 0
    """Counted markets that have paid."""
    distance: float | None = None
    """The mean distance of its probabilities from the prices, in [0, 1]; None without answers."""
    interval: Estimate | None = None

    @property
    def answered_share(self) -> float | None:
        """Return the share of asked markets with an answer, in [0, 1]; None where none was asked."""
        return self.answered / self.asked if self.asked else None

    @property
    def intervals(self) -> Mapping[str, Estimate]:
        """Return its interval under the name that other scores use."""
        return {} if self.interval is None else {"edge": self.interval}

    @property
    def unpriced(self) -> int:
        """Return the number of asked markets without a price, which the edge leaves out."""
        return self.asked - self.counted


@dataclass(frozen=True, slots=True)
class Scorecard:
    """How good a bot was as of an instant; None where there is no value."""

    bot: str
    decisions: int = 0
    forecasts: int = 0
    """Stated probabilities, with money on them or not. Like all down to the horizons, of scored decisions."""
    void: int = 0
    """Forecasts on markets that paid neither 0 nor 1."""
    forecast: ForecastScore = field(default_factory=ForecastScore)
    brier_open: float | None = None
    """Mean squared distance to the latest price of open markets; not a Brier score."""
    n_brier_open: int = 0
    horizons: Mapping[str, HorizonScore] = field(default_factory=dict)
    """By label: days, then `now` and `settled`."""
    cost_usd: float | None = None
    """None where a part is unknown."""
    cost_known_usd: float = 0.0
    refused: int = 0
    failed: int = 0
    abstained: int = 0
    clean: int = 0
    """Decisions whose models cannot know what came later, or that opened none: they are scored."""
    unknown: int = 0
    """Decisions of a replay whose models have no known cutoff: scored apart, on a card of their own."""
    ahead: int = 0
    """Decisions whose models' cutoff lies between decision and settlement: in no score."""
    contaminated: int = 0
    """Decisions whose event had ended before the models' cutoff: in no score."""
    edge: EdgeScore = field(default_factory=EdgeScore)
    """The edge over the price on all asked markets, which ranks bots."""
    baseline: bool = False
    replicates: ReplicateScores | None = None
    """The spread of its replicates, which this card counts together; None for a bot without replicates."""

    @property
    def settled(self) -> int:
        """Return the number of forecasts on markets that paid 0 or 1."""
        return self.forecast.n

    @property
    def n_brier(self) -> int:
        """Return the number of forecasts behind the Brier and log scores."""
        return self.forecast.n

    @property
    def brier(self) -> float | None:
        """Return the Brier score of the settled forecasts."""
        return self.forecast.brier

    @property
    def log_score(self) -> float | None:
        """Return the log score of the settled forecasts."""
        return self.forecast.log_score

    @property
    def skill_vs_market(self) -> float | None:
        """Return 1 - Brier / Brier of p0 on the same forecasts."""
        return self.forecast.skill_vs_market


@within_floats
def scorecards(
    record: TrackRecord,
    *,
    horizons_days: Sequence[float] = HORIZONS_DAYS,
    max_gap_seconds: float = MAX_GAP_SECONDS,
    convention: Convention = CONVENTIONS["predibot"],
    uncertainty: Uncertainty | None = None,
    returns: Sequence[HorizonReturns] | None = None,
    intervals: bool = True,
    adjust: bool = True,
    book: Book | None = None,
    found: Edges | None = None,
) -> tuple[Scorecard, ...]:
    """Return one scorecard a bot, in the record's order.

    Only what had happened by `record.as_of` counts.

    Args:
        horizons_days: Times after each decision in units of 24 hours.
        max_gap_seconds: The greatest age of an observation that counts as a price.
        convention: How the Sharpe ratio is made.
        uncertainty: How intervals are made; None makes none.
        returns: The result of `horizon_returns`, where the caller has it.
        intervals: Whether all scores get intervals, else only the edge.
        adjust: Whether Brier scores adjusted for difficulty are wanted: they cost time.
        book: The record's book, where the caller has it.
        found: The result of `edges`, likewise.

    Raises:
        ValueError: If a horizon is not above zero or is asked for twice, or an argument is of another class.

    Source:
        The definitions are those of the project's scoring contract.
    """
    instances_of(record=(record, TrackRecord), convention=(convention, Convention))
    instances_of(uncertainty=(uncertainty, Uncertainty | None), book=(book, Book | None), found=(found, Edges | None))
    of_kind, cost_usd, cost_known_usd = _count_decisions(record, record.made_mask())
    forecasts, void, brier_open, n_brier_open = _count_forecasts(record, max_gap_seconds)
    beside_edge = uncertainty if intervals else None
    scores = forecast_scores(settled_forecasts(record), uncertainty=beside_edge, adjust=adjust)
    if returns is None:
        returns = horizon_returns(record, horizons_days, max_gap_seconds=max_gap_seconds)
    if book is None and uncertainty is not None:
        book = Book.of(record)
    still_open = stakes_open(record)
    horizons = [
        (each.label, _score_horizon(record, each, still_open, convention, beside_edge, book)) for each in returns
    ]
    found = edges(record, max_gap_seconds=max_gap_seconds) if found is None else found
    spreads = replicate_scores(record)
    ahead_of_price = _score_edges(len(record.bots), found, uncertainty, book)
    return tuple(
        Scorecard(
            bot=bot,
            decisions=sum(of_kind[name][row] for name in STATUSES),
            forecasts=forecasts[row],
            void=void[row],
            forecast=scores[row],
            brier_open=brier_open[row],
            n_brier_open=n_brier_open[row],
            horizons={label: of_bots[row] for label, of_bots in horizons},
            cost_usd=cost_usd[row],
            cost_known_usd=cost_known_usd[row],
            edge=ahead_of_price[row],
            baseline=bot in record.baselines,
            replicates=spreads.get(bot),
            **{name: of_bots[row] for name, of_bots in of_kind.items() if name != "recorded"},
        )
        for row, bot in enumerate(record.bots)
    )


def _count_decisions(
    record: TrackRecord, made: NDArray[np.bool_]
) -> tuple[Mapping[str, list[int]], list[float | None], list[float]]:
    """Return the decisions of each bot by status and by what the models can have known, their costs, and the known part
    of these.
    """
    bots, bot, status = len(record.bots), record.decision_bot[made], record.decision_status[made]
    cost = record.decision_cost_usd[made]
    unknown = np.bincount(bot[np.isnan(cost)], minlength=bots)
    total = np.bincount(bot, np.nan_to_num(cost), bots)
    knowledge = record.knowledge()[made]
    of_kind: dict[str, list[int]] = {
        name: np.bincount(bot[kinds == index], minlength=bots).tolist()
        for kinds, named in ((status, STATUSES), (knowledge, KNOWLEDGE))
        for index, name in enumerate(named)
    }
    cost_usd = [None if unknown[row] else float(total[row]) for row in range(bots)]
    return of_kind, cost_usd, np.bincount(bot, record.decision_cost_known_usd[made], bots).tolist()


def _count_forecasts(record: TrackRecord, gap: float) -> tuple[list[int], list[int], list[float | None], list[int]]:
    """Return the forecasts of each bot, those on refunded markets, and the Brier score and number of the open ones."""
    rows = record.forecast_rows()
    bots, bot = len(record.bots), record.decision_bot[record.bet_decision[rows]]
    market = record.bet_market[rows]
    payout = record.payouts()[market]
    is_open = np.isnan(payout)
    latest = np.full(rows.shape, np.nan)
    at = np.full(int(is_open.sum()), record.as_of)
    after = record.decided_at[record.bet_decision[rows[is_open]]]
    latest[is_open] = observed_prices(record, market[is_open], at, after, gap)
    void = np.bincount(bot[(payout > 0.0) & (payout < 1.0)], minlength=bots).tolist()
    brier_open = _means(bot, (record.bet_probability[rows] - latest) ** 2, bots)
    return np.bincount(bot, minlength=bots).tolist(), void, *brier_open


def _score_edges(bots: int, found: Edges, uncertainty: Uncertainty | None, book: Book | None) -> list[EdgeScore]:
    (mean, _), (settled, _) = (_means(found.bot, values, bots) for values in (found.value, found.settled_value))
    by_event, clusters = _means_by_event(found.bot, found.event, found.cluster, found.value, bots)
    n, board_n = np.bincount(found.bot, minlength=bots).tolist(), found.event_slots()
    intervals: Sequence[Estimate | None] = [None] * bots
    if uncertainty is not None and book is not None:
        intervals = edge_average(found, book).of_each(uncertainty.confidence)
    return [
        EdgeScore(
            edge=mean[row],
            n=n[row],
            board_n=board_n,
            clusters=clusters[row],
            settled_part=settled[row],
            by_event=by_event[row],
            distance=none_if_nan(float(found.distance[row])),
            interval=intervals[row],
            **{name: int(getattr(found, name)[row]) for name in ("asked", "answered", "counted", "settled")},
        )
        for row in range(bots)
    ]


def _score_horizon(
    record: TrackRecord,
    returns: HorizonReturns,
    still_open: Floats,
    convention: Convention,
    uncertainty: Uncertainty | None,
    book: Book | None,
) -> list[HorizonScore]:
    bots, bot = len(record.bots), record.decision_bot
    has_value = ~np.isnan(returns.value)
    answered = np.isin(record.decision_status, (STATUSES.index("recorded"), STATUSES.index("abstained")))
    passed = np.bincount(bot[returns.passed], minlength=bots).tolist()
    unpriced = np.bincount(bot[returns.passed & answered & ~has_value], minlength=bots).tolist()
    unquoted = has_value & np.isnan(returns.quote_value) & record.staked_mask()
    series = horizon_series(record, returns)
    means = {name: _means(each.bot, each.values, bots) for name, each in series.items()}
    n = {name: counts for name, (_, counts) in means.items()}
    by_event = {
        name: _means_by_event(each.bot, each.event, each.cluster, each.values, bots)
        for name in ("mean_return", "quote_mean_return")
        for each in (series[name],)
    }
    n_unquoted = np.bincount(bot[unquoted], minlength=bots).tolist()
    sharpe = sharpe_ratios(record, returns, convention)
    found: dict[str, Sequence[Estimate | None]] = {}
    if uncertainty is not None and book is not None:
        averages, confidence = horizon_averages(returns, book), uncertainty.confidence
        found = {name: average.of_each(confidence) for name, average in averages.items()}
        found["sharpe"] = sharpe_intervals(record, returns, convention, book, confidence)
    return [
        HorizonScore(
            days=returns.days,
            n=n["mean_return"][row],
            coverage=n["mean_return"][row] / passed[row] if passed[row] else None,
            sharpe=sharpe[row],
            n_market=n["market_mean_return"][row],
            n_passed=passed[row],
            n_unpriced=unpriced[row],
            clusters=by_event["mean_return"][1][row],
            n_quote=n["quote_mean_return"][row],
            n_unquoted=n_unquoted[row],
            n_net=n["net_mean_return"][row],
            n_drift=n["drift"][row],
            mean_return_by_event=by_event["mean_return"][0][row],
            quote_mean_return_by_event=by_event["quote_mean_return"][0][row],
            open_stakes=none_if_nan(float(still_open[row])),
            **{name: of_bots[row] for name, (of_bots, _) in means.items()},
            intervals={name: each for name, of_bots in found.items() if (each := of_bots[row]) is not None},
        )
        for row in range(bots)
    ]


def _means_by_event(
    bot: NDArray[np.int64], event: NDArray[np.int64], cluster: NDArray[np.int64], values: Floats, bots: int
) -> tuple[list[float | None], list[int]]:
    """Return the mean of each bot over the means of its events, and its number of clusters."""
    _, code = np.unique(event, return_inverse=True)
    cells, cell = np.unique(bot * (code.max(initial=0) + 1) + code, return_inverse=True)
    means = np.bincount(cell, values, cells.size) / np.maximum(np.bincount(cell, minlength=cells.size), 1)
    found, _ = _means(cells // (code.max(initial=0) + 1), means, bots)
    _, of_bot = np.unique(cluster, return_inverse=True)
    clusters = np.unique(bot * (of_bot.max(initial=0) + 1) + of_bot) // (of_bot.max(initial=0) + 1)
    return found, np.bincount(clusters, minlength=bots).tolist()


def _means(bot: NDArray[np.int64], values: Floats, bots: int) -> tuple[list[float | None], list[int]]:
    """Return the mean of each bot, None without values, and how many values it has."""
    known = ~np.isnan(values)
    n = np.bincount(bot[known], minlength=bots).tolist()
    sums = np.bincount(bot[known], values[known], bots).tolist()
    return [total / count if count else None for total, count in zip(sums, n, strict=True)], n
