"""Effort beside success: the bots of one ranking, and how both go together over them."""

from dataclasses import dataclass

from predibot.reports import figures
from predibot.reports.table import Document, document
from predibot.reports.views.leaderboard import headline_horizon
from predibot.scoring.evaluation.effort import SUCCESSES, EffortAndSuccess, EffortCorrelation, effort_correlations
from predibot.scoring.evaluation.evaluation import Evaluation
from predibot.scoring.records.horizon_returns import NOW

EFFORT_WORDS = {"cost_usd": "dollars", "brier": "Brier", "mean_return": "return"}
"""Names of efforts and successes that differ from their fields."""


@dataclass(frozen=True, slots=True)
class EffortBoard:
    """The bots of a ranking whose effort is known, in the order of the leaderboard."""

    rows: tuple[EffortAndSuccess, ...]
    returns: str
    """Which mean return is meant, in words."""
    correlations: tuple[EffortCorrelation, ...]


def effort_board(ranking: Evaluation) -> EffortBoard:
    """Return effort and success of one ranking, without rows where no effort is known.

    Returns are those of the leaderboard's horizon, or until now where none has one;
    at the quote, or at the mid where no bot has a quote.
    """
    known = {each.bot: each for each in ranking.effort}
    cards = [card for card in ranking.leaderboard if card.bot in known]
    if not cards:
        return EffortBoard((), "", ())
    labels = (headline_horizon(tuple(cards[0].horizons)), NOW)
    ways = [(label, name) for label in labels if label is not None for name in ("quote_mean_return", "mean_return")]
    label, name = next(
        (way for way in ways if any(getattr(card.horizons.get(way[0]), way[1], None) is not None for card in cards)),
        ways[-1],
    )
    rows = tuple(
        EffortAndSuccess(known[card.bot], card.edge.edge, card.brier, getattr(card.horizons.get(label), name, None))
        for card in cards
    )
    at = "quote" if name == "quote_mean_return" else "mid"
    return EffortBoard(
        rows,
        f"return at the {at}, {figures.horizon(label)}",
        effort_correlations(rows, confidence=ranking.question.uncertainty.confidence),
    )


def effort_documents(ranking: Evaluation) -> list[Document]:
    """Return a row for each bot, as JSON and CSV have it."""
    return [{**document(row.effort), **document(row, " ".join(SUCCESSES))} for row in effort_board(ranking).rows]


def correlation_documents(ranking: Evaluation) -> list[Document]:
    """Return a row for each effort and success, as JSON has it."""
    names = "effort success n=found.n spearman=found.spearman.value low=found.spearman.low high=found.spearman.high"
    return [document(each, names) for each in effort_board(ranking).correlations]
