"""Columns: the figures of bots, each named once for JSON, CSV and Python's rows, and once for a terminal."""

from collections.abc import Mapping
from functools import partial
from operator import attrgetter

from predibot.reports import figures
from predibot.reports.table import Column, Document, document, ends, number, value_of, words
from predibot.reports.views.leaderboard import LeaderboardRow, far_apart, more_events, verdict_text
from predibot.scoring.evaluation.forecast_score import ForecastScore
from predibot.scoring.evaluation.scorecard import HorizonScore
from predibot.scoring.evaluation.verdict import Verdict
from predibot.scoring.metrics.calibration import CalibrationBins
from predibot.scoring.records.knowledge import KNOWLEDGE

_CURVE_CELLS = 12

CARD = "decisions forecasts settled void brier n_brier brier_open n_brier_open"
"""First fields of a scorecard in JSON, as `document` reads them."""
COUNTS = f"cost_usd cost_known_usd refused failed abstained {' '.join(KNOWLEDGE)}"
"""Last fields of a scorecard: costs and outcomes of decisions, and what their models can have known."""
FORECAST = (
    "clusters brier_by_event log_score accuracy calibration_error calibration_error_by_chance "
    "calibration_error_by_chance_high calibration murphy n_market market_brier market_log_score skill_vs_market "
    "adjusted_brier n_confidence confidence_and_error"
)
"""Fields of forecasts on settled markets; the first two scores stand beside the counts."""
EDGE = "edge n board_n clusters settled_part by_event asked answered answered_share counted settled unpriced distance"
HORIZON = (
    "mean_return n clusters coverage sharpe market_mean_return n_market quote_mean_return n_quote friction "
    "net_mean_return n_net drift n_drift mean_return_by_event quote_mean_return_by_event open_stakes"
)
CSV_CARD = f"decisions refused failed abstained {' '.join(KNOWLEDGE)} forecasts void cost_usd"
"""Columns of a scorecard in CSV and in frames; `~` adds the ends of an interval."""
CSV_OPEN = "brier_open n_brier_open"
CSV_FORECAST = (
    "n clusters brier~ brier_by_event log_score~ accuracy~ calibration_error calibration_error_by_chance "
    "calibration_error_by_chance_high n_market market_brier~ market_log_score skill_vs_market~ adjusted_brier"
)
CSV_EDGE = "edge~ " + " ".join(f"edge_{each}={each}" for each in EDGE.split()[1:])
CSV_HORIZON = (
    "n clusters coverage mean_return~ market_mean_return~ n_quote quote_mean_return~ friction~ n_net net_mean_return~ "
    "n_drift drift~ sharpe~ mean_return_by_event quote_mean_return_by_event open_stakes"
)
CSV_EVIDENCE = (
    "e_value=better.now e_value_largest=better.largest p_value_any_day=better.p_value e_value_worse=worse.now "
    "e_value_worse_largest=worse.largest"
)
"""Evidence that a bot beats the price; JSON has more."""
CSV_PLACE = "rank baseline verdict=verdict.finding.value standing repeats_price"
"""Place on the leaderboard; JSON has the whole row."""


def score_document(score: ForecastScore | HorizonScore, names: str) -> Document:
    """Return a score as JSON has it, its intervals in one place."""
    found = document(score, names)
    if isinstance(score, ForecastScore):
        found["calibration"] = None if score.calibration is None else bin_documents(score.calibration)
    return {**found, "intervals": {name: document(each, INTERVAL) for name, each in score.intervals.items()}}


INTERVAL = (
    "low high n clusters few_clusters cluster_standard_error price_standard_error dependence without_best method "
    "resamples_without_value"
)
BREACH = "breach=bot market_breach=market broken_share=broken market_broken_share=market_broken n events"
"""A score of coherence, as `document` reads it, and its intervals."""
BREACH_INTERVALS = (
    "low=interval.low high=interval.high difference=difference.difference difference_low=difference.low "
    "difference_high=difference.high difference_p_value=difference.p_value"
)
VERDICT = "finding events e_value events_needed more_than=needed.more_than moved_like"
"""A verdict with what it rests on."""


def row_document(row: LeaderboardRow) -> Document:
    """Return a row of the leaderboard, the same wherever JSON has one."""
    return {**document(row), "verdict": document(row.verdict, VERDICT)}


def bin_documents(bins: CalibrationBins | None) -> list[Document]:
    """Return the bins of a calibration, the empty ones too."""
    if bins is None:
        return []
    return [
        {
            "lower": float(bins.lower[row]),
            "upper": float(bins.upper[row]),
            "n": int(bins.count[row]),
            "mean_probability": number(bins.mean_probability[row]),
            "mean_outcome": number(bins.mean_outcome[row]),
            "effective_n": float(bins.effective_count[row]),
            "outcome_low": number(bins.outcome_low[row]),
            "outcome_high": number(bins.outcome_high[row]),
        }
        for row in range(bins.count.size)
    ]


def brier_by_event(score: ForecastScore) -> float | None:
    """Return the Brier score with every event counting once; None unless it is far from the other."""
    interval = score.intervals.get("brier")
    far = far_apart(score.brier, score.brier_by_event, None if interval is None else interval.interval)
    return score.brier_by_event if far else None


def return_by_event(score: HorizonScore) -> float | None:
    """Return the mean return over events, at the quote if known; None unless it is far from that over decisions."""
    for name in ("quote_mean_return", "mean_return"):
        if (mean := getattr(score, name)) is not None:
            interval, by_event = score.intervals.get(name), getattr(score, f"{name}_by_event")
            return by_event if far_apart(mean, by_event, None if interval is None else interval.interval) else None
    return None


def short_more_events(found: Verdict) -> str:
    """Return `more_events`, short enough for a column."""
    return more_events(found).removeprefix("about ")


_n_quote, _n_drift = partial(value_of, path="score.n_quote"), partial(value_of, path="score.n_drift")


def _amount(value: float) -> str:
    return f"{value:,.1f}"


def _replicates(row: LeaderboardRow) -> str:
    found = row.replicates
    if found is None:
        return figures.MISSING
    ends_of = found.edge and figures.thousandths_interval(found.edge.low, found.edge.high)
    return f"{found.count}: {ends_of or figures.MISSING}"


COLUMNS: Mapping[str, tuple[Column, ...]] = {
    "summary": (
        Column("edge", "edge", figures.thousandths, 0).means(
            "how much closer to the outcome than the price, in thousandths of Brier (mean squared error); low and high "
            "are the ends of its 95% interval"
        ),
        Column("low", "edge_low", figures.thousandths, 0),
        Column("high", "edge_high", figures.thousandths, 0),
        Column("verdict ▾", "", verdict_text, 0, kind="key").means(
            "the order of the rows; better ones by the low end of their interval, those not proven by E. Bots without "
            "answers are not ranked"
        ),
        Column("E", "evidence", figures.e_value, 0).means(
            "the most that $1, always bet with the bot against the price, ever grew to; a bot without skill reaches 20 "
            "at most once in 20. A verdict may be read on any day, and takes more than an interval that leaves out 0"
        ),
        Column("events", "events", figures.count, 9).means(
            "how many different events it was asked about; below 30 there is no verdict"
        ),
        Column(
            "asked",
            "",
            lambda row: figures.percent(row.slots / row.board_slots if row.board_slots else None),
            1,
            only_with=lambda row: 0 < row.slots < row.board_slots,
        ).means("share of all questions that the bot was asked; a question is an event at one time of decision"),
        Column("replicates", "", _replicates, 8, only_with=lambda row: row.replicates is not None).means(
            "how many were asked independently, and their lowest and highest edge; all else is of all of them"
        ),
        Column("Brier", "brier", figures.short_score, 7).means("mean squared error of its forecasts; 0 is perfect"),
        Column("price", "market_brier", figures.short_score, 6).means("that of the price"),
        Column("return", "quote_return_now", figures.short_percent, 4).means("return until now, at the quote"),
        Column("answers", "answered_share", figures.percent, 1).means(
            "share of the markets asked about that were answered"
        ),
        Column("cost", "cost_usd", figures.short_cost_usd, 3).means(
            "of its decisions, and of those it pools or waits for"
        ),
        Column("edge by day", "curve", partial(figures.sparkline, cells=_CURVE_CELLS), 2, kind="key"),
    ),
    "edge": (
        Column("edge", "place.edge", figures.thousandths, 0),
        Column("95% interval", "card.edge.interval", ends(figures.thousandths_interval), 0),
        Column("events", "card.edge.clusters", figures.count, 7),
        Column("verdict", "place", verdict_text, 0, kind="key"),
        Column("E", "evidence.better.largest", figures.e_value, 9).means(
            "the evidence that it beats the price, which may be read any day; 20 proves it"
        ),
        Column("E worse", "evidence.worse.largest", figures.e_value, 8).means("the same of the opposite"),
        Column("more events", "place.verdict", short_more_events, 6).means("how many more it would take to tell"),
        Column(
            "by event", "place.edge_by_event", figures.thousandths, 4, only_with=attrgetter("place.edge_by_event")
        ).means("with every event counting once, where that is far off"),
        Column("settled", "card.edge.settled_part", figures.thousandths, 3).means("the part of markets that paid"),
        Column("without best", "card.edge.interval.without_best", figures.thousandths, 5).means(
            "without the event that lifts it most"
        ),
        Column("asked", "card.edge.asked", figures.count, 2),
        Column("answered", "card.edge.answered", figures.count, 1).means("markets answered"),
    ),
    "scores": (
        Column("n", "forecast.n", figures.count, 5),
        Column("events", "forecast.clusters", figures.count, 4),
        Column("Brier", "forecast.brier", figures.score, 0),
        Column("95% of Brier", "forecast.intervals.brier", ends(figures.interval), 6),
        Column("price", "forecast.market_brier", figures.score, 0),
        Column("skill", "forecast.skill_vs_market", figures.ratio, 3).means(
            "1 less the Brier score over that of the price on the same forecasts; above 0 it knew something"
        ),
        Column("95% of skill", "forecast.intervals.skill_vs_market", ends(partial(figures.interval, decimals=2)), 2),
        Column("ECE", "forecast.calibration_error", figures.probability, 1).means(
            "how far stated probabilities lie from how often it happened"
        ),
    ),
    "more": (
        Column("forecasts", "card.forecasts", figures.count),
        Column("settled", "card.settled", figures.count, 6),
        Column("void", "card.void", figures.count, 5).means("on markets that paid neither 0 nor 1"),
        Column("right", "forecast.accuracy", figures.percent).means("called rightly"),
        Column("log score", "forecast.log_score", figures.score),
        Column(
            "by event",
            "forecast",
            lambda score: figures.score(brier_by_event(score)),
            only_with=lambda row: brier_by_event(row.forecast),
        ).means("the Brier score with every event counting once, where that is far off"),
        Column("adjusted", "forecast.adjusted_brier", figures.score, 2).means("Brier had all answered the same"),
        Column("surer, worse", "forecast.confidence_and_error", figures.ratio, 1).means(
            "how stated confidence goes with error; below 0, the surer forecasts were better"
        ),
        Column("open", "card.brier_open", figures.score, 4, only_with=attrgetter("card.n_brier_open")).means(
            "squared distance to the last price"
        ),
        Column("n open", "card.n_brier_open", figures.count, 3, only_with=attrgetter("card.n_brier_open")),
    ),
    "returns": (
        Column("at the quote", "score.quote_mean_return", figures.signed_percent).means(
            "bought at the ask, sold at the bid, with fees"
        ),
        Column("95% at quote", "score.intervals.quote_mean_return", ends(figures.percent_interval)),
        Column("n quoted", "score.n_quote", figures.count, 8).means(
            "all but decisions with a bet not offered, or open where a side is empty; 0 where no other has money"
        ),
        Column("at the mid", "score.mean_return", figures.signed_percent, 9).means("between both, which nobody gets"),
        Column("95% at mid", "score.intervals.mean_return", ends(figures.percent_interval), 6),
        Column("market", "score.market_mean_return", figures.signed_percent, 3).means(
            "market_price on the same decisions, at the mid"
        ),
        Column(
            "by event",
            "score",
            lambda score: figures.signed_percent(return_by_event(score)),
            4,
            only_with=lambda row: return_by_event(row["score"]),
        ).means("with every event counting once, where that is far off"),
        Column("n", "score.n", figures.count, 7),
        Column("events", "score.clusters", figures.count, 5),
        Column("coverage", "score.coverage", figures.percent, 2),
        Column("Sharpe", "score.sharpe", figures.ratio, 1).means("of returns at the mid"),
    ),
    "quote": (
        Column("at the quote", "score.quote_mean_return", figures.signed_percent, only_with=_n_quote),
        Column("friction", "score.friction", figures.signed_percent, only_with=_n_quote).means(
            "what spread and fees take from the return at the mid"
        ),
        Column("n quoted", "score.n_quote", figures.count, 4, only_with=_n_quote),
        Column("net of cost", "score.net_mean_return", figures.signed_percent).means(
            "at the mid, less what the models cost"
        ),
        Column("n of cost", "score.n_net", figures.count, 2),
        Column("drift", "score.drift", figures.signed_score, only_with=_n_drift).means(
            "how far prices came toward the forecasts; above 0, the market came to agree"
        ),
        Column("95% of drift", "score.intervals.drift", ends(figures.interval), 3, only_with=_n_drift),
        Column("n of drift", "score.n_drift", figures.count, 1, only_with=_n_drift),
    ),
    "calibration": (
        Column("n", "forecast.n", figures.count),
        Column("error", "forecast.calibration_error", figures.short_score).means("the mean distance over ten bins"),
        Column("by chance", "forecast.calibration_error_by_chance", figures.short_score).means(
            "what a perfect forecaster with the same forecasts would show"
        ),
        Column("95% of chance", "forecast.calibration_error_by_chance_high", figures.short_score).means(
            "what it would pass one time in twenty"
        ),
        Column("reliability", "forecast.murphy.reliability", figures.score, 4),
        Column("resolution", "forecast.murphy.resolution", figures.score, 3),
        Column("uncertainty", "forecast.murphy.uncertainty", figures.score, 2),
        Column("within bins", "forecast.murphy.within_bin", figures.score, 1).means(
            "the rest, so that Brier = reliability - resolution + uncertainty + within bins"
        ),
    ),
    "consistency": (
        Column("again", "between", words, 0, kind="key").means(
            "by replicates at one time, or on days between which the price hardly moved"
        ),
        Column("difference", "difference.estimate", figures.score, 0).means(
            "mean absolute difference of the probabilities"
        ),
        Column("95% of it", "difference", ends(figures.interval), 3),
        Column("same side", "same_side.estimate", figures.percent, 0).means("bet alike, or both bet nothing"),
        Column("95% of same", "same_side", ends(figures.share_interval), 2),
        Column("sd of bets", "bet_deviation_usd", figures.usd, 4).means("of one bet"),
        Column("pairs", "n", figures.count, 5),
        Column("events", "clusters", figures.count, 6),
    ),
    "coherence": (
        Column("breach", "bot", figures.score).means(
            "the mean of |sum - 1| where exactly one pays, max(0, sum - 1) where at most one does, and of what "
            "an earlier date or a farther threshold is more probable"
        ),
        Column("95% interval", "interval", ends(figures.interval)),
        Column("the price's", "market", figures.score).means(
            "the same of the prices that were shown with those markets"
        ),
        Column("broken", "broken", figures.percent).means(
            "the share of groups that are off at all, each with every decision on it"
        ),
        Column("by the price", "market_broken", figures.percent),
        Column("n", "n", figures.count),
        Column("events", "events", figures.count),
    ),
    "effort": (
        Column("searches", "effort.searches", _amount, 8).means("the means of a decision"),
        Column("pages", "effort.pages", _amount, 9),
        Column("tokens", "effort.tokens", lambda value: figures.count(round(value)), 7).means(
            "of its newest decisions with a trace"
        ),
        Column("cost", "effort.cost_usd", figures.cost_usd, 6),
        Column("seconds", "effort.seconds", _amount, 3),
        Column("edge", "edge", figures.thousandths, 0).means("over the price, in thousandths of Brier"),
        Column("Brier", "brier", figures.short_score, 5),
        Column("return", "mean_return", figures.signed_percent, 4),
        Column("decisions", "effort.decisions", figures.count, 1),
    ),
    "decisions": (
        Column("decisions", "card.decisions", figures.count, 0),
        Column("refused", "card.refused", figures.count, 6),
        Column("failed", "card.failed", figures.count, 7),
        Column("abstained", "card.abstained", figures.count, 3),
        Column("clean", "card.clean", figures.count, 1).means("the models cannot know the end"),
        Column("unknown", "card.unknown", figures.count, 2).means("their cutoff is not known, scored apart"),
        Column("ahead", "card.ahead", figures.count, 4).means("they may know the end, in no score"),
        Column("contaminated", "card.contaminated", figures.count, 5).means(
            "the end came before their cutoff, in no score"
        ),
        Column("cost", "card.cost_usd", figures.cost_usd, 0),
    ),
}
"""Columns of tables on a terminal, after those that name the row.

The summary reads a `LeaderboardRow`, returns read a bot's `score` at a horizon, all others a `ScoreRow`.
"""
