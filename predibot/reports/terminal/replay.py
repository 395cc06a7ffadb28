"""What a replay shows besides scores, for a screen and for JSON: instants, the look-ahead check, and reruns."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from rich.console import Console

from predibot.contracts import SessionPast
from predibot.domain.clock import format_length
from predibot.domain.decision import STATUSES, Status
from predibot.domain.schedule import Timetable
from predibot.jobs.replay.look_ahead_check import LookAhead
from predibot.jobs.replay.replay import ReplayInstant, ReplayReport
from predibot.jobs.replay.rerun import Rerun
from predibot.reports import figures
from predibot.reports.table import Column, Document, document, table_of
from predibot.reports.terminal.terminal import plain, print_grid, print_line
from predibot.reports.views.decide import RECEIPT

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class ReplayView:
    """What `predibot replay` shows besides the evaluation."""

    recipe: str
    venue: str
    instants: Timetable
    played: tuple[ReplayInstant, ...]
    other_runs: int
    remarks: tuple[str, ...] = ()
    """What the last instant found wrong with files of prices, or with what the recipe names of them."""

    @property
    def statuses(self) -> Counter[Status]:
        """Return how many decisions there are, by status."""
        return sum((Counter(each.statuses) for each in self.played), Counter())

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what a reader should know about the instants."""
        idle = [each.at for each in self.played if each.events == 0]
        moved = [each.at for each in self.played if each.as_of != each.at]
        notes = []
        if idle:
            notes.append(f"{_share_of_instants(idle, self.played)} had no event to play: {_list_instants(idle)}")
        if moved:
            share = _share_of_instants(moved, self.played)
            notes.append(f"{share} had been decided before as of another instant: {_list_instants(moved)}")
        if self.other_runs:
            runs = "1 other run" if self.other_runs == 1 else f"{figures.count(self.other_runs)} other runs"
            notes.append(f"the ledger has {runs} of {self.recipe}, scored with these; another ledger keeps them apart")
        more = len(self.remarks) - _SHOWN
        texts = [*self.remarks[:_SHOWN], *([f"{figures.count(more)} more; --json has them"] if more > 0 else [])]
        return (*notes, *texts)

    def document(self) -> Document:
        """Return the JSON document."""
        return {
            **document(self, "recipe venue from=instants.first to=instants.last"),
            "every": format_length(self.instants.every),
            "totals": {status: self.statuses[status] for status in STATUSES},
            "instants": [_instant_document(each) for each in self.played],
            "notes": list(self.notes),
        }


def replay_view(done: ReplayReport) -> ReplayView:
    """Return what `predibot replay` shows besides the evaluation."""
    plan = done.plan
    remarks = done.played[-1].notes if done.played and isinstance(plan.past, SessionPast) else ()
    return ReplayView(plan.request.recipe.name, plan.past.spec, plan.instants, done.played, done.other_runs, remarks)


def print_replay(console: Console, view: ReplayView) -> None:
    """Print over which instants a replay went, what was decided, and the notes."""
    instants = view.instants
    span = (
        f"{figures.instant(instants.first)} to {figures.instant(instants.last)} every {format_length(instants.every)}"
    )
    came_to = ", ".join(_status_counts(view.statuses)) or "nothing decided"
    console.print()
    print_line(
        console, f"replayed {plain(view.recipe)}, {span}, {figures.things(len(view.played), 'instant')}: {came_to}"
    )
    if receipts := sum(each.receipt is not None for each in view.played):
        print_line(console, f"{figures.things(receipts, 'receipt')} made or found; `predibot verify` shows their roots")
    for note in view.notes:
        print_line(console, f"note: {plain(note)}")


def progress_line(played: ReplayInstant, *, number: int, of: int, seconds_left: float) -> str:
    """Return how far a replay is, for a user who waits for it."""
    total = sum(played.statuses.values())
    if total and not played.made_here:
        what = f"{figures.count(total)} decided before"
    else:
        what = ", ".join(_status_counts(Counter(played.statuses))) or "no event to play"
    left = f", about {figures.duration(seconds_left)} left" if number < of else ""
    return f"{figures.instant(played.at)}: instant {figures.count(number)} of {figures.count(of)}, {what}{left}"


def _instant_document(played: ReplayInstant) -> Document:
    return {
        **document(played, "instant=at run=run_key as_of events"),
        "decisions": {status: played.statuses.get(status, 0) for status in STATUSES},
        "made_here": played.made_here,
        "receipt": None if played.receipt is None else document(played.receipt, RECEIPT),
        "notes": list(played.notes),
    }


def _status_counts(statuses: Counter[Status]) -> Iterator[str]:
    for status in STATUSES:
        if statuses[status]:
            yield f"{figures.count(statuses[status])} {status}"


def _share_of_instants(some: Sequence[datetime], played: Sequence[ReplayInstant]) -> str:
    return f"{figures.count(len(some))} of {figures.things(len(played), 'instant')}"


def _list_instants(instants: Sequence[datetime]) -> str:
    more = len(instants) - _SHOWN
    rest = f" and {figures.count(more)} more, which --json names" if more > 0 else ""
    return ", ".join(map(figures.instant, instants[:_SHOWN])) + rest


_SHOWN_DIFFERENCES = 20
_VALUE_CELLS = 40


def print_look_ahead(console: Console, found: LookAhead) -> None:
    """Print how many decisions are the same without the future, the differences, and who was left out."""
    console.print()
    same, checked = figures.count(found.checked - found.differing), figures.count(found.checked)
    print_line(
        console,
        f"look-ahead: {same} of {checked} decisions, drawn from {figures.count(found.decisions)}, "
        "are the same with everything after their instant removed",
    )
    for bot, why in found.skipped.items():
        print_line(console, f"note: {plain(bot)} was left out: {plain(why)}")
    if not found.differences:
        return
    print_grid(console, table_of("Not the same", _DIFFERENCES, found.differences[:_SHOWN_DIFFERENCES]))
    if len(found.differences) > _SHOWN_DIFFERENCES:
        console.print(f"note: {figures.count(len(found.differences) - _SHOWN_DIFFERENCES)} more; --json has them all")


def look_ahead_document(found: LookAhead) -> Document:
    """Return the check as JSON has it."""
    return document(found, "decisions checked differing differences skipped")


def _value(value: object) -> str:
    return plain(str(value), _VALUE_CELLS)


_DIFFERENCES = (
    Column("run", "run", kind="key"),
    Column("bot", "bot", kind="key"),
    Column("event", "event_id", kind="key"),
    Column("what", "what", kind="text"),
    Column("stored", "stored", _value, kind="text"),
    Column("without the future", "without_future", _value, kind="text"),
    Column("with it", "with_future", _value, kind="text"),
)


def print_rerun(console: Console, run_key: str, found: Sequence[Rerun]) -> None:
    """Print how many decisions are the same again, and each that is not."""
    others = [each for each in found if not each.equal]
    same, of = figures.count(len(found) - len(others)), figures.count(len(found))
    console.print(f"{plain(run_key)}: {same} of {of} decisions are the same again, byte for byte")
    if others:
        print_grid(console, table_of("Not the same, or not rerun", _RERUN, others))


def rerun_document(run_key: str, found: Sequence[Rerun]) -> Document:
    """Return the comparison as JSON has it; `equal` is null for what was not rerun."""
    rows = [document(each) for each in found]
    return {"run": run_key, "equal": all(each.equal is not False for each in found), "decisions": rows}


_RERUN = (
    Column("bot", "bot", kind="key"),
    Column("event", "event_id", kind="key"),
    Column("stored as", "status", kind="key"),
    Column("now", "difference", kind="text"),
)
