"""A run's history: its decisions by bot, and the events that it played; and a bot's latest decisions."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from predibot.domain.decision import Status
from predibot.domain.spelling import nearest
from predibot.errors import UsageError
from predibot.ledger.read.row_filter import RowFilter
from predibot.ledger.read.rows_for_python import LedgerDecision, LedgerRun, select_decisions, select_events, select_runs
from predibot.ledger.store import Store


@dataclass(frozen=True, slots=True)
class BotDecisions:
    """What became of a bot's decisions."""

    bot: str
    statuses: Mapping[Status, int]
    cost_known_usd: float
    cost_unknown: int
    """Decisions whose cost is partly unknown."""


@dataclass(frozen=True, slots=True)
class EventOfRun:
    """An event of a run; its title is the venue's."""

    number: int | None
    """The event's number in this ledger; None where no decision on it counts."""
    event_id: str
    title: str


@dataclass(frozen=True, slots=True)
class RunHistory:
    """The page of one run."""

    run: LedgerRun
    bots: tuple[BotDecisions, ...]
    events: tuple[EventOfRun, ...]
    """With at least one decision."""


def run_history(store: Store, asked: str) -> RunHistory:
    """Return what a ledger holds of a run, by its number or its key (the run that counts).

    Raises `UsageError` for none.
    """
    with store.read() as connection, store.blame_rows():
        runs = select_runs(connection)
        found = [run for run in runs if asked in (str(run.number), run.run)]
        if not found:
            near = nearest(asked, {run.run for run in runs})
            hint = f"Did you mean {near!r}?" if near else "`predibot runs` lists them"
            raise UsageError(f"there is no run {asked[:100]!r} in this ledger. {hint}")
        run = min(found, key=lambda each: each.void)
        chosen = select_decisions(connection, RowFilter(run=run.run, void=True, items=False))
        numbers = {(each.venue, each.event_id): each.number for each in select_events(connection)}
    decisions = [each for each in chosen if each.void == run.void]
    names = dict.fromkeys(each.bot for each in decisions)
    bots = (_bot_decisions(name, [each for each in decisions if each.bot == name]) for name in names)
    titles = {each.subject_id: each.title or "" for each in decisions if each.subject_kind == "event"}
    events = (EventOfRun(numbers.get((run.venue_name, each)), each, title) for each, title in titles.items())
    return RunHistory(run, tuple(bots), tuple(events))


def decisions_of_bot(store: Store, bot: str) -> tuple[BotDecisions, tuple[LedgerDecision, ...]]:
    """Return what became of a bot's decisions that count, and the decisions, the newest first."""
    with store.read() as connection, store.blame_rows():
        found = select_decisions(connection, RowFilter(bots=(bot,), items=False))
    return _bot_decisions(bot, found), found[::-1]


def _bot_decisions(bot: str, decisions: Sequence[LedgerDecision]) -> BotDecisions:
    known, unknown = sum(each.cost_known_usd for each in decisions), sum(each.cost_usd is None for each in decisions)
    return BotDecisions(bot, Counter(each.status for each in decisions), known, unknown)
