"""One bot or one event of a ledger, as a screen, a document, pictures or a tear sheet, in one call each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from predibot.jobs.commands.caller import Caller
from predibot.jobs.histories.bot import BotHistory, bot_history
from predibot.jobs.histories.event import EventHistory, event_history
from predibot.ledger.store import Store

Shown = TypeVar("Shown")


@dataclass(frozen=True, slots=True)
class AskedRuns:
    """Of which runs, and as of when, somebody wants to know something."""

    venue: str | None
    """Left out, that of the runs."""
    recipe: str | None
    """Only its runs; left out, all."""
    as_of: datetime | None
    bots: Sequence[str] = ()
    """Only these; empty for all."""


def bot_as_asked(
    bot: str, asked: AskedRuns, caller: Caller, *, ledger: str, most: int, show: Callable[[BotHistory], Shown]
) -> Shown:
    """Show what is stored of a bot, with so many of its best and worst decisions, asking no venue.

    Raises:
        UsageError: As `bot_history`.
        LedgerError: If the ledger cannot be opened.
    """
    with Store.open_to_read(ledger) as store:
        caller.say(f"ledger: {store.address}")
        found = bot_history(
            store, bot, venue=asked.venue, recipe=asked.recipe, as_of=asked.as_of, clock=caller.clock, most=most
        )
    return show(found)


def event_as_asked(
    event_id: str, asked: AskedRuns, caller: Caller, *, ledger: str, show: Callable[[EventHistory], Shown]
) -> Shown:
    """Show what is stored of an event, asking no venue.

    Raises:
        UsageError: As `event_history`.
        LedgerError: If the ledger cannot be opened.
    """
    with Store.open_to_read(ledger) as store:
        caller.say(f"ledger: {store.address}")
        found = event_history(
            store,
            event_id,
            venue=asked.venue,
            recipe=asked.recipe,
            bots=asked.bots,
            as_of=asked.as_of,
            clock=caller.clock,
        )
    return show(found)
