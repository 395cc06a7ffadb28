"""An evaluation as one table for spreadsheets and programs: a row a bot, or a row a part of what it did."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from predibot.domain.untrusted_text import spreadsheet_cell
from predibot.reports.views.decide import Document, number
from predibot.reports.views.evaluation_json import bin_documents, pair_document
from predibot.reports.views.leaderboard import LeaderboardRow, leaderboard
from predibot.scoring.evaluation.e_values import BettingEvidence
from predibot.scoring.evaluation.evaluation import Evaluation
from predibot.scoring.evaluation.forecast_score import ForecastScore
from predibot.scoring.evaluation.scorecard import HorizonScore, Scorecard
from predibot.scoring.evaluation.verdict import pair_verdict
from predibot.scoring.inference.bootstrap import Estimate
from predibot.scoring.records.knowledge import KNOWLEDGE, Knowledge

_COUNTS = ("decisions", "refused", "failed", "abstained", *KNOWLEDGE, "forecasts", "void")
_FORECAST = (
    "n",
    "clusters",
    "brier",
    "brier_by_event",
    "log_score",
    "accuracy",
    "calibration_error",
    "calibration_error_by_chance",
    "calibration_error_by_chance_high",
    "n_market",
    "market_brier",
    "market_log_score",
    "skill_vs_market",
    "adjusted_brier",
)
_EDGE = (
    "n",
    "clusters",
    "settled_part",
    "by_event",
    "asked",
    "answered",
    "answered_share",
    "counted",
    "settled",
    "unpriced",
)
_HORIZON = (
    "n",
    "clusters",
    "coverage",
    "mean_return",
    "market_mean_return",
    "n_quote",
    "quote_mean_return",
    "friction",
    "n_net",
    "net_mean_return",
    "n_drift",
    "drift",
    "sharpe",
    "mean_return_by_event",
    "quote_mean_return_by_event",
    "open_stakes",
)
_WITH_INTERVAL = (
    "brier",
    "log_score",
    "accuracy",
    "market_brier",
    "skill_vs_market",
    "mean_return",
    "market_mean_return",
    "quote_mean_return",
    "friction",
    "net_mean_return",
    "drift",
    "sharpe",
)


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """How good one bot was, in all it did or in a part of it."""

    knowledge: Knowledge
    """What the models behind the decisions can have known: `unknown` ones are ranked apart."""
    by: str | None
    """By what its parts are told apart; None for all it did."""
    group: str | None
    """Which part this is."""
    bot: str
    forecast: ForecastScore
    """What is said of its forecasts on settled markets."""
    card: Scorecard | None = None
    """Everything, its returns too; None of parts by lead time or confidence, which are of forecasts."""
    evidence: BettingEvidence | None = None
    """Of beating the price, of all it did; None of a part, as the next one."""
    place: LeaderboardRow | None = None
    """On the leaderboard."""

    def cells(self) -> Document:
        """Return the numbers under the names that `evaluate --csv` gives them; one without a value is None."""
        part: Document = {} if self.by is None else {self.by: self.group}
        named: Document = {"knowledge": self.knowledge, **part, "bot": self.bot}
        if self.card is None:
            return {**named, **_with_ends(self.forecast, _FORECAST, "")}
        return {**named, **_card(self.card), **_evidence(self.evidence), **_place(self.place)}


def score_rows(evaluation: Evaluation) -> tuple[ScoreRow, ...]:
    """Return a row a bot, or where parts were asked for a row a part; what is ranked apart comes last."""
    return tuple(row for knowledge, each in evaluation.rankings.items() for row in _rows(each, knowledge))


def evaluation_csv(evaluation: Evaluation, table: str | None = None) -> str:
    """Return a table with its header; a number without a value is an empty cell.

    Intervals stand beside what they are of, as `<name>_low` and `<name>_high`.
    A name that a spreadsheet would take for a formula gets a quote before it.
    Where decisions are ranked apart, a first column `knowledge` tells the rows of both.

    Args:
        evaluation: What is written.
        table: One of those that a screen can show alone; left out, all scores with a row a bot, or a part.
    """
    if table is None:
        rows = [row.cells() for row in score_rows(evaluation)]
    else:
        ranked = evaluation.rankings.items()
        rows = [{"knowledge": name, **row} for name, each in ranked for row in _TABLES[table](each)]
    if len(evaluation.rankings) == 1:
        rows = [{name: value for name, value in row.items() if name != "knowledge"} for row in rows]
    text = io.StringIO()
    # Without a row there is still a header, which is never an empty line.
    columns = dict.fromkeys(name for row in rows for name in row) or ("bot",)
    writer = csv.DictWriter(text, list(columns), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: spreadsheet_cell(cell) if isinstance(cell, str) else cell for name, cell in row.items()})
    return text.getvalue()


def _rows(evaluation: Evaluation, knowledge: Knowledge) -> Iterator[ScoreRow]:
    by = evaluation.question.grouping
    if by is None:
        found = {each.bot: each.forecasts for each in evaluation.evidence}
        places = {row.bot: row for row in leaderboard(evaluation)}
        for card in evaluation.cards:
            evidence, place = found.get(card.bot), places.get(card.bot)
            yield ScoreRow(knowledge, None, None, card.bot, card.forecast, card, evidence, place)
    elif by in ("lead_time", "confidence"):
        scores = evaluation.by_lead_time if by == "lead_time" else evaluation.by_confidence
        yield from (ScoreRow(knowledge, by, each.group, each.bot, each.score) for each in scores)
    else:
        for part in evaluation.parts:
            yield ScoreRow(knowledge, by, part.group, part.card.bot, part.card.forecast, part.card)


def _evidence(evidence: BettingEvidence | None) -> Document:
    if evidence is None:
        return {}
    return {
        "e_value": evidence.better.now,
        "e_value_largest": evidence.better.largest,
        "p_value_any_day": evidence.better.p_value,
        "e_value_worse": evidence.worse.now,
        "e_value_worse_largest": evidence.worse.largest,
    }


def _place(row: LeaderboardRow | None) -> Document:
    if row is None:
        return {}
    return {"rank": row.rank, "baseline": row.baseline, "verdict": row.verdict.finding.value}


def _card(card: Scorecard) -> Document:
    row = {**_decided(card), **_foretold(card)}
    for label, score in card.horizons.items():
        row.update(_with_ends(score, _HORIZON, f"{label}d_" if score.days is not None else f"{label}_"))
    return row


def _decided(card: Scorecard) -> Document:
    return {**{name: getattr(card, name) for name in _COUNTS}, "cost_usd": number(card.cost_usd)}


def _foretold(card: Scorecard) -> Document:
    row: Document = {"edge": number(card.edge.edge)}
    interval = card.edge.interval
    row.update({f"edge_{end}": _end(interval, end) for end in ("low", "high")})
    row.update({f"edge_{name}": number(getattr(card.edge, name)) for name in _EDGE})
    row.update(_with_ends(card.forecast, _FORECAST, ""))
    row["brier_open"], row["n_brier_open"] = number(card.brier_open), card.n_brier_open
    return row


def _forecasts(evaluation: Evaluation) -> Iterator[Document]:
    found = {each.bot: each.forecasts for each in evaluation.evidence}
    places = {row.bot: row for row in leaderboard(evaluation)}
    for card in evaluation.cards:
        yield {
            "bot": card.bot,
            **_foretold(card),
            **_evidence(found.get(card.bot)),
            **_place(places.get(card.bot)),
        }


def _returns(evaluation: Evaluation) -> Iterator[Document]:
    for card in evaluation.cards:
        for label, score in card.horizons.items():
            yield {"bot": card.bot, "horizon": label, **_with_ends(score, _HORIZON, "")}


def _pairs(evaluation: Evaluation) -> Iterator[Document]:
    for pair in evaluation.pairs:
        found = pair_verdict(pair)
        needed = None if found.needed is None else found.needed.events
        yield {**pair_document(pair), "verdict": found.finding.value, "events_needed": needed}


def _calibration(evaluation: Evaluation) -> Iterator[Document]:
    for card in evaluation.cards:
        if card.forecast.calibration is not None:
            yield from ({"bot": card.bot, **row} for row in bin_documents(card.forecast.calibration))


_TABLES: Mapping[str, Callable[[Evaluation], Iterator[Document]]] = {
    "forecasts": _forecasts,
    "returns": _returns,
    "quote": _returns,
    "pairs": _pairs,
    "calibration": _calibration,
    "decisions": lambda evaluation: ({"bot": card.bot, **_decided(card)} for card in evaluation.cards),
}


def _with_ends(score: ForecastScore | HorizonScore, names: Sequence[str], prefix: str) -> Document:
    """Return the numbers of a score under their names, those with an interval followed by its ends."""
    row: Document = {}
    for name in names:
        row[f"{prefix}{name}"] = number(getattr(score, name))
        if name in _WITH_INTERVAL:
            estimate = score.intervals.get(name)
            row.update({f"{prefix}{name}_{end}": _end(estimate, end) for end in ("low", "high")})
    return row


def _end(estimate: Estimate | None, end: str) -> float | None:
    return None if estimate is None else number(getattr(estimate, end))
