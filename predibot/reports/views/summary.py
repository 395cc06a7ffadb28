"""The summary of a day: the first lines of the leaderboard, as narrow as a phone."""

from collections.abc import Sequence
from dataclasses import replace

from predibot.jobs.notify.notice import safe_name
from predibot.reports import figures
from predibot.reports.table import Column, table_of
from predibot.reports.views.leaderboard import conclusions, leaderboard, verdict_text
from predibot.scoring.evaluation.evaluation import Evaluation

_NAME_CELLS = 18


def summary_of(evaluation: Evaluation, most: int) -> tuple[Sequence[str], Sequence[str]]:
    """Return conclusions about the bots, and the first `most` lines of the leaderboard."""
    rows = [replace(row, bot=safe_name(row.bot)) for row in leaderboard(evaluation)]
    if not rows:
        return ("Nothing is scored yet.",), ()
    found = table_of("", _COLUMNS, rows[:most])
    cells = [tuple(each.header for each in _COLUMNS), *found.rows]
    widths = [max(len(row[place]) for row in cells) for place in range(4)]
    lines = [
        f"{rank:>{widths[0]}} {bot:<{widths[1]}} {edge:>{widths[2]}} {events:>{widths[3]}} {verdict}"
        for rank, bot, edge, events, verdict in cells
    ]
    more = len(rows) - most
    lines += [f"and {figures.things(more, 'more bot')}: predibot report"] if more > 0 else []
    return conclusions(rows, "`predibot report --table pairs`"), lines


_COLUMNS = (
    Column("#", "rank", figures.count),
    Column("bot", "bot", lambda name: name if len(name) <= _NAME_CELLS else f"{name[: _NAME_CELLS - 1]}…"),
    Column("edge", "edge", figures.thousandths),
    Column("events", "events", figures.count),
    Column("verdict", "", verdict_text),
)
