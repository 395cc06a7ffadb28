"""An evaluation as one table for spreadsheets and programs: a row a bot, or a row a part of what it did."""

import csv
import io
from collections.abc import Iterator, Sequence

from predibot.domain.untrusted_text import spreadsheet_cell
from predibot.reports.leaderboard import LeaderboardRow, leaderboard
from predibot.reports.views import Document, number
from predibot.scoring.bootstrap import Estimate
from predibot.scoring.e_values import BettingEvidence
from predibot.scoring.evaluation import Evaluation
from predibot.scoring.forecast_score import ForecastScore
from predibot.scoring.knowledge import KNOWLEDGE
from predibot.scoring.parts import PartScore
from predibot.scoring.scorecard import HorizonScore, Scorecard

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


def evaluation_csv(evaluation: Evaluation) -> str:
    """Return the table with its header; a number without a value is an empty cell.

    Intervals stand beside what they are of, as `<name>_low` and `<name>_high`.
    A name that a spreadsheet would take for a formula gets a quote before it.
    Where decisions are ranked apart, a first column `knowledge` tells the rows of both.
    """
    rankings = evaluation.rankings
    # Of two rankings the same bot may have a row in each.
    rows = tuple(
        row if len(rankings) == 1 else {"knowledge": knowledge, **row}
        for knowledge, each in rankings.items()
        for row in _rows(each)
    )
    text = io.StringIO()
    # Without a row there is still a header, which is never an empty line.
    columns = dict.fromkeys(name for row in rows for name in row) or ("bot",)
    writer = csv.DictWriter(text, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _rows(evaluation: Evaluation) -> Iterator[Document]:
    by = evaluation.question.grouping
    if by is None:
        found = {each.bot: each.forecasts for each in evaluation.evidence}
        places = {row.bot: row for row in leaderboard(evaluation)}
        for card in evaluation.cards:
            yield {**_card(card), **_evidence(found.get(card.bot)), **_place(places.get(card.bot))}
    elif scores := {"lead_time": evaluation.by_lead_time, "confidence": evaluation.by_confidence}.get(by):
        yield from ({by: spreadsheet_cell(part.group), **_part(part)} for part in scores)
    else:
        yield from ({by: spreadsheet_cell(part.group), **_card(part.card)} for part in evaluation.parts)


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


def _part(part: PartScore) -> Document:
    return {"bot": spreadsheet_cell(part.bot), **_with_ends(part.score, _FORECAST, "")}


def _card(card: Scorecard) -> Document:
    row: Document = {"bot": spreadsheet_cell(card.bot), **{name: getattr(card, name) for name in _COUNTS}}
    row["cost_usd"] = number(card.cost_usd)
    row["edge"], interval = number(card.edge.edge), card.edge.interval
    row.update({f"edge_{end}": _end(interval, end) for end in ("low", "high")})
    row.update({f"edge_{name}": number(getattr(card.edge, name)) for name in _EDGE})
    row.update(_with_ends(card.forecast, _FORECAST, ""))
    row["brier_open"], row["n_brier_open"] = number(card.brier_open), card.n_brier_open
    for label, score in card.horizons.items():
        row.update(_with_ends(score, _HORIZON, f"{label}d_" if score.days is not None else f"{label}_"))
    return row


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
