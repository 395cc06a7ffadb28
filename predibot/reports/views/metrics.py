"""Metrics: what is said of bots, each described once for JSON, CSV and Python's rows, and once for a terminal."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any, Literal

from predibot.reports import figures
from predibot.reports.document import Document, document, number
from predibot.reports.views.leaderboard import LeaderboardRow, far_apart, more_events, verdict_said
from predibot.scoring.evaluation.forecast_score import ForecastScore
from predibot.scoring.evaluation.scorecard import HorizonScore
from predibot.scoring.evaluation.verdict import Verdict
from predibot.scoring.inference.bootstrap import Estimate
from predibot.scoring.metrics.calibration import CalibrationBins, MurphyDecomposition
from predibot.scoring.records.knowledge import KNOWLEDGE

LAST = 99
_CURVE_CELLS = 12


@dataclass(frozen=True, slots=True)
class Metric:
    """What is said of one part of a bot; here it gets its name and its places in JSON and CSV."""

    name: str
    """In JSON and CSV, and of its attribute where `of` names no other."""
    csv: int | None = LAST
    """Its place among the columns of its part, equals in the order of the table; None where it has none."""
    interval: bool = False
    """Whether CSV has the ends of its interval beside it; JSON has all intervals in one place."""
    json: bool = True
    of: str = ""
    """Where it is on its part, such as `better.now`."""
    document: Callable[[Any], object] = number
    """Its value as JSON has it, where there is one."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A column of a terminal's table."""

    of: str
    """Where the metric is on what the table's rows are of; empty for that itself."""
    header: str
    write: Callable[[Any], str]
    drop: int = LAST
    """Columns go in this order where there is no room, the last ones from the right; what has a 0 never goes."""
    meaning: str = ""
    """Of the header, a sentence without its stop; it stands below the table."""
    only_with: Callable[[Any], Any] | None = None
    """What some row must have, a count of 0 being nothing, for the column to be there."""
    kind: Literal["number", "key"] = "number"

    def cell(self, row: object) -> str:
        """Return what stands in it; of a part that is not there, what is written of None."""
        for name in self.of.split(".") if self.of else ():
            row = None if row is None else getattr(row, name)
        return self.write(row)


def verdict_document(verdict: Verdict) -> Document:
    """Return a verdict with what it rests on."""
    needed = verdict.needed
    return {
        "finding": verdict.finding.value,
        "events": verdict.events,
        "e_value": number(verdict.e_value),
        "events_needed": None if needed is None else needed.events,
        "more_than": None if needed is None else needed.more_than,
        "moved_like": number(verdict.moved_like),
    }


def row_document(row: LeaderboardRow) -> Document:
    """Return a row of the leaderboard, the same wherever JSON has one."""
    return {**document(row), "verdict": verdict_document(row.verdict)}


def bin_documents(bins: CalibrationBins) -> list[Document]:
    """Return the bins of a calibration, the empty ones too."""
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


def _murphy(parts: MurphyDecomposition) -> Document:
    return document(parts, "reliability resolution uncertainty within_bin")


CARD = (
    Metric("decisions", csv=1),
    Metric("forecasts", csv=9),
    Metric("settled", csv=None),
    Metric("void", csv=10),
    Metric("brier", csv=None),
    Metric("n_brier", csv=None),
)
"""What a scorecard begins with."""
OPEN = (Metric("brier_open"), Metric("n_brier_open"))
"""Of markets that are not settled."""
FORECAST = (
    Metric("n", json=False),
    Metric("clusters"),
    Metric("brier", interval=True, json=False),
    Metric("brier_by_event"),
    Metric("log_score", interval=True),
    Metric("accuracy", interval=True),
    Metric("calibration_error"),
    Metric("calibration_error_by_chance"),
    Metric("calibration_error_by_chance_high"),
    Metric("calibration", csv=None, document=bin_documents),
    Metric("murphy", csv=None, document=_murphy),
    Metric("n_market"),
    Metric("market_brier", interval=True),
    Metric("market_log_score"),
    Metric("skill_vs_market", interval=True),
    Metric("adjusted_brier"),
    Metric("n_confidence", csv=None),
    Metric("confidence_and_error", csv=None),
)
"""Of forecasts on what is settled; the first two scores stand beside the counts in JSON."""
EDGE = (
    Metric("edge", interval=True),
    Metric("n"),
    Metric("board_n"),
    Metric("clusters"),
    Metric("settled_part"),
    Metric("by_event"),
    Metric("asked"),
    Metric("answered"),
    Metric("answered_share"),
    Metric("counted"),
    Metric("settled"),
    Metric("unpriced"),
    Metric("distance"),
)
HORIZON = (
    Metric("mean_return", csv=4, interval=True),
    Metric("n", csv=1),
    Metric("clusters", csv=2),
    Metric("coverage", csv=3),
    Metric("sharpe", csv=13, interval=True),
    Metric("market_mean_return", csv=5, interval=True),
    Metric("n_market", csv=None),
    Metric("quote_mean_return", csv=7, interval=True),
    Metric("n_quote", csv=6),
    Metric("friction", csv=8, interval=True),
    Metric("net_mean_return", csv=10, interval=True),
    Metric("n_net", csv=9),
    Metric("drift", csv=12, interval=True),
    Metric("n_drift", csv=11),
    Metric("mean_return_by_event", csv=14),
    Metric("quote_mean_return_by_event", csv=15),
    Metric("open_stakes", csv=16),
)
COUNTS = (
    Metric("cost_usd", csv=11),
    Metric("cost_known_usd", csv=None),
    Metric("refused", csv=2),
    Metric("failed", csv=3),
    Metric("abstained", csv=4),
    *(Metric(name, csv=5 + place) for place, name in enumerate(KNOWLEDGE)),
)
"""What a scorecard ends with: what decisions cost and came to, and what their models can have known."""
EVIDENCE = (
    Metric("e_value", of="better.now"),
    Metric("e_value_largest", of="better.largest"),
    Metric("p_value_any_day", of="better.p_value"),
    Metric("e_value_worse", of="worse.now"),
    Metric("e_value_worse_largest", of="worse.largest"),
)
"""Of beating the price, in CSV; JSON has the whole account."""
PLACE = (Metric("rank"), Metric("baseline"), Metric("verdict"), Metric("standing"), Metric("repeats_price"))
"""On the leaderboard, in CSV; JSON has the whole row."""


def document_of(score: object, metrics: tuple[Metric, ...]) -> Document:
    """Return the metrics of a part as JSON has them; one without a value is None."""
    named = ((each, attrgetter(each.of or each.name)(score)) for each in metrics if each.json)
    return {each.name: None if value is None else each.document(value) for each, value in named}


def columns_of(score: Any, metrics: tuple[Metric, ...], prefix: str = "") -> Document:
    """Return the metrics of a part as CSV and Python's rows have them, those with an interval followed by its ends."""
    row: Document = {}
    for each in sorted((each for each in metrics if each.csv is not None), key=lambda each: each.csv or 0):
        value = attrgetter(each.of or each.name)(score)
        word = value.finding.value if isinstance(value, Verdict) else value
        row[f"{prefix}{each.name}"] = word if isinstance(word, str) else number(word)
        if each.interval:
            estimate = score.intervals.get(each.name)
            for end in ("low", "high"):
                row[f"{prefix}{each.name}_{end}"] = None if estimate is None else number(getattr(estimate, end))
    return row


def brier_by_event(score: ForecastScore) -> float | None:
    """Return the Brier score with every event counting once, where it says something else."""
    interval = score.intervals.get("brier")
    far = far_apart(score.brier, score.brier_by_event, None if interval is None else interval.interval)
    return score.brier_by_event if far else None


def return_by_event(score: HorizonScore) -> float | None:
    """Return the mean over events, at the quote where that is known, where it is far from the mean over decisions."""
    for name in ("quote_mean_return", "mean_return"):
        if (mean := getattr(score, name)) is not None:
            interval, by_event = score.intervals.get(name), getattr(score, f"{name}_by_event")
            return by_event if far_apart(mean, by_event, None if interval is None else interval.interval) else None
    return None


def short_more_events(found: Verdict) -> str:
    """Return how many more events it would take, as a column has room for it."""
    return more_events(found).replace("more than ", ">").removeprefix("about ")


def ends_of(estimate: Estimate | None) -> tuple[float | None, float | None]:
    """Return the ends of an interval, None where there is none."""
    return (None, None) if estimate is None else (estimate.low, estimate.high)


def _ends(name: str, write: Callable[[float | None, float | None], str]) -> Callable[[Mapping[str, Estimate]], str]:
    """Return what writes the interval of one metric, of all of a score."""
    return lambda intervals: write(*ends_of(intervals.get(name)))


_brier_ends = _ends("brier", figures.interval)
_skill_ends = _ends("skill_vs_market", partial(figures.interval, decimals=2))
_drift_ends = _ends("drift", figures.interval)
_n_quote, _n_drift = attrgetter("n_quote"), attrgetter("n_drift")

COLUMNS: Mapping[str, tuple[Shown, ...]] = {
    "summary": (
        Shown(
            "edge",
            "edge",
            figures.thousandths,
            0,
            "closer to the outcome than the price, in thousandths of squared error, with its 95% interval; low places "
            "those that beat it",
        ),
        Shown("edge_low", "low", figures.thousandths, 0),
        Shown("edge_high", "high", figures.thousandths, 0),
        Shown(
            "",
            "verdict",
            verdict_said,
            0,
            "rests on E, what $1 bet on the forecasts came to at best; luck gets 1 in 20 to 20 at most",
            kind="key",
        ),
        Shown(
            "",
            "asked",
            lambda row: figures.percent(row.slots / row.board_slots if row.board_slots else None),
            8,
            "share of the board's events and slots that its edge is of",
            lambda row: 0 < row.slots < row.board_slots,
        ),
        Shown("brier", "Brier", figures.short_score, 7, "mean squared error"),
        Shown("market_brier", "price", figures.short_score, 6, "that of the price"),
        Shown("quote_return", "{days}d", figures.short_percent, 5, "return after so many days, at the quote"),
        Shown("quote_return_now", "now", figures.short_percent, 4, "return until now, at the quote"),
        Shown("answered_share", "said", figures.percent, 3, "share of markets answered"),
        Shown("cost_usd", "cost", figures.short_cost_usd, 2),
        Shown("curve", "edge over time", partial(figures.sparkline, cells=_CURVE_CELLS), 1, kind="key"),
    ),
    "edge": (
        Shown("place.edge", "edge", figures.thousandths, 0),
        Shown("card.edge.interval", "95% interval", lambda found: figures.thousandths_interval(*ends_of(found)), 0),
        Shown("card.edge.clusters", "events", figures.count, 7),
        Shown("place", "verdict", verdict_said, 0, kind="key"),
        Shown(
            "evidence.better.largest",
            "E",
            figures.e_value,
            9,
            "the evidence that it beats the price, which may be read any day; from 20 on it is said",
        ),
        Shown("evidence.worse.largest", "E worse", figures.e_value, 8, "the same of the opposite"),
        Shown("place.verdict", "more events", short_more_events, 6, "how many more it would take to tell"),
        Shown(
            "place.edge_by_event",
            "by event",
            figures.thousandths,
            4,
            "with every event counting once, where that is far off",
            attrgetter("place.edge_by_event"),
        ),
        Shown("card.edge.settled_part", "settled", figures.thousandths, 3, "the part of markets that paid"),
        Shown(
            "card.edge.interval.without_best",
            "without best",
            figures.thousandths,
            5,
            "without the event that lifts it most",
        ),
        Shown("card.edge.asked", "asked", figures.count, 2),
        Shown("card.edge.answered", "said", figures.count, 1, "markets answered"),
    ),
    "scores": (
        Shown("n", "n", figures.count, 5),
        Shown("clusters", "events", figures.count, 4),
        Shown("brier", "Brier", figures.score, 0),
        Shown("intervals", "95% of Brier", _brier_ends, 6),
        Shown("market_brier", "price", figures.score, 0),
        Shown(
            "skill_vs_market",
            "skill",
            figures.ratio,
            3,
            "1 less the Brier score over that of the price on the same forecasts; above 0 it knew something",
        ),
        Shown("intervals", "95% of skill", _skill_ends, 2),
        Shown(
            "calibration_error",
            "ECE",
            figures.probability,
            1,
            "how far stated probabilities lie from how often it happened",
        ),
    ),
    "more": (
        Shown("forecasts", "forecasts", figures.count),
        Shown("settled", "settled", figures.count, 6),
        Shown("void", "void", figures.count, 5, "on markets that paid neither 0 nor 1"),
        Shown("forecast.accuracy", "right", figures.percent, meaning="called rightly"),
        Shown("forecast.log_score", "log score", figures.score),
        Shown(
            "forecast",
            "by event",
            lambda score: figures.score(brier_by_event(score)),
            meaning="the Brier score with every event counting once, where that is far off",
            only_with=lambda card: brier_by_event(card.forecast),
        ),
        Shown("forecast.adjusted_brier", "adjusted", figures.score, 2, "Brier had all answered the same"),
        Shown("forecast.confidence_and_error", "sure~error", figures.ratio, 1, "below 0, the surer were better"),
        Shown("brier_open", "open", figures.score, 4, "squared distance to the last price", attrgetter("n_brier_open")),
        Shown("n_brier_open", "n open", figures.count, 3, only_with=attrgetter("n_brier_open")),
    ),
    "returns": (
        Shown(
            "quote_mean_return",
            "at the quote",
            figures.signed_percent,
            meaning="bought at the ask, sold at the bid, with fees",
        ),
        Shown("intervals", "95% at quote", _ends("quote_mean_return", figures.percent_interval)),
        Shown(
            "n_quote",
            "n quoted",
            figures.count,
            8,
            "all but decisions with money on a market without a book; 0 where no other has money",
        ),
        Shown("mean_return", "at the mid", figures.signed_percent, 9, "between both, which nobody gets"),
        Shown("intervals", "95% at mid", _ends("mean_return", figures.percent_interval), 6),
        Shown(
            "market_mean_return", "market", figures.signed_percent, 3, "market_price on the same decisions, at the mid"
        ),
        Shown(
            "",
            "by event",
            lambda score: figures.signed_percent(return_by_event(score)),
            4,
            "with every event counting once, where that is far off",
            return_by_event,
        ),
        Shown("n", "n", figures.count, 7),
        Shown("clusters", "events", figures.count, 5),
        Shown("coverage", "coverage", figures.percent, 2),
        Shown("sharpe", "Sharpe", figures.ratio, 1),
    ),
    "quote": (
        Shown("quote_mean_return", "at the quote", figures.signed_percent, only_with=_n_quote),
        Shown(
            "friction",
            "friction",
            figures.signed_percent,
            meaning="what spread and fees take from the return at the mid",
            only_with=_n_quote,
        ),
        Shown("n_quote", "n quoted", figures.count, 4, only_with=_n_quote),
        Shown(
            "net_mean_return", "net of cost", figures.signed_percent, meaning="at the mid, less what the models cost"
        ),
        Shown("n_net", "n of cost", figures.count, 2),
        Shown(
            "drift",
            "drift",
            figures.signed_score,
            meaning="how far prices came toward the forecasts; above 0, the market came to agree",
            only_with=_n_drift,
        ),
        Shown("intervals", "95% of drift", _drift_ends, 3, only_with=_n_drift),
        Shown("n_drift", "n of drift", figures.count, 1, only_with=_n_drift),
    ),
    "calibration": (
        Shown("n", "n", figures.count),
        Shown("calibration_error", "error", figures.short_score, meaning="the mean distance over ten bins"),
        Shown(
            "calibration_error_by_chance",
            "by chance",
            figures.short_score,
            meaning="what a perfect forecaster with the same forecasts would show",
        ),
        Shown(
            "calibration_error_by_chance_high",
            "95% of chance",
            figures.short_score,
            meaning="what it would pass one time in twenty",
        ),
        Shown("murphy.reliability", "reliability", figures.score, 4),
        Shown("murphy.resolution", "resolution", figures.score, 3),
        Shown("murphy.uncertainty", "uncertainty", figures.score, 2),
        Shown(
            "murphy.within_bin",
            "within bins",
            figures.score,
            1,
            "the rest, so that Brier = reliability - resolution + uncertainty + within bins",
        ),
    ),
    "decisions": (
        Shown("decisions", "decisions", figures.count, 0),
        Shown("refused", "refused", figures.count, 6),
        Shown("failed", "failed", figures.count, 7),
        Shown("abstained", "abstained", figures.count, 3),
        Shown("clean", "clean", figures.count, 1, "the models cannot know the end"),
        Shown("unknown", "unknown", figures.count, 2, "their cutoff is not known, scored apart"),
        Shown("ahead", "ahead", figures.count, 4, "they may know the end, in no score"),
        Shown("contaminated", "contaminated", figures.count, 5, "the end came before their cutoff, in no score"),
        Shown("cost_usd", "cost", figures.cost_usd, 0),
    ),
}
"""The columns of a terminal's tables, from the left, after those that name the row."""
