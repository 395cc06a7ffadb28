"""The live board: bots by events while they decide, redrawn in place on a terminal."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TextIO

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from predibot.contracts import Progress
from predibot.jobs.deciding.activity import Activity
from predibot.reports import figures
from predibot.reports.terminal.terminal import console_for, plain

MARKS = {"running": "▸", "recorded": "●", "refused": "✗", "failed": "✗", "abstained": "○", "skipped": "·"}
_STYLES = {"running": "cyan", "recorded": "green", "refused": "red", "failed": "red", "abstained": "yellow"}
_MOST_MARKS = 40
_DOING_CELLS = 48
_REDRAWN_A_SECOND = 4


@dataclass(slots=True)
class _BotRow:
    states: dict[str, str] = field(default_factory=dict)
    """By event, in the order of their start."""
    doing: dict[str, str] = field(default_factory=dict)
    """Current step by event, the latest last."""
    steps: int = 0
    known_usd: float = 0.0
    is_known: bool = True


class LiveBoard:
    """The state of decisions that are being made; thread-safe."""

    def __init__(self, bots: Sequence[str], *, monotonic: Callable[[], float] = time.monotonic) -> None:
        """Begin with bots that have done nothing."""
        self._rows = {bot: _BotRow() for bot in bots}
        self._stage = Progress("start", 0)
        self._monotonic = monotonic
        self._began: float | None = None
        self._lock = threading.Lock()

    def activity(self, activity: Activity, /) -> None:
        """Take note of what a bot does."""
        with self._lock:
            row = self._rows.setdefault(activity.bot, _BotRow())
            # A late step of an abandoned thread changes no decision that has ended.
            if activity.state == "running" and row.states.get(activity.event_id, "running") != "running":
                return
            row.states[activity.event_id] = activity.state
            row.doing.pop(activity.event_id, None)
            if activity.state == "running":
                row.doing[activity.event_id] = activity.text or "begins"
            row.steps += activity.step > 0
            row.known_usd += activity.cost_usd or 0.0
            row.is_known = row.is_known and activity.cost_usd is not None

    def progress(self, progress: Progress, /) -> None:
        """Take note of how far the work is."""
        with self._lock:
            if progress.stage == "decide" and self._began is None:
                self._began = self._monotonic()
            self._stage = progress

    def __rich__(self) -> Group:
        """Return the board as it is drawn."""
        with self._lock:
            table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False)
            for header in ("bot", "events", "steps", "cost", "doing"):
                right = header in ("steps", "cost")
                table.add_column(Text(header, style="dim"), justify="right" if right else "left", no_wrap=True)
            for bot, row in self._rows.items():
                table.add_row(*_cells(bot, row))
            return Group(table, Text(self._footer(), style="dim", no_wrap=True))

    def _footer(self) -> str:
        stage = self._stage
        of = f" of {stage.total:,}" if stage.total is not None else ""
        text = f"{plain(stage.stage)}: {stage.done:,}{of}"
        if stage.stage != "decide":
            return f"{text} {plain(stage.text, _DOING_CELLS)}".rstrip()
        if self._began is None or stage.total is None or stage.done < 2:
            return f"{text}, time left unknown"
        # The clock started when the first decision ended.
        a_decision = (self._monotonic() - self._began) / (stage.done - 1)
        return f"{text}, about {figures.duration(a_decision * (stage.total - stage.done))} left"


@contextmanager
def live_board(bots: Sequence[str], stream: TextIO, *, width: int | None = None) -> Iterator[LiveBoard]:
    """Yield a board that is drawn on a terminal until the work is over, and then removed."""
    board = LiveBoard(bots)
    console = console_for(stream, columns=width)
    shown = Live(
        board,
        console=console,
        refresh_per_second=_REDRAWN_A_SECOND,
        transient=True,
        # Stdout is for the report; what is logged to stderr appears above the board.
        redirect_stdout=False,
    )
    with shown:
        yield board


def _cells(bot: str, row: _BotRow) -> tuple[Text, ...]:
    cost = figures.cost_usd(row.known_usd) if row.is_known else f"{figures.cost_usd(row.known_usd)} + unknown"
    doing = next(reversed(row.doing.items()), None)
    text = "" if doing is None else plain(f"{doing[0]}: {doing[1]}", _DOING_CELLS)
    return (Text(plain(bot, 24)), _marks(row), Text(figures.count(row.steps)), Text(cost), Text(text))


def _marks(row: _BotRow) -> Text:
    marks = Text()
    for state in list(row.states.values())[-_MOST_MARKS:]:
        marks.append(MARKS[state], style=_STYLES.get(state, "dim"))
    hidden = len(row.states) - _MOST_MARKS
    return Text(f"{hidden} + ").append_text(marks) if hidden > 0 else marks
