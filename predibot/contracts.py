"""The protocols between the parts, and the context a strategy decides in."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from predibot.domain.budget import Limits, Spending
from predibot.domain.chat import ChatReply, ChatRequest
from predibot.domain.decision import Abstention, Booking, Decision, Subject
from predibot.domain.event import Event, EventPage, MarketRef, Skip
from predibot.domain.price import Instrument, PricePath, PricePoint, Quote
from predibot.domain.resolution import Resolution
from predibot.errors import ModelRefused


class Game(Protocol):
    """The rules a decision is held to, and how its bets are booked; pure."""

    @property
    def name(self) -> str:
        """Return the word recipes use."""
        ...

    @property
    def stake_usd(self) -> float:
        """Return the dollars a bot may bet on one event."""
        ...

    def book(self, decision: Decision, event: Event, quotes: Mapping[str, Quote], *, venue: str) -> Booking:
        """Return the booking of a decision at the given quotes by market id.

        Raises:
            AnswerError: If the decision breaks a rule; the message names every
                complaint and what to mend.
        """
        ...


class ChatModel(Protocol):
    """A model that can be talked to; it retries by itself and keeps its deadline."""

    @property
    def name(self) -> str:
        """Return the name recipes use, such as `openai/gpt-5`."""
        ...

    def chat(self, request: ChatRequest, *, deadline_seconds: float) -> ChatReply:
        """Return the model's answer to a conversation.

        Raises:
            ModelUnavailable: If no answer came within the deadline.
            ModelRefused: If the provider refuses the request for good, such as a wrong key.
        """
        ...


class Meter(Protocol):
    """What a piece of work may still spend; reserved before, settled after."""

    def reserve(self, worst: Spending, *, wait_seconds: float | None = None) -> "Reservation":
        """Set the worst case aside, at every level at once, or nothing at all.

        Of seconds nothing is set aside: whoever waits takes no time from others.

        Args:
            worst: The most that may be spent.
            wait_seconds: How long others may be waited for who have set aside what is
                left, where that is less than the decision has.

        Raises:
            BudgetSpent: If what is settled leaves no room, or no second is left; the message names the limit.
            ModelUnavailable: If others had set aside what is left for as long as one could wait.
        """
        ...

    def keep(self, amount: Spending) -> "KeptReservation":
        """Set an amount aside for a later step, which nobody else may have, as `reserve` does."""
        ...

    def spent(self) -> Spending:
        """Return what is settled and reserved so far."""
        ...

    def left(self) -> Limits:
        """Return what may still be spent; None is no limit."""
        ...


class Reservation(Protocol):
    """An amount that is set aside until the truth is known."""

    def settle(self, actual: Spending) -> None:
        """Replace what was set aside by what was spent, once."""
        ...


class KeptReservation(Reservation, Protocol):
    """An amount that is set aside for a later step."""

    def offer(self) -> None:
        """Let the next reservation of the same meter have it."""
        ...

    def release(self) -> None:
        """Give it back, if it was not used."""
        ...


class TraceWriter(Protocol):
    """Where everything an agent says, calls and is told is written down."""

    def record(self, kind: str, **fields: object) -> None:
        """Write one step down; secrets never get this far."""
        ...


@dataclass(frozen=True, slots=True)
class Toolbox:
    """What an agent may call besides handing in its answer; every answer is text for a model."""

    web_search: Callable[[str], str] | None = None
    visit_webpage: Callable[[str, int, str | None], str] | None = None
    """Address, part from 1, and what to look for, or None."""


def no_history(_market_id: str) -> tuple[PricePoint, ...]:
    """Return no prices: what a context knows of the past where nobody asked."""
    return ()


def no_model(name: str) -> ChatModel:
    """Refuse to talk to a model: what a context does where nobody set one up."""
    raise ModelRefused(f"no model can be reached from here, {name!r} was asked for")


def calls_any_tools(_name: str) -> bool:
    """Trust a model to call tools: what a context does where nobody asks it."""
    return True


@dataclass(frozen=True, slots=True)
class Context:
    """All that a strategy sees when it decides."""

    now: datetime
    subject: Event
    """With the markets the run plays, each with the quote it is shown."""
    game: Game
    rng: random.Random
    """Seeded by seed, recipe, slot, bot and subject."""
    venue: str = ""
    """Whose instruments these are."""
    model: Callable[[str], ChatModel] = no_model
    """Models by name, metered by the bot's budget."""
    tools: Toolbox = Toolbox()
    meter: Meter | None = None
    trace: TraceWriter | None = None
    history: Callable[[str], tuple[PricePoint, ...]] = no_history
    """Daily prices of YES by market id up to now, oldest first; asked only when it is needed."""
    deadline_seconds: float = 600.0
    """How long the decision may take."""
    members: Mapping[str, Decision | None] = field(default_factory=dict)
    """What other bots of the recipe decided on the subject, by bot; None for one that did not."""
    calls_tools: Callable[[str], bool] = calls_any_tools
    """Whether a model, by name, calls tools; asked of it once."""


class Strategy(Protocol):
    """Code that turns an event into a decision."""

    def decide(self, context: Context) -> Decision | Abstention:
        """Return what to do about the context's event."""
        ...


@dataclass(frozen=True, slots=True)
class ResolutionPage:
    """Every known revision by market id, oldest first, and what could not be read."""

    found: Mapping[str, tuple[Resolution, ...]]
    skipped: tuple[Skip, ...] = ()


class EventSource(Protocol):
    """A place that lists events, as of an instant."""

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
        ...

    def event(self, event_id: str, as_of: datetime) -> Event:
        """Return one event, whatever its state.

        Raises:
            UsageError: If the venue knows no such event.
            VenueUnavailable: If it did not answer.
            VenueChanged: If it cannot be read.
        """
        ...


class PriceSource(Protocol):
    """A place that knows past prices; reading only."""

    def price_path(self, instrument: Instrument, *, start: datetime, until: datetime) -> PricePath:
        """Return the recorded prices with start < at <= until, oldest first.

        Raises:
            VenueUnavailable: If they could not be read whole.
            VenueChanged: If the answer does not keep the contract.
        """
        ...


class ResolutionSource(Protocol):
    """A place that knows how markets were settled."""

    def resolutions(self, markets: Sequence[MarketRef], *, as_of: datetime) -> ResolutionPage:
        """Return what these markets paid, as far as it was known at the instant.

        A market that is not settled is absent from the answer.

        Raises:
            VenueUnavailable: If they could not be read whole.
            VenueChanged: If the answer does not keep the contract.
        """
        ...


class Venue(EventSource, PriceSource, ResolutionSource, Protocol):
    """Where events and prices come from."""

    @property
    def name(self) -> str:
        """Return the venue whose instruments these are, such as `polymarket`."""
        ...

    @property
    def live(self) -> bool:
        """Return whether it answers for now only, so that quotes age while a bot thinks."""
        ...

    def quotes(self, event: Event) -> Mapping[str, Quote]:
        """Return a fresh quote for each market of the event that is still open and quoted.

        Only a live venue is asked; a replay books at the quotes of its instant.
        """
        ...


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of long work: what is being done, how far it is, what just happened."""

    stage: str
    done: int
    total: int | None = None
    text: str = ""


class ProgressListener(Protocol):
    """Somebody who wants to know how far long work is."""

    def __call__(self, progress: Progress, /) -> None:
        """Take note of a step; must be quick and never raise."""
        ...


__all__ = [
    "ChatModel",
    "Context",
    "EventSource",
    "Game",
    "KeptReservation",
    "Meter",
    "PriceSource",
    "Progress",
    "ProgressListener",
    "Reservation",
    "ResolutionPage",
    "ResolutionSource",
    "Strategy",
    "Subject",
    "TraceWriter",
    "Venue",
]
