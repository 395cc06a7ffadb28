"""Setting up what a process works with."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING

from predibot.config import Settings
from predibot.contracts import VISIT_WEBPAGE, OpenVenue
from predibot.domain.event import Event
from predibot.environment import api_bases, api_keys, secrets_present
from predibot.jobs.daemon_threads import ExecutorSpec
from predibot.jobs.deciding.accounts.market_board import MarketBoard
from predibot.jobs.deciding.accounts.news_board import NewsBoard
from predibot.jobs.deciding.activity import Watch, unwatched
from predibot.jobs.deciding.cohorts import PlayedCohort, played_cohorts
from predibot.jobs.deciding.decide_one import Worker
from predibot.jobs.deciding.quotes import QuoteBoard
from predibot.ledger.store import Store
from predibot.ledger.write.claims import Claimant, Retry
from predibot.ledger.write.events import catalogue
from predibot.ledger.write.process_identity import is_gone, new_owner
from predibot.ledger.write.runs import StoredRun
from predibot.ledger.write.spending import Holder
from predibot.plugins.tools import require_own_tools
from predibot.recipe.recipe import Recipe

if TYPE_CHECKING:
    from predibot.jobs.deciding.agent_setup import AgentSetup


@dataclass(frozen=True, slots=True)
class Processes:
    """That the work is done by other processes, here or on a cluster."""

    executor: ExecutorSpec
    ledger: str
    """The URL that each opens the ledger by, password and all."""


def make_worker(
    run: StoredRun,
    events: Sequence[Event],
    recipe: Recipe,
    agents: "AgentSetup | None",
    *,
    opened: OpenVenue,
    settings: Settings,
    store: Store,
    clock: Callable[[], datetime],
    began_at: datetime,
    retry: frozenset[Retry] = frozenset(),
    watch: Watch = unwatched,
    holder: str | None = None,
) -> Worker:
    """Return what this process works with, under an owner's name of its own.

    Args:
        run: Whose bots are stored.
        events: That it plays.
        recipe: Of the run.
        agents: What sets its bots up, from `agent_setup`.
        opened: The venue.
        settings: How many decisions at once, how long.
        store: The ledger.
        clock: The instant it is.
        began_at: What failed after this is not tried again.
        retry: What is tried again because the user asks for it.
        watch: Told of each step of each bot.
        holder: Under whose name amounts of limits are set aside; left out, the owner's.
    """
    lease = timedelta(seconds=settings.lease_seconds)
    claimant = Claimant(new_owner(), lease, began_at, is_gone, retry)
    if agents is not None:
        agents.run_key = run.key
        agents.holder = Holder(holder or claimant.owner, lease, clock)
    known = store.run_read(lambda connection: catalogue(connection, run.id))
    game = recipe.make_game()
    # A past has its books only where they are asked for, which costs a request an event.
    board = QuoteBoard(opened.venue, clock, past_books=game.fills == "book")
    window = game.news_window
    cohorts: tuple[PlayedCohort, ...] = ()
    if game.cohorts is not None:
        cohorts = played_cohorts(run, game, store, bots=recipe.bots, live=opened.venue.live)
    reads_news = any(bot.needs.models or bot.needs.news for bot in recipe.bots)
    return Worker(
        store=store,
        venue=opened.venue,
        game=game,
        run=run,
        run_at=run.as_of,
        events={event.id: event for event in events},
        catalogue=known,
        claimant=claimant,
        clock=clock,
        board=board,
        markets=MarketBoard(opened.venue, board, clock),
        settings=settings,
        bots={bot.name: bot for bot in recipe.bots},
        agents=agents,
        loopback=opened.loopback.search_url if opened.loopback else None,
        watch=watch,
        references=cache(lambda: game.references(events)) if game.has_items else None,
        universes={cohort.subject: cohort.markets for cohort in cohorts},
        news=NewsBoard(store, run, agents, window) if agents is not None and window and reads_news else None,
    )


def load_loops(recipe: Recipe) -> None:
    """Import what agents with tools run in, before decisions are claimed: all at once, they would wait for it."""
    tools = {name for bot in recipe.bots for name in bot.needs.tools}
    if VISIT_WEBPAGE in tools:
        from predibot.research.pages.parser_pool import PARSERS

        PARSERS.warm()
    if tools:
        from predibot.agents.loop.run_agent import load_smolagents

        load_smolagents()


def agent_setup(
    recipe: Recipe, *, opened: OpenVenue, settings: Settings, clock: Callable[[], datetime], store: Store | None
) -> "AgentSetup | None":
    """Return what sets the recipe's bots up, after a check of each; None where all need the view alone.

    Raises:
        UsageError: If a bot could not keep to its budget, or would see the future.
    """
    if not any(bot.needs.setup for bot in recipe.bots):
        return None
    require_own_tools()
    # Clients and tools cost half a second, which only runs that need them pay.
    from predibot.jobs.deciding.agent_setup import AgentSetup
    from predibot.net.api_keys import ApiKeys

    agents = AgentSetup(
        recipe=recipe,
        opened=opened,
        keys=ApiKeys(api_keys(), settings.key_hosts, api_bases(), secrets_present()),
        run_key="",
        deadline_seconds=settings.decision_deadline_seconds,
        clock=clock,
        store=store,
        max_concurrency=settings.max_concurrency,
    )
    agents.check(recipe.bots)
    return agents
