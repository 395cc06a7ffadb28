"""The summary of a day: the first lines of the leaderboard, as narrow as a phone."""

from collections.abc import Sequence
from dataclasses import replace

from predibot.jobs.notify.notice import named
from predibot.reports import figures
from predibot.reports.views.leaderboard import conclusions, leaderboard, verdict_said
from predibot.scoring.evaluation.evaluation import Evaluation

_NAME_CELLS = 18


def summary_of(evaluation: Evaluation, most: int) -> tuple[Sequence[str], Sequence[str]]:
    """Return what may be said of the bots in sentences, and the first lines of the leaderboard.

    Args:
        evaluation: How good they are.
        most: So many bots at most.
    """
    rows = [replace(row, bot=named(row.bot)) for row in leaderboard(evaluation)]
    if not rows:
        return ("Nothing is scored yet.",), ()
    cells = [("#", "bot", "edge", "events", "verdict")]
    cells += [
        (
            figures.count(row.rank),
            row.bot if len(row.bot) <= _NAME_CELLS else f"{row.bot[: _NAME_CELLS - 1]}…",
            figures.thousandths(row.edge),
            figures.count(row.events),
            verdict_said(row),
        )
        for row in rows[:most]
    ]
    widths = [max(len(row[place]) for row in cells) for place in range(4)]
    lines = [
        f"{rank:>{widths[0]}} {bot:<{widths[1]}} {edge:>{widths[2]}} {events:>{widths[3]}} {verdict}"
        for rank, bot, edge, events, verdict in cells
    ]
    more = len(rows) - most
    return conclusions(rows), [*lines, *([f"and {more} more: predibot report"] if more > 0 else [])]
