"""Decisions: what a bot answered about a subject, and what became of its orders."""

import hashlib
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, get_args

from predibot.domain.account import JournalRow
from predibot.domain.price import EntryPrice, Instrument

SourceKind = Literal["search", "page"]
Status = Literal["recorded", "refused", "failed", "abstained"]
STATUSES: tuple[Status, ...] = ("recorded", "refused", "failed", "abstained")

AbstentionKind = Literal["bot", "budget", "members"]
ABSTENTION_KINDS: tuple[AbstentionKind, ...] = ("bot", "budget", "members")
"""Why a bot abstains: by itself, because a limit was reached, or because the bots that it pools did not decide."""
ReasonKind = Literal["bot", "budget", "members", "answer"]
REASON_KINDS: tuple[ReasonKind, ...] = (*ABSTENTION_KINDS, "answer")
"""Why a bot has no decision: it abstains, or none of its model's answers could be read, which is a failure."""


def outcome_of(status: Status, reason_kind: ReasonKind | None) -> str:
    """Return a decision's name in counts: its status, and how it failed if its answer was not readable."""
    if reason_kind != "answer":
        return status
    return "failed (held by the system)" if status == "recorded" else f"{status} (unreadable answers)"


BY_SYSTEM = "no answer could be taken, so the system held"
"""The reason of a decision that the game made in place of an unusable answer; its note says why."""


def counted_status(status: Status, reason_kind: ReasonKind | None) -> Status:
    """Return a status as boards count it: what the game decided in place of an unusable answer has failed."""
    return "failed" if reason_kind == "answer" else status


WITHOUT_TOOLS = "without tools"
"""The note on an agent whose model calls no tools, and that was allowed to answer without."""

WITHOUT_SEARCH = "without search"
"""The note on an agent whose searches all failed: no provider answered, which is not "nothing found"."""

UNDER_RESEARCHED = "under_researched"
"""The note on an agent's decision after fewer searches or pages than it should make."""

LENIENT = "label read leniently"
"""The note on a label that did not stand alone in the model's answer."""


def note_text(note: str) -> str:
    """Return a note on a decision in words for people."""
    return "it rests on fewer searches or pages than asked for" if note == UNDER_RESEARCHED else note


OrderSide = Literal["buy", "sell"]
OrderUnit = Literal["usd", "shares", "weight"]
OrderStatus = Literal["pending", "filled", "expired", "replaced"]
ORDER_SIDES: tuple[OrderSide, ...] = get_args(OrderSide)
ORDER_UNITS: tuple[OrderUnit, ...] = get_args(OrderUnit)
ORDER_STATUSES: tuple[OrderStatus, ...] = get_args(OrderStatus)


ITEM_SUBJECTS = ("comment", "window", "pair")


@dataclass(frozen=True, slots=True, order=True)
class Subject:
    """The thing a decision is about: an event, a portfolio, a cohort, a comment, a pair."""

    kind: str
    id: str


@dataclass(frozen=True, slots=True)
class Forecast:
    """A bot's opinion of one market. Nothing here or below is checked: a strategy may state anything, and the game
    answers with complaints that say what to fix.
    """

    market_id: str
    probability: float
    """The probability of YES, in [0, 1]."""
    confidence: float | None = None
    """From 0 to 10; None where it is not stated."""
    rationale: str = ""


@dataclass(frozen=True, slots=True)
class MarketDecision:
    """A forecast and a bet on the same market, short for a `Forecast` and an `Order`."""

    market_id: str
    probability: float
    bet_usd: float = 0.0
    """Positive buys YES, negative buys NO; zero is allowed."""
    confidence: float | None = None
    rationale: str = ""


@dataclass(frozen=True, slots=True)
class Order:
    """An amount of an instrument to be bought or sold."""

    instrument: Instrument
    amount: float
    unit: OrderUnit = "usd"
    """A weight is the share of the account that the position shall have."""
    side: OrderSide = "buy"
    asked: float | None = None


@dataclass(frozen=True, slots=True)
class Label:
    """The class that a bot puts an item in."""

    item_id: str
    label: str
    probabilities: Mapping[str, float] = field(default_factory=dict)
    """In [0, 1]; empty where none is stated."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A bot's answer about one subject; each game needs other parts of it."""

    forecasts: tuple[Forecast | MarketDecision, ...] = ()
    orders: tuple[Order, ...] = ()
    labels: tuple[Label, ...] = ()
    unallocated_usd: float | None = None
    """The bot's own figure; with None the game computes the rest."""
    rationale: str = ""
    notes: tuple[str, ...] = ()
    by_system: bool = False
    """Whether the game decided in place of an answer that could not be used."""


@dataclass(frozen=True, slots=True)
class Abstention:
    """A bot's statement that it does not decide, and why."""

    reason: str
    kind: AbstentionKind = "bot"
    """`bot` is final; after the other kinds the bot may decide again."""


@dataclass(frozen=True, slots=True)
class Fill:
    """The trade an order led to: shares of an instrument, the price of each, the fee and the cash."""

    instrument: Instrument
    shares: float
    price: float
    fee_usd: float
    cash_usd: float
    model: str = "mid"


@dataclass(frozen=True, slots=True)
class BookedOrder:
    """An order and what became of it."""

    order: Order
    fills: tuple[Fill, ...] = ()
    status: OrderStatus = "filled"
    note: str = ""
    asked: float | None = None


@dataclass(frozen=True, slots=True)
class BookedBet:
    """The bet on one market of an event, and the price of YES that its forecast is compared with."""

    market_id: str
    asked_usd: float
    booked_usd: float
    price: EntryPrice


@dataclass(frozen=True, slots=True)
class Booking:
    """What became of a decision."""

    bets: tuple[BookedBet, ...] = ()
    """One for each market, in a game on one event; empty in others."""
    orders: tuple[BookedOrder, ...] = ()
    journal: tuple[JournalRow, ...] = ()
    """The new rows of the bot's account; empty in a game without accounts."""
    unallocated_usd: float | None = None
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class Source:
    """One search or one page; None where something is unknown or does not apply to its kind."""

    kind: SourceKind
    text: str
    """The query of a search, or the requested address of a page."""
    final_url: str | None = None
    sha256: str | None = None
    """The digest of the page's text as the bot could read it; the text is stored under it."""
    title: str = ""
    published_at: datetime | None = None
    results: int | None = None


def seeded_random(*parts: str | int) -> random.Random:
    """Return a generator whose draws follow from the parts alone, such as seed, recipe, slot, bot and subject.

    Source:
        `scoring.md`: sha256 of the parts joined by `|`.
    """
    digest = hashlib.sha256("|".join(str(part) for part in parts).encode()).digest()
    return random.Random(int.from_bytes(digest))
