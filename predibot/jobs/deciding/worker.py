"""What a worker has: made once for each process, for all the decisions of a run that are made there."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Protocol

from sqlalchemy import Connection

from predibot.config import Settings
from predibot.contracts import VISIT_WEBPAGE, Context, Game, OpenVenue, ProgressListener, References, Venue
from predibot.domain.decision import ITEM_SUBJECTS, Subject
from predibot.domain.event import Event
from predibot.domain.secret_values import SecretValues
from predibot.environment import api_bases, api_keys, secrets_present
from predibot.games.fills import FillModel, fill_model
from predibot.jobs.deciding.activity import StepListener, Watch, unwatched
from predibot.jobs.deciding.news_board import NewsBoard
from predibot.jobs.deciding.venue_board import VenueBoard
from predibot.ledger.store import Store
from predibot.ledger.write.claims import Claimant, Retry, renew
from predibot.ledger.write.events import Catalogue, catalogue
from predibot.ledger.write.process_identity import is_gone, new_owner
from predibot.ledger.write.runs import StoredRun
from predibot.ledger.write.spending import Holder, renew_reservations
from predibot.ledger.write.turns import KnownMarket
from predibot.plugins.tools import require_own_tools
from predibot.recipe.recipe import BotSpec, Recipe

if TYPE_CHECKING:
    from predibot.jobs.deciding.agent_setup import AgentSetup

JobKey = tuple[str, Subject]
"""A bot and what it decides about."""


@dataclass(frozen=True, slots=True)
class Resources:
    """What decisions are made with, at whichever venue and instant."""

    store: Store
    """The ledger."""
    settings: Settings
    """How many at once, how long."""
    clock: Callable[[], datetime]
    """The instant it is."""
    listener: ProgressListener
    """Told of each decision."""
    watch: Watch = unwatched
    """Told of each step of each bot."""


@dataclass(frozen=True, slots=True)
class DecideJob:
    """One decision to be made, as plain data, fit for another process or machine."""

    bot: BotSpec
    bot_id: int
    subject: Subject
    markets: tuple[KnownMarket, ...] | None = None
    """Of the cohort that it is about, which another run may have chosen; None where it is about none."""

    @property
    def key(self) -> JobKey:
        """Return what tells it apart from the other jobs of its run."""
        return self.bot.name, self.subject


class ContextSetup(Protocol):
    """Gives a bot's context the models, tools, budget and trace that its strategy declares."""

    def set_up(self, context: Context, bot: BotSpec, listener: StepListener) -> Context:
        """Return the context with all of it; the listener is told of each step of the trace."""
        ...

    def write_off(self) -> None:
        """Let nothing more be spent, and book what is under way."""
        ...


@dataclass(frozen=True, slots=True)
class Worker:
    """What a process makes decisions of a run with."""

    store: Store
    venue: Venue
    game: Game
    run: StoredRun
    events: Mapping[str, Event]
    catalogue: Catalogue
    claimant: Claimant
    clock: Callable[[], datetime]
    board: VenueBoard
    settings: Settings = field(default_factory=Settings)
    """How many decisions at once, how long."""
    agents: ContextSetup | None = None
    """None where all bots decide with the view alone."""
    loopback: str | None = None
    """The address of a sandbox's pages."""
    watch: Watch = unwatched
    secrets: SecretValues = field(default_factory=lambda: SecretValues(secrets_present()))
    """What no row may hold: a strategy may read the environment, and quote it where it fails."""
    holder: str = ""
    """Under whose name amounts of limits are set aside."""
    under_way: dict[JobKey, Context] = field(default_factory=dict)
    """The contexts of the decisions that are under way here."""
    claiming: threading.Lock = field(default_factory=threading.Lock)
    """Held while a claim is made here."""
    has_ended: threading.Event = field(default_factory=threading.Event)
    """Set where all claims are given back, and none comes after."""
    news: NewsBoard | None = None
    """None where the game shows no news, or no bot reads any."""
    references: Callable[[], References] | None = None
    """What baselines may know of the items of the run, made once; None in a game without any."""

    @property
    def fills(self) -> FillModel:
        """Return what sets the prices of what is traded, as the game says it."""
        return fill_model(self.game.fills, fee_bps=self.game.fee_bps, spread_bps=self.game.spread_bps)

    def events_of(self, job: DecideJob) -> tuple[Event, ...]:
        """Return what a decision is about: its event or item, its cohort's markets as they are now, or all of the run.

        Raises:
            VenueUnavailable: If the venue does not answer.
        """
        if job.markets is not None:
            return self.board.unlisted(job.markets, self.instant())
        is_one = job.subject.kind == "event" or job.subject.kind in ITEM_SUBJECTS
        return (self.events[job.subject.id],) if is_one else tuple(self.events.values())

    def instant(self) -> datetime:
        """Return what the bot's clock shows: now where the venue is live, else the run's instant."""
        return self.clock() if self.venue.live else self.run.as_of

    def renew(self) -> None:
        """Give all that is claimed and set aside here a new lease: a sign of life."""
        self.store.run_write(self._renewed)

    def _renewed(self, connection: Connection) -> None:
        lease, now = self.claimant.lease, self.clock()
        renew(connection, self.claimant.owner, lease=lease, now=now)
        renew_reservations(connection, self.holder, lease=lease, now=now)


def make_worker(
    run: StoredRun,
    events: Sequence[Event],
    recipe: Recipe,
    agents: "AgentSetup | None",
    opened: OpenVenue,
    resources: Resources,
    *,
    began_at: datetime,
    retry: frozenset[Retry] = frozenset(),
    holder: str | None = None,
) -> Worker:
    """Return what this process works with, under an owner's name of its own.

    Args:
        run: Whose bots are stored.
        events: That it plays.
        recipe: Of the run.
        agents: What sets its bots up, from `agent_setup`.
        began_at: What failed after this is not tried again.
        retry: What is tried again because the user asks for it.
        holder: Under whose name amounts of limits are set aside; left out, the owner's.
    """
    store, settings, clock = resources.store, resources.settings, resources.clock
    lease = timedelta(seconds=settings.lease_seconds)
    claimant = Claimant(new_owner(), lease, began_at, is_gone, retry)
    holder = holder or claimant.owner
    if agents is not None:
        agents.run_key = run.key
        agents.holder = Holder(holder, lease, clock)
    game = recipe.make_game()
    window = game.news_window
    reads_news = any(bot.needs.models or bot.needs.news for bot in recipe.bots)
    return Worker(
        store=store,
        venue=opened.venue,
        game=game,
        run=run,
        events={event.id: event for event in events},
        catalogue=store.run_read(lambda connection: catalogue(connection, run.id)),
        claimant=claimant,
        clock=clock,
        # A past has its books only where they are asked for, which costs a request an event.
        board=VenueBoard(opened.venue, clock, past_books=game.fills == "book"),
        settings=settings,
        agents=agents,
        loopback=opened.loopback.search_url if opened.loopback else None,
        watch=resources.watch,
        holder=holder,
        references=cache(lambda: game.references(events)) if game.has_items else None,
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
    recipe: Recipe, opened: OpenVenue, settings: Settings, clock: Callable[[], datetime], store: Store | None = None
) -> "AgentSetup | None":
    """Return what sets the recipe's bots up, after a check of each; None where all need the view alone.

    Who is to decide with it has a ledger, and it is known then which models cannot be asked.

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
    if store is not None:
        agents.look_at_models(recipe.bots)
    return agents
