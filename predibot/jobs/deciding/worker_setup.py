"""Setting up what a process works with."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from predibot.config import Settings
from predibot.domain.event import Event
from predibot.environment import api_bases, api_keys, secrets_present
from predibot.games import make_game
from predibot.jobs.deciding.activity import Watch, unwatched
from predibot.jobs.deciding.decide_one import Bench
from predibot.jobs.deciding.quotes import QuoteBoard
from predibot.jobs.open_venue import OpenVenue
from predibot.ledger.store import Store
from predibot.ledger.write.claims import Claimant, Retry
from predibot.ledger.write.events import catalogue
from predibot.ledger.write.process_identity import is_gone, new_owner
from predibot.ledger.write.runs import StoredRun
from predibot.ledger.write.spending import Holder
from predibot.recipe.recipe import Recipe
from predibot.tool_plugins import require_own_tools

if TYPE_CHECKING:
    from predibot.jobs.deciding.agent_setup import Equipment


@dataclass(frozen=True, slots=True)
class Workplace:
    """What a process has before it knows its run."""

    recipe: Recipe
    opened: OpenVenue
    settings: Settings
    clock: Callable[[], datetime]
    equipment: "Equipment | None" = None
    watch: Watch = unwatched
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
    )


def equipped(
    recipe: Recipe, *, opened: OpenVenue, settings: Settings, clock: Callable[[], datetime], store: Store | None
) -> "Equipment | None":
    """Return what the recipe's bots decide with, after a check of each; None where all need the event alone.

    Raises:
        UsageError: If a bot could not keep to its budget, or would see the future.
    """
    if not any(bot.needs.equipment for bot in recipe.bots):
        return None
    require_own_tools()
    # Clients and tools cost half a second, which only runs that need them pay.
    from predibot.jobs.deciding.agent_setup import Equipment
    from predibot.net.api_keys import ApiKeys

    equipment = Equipment(
        recipe=recipe,
        opened=opened,
        keys=ApiKeys(api_keys(), settings.key_hosts, api_bases(), secrets_present()),
        run_key="",
        deadline_seconds=settings.decision_deadline_seconds,
        clock=clock,
        store=store,
    )
    equipment.check(recipe.bots)
    return equipment
