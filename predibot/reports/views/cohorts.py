"""Boards of cohorts as data: what a document, a table for programs and a screen say of each bot's cohorts."""

from collections.abc import Iterator, Sequence

from predibot.reports import figures
from predibot.reports.document import Document, number
from predibot.scoring.accounts.cohort_board import CohortBoard, CohortBotScore
from predibot.scoring.accounts.cohort_scores import Brier
from predibot.scoring.inference.overlap import ENOUGH_TO_RANK

_STATUSES = ("recorded", "abstained", "refused", "failed")


def cohort_board_document(board: CohortBoard) -> Document:
    """Return the JSON document of a board, in its order."""
    return {
        **_named(board),
        "cohorts": board.cohorts,
        "complete": board.complete,
        "archived_left_out": board.archived,
        "leaderboard": [_cells(board, score) for score in board.scores],
        "conclusions": list(cohort_conclusions(board)),
        "notes": list(board.notes),
    }


def cohort_rows(boards: Sequence[CohortBoard]) -> Iterator[Document]:
    """Yield one row a bot of each board, whose columns are those of every other."""
    for board in boards:
        yield from ({**_named(board), **_cells(board, score)} for score in board.scores)


def cohort_conclusions(board: CohortBoard) -> Iterator[str]:
    """Yield what may be said of the bots' returns: nothing below 30 effective cohorts."""
    if not board.scores:
        return
    for verdict, words in (("gains", "Gains"), ("loses", "Loses")):
        if found := [_with_interval(each) for each in board.scores if each.verdict == verdict]:
            yield f"{words} over cohorts: {'; '.join(found)}."
    if all(each.verdict == "too few" for each in board.scores):
        most = max((each.score.returns for each in board.scores), key=lambda each: each.effective)
        overlap = f", of which up to {most.overlap} overlap," if most.overlap > 1 else ""
        yield (
            f"Nobody can be said to gain, to lose or to be better: {figures.things(most.cohorts, 'cohort')}{overlap} "
            f"{'counts' if most.cohorts == 1 else 'count'} as {most.effective:.3g}, and {ENOUGH_TO_RANK:g} are needed."
        )
    elif unclear := [each.bot for each in board.scores if each.verdict == "unclear"]:
        yield f"May gain or lose: {', '.join(unclear)}."


def _named(board: CohortBoard) -> Document:
    return {"recipe": board.recipe, "game": board.game, "mode": board.mode, "methodology": board.methodology}


def _cells(board: CohortBoard, score: CohortBotScore) -> Document:
    """Return every figure of a bot, in the order of columns; what is missing is None."""
    found = score.score
    returns = found.returns
    return {
        "rank": board.ranks.get((score.bot, score.knowledge)),
        "bot": score.bot,
        "display_name": score.display_name,
        "strategy": score.strategy,
        "baseline": score.baseline,
        "knowledge": score.knowledge,
        "mean_return": number(returns.mean),
        "mean_return_low": number(returns.low),
        "mean_return_high": number(returns.high),
        "profit_usd": number(found.profit_usd),
        "return_on_stakes": number(found.return_on_stakes),
        "win_rate": number(found.win_rate),
        "cohorts": found.cohorts,
        "overlap": returns.overlap,
        "effective_cohorts": number(returns.effective),
        "waves": returns.waves,
        "resolved": found.resolved,
        **_brier("brier_stated", score.stated),
        **_brier("brier_implied_confidence", score.implied),
        "cannot_bet": score.cannot_bet,
        "bankrupt": score.bankrupt,
        "owing": score.owing,
        **{status: score.decisions.get(status, 0) for status in _STATUSES},
        "failed_share": number(score.failed_share),
        "cost_usd": number(score.cost_usd),
        "cost_known_usd": number(score.cost_known_usd),
        "verdict": score.verdict,
    }


def _brier(name: str, found: Brier | None) -> Document:
    return {name: None if found is None else number(found.score), f"{name}_n": 0 if found is None else found.n}


def _with_interval(each: CohortBotScore) -> str:
    returns = each.score.returns
    return f"{each.bot} ({figures.percent_interval(returns.low, returns.high)} a cohort)"
