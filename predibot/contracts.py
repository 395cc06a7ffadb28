"""Contracts between the parts: protocols, plain values, and the context in which a strategy decides."""

import random
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from inspect import getattr_static
from pathlib import Path
from typing import Any, Literal, Protocol, Self, TypeAlias, TypeVar, runtime_checkable

from predibot.domain.account import Account
from predibot.domain.budget import Limits, Spending
from predibot.domain.chat import ChatReply, ChatRequest, ToolSchema
from predibot.domain.clock import format_instant
from predibot.domain.decision import Abstention, Decision, Order, Status
from predibot.domain.event import Event, EventPage, EventView, MarketRef, Skip
from predibot.domain.price import CorporateAction, Instrument, Price, PricePath, PricePoint, Quote
from predibot.domain.resolution import Resolution, SettledForecast
from predibot.domain.trace import Step
from predibot.errors import ModelRefused, PluginError, UsageError

# Games lie below this module; everything above takes their protocols from here.
from predibot.games.game import AnswerForm as AnswerForm
from predibot.games.game import Game as Game
from predibot.games.game import JudgingForm as JudgingForm
from predibot.games.game import ReasonedForm as ReasonedForm
from predibot.games.game import References as References

WordForm = LastWordForm = AnswerForm
"""Older names for `AnswerForm`, which strategies and packages still use."""
SelectingGame = CohortGame = ItemGame = Game

_T = TypeVar("_T")
_WITHOUT_DEFAULT = frozenset(
    {
        *("name", "live", "events", "event"),
        *("schema", "shape", "fields", "enough_tokens", "words", "parse"),
        *("stake_usd", "scores", "subjects", "view", "form", "book"),
    }
)
"""Members that venues, forms and games must define themselves."""

Purpose = Literal["decide", "look_back"]


class ChatModel(Protocol):
    """A model to talk to; it retries by itself and keeps its deadline."""

    @property
    def name(self) -> str:
        """Return the name in recipes, such as `openai/gpt-5`."""

    def chat(self, request: ChatRequest, *, deadline_seconds: float) -> ChatReply:
        """Return the model's answer to a conversation.

        Raises:
            ModelUnavailable: If no answer came within the deadline.
            ModelRefused: If the provider refuses the request for good, such as a wrong key.
        """


class Meter(Protocol):
    """The budget of a piece of work: amounts are reserved before and settled after."""

    def reserve(self, worst: Spending, *, wait_seconds: float | None = None) -> "Reservation":
        """Reserve the worst case at every level at once, or nothing at all.

        Seconds are never reserved: a caller that waits takes no time from others.

        Args:
            worst: The most that may be spent.
            wait_seconds: How long the whole step may take, if less than the decision has. A part of it may go by
                waiting for others that have reserved the rest of the budget.

        Raises:
            BudgetSpent: If the settled amounts leave no room, or no second is left; the message names the limit.
            ModelUnavailable: If others kept the rest reserved for as long as the caller could wait.
        """

    def keep(self, amount: Spending) -> "Reservation":
        """Reserve an amount for a later step of the caller's own, as `reserve` does."""

    def spent(self) -> Spending:
        """Return the settled and reserved amounts so far."""

    def left(self) -> Limits:
        """Return what may still be spent; None is no limit."""

    @property
    def is_in_flight(self) -> bool:
        """Return whether a reservation is not settled yet."""

    def close(self) -> None:
        """Allow no more spending."""


class Reservation(Protocol):
    """An amount set aside until the actual cost is known, or for a later step."""

    def settle(self, actual: Spending) -> None:
        """Replace the reserved amount by the actual one, once."""

    def offer(self) -> None:
        """Give the amount to the next reservation of the same meter."""

    def release(self) -> None:
        """Give back an unused amount."""


class TraceWriter(Protocol):
    """The writer of a decision's trace: everything an agent says, calls and is told."""

    def write(self, step: Step) -> None:
        """Write a step down; secrets never get this far."""

    def record(self, kind: str, **fields: object) -> None:
        """Write down a strategy's own step; its kind may not be one of predibot's."""

    @property
    def steps(self) -> Sequence[Step]:
        """Return the steps so far."""

    @property
    def text(self) -> str:
        """Return the steps as JSON lines."""


@dataclass(frozen=True, slots=True)
class ToolText:
    """The result of a tool, in foreign words: models read it as untrusted text."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolError:
    """The reason why a tool found nothing; it may repeat foreign words, so it is untrusted text too."""

    text: str
    was_called: bool = True
    """Whether the tool was called; False where its arguments were wrong."""


ToolResult: TypeAlias = ToolText | ToolError


@dataclass(frozen=True, slots=True)
class Tool:
    """A user's own tool, opened for one decision."""

    schema: ToolSchema
    call: Callable[[Mapping[str, object], float], ToolResult]
    """Takes arguments by name and the seconds left; refuses wrong arguments with a ToolError. Raises BudgetSpent where
    the call does not fit the budget any more.
    """


def no_tool(name: str) -> Tool:
    """Refuse to open a tool: the default of a context."""
    raise PluginError(f"no tool can be called from here, {name!r} was asked for")


class WebSearch(Protocol):
    """A search of the web."""

    def __call__(self, query: str, *, recent_days: int | None = None, by_date: bool = False) -> ToolResult:
        """Return results as text for a query of a few words: the best first, or the latest `by_date`. With
        `recent_days` only results published in so many days, where the provider can filter or date them.
        """
        ...


class VisitPage(Protocol):
    """A reader of web pages."""

    def __call__(self, url: str, part: int = 1, focus: str | None = None, links: bool = False, /) -> ToolResult:
        """Return a part of a page, counted from 1, with passages about `focus` first; or a part of its links."""
        ...


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools an agent may call besides handing in its answer."""

    web_search: WebSearch | None = None
    visit_webpage: VisitPage | None = None
    open: Callable[[str], Tool] = no_tool

    def only(self, names: Collection[str]) -> "Toolbox":
        """Return the box without the built-in tools that are not named."""
        search = self.web_search if WEB_SEARCH in names else None
        return replace(self, web_search=search, visit_webpage=self.visit_webpage if VISIT_WEBPAGE in names else None)


WEB_SEARCH, VISIT_WEBPAGE = "web_search", "visit_webpage"
BUILT_IN_TOOLS = (WEB_SEARCH, VISIT_WEBPAGE)
"""Tools of predibot's own; every other is a file of the user's."""


def untrusted_mark() -> str:
    """Return a new mark for the fence around untrusted text: 24 decimal digits that nobody can know before. Digits
    only, because a sentence can describe a digit in any script, and letters have look-alikes.
    """
    return f"{secrets.randbelow(10**24):024d}"


def complete_plugin(plugin_object: _T, base: type) -> _T:
    """Return a plug-in's object with its base's defaults for all members it leaves out; it need not inherit the base.

    A member of its own counts, also one set on the object or answered by `__getattr__`. Raises `PluginError` if its
    class takes no new members.
    """
    own: Any = type(plugin_object)
    if base in own.__mro__:
        return plugin_object
    defaults = {name for name in dir(base) if not name.startswith("_")} - _WITHOUT_DEFAULT
    lacking = frozenset(name for name in defaults if not _has_member(plugin_object, name))
    if not lacking:
        return plugin_object
    try:
        # Works on frozen classes too.
        object.__setattr__(plugin_object, "__class__", _complete_class(own, base, lacking))
    except TypeError:
        try:
            for name in sorted(lacking, key=lambda name: isinstance(getattr_static(base, name), property)):
                object.__setattr__(plugin_object, name, getattr_static(base, name).__get__(plugin_object))
        except (AttributeError, TypeError) as error:
            message = f"a {own.__name__} cannot be a {base.__name__}: write a class, such as one that inherits it"
            raise PluginError(message) from error
    return plugin_object


def _has_member(plugin_object: object, name: str) -> bool:
    # None may be the member's value, so it cannot be the default here.
    if getattr_static(plugin_object, name, _has_member) is not _has_member:
        return True
    return hasattr(type(plugin_object), "__getattr__") and hasattr(plugin_object, name)


@cache
def _complete_class(own: type, base: type, lacking: frozenset[str]) -> type:
    identity = {name: getattr(own, name) for name in ("__module__", "__qualname__", "__doc__")}
    members = {name: getattr_static(base, name) for name in lacking}
    return type(own.__name__, (own,), {"__slots__": (), **identity, **members})


def _overrides(plugin_object: object, name: str, base: type) -> bool:
    return getattr(getattr(plugin_object, name), "__func__", None) is not getattr(base, name)


def no_reference() -> Any:
    """Refuse knowledge of other items to a strategy that did not declare it: the default of a context."""
    raise PluginError("what is known of other items is asked for, and not declared. Set needs = Needs(reference=True)")


def no_history(_market_id: str) -> tuple[PricePoint, ...]:
    """Return no prices: the default of a context."""
    return ()


def no_model(name: str) -> ChatModel:
    """Refuse to open a model: the default of a context."""
    raise ModelRefused(f"no model can be reached from here, {name!r} was asked for")


@dataclass(frozen=True, slots=True)
class Context:
    """Everything that a strategy gets for a decision."""

    now: datetime
    view: Any
    """What the game shows; an `EventView` in a game on one event."""
    game: Game
    rng: random.Random
    """Seeded by seed, recipe, slot, bot and subject."""
    account: Account | None = None
    """None in a game without accounts."""
    model: Callable[[str], ChatModel] = no_model
    """Opens a declared model by name; its calls are priced, charged to the bot's budget and traced."""
    tools: Toolbox = Toolbox()
    meter: Meter | None = None
    trace: TraceWriter | None = None
    history: Callable[[str], tuple[PricePoint, ...]] = no_history
    """Daily prices of YES by market id up to now, oldest first; fetched only when called."""
    deadline_seconds: float = 600.0
    members: Mapping[str, Decision | None] = field(default_factory=dict)
    """Decisions of the declared member bots on the subject, by bot; None for a bot without one."""
    undecided: Mapping[str, tuple[Status, str]] = field(default_factory=dict)
    """Why members have none, by bot: `failed`, `refused` or `abstained`, and the reason that is stored."""
    settled: Callable[[str], tuple[SettledForecast, ...]] = lambda _bot: ()
    """Returns what a declared member forecast in all runs, on markets that settled before now; for `Needs.settled`."""
    why_no_tools: Callable[[str], str] = lambda _name: ""
    """Returns why a model, by name, calls no tools; empty for one that does. Each model is tried once."""
    untrusted_mark: str = field(default_factory=untrusted_mark)
    """The mark of the fence around untrusted text, for this decision only; a rerun uses the one in its trace."""
    reference: Callable[[], Any] = no_reference
    """What is known of other items of a text task, and of the stakes behind this one; for baselines that declare it."""
    prompt: str = ""
    """The text of a prompt of the user's own, which `predibot.agents.prompts.render` fills in; empty for ours."""
    rationale_first: bool = False
    """Whether that prompt asks for the rationale before the probability, where the game's form can."""

    @property
    def event(self) -> Event:
        """Return the event to decide on, with the run's markets and quotes.

        Raises `PluginError` if the game is not on one event.
        """
        return self._event_view.event

    @property
    def subject(self) -> Event:
        """Return `event`, under the name from when all games were on events."""
        return self.event

    @property
    def venue(self) -> str:
        """Return the venue of the event's instruments; raise `PluginError` if the game is not on one event."""
        return self._event_view.venue

    def form(self, *, price_blind: bool = False) -> AnswerForm:
        """Return how an answer is requested and read in the game."""
        view = replace(self.view, at=self.now) if isinstance(self.view, EventView) else self.view
        form = complete_plugin(self.game.form(view, price_blind=price_blind), AnswerForm)
        return form.reasoned() if self.rationale_first and isinstance(form, ReasonedForm) else form

    def orders(self, bets_usd: Mapping[str, float]) -> tuple[Order, ...]:
        """Return the orders for bets by market id: a positive bet buys YES, a negative one NO, zero nothing.

        Raises `PluginError` if a market is not of the event, or the game is not on one event.
        """
        return self._event_view.orders(bets_usd)

    @property
    def _event_view(self) -> EventView:
        if isinstance(self.view, EventView):
            return self.view
        raise PluginError(f"game {self.game.name!r} is not on one event; read context.view, or leave the game out")


ANSWER_TOKENS = 4_096
"""The longest answer, unless a strategy says otherwise."""
THINKING_TOKENS = 16_000
"""The same for a model that thinks before it answers."""
MOST_ANSWER_TOKENS = 32_000
"""The longest answer after two were cut off, unless a strategy says otherwise."""


@dataclass(frozen=True, slots=True)
class ModelNeed:
    """One conversation with a model, and its most in one decision; declared twice, there are two conversations.

    Only declared models can be opened. The other fields are for the estimate of `decide --dry-run`; limits hold
    whatever they say.
    """

    name: str
    """As litellm names it, such as `openai/gpt-5`."""
    calls: int | None = None
    """The most calls; None where only limits end them."""
    input_tokens: int = 0
    """Input besides instructions, event and its own earlier answers, such as a report."""
    output_tokens: int = ANSWER_TOKENS
    """The longest answer, with thinking."""
    tools: bool = False
    """Whether it calls the strategy's tools and reads their results."""
    max_searches: int | None = 0
    """How often a call may search the web by itself: 0 is never, None without end."""

    def __post_init__(self) -> None:
        """Refuse values that describe no conversation."""
        if not isinstance(self.name, str) or not self.name.strip():
            raise ValueError(f"a model is declared by its name, such as 'openai/gpt-5'; got {self.name!r}")
        least = {"calls": 1, "input_tokens": 0, "output_tokens": 1, "max_searches": 0}
        for field_name, lowest in least.items():
            count = getattr(self, field_name)
            if count is None and field_name in ("calls", "max_searches"):
                continue
            if not isinstance(count, int) or count < lowest:
                raise ValueError(f"{field_name} of model {self.name!r} is {count!r}; it is a number from {lowest} on")

    @property
    def searches_itself(self) -> bool:
        """Return whether the model searches by itself; such a search may see the future."""
        return self.max_searches != 0


@dataclass(frozen=True, slots=True)
class Needs:
    """What a strategy needs besides the event; it gets nothing that it does not declare."""

    models: tuple[ModelNeed, ...] = ()
    """Plain names are accepted: `Needs(models=("openai/gpt-5",))`. The bot is known by the first."""
    tools: tuple[str, ...] = ()
    """`web_search`, `visit_webpage`, and the user's own by file name."""
    history: bool = False
    news: bool = False
    members: tuple[str, ...] = ()
    """Bots of the recipe that decide first, and whose decisions it pools; each is named once."""
    settled: bool = False
    """Whether it learns from what its members forecast earlier, once that has settled."""
    reference: bool = False
    """Whether it learns from other items of a text task, whose true labels no model gets."""

    def __post_init__(self) -> None:
        """Turn names into models, and refuse a text in place of a tuple of names."""
        for field_name in ("models", "tools", "members"):
            given = getattr(self, field_name)
            if isinstance(given, str):
                raise TypeError(f"{field_name} is a tuple of names, with a comma after a single one; got {given!r}")
            object.__setattr__(self, field_name, tuple(given))
        if len(set(self.members)) < len(self.members):
            raise PluginError(f"a member is named twice in {', '.join(self.members)}; name each once")
        if self.settled and not self.members:
            raise PluginError("settled forecasts are those of members; name them in Needs(members=...)")
        models = (each if isinstance(each, ModelNeed) else ModelNeed(each) for each in self.models)
        object.__setattr__(self, "models", tuple(models))

    @property
    def setup(self) -> bool:
        """Return whether a worker has to set anything up for it."""
        return bool(self.models or self.tools or self.history or self.news)


FIRST_GAME = "dollar_per_event"
"""The game of a strategy that names none."""
ANY_GAME = ("*",)
"""The games of a strategy that takes words, schema and parser from whatever game is played."""


class Strategy(Protocol):
    """Code that turns a view into an answer.

    It may declare `games`, a tuple of names or `ANY_GAME`, else it plays `FIRST_GAME`; and `needs`, an attribute or a
    property that is a `Needs`, else it has no models, tools, history or members.
    """

    def decide(self, context: Context) -> Decision | Abstention:
        """Return the decision on the context's view.

        Raises `NoAnswer` if its model gave no usable answer: a failure that is only tried again on request. Any other
        `PredibotError` is recorded as a failure.
        """


@dataclass(frozen=True, slots=True)
class ResolutionPage:
    """Every known revision by market id, oldest first, and what could not be read."""

    found: Mapping[str, tuple[Resolution, ...]]
    skipped: tuple[Skip, ...] = ()


class Venue(Protocol):
    """A place that events and prices come from.

    Methods with a body here may be left out; a venue of an installed package need not inherit this class.
    """

    __slots__ = ()

    @property
    def name(self) -> str:
        """Return the venue of its instruments, as recipes name it."""

    @property
    def live(self) -> bool:
        """Return whether it answers for now only, so that quotes age while a bot thinks."""

    def events(self, as_of: datetime, *, enough: Callable[[Sequence[Event]], bool] | None = None) -> EventPage:
        """Return the open events, the most traded of the week first where the venue can order them.

        Args:
            as_of: Nothing later is seen; a live venue answers only for now.
            enough: Called between pages with all events so far; True ends the reading, and the page says that it is not
                complete.

        Raises:
            VenueUnavailable: If the list could not be read to its end.
            VenueChanged: If a page breaks the contract.
        """

    def event(self, event_id: str, as_of: datetime) -> Event:
        """Return one event, whatever its state.

        Raises `UsageError` if there is no such event, `VenueUnavailable` if the venue did not answer, and
        `VenueChanged` if the event cannot be read.
        """

    def price_path(self, instrument: Instrument, *, start: datetime, until: datetime) -> PricePath:
        """Return the recorded prices with start < at <= until, oldest first.

        Raises `VenueUnavailable` if they could not be read whole, and `VenueChanged` if the answer breaks the contract.
        """
        return PricePath(instrument)

    def resolutions(self, markets: Sequence[MarketRef], *, as_of: datetime) -> ResolutionPage:
        """Return what these markets paid, as known at the instant; an unsettled market is absent.

        Raises `VenueUnavailable` if they could not be read whole, and `VenueChanged` if the answer breaks the contract.
        """
        return ResolutionPage({})

    def quotes(self, event: Event) -> Mapping[str, Quote]:
        """Return a fresh quote for each market of the event that is still open and quoted, by market id.

        Of more than two outcomes each has its own quote, by the id of its instrument. Only a live venue is asked; a
        replay books at the quotes of its instant.
        """
        return {market.id: market.quote for market in event.markets if market.quote is not None}

    def events_by_market(
        self, as_of: datetime, *, enough: Callable[[Sequence[Event]], bool] | None = None
    ) -> EventPage:
        """Return the open events, those of the markets with most volume ever first; else as `events`."""
        return self.events(as_of, enough=enough)

    @property
    def ranks_markets(self) -> bool:
        """Return whether it can order markets by all the volume they ever had."""
        return _overrides(self, "events_by_market", Venue)

    @property
    def digest(self) -> str:
        """Return the SHA-256 of a data set's files, which lists no events; empty for any other venue."""
        return ""

    def rows(self, name: str) -> Iterator[Any]:
        """Yield the rows of a file of the data set from its start; raise `VenueChanged` if a line cannot be read."""
        return iter(())

    def raw_events(self, *, enough: Callable[[Sequence[object]], bool] | None = None) -> Iterable[list[object]]:
        """Yield the pages of open events as the venue wrote them; `enough` ends the reading as in `events`."""
        return ()

    def raw_history(self, token_id: str, start: datetime, until: datetime) -> Sequence[Mapping[str, object]]:
        """Return the points of a token with start < t <= until, each with `t` in unix seconds and a price `p`."""
        return ()

    @property
    def is_recordable(self) -> bool:
        """Return whether its answers can be recorded as they were sent."""
        return _overrides(self, "raw_events", Venue)

    def closes(self, *, start: datetime, until: datetime) -> tuple[datetime, ...]:
        """Return the instants with start < at <= until at which the close of a trading day became known."""
        return ()

    def actions(self, instrument: Instrument, *, start: datetime, until: datetime) -> tuple[CorporateAction, ...]:
        """Return the issuer's actions on an instrument with start < effective_at <= until, oldest first."""
        return ()

    def last_closes(self, wanted: Collection[Instrument], at: datetime) -> Mapping[Instrument, Price]:
        """Return the prices of the last trading day by an instant, without instruments that had none."""
        return {}

    @property
    def has_sessions(self) -> bool:
        """Return whether its instruments trade only at closes of trading days, and splits and dividends change them."""
        return _overrides(self, "closes", Venue)


EventSource = PriceSource = ResolutionSource = RecordableVenue = SessionVenue = MarketLister = DataSetVenue = Venue
"""Older names that packages still use."""


@dataclass(frozen=True, slots=True)
class PayloadReader:
    """A reader of a venue's own JSON of an event, from the venue or from a recording."""

    event: Callable[[object, datetime], tuple[Event | None, tuple[Skip, ...]]]
    """Takes an object and the instant of its quotes; returns the event with every readable market, and skips for the
    rest.
    """
    id: Callable[[object], str]
    without_results: Callable[[str], str] = str
    """Removes from JSON text whatever states a result."""
    no_first: Callable[[object], Collection[str]] = lambda _: ()
    """Takes an object; returns the `resolution_key` of each market that lists its outcomes as No, Yes."""


class VenueSettings(Protocol):
    """The settings of the installation that venues read."""

    @property
    def call_deadline_seconds(self) -> float:
        """Return how long all tries of one call may take together."""

    @property
    def list_deadline_seconds(self) -> float:
        """Return how long all pages of a list of events may take together."""

    @property
    def urls(self) -> Mapping[str, str]:
        """Return the configured addresses, by their names in `predibot.toml`, which end in `_url`."""

    @property
    def key_hosts(self) -> Mapping[str, tuple[str, ...]]:
        """Return the hosts that may get a key besides its provider's own, by the key's variable."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """A rate limit: how many requests may go out at once, and how many a second after that."""

    capacity: float
    per_second: float


class Paces(Protocol):
    """The shared queue, over several processes, for hosts with a rate limit."""

    def take(self, buckets: Mapping[str, Bucket], *, longest_seconds: float) -> float | None:
        """Take a turn at each host and return the seconds until it comes; None where that is too long."""
        ...


@dataclass(frozen=True, slots=True)
class VenueRequest:
    """The arguments with which a venue is opened."""

    spec: str
    """As runs store it: the venue's name, and its argument behind a colon."""
    argument: str
    settings: VenueSettings
    clock: Callable[[], datetime]
    as_of: datetime | None = None
    """None leaves the instant to the venue."""
    purpose: Purpose = "decide"
    paces: Paces | None = None
    """Shared with other processes; None where this one is alone."""
    only: tuple[str, ...] = ()
    """The ids of the only events that a recipe plays; empty where it takes any, or is not known."""

    def live_instant(self) -> datetime:
        """Return the instant at which a live venue is looked at.

        Raises `UsageError` if it is to come, or is not now when deciding.
        """
        now = self.clock()
        if self.as_of is None:
            return now
        if self.purpose == "decide":
            raise UsageError(
                f"{self.spec} is live: it answers for now, not for {format_instant(self.as_of)}. "
                "Leave out --as-of, or decide on a recording with --venue archive:<folder>"
            )
        if self.as_of > now:
            instant = format_instant(self.as_of)
            raise UsageError(f"{instant} is still to come. Leave out --as-of, or name an earlier instant")
        return self.as_of


@dataclass(frozen=True, slots=True)
class Loopback:
    """Where a simulated world serves its search engine, forecasters and pages."""

    search_url: str
    chat_url: str
    address: tuple[str, int]


@dataclass(frozen=True, slots=True)
class OpenVenue(AbstractContextManager["OpenVenue"]):
    """An open venue, its spec, and the instant it is looked at."""

    spec: str
    venue: Venue
    now: datetime
    """The run's instant when deciding, the evaluation's when looking back."""
    closing: ExitStack = field(default_factory=ExitStack, repr=False)
    loopback: Loopback | None = None
    """None unless the world is simulated."""

    def __post_init__(self) -> None:
        """Complete a venue that leaves methods out and does not inherit `Venue`."""
        complete_plugin(self.venue, Venue)

    @property
    def may_recover(self) -> bool:
        """Return whether its answer may differ a minute later; a recording's never does."""
        return self.venue.live or self.loopback is not None

    def __enter__(self) -> Self:
        """Return the open venue itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close connections and servers."""
        self.closing.close()


class Past(Protocol):
    """A venue that can be looked at as of any instant it knows."""

    @property
    def spec(self) -> str:
        """Return the spec that runs store."""

    @property
    def venue_name(self) -> str:
        """Return the venue of its instruments."""

    @property
    def folder(self) -> Path | None:
        """Return the folder with all its files, which no bot may read; None without one."""

    @property
    def scripted_models(self) -> str:
        """Return the prefix of models that answer the same again; empty where there are none."""

    @property
    def first_at(self) -> datetime:
        """Return the first instant for decisions where none is named."""

    @property
    def last_at(self) -> datetime:
        """Return the last such instant."""

    def known_until(self) -> datetime:
        """Return the last instant that it knows."""

    def check(self, instant: datetime) -> None:
        """Raise `UsageError` for an instant about which nothing is known; it names the first known one."""

    def open_at(self, instant: datetime) -> OpenVenue:
        """Return the venue as of an instant; closing it leaves the past as it is."""

    def cut_at(self, instant: datetime) -> OpenVenue:
        """Return a venue that is the same up to an instant and has nothing later."""


@runtime_checkable
class SessionPast(Past, Protocol):
    """A past that has trading days."""

    def is_session(self, instant: datetime) -> bool:
        """Return whether the UTC date of an instant is a trading day."""


@dataclass(frozen=True, slots=True)
class Assumption:
    """An assumption about a venue's hosts, and what was seen of it."""

    name: str
    holds: bool
    seen: str


@dataclass(frozen=True, slots=True)
class VenuePlugin:
    """What predibot knows of a venue before it is opened; doctor and lists import it, so it should import little."""

    open: Callable[[VenueRequest], OpenVenue]
    """Raises `UsageError` if it cannot answer for the instant."""
    live: bool
    """Whether it answers for now only; no model can have known then how a decision would turn out."""
    invented: bool = False
    """Whether its world is made up, so that no model can have read of it."""
    usage: str = ""
    """Its spelling with its argument, such as `archive:FOLDER`; empty where it takes none."""
    needs_argument: bool = False
    check: Callable[[str], str] = str
    """Takes its argument and returns it as runs store it; raises `UsageError` for a wrong one."""
    past: Callable[[VenueRequest], Past] | None = None
    """Opens it to be replayed; None where it cannot answer for the past."""
    ends_at: datetime | None = None
    """The end of a world, at which evaluations look back unless an instant is named; None for now."""
    instruments_of: Callable[[str], str] | None = None
    """Returns the venue of its instruments, by its argument; None where they are its own."""
    payloads: PayloadReader | None = None
    """None where nothing else reads its answers, so that it cannot be recorded."""
    urls: tuple[str, ...] = ()
    """The names of its addresses in `predibot.toml`, each ending in `_url`."""
    probes: Callable[[VenueSettings], Mapping[str, str]] | None = None
    """Returns addresses by host name, which `predibot doctor` tries."""
    assumptions: Callable[[VenueSettings], Iterator[Assumption]] | None = None
    """Tries the assumptions about its hosts, for `predibot doctor --live`."""
    is_default: bool = False
    """Whether it is the venue of a recipe, or of an old recording, that names none."""
    variants: "Mapping[str, VenuePlugin]" = field(default_factory=dict)
    """What it is with another first word of its argument, such as `live` of `stocks:live`."""
    replayed_from: str = "Record it with `predibot record FOLDER`, and replay with --venue archive:FOLDER"
    """Where a live venue can be replayed from, as a sentence without its end."""
    recorded_by: frozenset[str] = frozenset()
    """Foreign formats of recordings of it that can be imported."""
    currency: str = "USD"
    """The currency of its prices, stakes and volumes; fields that end in `_usd` hold amounts of it."""
    lists_by: Literal["volume_1wk", "volume_24h"] = "volume_1wk"
    """The volume by which it lists events, highest first; a venue without weekly volumes ranks by a day's."""


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of long work: its stage, how far it is, what just happened."""

    stage: str
    done: int
    total: int | None = None
    text: str = ""


ProgressListener: TypeAlias = Callable[[Progress], None]
"""Hears of a step of long work; must be quick and never raise."""
