"""The protocols between the parts, and the context a strategy decides in."""

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
from predibot.domain.decision import Abstention, Decision, Order
from predibot.domain.event import Event, EventPage, EventView, MarketRef, Skip
from predibot.domain.price import CorporateAction, Instrument, Price, PricePath, PricePoint, Quote
from predibot.domain.resolution import Resolution
from predibot.domain.trace import Step
from predibot.errors import ModelRefused, PluginError, UsageError

# What games are lies below them; everybody above takes it from here.
from predibot.games.game import AnswerForm as AnswerForm
from predibot.games.game import Game as Game
from predibot.games.game import JudgingForm as JudgingForm
from predibot.games.game import ReasonedForm as ReasonedForm
from predibot.games.game import References as References

WordForm = LastWordForm = AnswerForm
"""Names that strategies and packages have for a form with `labels`, and for one that says what now its game does."""
SelectingGame = CohortGame = ItemGame = Game

_T = TypeVar("_T")
_WITHOUT_DEFAULT = frozenset(
    {
        *("name", "live", "events", "event"),
        *("schema", "shape", "fields", "enough_tokens", "words", "parse"),
        *("stake_usd", "scores", "subjects", "view", "form", "book"),
    }
)
"""What venues, forms and games have to say themselves: nothing is made up for one that does not."""

Purpose = Literal["decide", "look_back"]
"""What a venue is opened for."""


class ChatModel(Protocol):
    """A model that can be talked to; it retries by itself and keeps its deadline."""

    @property
    def name(self) -> str:
        """Return the name recipes use, such as `openai/gpt-5`."""

    def chat(self, request: ChatRequest, *, deadline_seconds: float) -> ChatReply:
        """Return the model's answer to a conversation.

        Raises:
            ModelUnavailable: If no answer came within the deadline.
            ModelRefused: If the provider refuses the request for good, such as a wrong key.
        """


class Meter(Protocol):
    """What a piece of work may still spend; reserved before, settled after."""

    def reserve(self, worst: Spending, *, wait_seconds: float | None = None) -> "Reservation":
        """Set the worst case aside, at every level at once, or nothing at all.

        Of seconds nothing is set aside: a caller that waits takes no time from others.

        Args:
            worst: The most that may be spent.
            wait_seconds: How long all of it may take, where that is less than the decision
                has; others who have set aside what is left are waited for during a part of it.

        Raises:
            BudgetSpent: If what is settled leaves no room, or no second is left; the message names the limit.
            ModelUnavailable: If others had set aside what is left for as long as one could wait.
        """

    def keep(self, amount: Spending) -> "Reservation":
        """Set an amount aside for a later step, which nobody else may have, as `reserve` does."""

    def spent(self) -> Spending:
        """Return what is settled and reserved so far."""

    def left(self) -> Limits:
        """Return what may still be spent; None is no limit."""

    @property
    def is_in_flight(self) -> bool:
        """Return whether something is reserved and not settled."""

    def close(self) -> None:
        """Let no more be spent."""


class Reservation(Protocol):
    """An amount that is set aside until the truth is known, or for a later step."""

    def settle(self, actual: Spending) -> None:
        """Replace what was set aside by what was spent, once."""

    def offer(self) -> None:
        """Let the next reservation of the same meter have it."""

    def release(self) -> None:
        """Give it back, if it was not used."""


class TraceWriter(Protocol):
    """Where everything an agent says, calls and is told is written down."""

    def write(self, step: Step) -> None:
        """Write one step down; secrets never get this far."""

    def record(self, kind: str, **fields: object) -> None:
        """Write down a step of a strategy's own, under a name that none of predibot's has."""

    @property
    def steps(self) -> Sequence[Step]:
        """Return the steps as they are written down."""

    @property
    def text(self) -> str:
        """Return them as JSON lines."""


@dataclass(frozen=True, slots=True)
class ToolText:
    """What a tool found, in words that are not ours: a model reads them as untrusted text."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolError:
    """Why a tool found nothing, in a sentence; it may repeat foreign words, so it is untrusted text too."""

    text: str
    was_called: bool = True
    """Whether it looked for something; else its arguments were wrong."""


ToolResult: TypeAlias = ToolText | ToolError


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of a user's own, opened for one decision."""

    schema: ToolSchema
    """As a model is told of it."""
    call: Callable[[Mapping[str, object], float], ToolResult]
    """Arguments by name, and the seconds there are; refuses wrong arguments with a ToolError.

    Raises BudgetSpent where the call does not fit the budget any more.
    """


def no_tool(name: str) -> Tool:
    """Refuse to open a tool: what a context does where nobody set one up."""
    raise PluginError(f"no tool can be called from here, {name!r} was asked for")


class WebSearch(Protocol):
    """A search of the web."""

    def __call__(self, query: str, *, recent_days: int | None = None, by_date: bool = False) -> ToolResult:
        """Return results as text.

        Args:
            query: A few words.
            recent_days: Only what was published in so many days, where the provider can be asked that or says when.
            by_date: Whether the latest come first, and not the best.
        """
        ...


class VisitPage(Protocol):
    """Reads a page of the web."""

    def __call__(self, url: str, part: int = 1, focus: str | None = None, links: bool = False, /) -> ToolResult:
        """Return a part of a page, counted from 1, its passages about `focus` first; or of its links."""
        ...


@dataclass(frozen=True, slots=True)
class Toolbox:
    """What an agent may call besides handing in its answer."""

    web_search: WebSearch | None = None
    visit_webpage: VisitPage | None = None
    open: Callable[[str], Tool] = no_tool
    """Opens a tool of the user's own by its name."""

    def only(self, names: Collection[str]) -> "Toolbox":
        """Return the box with no other of its two fields than those that are named."""
        search = self.web_search if WEB_SEARCH in names else None
        return replace(self, web_search=search, visit_webpage=self.visit_webpage if VISIT_WEBPAGE in names else None)


WEB_SEARCH, VISIT_WEBPAGE = "web_search", "visit_webpage"
BUILT_IN_TOOLS = (WEB_SEARCH, VISIT_WEBPAGE)
"""The tools that are predibot's own; every other is a file of the user's."""


def untrusted_mark() -> str:
    """Return a new mark for the fence around untrusted text: 24 decimal digits that nobody can know before.

    Digits only, because a digit in any script can be told to be one, and a
    letter has look-alikes.
    """
    return f"{secrets.randbelow(10**24):024d}"


def whole(of_plugin: _T, base: type) -> _T:
    """Return the object of a plug-in with what it leaves to its base, whether it inherits that or not.

    What it says itself counts, also where that is a value of the object, or handed on to another by `__getattr__`.

    Raises:
        PluginError: If nothing can be added to it.
    """
    own: Any = type(of_plugin)
    if base in own.__mro__:
        return of_plugin
    defaults = {name for name in dir(base) if not name.startswith("_")} - _WITHOUT_DEFAULT
    lacking = frozenset(name for name in defaults if not _says(of_plugin, name))
    if not lacking:
        return of_plugin
    try:
        # Also where it is frozen.
        object.__setattr__(of_plugin, "__class__", _completed(own, base, lacking))
    except TypeError:
        try:
            for name in sorted(lacking, key=lambda name: isinstance(getattr_static(base, name), property)):
                object.__setattr__(of_plugin, name, getattr_static(base, name).__get__(of_plugin))
        except (AttributeError, TypeError) as error:
            message = f"a {own.__name__} cannot be a {base.__name__}: write a class, such as one that inherits it"
            raise PluginError(message) from error
    return of_plugin


def _says(of_plugin: object, name: str) -> bool:
    # None is a value that it may say.
    if getattr_static(of_plugin, name, _says) is not _says:
        return True
    return hasattr(type(of_plugin), "__getattr__") and hasattr(of_plugin, name)


@cache
def _completed(own: type, base: type, lacking: frozenset[str]) -> type:
    said = {name: getattr(own, name) for name in ("__module__", "__qualname__", "__doc__")}
    members = {name: getattr_static(base, name) for name in lacking}
    return type(own.__name__, (own,), {"__slots__": (), **said, **members})


def _is_own(of_plugin: object, name: str, base: type) -> bool:
    """Return whether a method is another than that of the base."""
    return getattr(getattr(of_plugin, name), "__func__", None) is not getattr(base, name)


def no_reference() -> Any:
    """Refuse what only baselines may know: what a context does where it was not declared."""
    raise PluginError("what is known of other items is asked for, and not declared. Set needs = Needs(reference=True)")


def no_history(_market_id: str) -> tuple[PricePoint, ...]:
    """Return no prices: what a context knows of the past where nobody asked."""
    return ()


def no_model(name: str) -> ChatModel:
    """Refuse to talk to a model: what a context does where nobody set one up."""
    raise ModelRefused(f"no model can be reached from here, {name!r} was asked for")


def trusted_with_tools(_name: str) -> str:
    """Trust a model to call tools: what a context does where nobody asks it."""
    return ""


@dataclass(frozen=True, slots=True)
class Context:
    """All that a strategy sees when it decides."""

    now: datetime
    view: Any
    """What the game shows; of a game on one event, an `EventView`."""
    game: Game
    rng: random.Random
    """Seeded by seed, recipe, slot, bot and subject."""
    account: Account | None = None
    """What the bot has; None in a game without accounts."""
    model: Callable[[str], ChatModel] = no_model
    """Models by name, those it declares; priced, metered by the bot's budget and traced."""
    tools: Toolbox = Toolbox()
    meter: Meter | None = None
    trace: TraceWriter | None = None
    history: Callable[[str], tuple[PricePoint, ...]] = no_history
    """Daily prices of YES by market id up to now, oldest first; asked only when it is needed."""
    deadline_seconds: float = 600.0
    """How long the decision may take."""
    members: Mapping[str, Decision | None] = field(default_factory=dict)
    """What the bots it declares as members decided on the subject, by bot; None for one that did not."""
    why_no_tools: Callable[[str], str] = trusted_with_tools
    """What is said of a model, by name, that calls no tools; empty for one that does. It is asked once."""
    untrusted_mark: str = field(default_factory=untrusted_mark)
    """The mark of the fence around untrusted text, of this decision alone; a rerun has that of its trace."""
    reference: Callable[[], Any] = no_reference
    """What is known of other items of a text task, and of the stakes behind this one; for baselines that declare it."""

    @property
    def event(self) -> Event:
        """Return the event that is decided on, with the markets the run plays, each with the quote it is shown.

        Raises:
            PluginError: If the game is on something else.
        """
        return self._event_view.event

    @property
    def subject(self) -> Event:
        """Return the same as `event`, by the name it had when all games were on events."""
        return self.event

    @property
    def venue(self) -> str:
        """Return whose instruments the event's markets are.

        Raises:
            PluginError: If the game is on something else.
        """
        return self._event_view.venue

    def form(self, *, price_blind: bool = False) -> AnswerForm:
        """Return how an answer is asked for and read in the game that is played."""
        return whole(self.game.form(self.view, price_blind=price_blind), AnswerForm)

    def orders(self, bets_usd: Mapping[str, float]) -> tuple[Order, ...]:
        """Return the orders for bets by market id: positive buys YES, negative buys NO, and zero nothing.

        Raises:
            PluginError: If one is on no market of the event, or the game is on something else.
        """
        return self._event_view.orders(bets_usd)

    @property
    def _event_view(self) -> EventView:
        if isinstance(self.view, EventView):
            return self.view
        raise PluginError(f"game {self.game.name!r} is not on one event; read context.view, or leave the game out")


ANSWER_TOKENS = 4_096
"""How long an answer may be where nobody says otherwise."""
THINKING_TOKENS = 16_000
"""The same of a model that thinks before it answers."""
MOST_ANSWER_TOKENS = 32_000
"""How long an answer may be that was cut off twice, where nobody says otherwise."""


@dataclass(frozen=True, slots=True)
class ModelNeed:
    """One conversation with a model, and the most it takes in one decision; named twice, there are two.

    A model is opened only where it is declared. The other fields are what
    `decide --dry-run` reckons with; limits hold whatever they say.
    """

    name: str
    """As litellm names it, such as `openai/gpt-5`."""
    calls: int | None = None
    """The most calls; None where the strategy sets no end to them, so that only limits do."""
    input_tokens: int = 0
    """What it reads besides instructions, event and its own earlier answers, such as a report."""
    output_tokens: int = ANSWER_TOKENS
    """The most one answer may have, thinking included."""
    tools: bool = False
    """Whether it calls the strategy's tools, and reads what they return."""
    max_searches: int | None = 0
    """How often a call may search the web by itself: 0 is never, None as often as it likes."""

    def __post_init__(self) -> None:
        """Refuse what describes no conversation."""
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
        """Return whether it looks things up by itself, which nobody can keep from the future."""
        return self.max_searches != 0


@dataclass(frozen=True, slots=True)
class Needs:
    """What a strategy decides with besides the event; what it does not declare it is not given."""

    models: tuple[ModelNeed, ...] = ()
    """Names alone are taken too: `Needs(models=("openai/gpt-5",))`. The first is the one the bot is known by."""
    tools: tuple[str, ...] = ()
    """`web_search`, `visit_webpage`, and those of the user's own by the names of their files."""
    history: bool = False
    """Whether it asks for daily prices."""
    news: bool = False
    """Whether its view must show news."""
    members: tuple[str, ...] = ()
    """The bots of the recipe whose decisions it pools; they decide before it."""
    reference: bool = False
    """Whether it learns from other items of a text task, whose truth no model is shown."""

    def __post_init__(self) -> None:
        """Take names for models, and refuse text where several names belong."""
        for field_name in ("models", "tools", "members"):
            given = getattr(self, field_name)
            if isinstance(given, str):
                raise TypeError(f"{field_name} is a tuple of names, with a comma after a single one; got {given!r}")
            object.__setattr__(self, field_name, tuple(given))
        models = (each if isinstance(each, ModelNeed) else ModelNeed(each) for each in self.models)
        object.__setattr__(self, "models", tuple(models))

    @property
    def setup(self) -> bool:
        """Return whether a worker has to set anything up for it."""
        return bool(self.models or self.tools or self.history or self.news)


FIRST_GAME = "dollar_per_event"
"""What a strategy plays that does not say what it plays."""
ANY_GAME = ("*",)
"""What a strategy declares as its games that takes words, schema and parser from whatever is played."""


class Strategy(Protocol):
    """Code that turns a view into an answer.

    It says what it plays with `games`, an attribute that is a tuple of names or
    `ANY_GAME`; one that does not say it plays `FIRST_GAME`. One that needs more
    than the view says so with `needs`, an attribute or a property that is a
    `Needs`; one without has no models, tools, history or members.
    """

    def decide(self, context: Context) -> Decision | Abstention:
        """Return what to do about the context's view.

        Raises:
            NoAnswer: If no answer of its model could be taken: recorded as a failure that is not tried again unasked.
            PredibotError: As any other exception, recorded as a failure.
        """


@dataclass(frozen=True, slots=True)
class ResolutionPage:
    """Every known revision by market id, oldest first, and what could not be read."""

    found: Mapping[str, tuple[Resolution, ...]]
    skipped: tuple[Skip, ...] = ()


class EventSource(Protocol):
    """A place that lists events, as of an instant."""

    __slots__ = ()

    def events(self, as_of: datetime, *, enough: Callable[[Sequence[Event]], bool] | None = None) -> EventPage:
        """Return the open events, the most traded of the week first where the venue can order them.

        Args:
            as_of: Nothing later than this instant is seen. A live venue answers
                only for now.
            enough: Asked between pages with all events so far; True ends the
                reading early, and the page says that it is not complete.

        Raises:
            VenueUnavailable: If the list could not be read to its end.
            VenueChanged: If a page does not keep the contract.
        """

    def event(self, event_id: str, as_of: datetime) -> Event:
        """Return one event, whatever its state.

        Raises:
            UsageError: If the venue knows no such event.
            VenueUnavailable: If it did not answer.
            VenueChanged: If it cannot be read.
        """


class PriceSource(Protocol):
    """A place that knows past prices; reading only."""

    __slots__ = ()

    def price_path(self, instrument: Instrument, *, start: datetime, until: datetime) -> PricePath:
        """Return the recorded prices with start < at <= until, oldest first.

        Raises:
            VenueUnavailable: If they could not be read whole.
            VenueChanged: If the answer does not keep the contract.
        """
        return PricePath(instrument)


class ResolutionSource(Protocol):
    """A place that knows how markets were settled."""

    __slots__ = ()

    def resolutions(self, markets: Sequence[MarketRef], *, as_of: datetime) -> ResolutionPage:
        """Return what these markets paid, as far as it was known at the instant.

        A market that is not settled is absent from the answer.

        Raises:
            VenueUnavailable: If they could not be read whole.
            VenueChanged: If the answer does not keep the contract.
        """
        return ResolutionPage({})


class Venue(EventSource, PriceSource, ResolutionSource, Protocol):
    """Where events and prices come from.

    What has a body here, or in what it inherits, need not be said; a venue of an installed package need not inherit it
    either.
    """

    __slots__ = ()

    @property
    def name(self) -> str:
        """Return the venue whose instruments these are, as recipes name it."""

    @property
    def live(self) -> bool:
        """Return whether it answers for now only, so that quotes age while a bot thinks."""

    def quotes(self, event: Event) -> Mapping[str, Quote]:
        """Return a fresh quote for each market of the event that is still open and quoted, by market id.

        Of more than two outcomes each has its own, by the id of its instrument.
        Only a live venue is asked; a replay books at the quotes of its instant.
        """
        return {market.id: market.quote for market in event.markets if market.quote is not None}

    def events_by_market(
        self, as_of: datetime, *, enough: Callable[[Sequence[Event]], bool] | None = None
    ) -> EventPage:
        """Return the open events of the markets most traded in all their life, these first; else as `events`."""
        return self.events(as_of, enough=enough)

    @property
    def ranks_markets(self) -> bool:
        """Return whether it can order its markets by what they traded in all their life."""
        return _is_own(self, "events_by_market", Venue)

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the files of a data set of texts, which lists no events; empty of any other venue."""
        return ""

    def rows(self, name: str) -> Iterator[Any]:
        """Yield the rows of a file of the data set, from its beginning.

        Raises:
            VenueChanged: If a line cannot be read.
        """
        return iter(())

    def raw_events(self, *, enough: Callable[[Sequence[object]], bool] | None = None) -> Iterable[list[object]]:
        """Yield the pages of open events as the venue wrote them; `enough` ends the reading early, as in `events`."""
        return ()

    def raw_history(self, token_id: str, start: datetime, until: datetime) -> Sequence[Mapping[str, object]]:
        """Return the points of a token with start < t <= until, each with `t` in unix seconds and a price `p`."""
        return ()

    @property
    def is_recordable(self) -> bool:
        """Return whether its answers can be written down as they were sent."""
        return _is_own(self, "raw_events", Venue)

    def closes(self, *, start: datetime, until: datetime) -> tuple[datetime, ...]:
        """Return the instants with start < at <= until at which the close of a trading day became known."""
        return ()

    def actions(self, instrument: Instrument, *, start: datetime, until: datetime) -> tuple[CorporateAction, ...]:
        """Return what issuers did to an instrument with start < effective_at <= until, oldest first."""
        return ()

    def last_closes(self, wanted: Collection[Instrument], at: datetime) -> Mapping[Instrument, Price]:
        """Return the prices of the last trading day by an instant; one without a price then is left out."""
        return {}

    @property
    def has_sessions(self) -> bool:
        """Return whether its instruments trade at the closes of trading days only, and change by what issuers do."""
        return _is_own(self, "closes", Venue)


RecordableVenue = SessionVenue = MarketLister = DataSetVenue = Venue
"""Names that packages know which were made for an older predibot."""


@dataclass(frozen=True, slots=True)
class PayloadReader:
    """How a venue's own JSON of an event is read, from the venue or from a recording."""

    event: Callable[[object, datetime], tuple[Event | None, tuple[Skip, ...]]]
    """Takes an object and the instant its quotes were read, and returns the event with every market that can be read,
    and a skip for everything that cannot."""
    id: Callable[[object], str]
    """Returns the id an object claims."""
    without_results: Callable[[str], str] = str
    """Takes out of JSON text whatever states a result."""
    no_first: Callable[[object], Collection[str]] = lambda _: ()
    """Takes an object and returns the `resolution_key` of each of its markets whose outcomes it lists as No, Yes."""


class VenueSettings(Protocol):
    """What the installation says of all venues."""

    @property
    def call_deadline_seconds(self) -> float:
        """Return how long all tries of one call may take together."""

    @property
    def list_deadline_seconds(self) -> float:
        """Return how long all pages of a list of events may take together."""

    @property
    def urls(self) -> Mapping[str, str]:
        """Return the addresses that were set, by their names in `predibot.toml`, which end in `_url`."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """How many requests may go out at once, and how many a second after that."""

    capacity: float
    per_second: float


class Paces(Protocol):
    """Turns at hosts that let themselves be asked only so fast, one after the other over several processes."""

    def take(self, buckets: Mapping[str, Bucket], *, longest_seconds: float) -> float | None:
        """Take a turn at each of some hosts, and return in how many seconds it is; None where that is too long."""
        ...


@dataclass(frozen=True, slots=True)
class VenueRequest:
    """What a venue is opened with."""

    spec: str
    """As runs keep it: the venue's name, and behind a colon its argument."""
    argument: str
    settings: VenueSettings
    clock: Callable[[], datetime]
    as_of: datetime | None = None
    """The instant to look at; None leaves it to the venue."""
    purpose: Purpose = "decide"
    paces: Paces | None = None
    """What is shared with other processes; None where this one is alone."""

    def live_instant(self) -> datetime:
        """Return the instant at which a venue is looked at that answers for now only.

        Raises:
            UsageError: If it is another one than now that is decided at, or is still to come.
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
    """Where a simulated world answers besides its venue: its search engine, its forecasters, its pages."""

    search_url: str
    chat_url: str
    address: tuple[str, int]


@dataclass(frozen=True, slots=True)
class OpenVenue(AbstractContextManager["OpenVenue"]):
    """A venue, the words it was asked for with, and the instant it is looked at."""

    spec: str
    venue: Venue
    now: datetime
    """The run's instant when deciding, the evaluation's when looking back."""
    closing: ExitStack = field(default_factory=ExitStack, repr=False)
    loopback: Loopback | None = None
    """Only of a simulated world."""

    def __post_init__(self) -> None:
        """Take venues that leave something to their base and do not inherit it."""
        whole(self.venue, Venue)

    @property
    def may_recover(self) -> bool:
        """Return whether it may answer otherwise a minute later; a recording never does."""
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
        """Return the words that runs keep of it."""

    @property
    def venue_name(self) -> str:
        """Return whose instruments it has."""

    @property
    def folder(self) -> Path | None:
        """Return where the whole of it is kept, which nobody may read beside it; None where it is kept nowhere."""

    @property
    def scripted_models(self) -> str:
        """Return how the names of the models begin that answer the same again; empty where there are none."""

    @property
    def first_at(self) -> datetime:
        """Return the first instant that decisions are made at where nobody names one."""

    @property
    def last_at(self) -> datetime:
        """Return the last such instant."""

    def known_until(self) -> datetime:
        """Return the instant of the last that it knows."""

    def check(self, instant: datetime) -> None:
        """Refuse an instant that nothing is known of.

        Raises:
            UsageError: It names the first that something is known of.
        """

    def open_at(self, instant: datetime) -> OpenVenue:
        """Return the venue as of an instant; closing it leaves the past as it is."""

    def cut_at(self, instant: datetime) -> OpenVenue:
        """Return a venue that is the same up to an instant, and has none of what came after it."""


@runtime_checkable
class SessionPast(Past, Protocol):
    """A past that has trading days."""

    def is_session(self, instant: datetime) -> bool:
        """Return whether the UTC date of an instant is a trading day."""


@dataclass(frozen=True, slots=True)
class Assumption:
    """Something that is assumed of a venue's hosts, and what was seen of it."""

    name: str
    holds: bool
    seen: str


@dataclass(frozen=True, slots=True)
class VenuePlugin:
    """What predibot knows of a venue before it is opened; it is imported for its name alone, so it imports little."""

    open: Callable[[VenueRequest], OpenVenue]
    """Raises UsageError if it cannot be asked about the instant."""
    live: bool
    """Whether it answers for now only. What is decided on a live venue cannot have been known by any model."""
    invented: bool = False
    """Whether its world is made up: no model can have read of it, whatever it was trained on."""
    usage: str = ""
    """How it is written with its argument, such as `archive:FOLDER`; empty where it takes none."""
    needs_argument: bool = False
    check: Callable[[str], str] = str
    """Takes its argument, and returns it as runs keep it; raises UsageError if it is none."""
    past: Callable[[VenueRequest], Past] | None = None
    """Opens it to be replayed; None where nobody can ask it what it said in the past."""
    ends_at: datetime | None = None
    """From when it is looked back on where nobody names an instant; None for now."""
    instruments_of: Callable[[str], str] | None = None
    """Returns whose instruments it has, by its argument; None where they are its own."""
    payloads: PayloadReader | None = None
    """None where what it sends is read by nobody else, so that it cannot be recorded."""
    urls: tuple[str, ...] = ()
    """The names of its addresses in `predibot.toml`, each ending in `_url`."""
    probes: Callable[[VenueSettings], Mapping[str, str]] | None = None
    """Returns addresses by the names of their hosts, which `predibot doctor` asks."""
    assumptions: Callable[[VenueSettings], Iterator[Assumption]] | None = None
    """Tries what is assumed of its hosts, for `predibot doctor --live`."""
    is_default: bool = False
    """Whether a recipe, or a recording of an older predibot, that names no venue means this one."""
    recorded_by: frozenset[str] = frozenset()
    """The foreign recordings of it that can be imported."""
    currency: str = "USD"
    """What its prices, stakes and volumes are in: fields that end in `_usd` hold amounts of it."""
    lists_by: Literal["volume_1wk", "volume_24h"] = "volume_1wk"
    """The volume by which it lists events, the highest first. One that states no week's volume ranks by a day's."""


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of long work: what is being done, how far it is, what just happened."""

    stage: str
    done: int
    total: int | None = None
    text: str = ""


ProgressListener: TypeAlias = Callable[[Progress], None]
"""Takes note of a step of long work; must be quick and never raise."""
