"""Setting up what a process works with."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from predibot.config import Settings
from predibot.domain.event import Event
from predibot.games import make_game
from predibot.jobs.quotes import QuoteBoard
from predibot.jobs.venues import OpenVenue
from predibot.jobs.watch import Watch, unwatched
from predibot.jobs.work import Bench
from predibot.ledger.catalogue import catalogue
from predibot.ledger.claims import Claimant, Retry
from predibot.ledger.owner import is_gone, new_owner
from predibot.ledger.runs import StoredRun
from predibot.ledger.spending import Holder
from predibot.ledger.store import Store
from predibot.ledger.traces import TraceFolder
from predibot.recipe import Recipe

if TYPE_CHECKING:
    from predibot.jobs.equipment import Equipment


@dataclass(frozen=True, slots=True)
class Workplace:
    """What a process has before it knows its run."""

    recipe: Recipe
    opened: OpenVenue
    settings: Settings
    clock: Callable[[], datetime]
    equipment: "Equipment | None" = None
    watch: Watch = unwatched
    traces: TraceFolder = field(default_factory=TraceFolder)
    retry: frozenset[Retry] = frozenset()
    """What is tried again because the user asks for it."""


@dataclass(frozen=True, slots=True)
class Processes:
    """That the work is done by processes of their own."""

    count: int
    ledger: str
    """The URL that each opens the ledger by, password and all."""


def make_bench(
    run: StoredRun,
    events: Sequence[Event],
    workplace: Workplace,
    *,
    store: Store,
    began_at: datetime,
    holder: str | None = None,
) -> Bench:
    """Return what this process works with, under an owner's name of its own.

    Args:
        run: Whose bots are stored.
        events: That it plays.
        workplace: What there is.
        store: The ledger.
        began_at: What failed after this is not tried again.
        holder: Under whose name amounts of limits are set aside; left out, the owner's.
    """
    opened, recipe, clock = workplace.opened, workplace.recipe, workplace.clock
    lease = timedelta(seconds=workplace.settings.lease_seconds)
    claimant = Claimant(new_owner(), lease, began_at, is_gone, workplace.retry)
    if workplace.equipment is not None:
        workplace.equipment.run_key = run.key
        workplace.equipment.holder = Holder(holder or claimant.owner, lease, clock)
    known = store.run_read(lambda connection: catalogue(connection, run.id))
    return Bench(
        store=store,
        venue=opened.venue,
        game=make_game(recipe.game, overstake=recipe.overstake),
        run_at=run.as_of,
        events={event.id: event for event in events},
        catalogue=known,
        claimant=claimant,
        clock=clock,
        board=QuoteBoard(opened.venue, clock),
        bots={bot.name: bot for bot in recipe.bots},
        equipment=workplace.equipment,
        loopback=opened.loopback.search_url if opened.loopback else None,
        watch=workplace.watch,
        traces=workplace.traces,
    )
