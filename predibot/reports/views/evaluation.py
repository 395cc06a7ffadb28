"""An evaluation as one JSON document, and as a table for spreadsheets and programs: a row for each bot or part."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, islice

from predibot.domain.clock import format_instant
from predibot.domain.untrusted_text import spreadsheet_cell
from predibot.reports.table import Document, document
from predibot.reports.views import accounts, columns
from predibot.reports.views.leaderboard import (
    LeaderboardRow,
    conclusions,
    correlation_documents,
    effort_documents,
    leaderboard,
    market_conclusions,
    missing,
)
from predibot.scoring.evaluation.counterfactual import Counterfactual
from predibot.scoring.evaluation.e_values import BettingEvidence, BotEvidence, Evidence
from predibot.scoring.evaluation.evaluation import ClusteredEvaluation, Evaluation, PartScore
from predibot.scoring.evaluation.forecast_score import ForecastScore
from predibot.scoring.evaluation.pairs import Pair
from predibot.scoring.evaluation.scorecard import Scorecard
from predibot.scoring.evaluation.verdict import Verdict, pair_verdict
from predibot.scoring.inference.bootstrap import FEWEST_FOR_AN_INTERVAL, Estimate
from predibot.scoring.records.coherence import CoherenceScore
from predibot.scoring.records.consistency import Consistency
from predibot.scoring.records.knowledge import Knowledge

_FIRST_ROWS = 1_000
_BY_CLUSTERS = (
    *("leaderboard", "conclusions", "bots", "evidence", "comparisons", "parts"),
    *("by_category", "by_lead_time_days", "by_confidence", "consistency", "delays", "sizings"),
)
"""Parts of a document that depend on clusters."""


def evaluation_document(evaluation: Evaluation) -> Document:
    """Return the JSON document of an evaluation; bots ranked apart are in every list, told by their `knowledge`."""
    asked, ranked = evaluation.question, evaluation.rankings
    said = market_conclusions(evaluation) if evaluation.as_of is None else conclusions(leaderboard(evaluation))
    return {
        **document(evaluation, "as_of first_results_at currency"),
        **document(asked, "convention=convention.name"),
        **document(asked.uncertainty, "confidence resamples seed"),
        "leaderboard": _rows(ranked, lambda each: map(columns.row_document, leaderboard(each))),
        "conclusions": list(said),
        "missing": list(missing(evaluation)),
        **({"without_tools": dict(evaluation.without_tools)} if evaluation.without_tools else {}),
        **({"without_search": dict(evaluation.without_search)} if evaluation.without_search else {}),
        "bots": _rows(ranked, lambda each: map(_card, each.cards)),
        "evidence": _rows(ranked, lambda each: map(_evidence, each.evidence, each.verdicts)),
        "comparisons": _rows(ranked, lambda each: map(pair_document, each.pairs)),
        "by": asked.grouping,
        "parts": _rows(
            ranked, lambda each: ({"group": one.group, **_card(one.card)} for one in each.parts if one.card)
        ),
        "by_category": _rows(ranked, lambda each: map(_part, each.by_category)),
        "by_lead_time_days": _rows(ranked, lambda each: map(_part, each.by_lead_time)),
        "by_confidence": _rows(ranked, lambda each: map(_part, each.by_confidence)),
        "consistency": _rows(ranked, lambda each: map(consistency_document, each.consistency)),
        **(
            {"effort": _rows(ranked, effort_documents), "effort_correlations": _rows(ranked, correlation_documents)}
            if evaluation.effort
            else {}
        ),
        "coherence": [coherence_row(each) for each in evaluation.coherence],
        "delays": _rows(
            ranked, lambda each: (_counterfactual("delay_days", one, float(one.change)) for one in each.delays)
        ),
        "sizings": _rows(ranked, lambda each: (_counterfactual("sizing", one, one.change) for one in each.sizings)),
        **_accounts(evaluation),
        **_clusters(evaluation.joined),
        "notes": all_notes(evaluation),
    }


def _clusters(joined: ClusteredEvaluation | None) -> Document:
    if joined is None:
        return {}
    whole = evaluation_document(joined.evaluation)
    return {
        "clusters": {
            **document(joined, "events clusters largest"),
            "fewest_for_an_interval": FEWEST_FOR_AN_INTERVAL,
            "too_few": list(joined.too_few),
            **{name: whole[name] for name in _BY_CLUSTERS},
        }
    }


def _accounts(evaluation: Evaluation) -> Document:
    if not evaluation.accounts and not evaluation.cohorts:
        return {}
    cohorts = [accounts.cohort_board_document(board) for board in evaluation.cohorts]
    return {
        "accounts": [accounts.board_document(board) for board in evaluation.accounts],
        **({"cohorts": cohorts, "archived": evaluation.question.archived} if cohorts else {}),
        "rank_agreements": [document(each) for each in evaluation.agreements],
    }


def all_notes(evaluation: Evaluation) -> list[str]:
    """Return the notes of all rankings, each once."""
    notes = (note for each in evaluation.rankings.values() for note in each.notes)
    return list(dict.fromkeys((*evaluation.remarks, *notes)))


def _rows(
    rankings: Mapping[Knowledge, Evaluation], rows_of: Callable[[Evaluation], Iterable[Document]]
) -> list[Document]:
    return [{**row, "knowledge": knowledge} for knowledge, each in rankings.items() for row in rows_of(each)]


def _card(card: Scorecard) -> Document:
    return {
        "bot": card.bot,
        **document(card, columns.CARD),
        **columns.score_document(card.forecast, columns.FORECAST),
        "edge": {**document(card.edge, columns.EDGE), "interval": _interval(card.edge.interval)},
        "horizons": {label: columns.score_document(score, columns.HORIZON) for label, score in card.horizons.items()},
        **document(card, columns.COUNTS),
    }


def _evidence(evidence: BotEvidence, verdict: Verdict) -> Document:
    return {
        "bot": evidence.bot,
        "verdict": document(verdict, columns.VERDICT),
        "forecasts": _betting(evidence.forecasts),
        "dollars": None if evidence.dollars is None else _betting(evidence.dollars),
    }


def _betting(evidence: BettingEvidence) -> Document:
    return {
        **{name: _e_value(getattr(evidence, name)) for name in ("better", "worse", "book")},
        **document(evidence, "dependence dependence_worse days events"),
    }


def _e_value(evidence: Evidence) -> Document:
    at = evidence.largest_at
    return {
        "now": evidence.now,
        "largest": evidence.largest,
        "largest_at": None if at is None else format_instant(datetime.fromtimestamp(at, UTC)),
        "p_value": evidence.p_value,
    }


def _interval(estimate: Estimate | None) -> Document | None:
    return None if estimate is None else document(estimate, columns.INTERVAL)


def pair_document(pair: Pair) -> Document:
    """Return a pair of bots with its verdict."""
    names = (
        "first second metric n clusters difference low high p_value p_adjusted "
        "minimum_detectable_difference=detectable cluster_standard_error price_standard_error dependence without_best "
        "open_stakes apart better"
    )
    return {**document(pair, names), "verdict": document(pair_verdict(pair), columns.VERDICT)}


def consistency_document(found: Consistency) -> Document:
    """Return the consistency of a bot."""
    ends = "difference=difference.estimate difference_low=difference.low difference_high=difference.high"
    sides = ends.replace("difference", "same_side")
    return document(found, f"bot between n clusters {ends} {sides} bet_deviation_usd")


def coherence_row(found: CoherenceScore) -> Document:
    """Return how coherent a bot is over all rules."""
    return document(found, f"bot=name {columns.BREACH} {columns.BREACH_INTERVALS}")


def _part(part: PartScore) -> Document:
    return {
        **document(part, "bot group n_brier=score.n brier=score.brier"),
        **columns.score_document(part.score, columns.FORECAST),
    }


def _counterfactual(name: str, each: Counterfactual, change: float | str) -> Document:
    return {
        "bot": each.bot,
        name: change,
        **document(each, "horizon mean_return actual_mean_return difference=difference.estimate"),
        "interval": _interval(each.difference),
        "n": 0 if each.difference is None else each.difference.n,
    }


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """The scores of one bot, over all it did or over a part of it."""

    knowledge: Knowledge
    """What the models behind the decisions can have known; `unknown` bots are ranked apart."""
    by: str | None
    """What the parts differ by, such as `category`; None for all it did."""
    group: str | None
    bot: str
    forecast: ForecastScore
    """The score of forecasts on settled markets."""
    card: Scorecard | None = None
    """All its scores; None for parts by lead time or confidence, which have no returns."""
    evidence: BettingEvidence | None = None
    """Evidence that it beats the price; None for a part."""
    place: LeaderboardRow | None = None
    """Its row on the leaderboard; None for a part."""

    def cells(self) -> Document:
        """Return the numbers under their names in `evaluate --csv`; None without a value."""
        part: Document = {} if self.by is None else {self.by: self.group}
        named: Document = {"knowledge": self.knowledge, **part, "bot": self.bot}
        if self.card is None:
            return {**named, **document(self.forecast, columns.CSV_FORECAST)}
        returns: Document = {}
        for label, score in self.card.horizons.items():
            prefix = f"{label}_" if score.days is None else f"{label}d_"
            returns |= {f"{prefix}{name}": value for name, value in document(score, columns.CSV_HORIZON).items()}
        counts = document(self.card, columns.CSV_CARD)
        return {**named, **counts, **_forecast_cells(self.card), **returns, **self.standing()}

    def standing(self) -> Document:
        """Return the evidence and the place, under the same names."""
        evidence = {} if self.evidence is None else document(self.evidence, columns.CSV_EVIDENCE)
        return evidence if self.place is None else {**evidence, **document(self.place, columns.CSV_PLACE)}


def bot_rows(evaluation: Evaluation, knowledge: Knowledge = "clean") -> Iterator[ScoreRow]:
    """Yield a row for each bot, over all it did."""
    found = {each.bot: each.forecasts for each in evaluation.evidence}
    places = {row.bot: row for row in leaderboard(evaluation)}
    for card in evaluation.cards:
        evidence, place = found.get(card.bot), places.get(card.bot)
        yield ScoreRow(knowledge, None, None, card.bot, card.forecast, card, evidence, place)


def score_rows(evaluation: Evaluation) -> tuple[ScoreRow, ...]:
    """Return a row for each bot, or for each part that was asked for; bots ranked apart come last."""
    return tuple(row for knowledge, each in evaluation.rankings.items() for row in _part_rows(each, knowledge))


def evaluation_csv(evaluation: Evaluation, table: str | None = None) -> str:
    """Return a table with its header; a number without a value is an empty cell.

    Intervals stand beside their figure, as `<name>_low` and `<name>_high`. A name that a spreadsheet would take for a
    formula gets a quote before it. If some bots are ranked apart, a first column `knowledge` tells the rows of both.

    Args:
        table: One that a screen can show alone; left out, all scores with a row for each bot or part.
    """
    return csv_of(evaluation_rows(evaluation, table))


def evaluation_rows(evaluation: Evaluation, table: str | None = None) -> Iterator[Document]:
    """Return the rows of a table; the arguments are those of `evaluation_csv`."""
    alone = not evaluation.cards
    if table is None and alone:
        # Games of accounts have no other scores.
        table = "accounts" if evaluation.accounts else "cohorts" if evaluation.cohorts else None
    if table == "cohorts":
        return accounts.cohort_rows(evaluation.cohorts)
    if table == "pairs" and evaluation.accounts and alone:
        return accounts.account_pairs(evaluation.accounts)
    if table in ("accounts", "risk", "behaviour", "delays"):
        # A row has all figures of an account, and a column `knowledge` of its own.
        return accounts.account_rows(evaluation.accounts)
    if table is None:
        rows = [row.cells() for row in score_rows(evaluation)]
    else:
        ranked = evaluation.rankings.items()
        rows = [{"knowledge": name, **row} for name, each in ranked for row in _TABLES[table](each)]
    if len(evaluation.rankings) == 1:
        rows = [{name: value for name, value in row.items() if name != "knowledge"} for row in rows]
    if table == "consistency":
        return chain(accounts.consistency_rows((*evaluation.accounts, *evaluation.cohorts)), rows)
    return iter(rows)


def csv_of(rows: Iterable[Mapping[str, object]]) -> str:
    """Return rows as CSV with a header; a number without a value is an empty cell, and no text is a formula."""
    return "".join(csv_lines(rows))


def csv_lines(rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
    """Yield the lines of such CSV; its columns are those of the first thousand rows."""
    ahead = iter(rows)
    first = list(islice(ahead, _FIRST_ROWS))
    # Without rows there is still a header, and never an empty line.
    names = list(dict.fromkeys(name for row in first for name in row) or ("bot",))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    for row in chain(first, ahead):
        writer.writerow({name: _cell(value) for name, value in row.items()})
        yield text.getvalue()
        text.seek(0)
        text.truncate()
    yield text.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, datetime):
        return format_instant(value)
    if isinstance(value, tuple):
        value = json.dumps(value, ensure_ascii=False)
    return spreadsheet_cell(value) if isinstance(value, str) else value


def _part_rows(evaluation: Evaluation, knowledge: Knowledge) -> Iterator[ScoreRow]:
    by = evaluation.question.grouping
    if by is None:
        yield from bot_rows(evaluation, knowledge)
    else:
        parts = {"lead_time": evaluation.by_lead_time, "confidence": evaluation.by_confidence}.get(by, evaluation.parts)
        yield from (ScoreRow(knowledge, by, each.group, each.bot, each.score, each.card) for each in parts)


def _forecast_cells(card: Scorecard) -> Document:
    found = {**document(card.edge, columns.CSV_EDGE), **document(card.forecast, columns.CSV_FORECAST)}
    return {**found, **document(card, columns.CSV_OPEN)}


def _forecasts(evaluation: Evaluation) -> Iterator[Document]:
    for row in bot_rows(evaluation):
        if row.card is not None:
            yield {"bot": row.bot, **_forecast_cells(row.card), **row.standing()}


def _returns(evaluation: Evaluation) -> Iterator[Document]:
    for card in evaluation.cards:
        for label, score in card.horizons.items():
            yield {"bot": card.bot, "horizon": label, **document(score, columns.CSV_HORIZON)}


def _pairs(evaluation: Evaluation) -> Iterator[Document]:
    for pair in evaluation.pairs:
        found = pair_verdict(pair)
        yield {**pair_document(pair), "verdict": found.finding.value, "events_needed": found.events_needed}


def _calibration(evaluation: Evaluation) -> Iterator[Document]:
    for card in evaluation.cards:
        if card.forecast.calibration is not None:
            yield from ({"bot": card.bot, **row} for row in columns.bin_documents(card.forecast.calibration))


_TABLES: Mapping[str, Callable[[Evaluation], Iterable[Document]]] = {
    "forecasts": _forecasts,
    "returns": _returns,
    "quote": _returns,
    "pairs": _pairs,
    "calibration": _calibration,
    "decisions": lambda evaluation: (document(card, f"bot {columns.CSV_CARD}") for card in evaluation.cards),
    "consistency": lambda evaluation: map(consistency_document, evaluation.consistency),
    "effort": effort_documents,
    "coherence": lambda evaluation: map(coherence_row, evaluation.coherence),
}
