"""A worker: what a process needs to make decisions of a run, built once, and what members decided before a bot."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from sqlalchemy import Connection

from predibot.config import Settings
from predibot.contracts import VISIT_WEBPAGE, Context, Game, OpenVenue, ProgressListener, References, Venue
from predibot.domain.account_past import NewsItem
from predibot.domain.decision import ITEM_SUBJECTS, Subject
from predibot.domain.event import Event, Market
from predibot.domain.resolution import SettledForecast
from predibot.domain.secret_values import SecretValues
from predibot.domain.trace import SampleStep
from predibot.environment import api_bases, api_keys, secrets_present
from predibot.errors import BudgetSpent, ModelUnavailable, PluginError
from predibot.games.fills import FillModel
from predibot.jobs.deciding.activity import StepListener, Watch, ignore_progress
from predibot.jobs.deciding.venue_board import VenueBoard
from predibot.ledger.read.details.bots import settled_forecasts_of_bot
from predibot.ledger.read.labels import decisions_on, last_decided_at, undecided_on
from predibot.ledger.store import Store
from predibot.ledger.write.claims import Claimant, Retry, renew_claims
from predibot.ledger.write.events import Catalogue, add_news, catalogue, read_news
from predibot.ledger.write.process_identity import is_gone, new_owner
from predibot.ledger.write.runs import StoredRun
from predibot.ledger.write.spending import Holder, renew_reservations
from predibot.ledger.write.turns import KnownMarket
from predibot.plugins.tools import require_own_tools
from predibot.recipe.recipe import BotSpec, Recipe
from predibot.research.search.provider import SearchFailed

if TYPE_CHECKING:
    from predibot.jobs.deciding.agent_setup import AgentSetup

_REASON_CHARACTERS = 200
MAX_ITEMS = 3
"""The most news of a market."""
Window = tuple[timedelta, timedelta]
"""How long before the run's instant its news begin and end."""


class NewsBoard:
    """The news of a run's markets: searched once, stored with the run, shared by bots and processes."""

    def __init__(self, store: Store, run: StoredRun, source: "AgentSetup", window: Window) -> None:
        """Search for nothing yet."""
        self._store, self._run, self._source, self._window = store, run, source, window
        self._lock = threading.Lock()
        self._found: dict[str, tuple[NewsItem, ...] | None] = {}

    def of(self, markets: Sequence[Market]) -> Mapping[str, tuple[NewsItem, ...] | None]:
        """Return news by market id, None where they are unavailable; missing ones are searched for."""
        with self._lock:
            if any(market.id not in self._found for market in markets):
                self._found.update(self._store.run_read(lambda connection: read_news(connection, self._run.id)))
            missing = [market for market in markets if market.id not in self._found]
            for market in missing:
                self._search(market)
            if missing:
                self._found.update(self._store.run_read(lambda connection: read_news(connection, self._run.id)))
            return {market.id: self._found[market.id] for market in markets}

    def _search(self, market: Market) -> None:
        first, last = (self._run.as_of - before for before in self._window)
        query = market.question
        if market.is_share:
            # The description of a share is the company's name.
            query = f"{market.id} stock news{f' OR {market.description}' if market.description else ''}"
        items: tuple[NewsItem, ...] = ()
        failure = None
        try:
            items = self._source.news(query, after=first, before=last, count=MAX_ITEMS)
        except (SearchFailed, BudgetSpent, ModelUnavailable) as error:
            failure = str(error)

        def keep(connection: Connection) -> None:
            add_news(connection, self._run.id, market.id, self._run.venue_name, query, items, failure=failure)

        self._store.run_write(keep)


JobKey = tuple[str, Subject]
"""A bot and its subject."""


@dataclass(frozen=True, slots=True)
class Resources:
    """What decisions are made with, at any venue and instant."""

    store: Store
    settings: Settings
    clock: Callable[[], datetime]
    listener: ProgressListener
    """Hears of each decision."""
    watch: Watch = ignore_progress
    """Hears of each step of each bot."""


@dataclass(frozen=True, slots=True)
class DecideJob:
    """One decision to make, as plain data, fit for another process or machine."""

    bot: BotSpec
    bot_id: int
    subject: Subject
    markets: tuple[KnownMarket, ...] | None = None
    """The markets of its cohort, which another run chose; None for the events of the run."""
    methodology: str | None = None
    """The rules of its cohort; None for those of the recipe."""

    @property
    def key(self) -> JobKey:
        """Return its key among the jobs of the run."""
        return self.bot.name, self.subject


class ContextSetup(Protocol):
    """Adds models, tools, budget and trace to a bot's context."""

    def set_up(self, context: Context, bot: BotSpec, listener: StepListener) -> Context:
        """Return the complete context; the listener hears of each step of the trace."""
        ...

    def write_off(self) -> None:
        """Stop all spending, and book amounts under way."""
        ...


@dataclass(frozen=True, slots=True)
class Worker:
    """What a process needs to make decisions of a run."""

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
    agents: ContextSetup | None = None
    """None where every bot needs only the view."""
    loopback: str | None = None
    """The address of a sandbox's pages."""
    watch: Watch = ignore_progress
    begin: Callable[[], None] = lambda: None
    """Called once a decision is claimed, from which on its time counts."""
    secrets: SecretValues = field(default_factory=lambda: SecretValues(secrets_present()))
    """Values that no row may hold: a strategy may read the environment, and quote it in an error."""
    holder: str = ""
    """The holder of reserved amounts."""
    under_way: dict[JobKey, Context] = field(default_factory=dict)
    """Contexts of decisions under way here."""
    claiming: threading.Lock = field(default_factory=threading.Lock)
    """Held while a claim is made here."""
    has_ended: threading.Event = field(default_factory=threading.Event)
    """Set once all claims are given back; no further claim is made."""
    news: NewsBoard | None = None
    """None where the game shows no news, or no bot reads any."""
    references: Callable[[], References] | None = None
    """What baselines may know of the run's items, made once; None in a game without items."""

    @property
    def fills(self) -> FillModel:
        """Return the game's fill model."""
        return FillModel(self.game.fills, fee_bps=self.game.fee_bps, spread_bps=self.game.spread_bps)

    def game_of(self, job: DecideJob) -> Game:
        """Return the game by the rules of a decision's cohort."""
        is_own = job.methodology in (None, self.game.methodology_key)
        return self.game if is_own else self.game.by_methodology(str(job.methodology))

    def events_of(self, job: DecideJob) -> tuple[Event, ...]:
        """Return a decision's events: its event or item, its cohort's markets as they are now, or all of the run."""
        if job.markets is not None:
            return self.board.find_unlisted(job.markets, self.instant())
        is_one = job.subject.kind == "event" or job.subject.kind in ITEM_SUBJECTS
        return (self.events[job.subject.id],) if is_one else tuple(self.events.values())

    def instant(self) -> datetime:
        """Return the bot's instant: now at a live venue, else the run's."""
        return self.clock() if self.venue.live else self.run.as_of

    def renew(self) -> None:
        """Renew all leases here, as a sign of life."""
        self.store.run_write(self._renew_leases)

    def _renew_leases(self, connection: Connection) -> None:
        lease, now = self.claimant.lease, self.clock()
        renew_claims(connection, self.claimant.owner, lease=lease, now=now)
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
    """Return this process's worker, with an owner's name of its own.

    `agents` is from `agent_setup`; failures after `began_at` are not tried again.
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
        # Order books of a past cost a request an event.
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
    """Import what agents with tools run in, before decisions are claimed and wait for the imports."""
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
    """Return the setup of a recipe's bots after checking each; None if all need only the view.

    With a ledger it also finds out which models are unavailable. UsageError is raised as by `AgentSetup.check`.
    """
    if not any(bot.needs.setup for bot in recipe.bots):
        return None
    require_own_tools()
    # Imported here: clients and tools take half a second to load.
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


def read_members(job: DecideJob, worker: Worker, now: datetime) -> Mapping[str, Any]:
    """Return the fields of a context that say what the members of a bot decided, and how earlier forecasts ended."""
    names = job.bot.members
    if not names:
        return {}
    store, run_id = worker.store, worker.run.id
    decided = store.run_read(lambda connection: decisions_on(connection, run_id, job.subject))
    undecided = store.run_read(lambda connection: undecided_on(connection, run_id, job.subject))
    return {
        "members": {name: decided.get(name) for name in names},
        "undecided": {name: undecided[name] for name in names if name in undecided},
        "settled": _settled_forecasts(job, worker, now),
    }


def members_decided_at(job: DecideJob, worker: Worker) -> datetime | None:
    """Return the instant of the last answer of a bot's members on its subject; None without members or answers."""
    names, run_id = job.bot.members, worker.run.id
    return worker.store.run_read(lambda connection: last_decided_at(connection, run_id, job.subject, names))


def _settled_forecasts(job: DecideJob, worker: Worker, now: datetime) -> Callable[[str], tuple[SettledForecast, ...]]:
    needs, run_id = job.bot.needs, worker.run.id

    def read(name: str) -> tuple[SettledForecast, ...]:
        if not needs.settled or name not in needs.members:
            raise PluginError(
                f"strategy {job.bot.strategy.name!r} asks for settled forecasts of {name!r}, which it does not "
                "declare. Set needs = Needs(members=(...), settled=True)"
            )
        return worker.store.run_read(lambda connection: settled_forecasts_of_bot(connection, run_id, name, before=now))

    return read


def sample_steps(context: Context) -> Iterator[SampleStep]:
    """Yield what each sample of a bot said, or why it said nothing."""
    for name, decision in context.members.items():
        if decision is None:
            yield SampleStep(name, *context.undecided.get(name, ("missing", "it has not decided")))
        else:
            chances = {each.market_id: each.probability for each in decision.forecasts}
            yield SampleStep(name, "recorded", "", chances, next((each.label for each in decision.labels), ""))


def too_few_samples(bot: BotSpec, context: Context) -> str:
    """Return why the samples of a bot are too few to be pooled, with the reason of each that has no decision."""
    done = sum(each is not None for each in context.members.values())
    why = (f"{name} {status}: {reason[:_REASON_CHARACTERS]}" for name, (status, reason) in context.undecided.items())
    share = bot.strategy.arguments.get("min_share")
    return "; ".join([f"{done} of {len(bot.members)} samples have a decision, and min_share is {share}", *why])
