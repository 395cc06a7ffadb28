"""Decisions: what a bot said about a subject, and what became of its orders."""

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
"""Why a bot abstains: of its own accord, because a limit was reached, or because bots it pools did not decide."""
ReasonKind = Literal["bot", "budget", "members", "answer"]
REASON_KINDS: tuple[ReasonKind, ...] = (*ABSTENTION_KINDS, "answer")
"""Why there is no decision of a bot: it abstains, or no answer of its model could be taken, which failed."""


def outcome_of(status: Status, reason_kind: ReasonKind | None) -> str:
    """Return a status in the words by which decisions are counted: those without a readable answer apart.

    Examples:
        >>> outcome_of("failed", "answer"), outcome_of("failed", None), outcome_of("abstained", "budget")
        ('failed (unreadable answers)', 'failed', 'abstained')
    """
    return f"{status} (unreadable answers)" if reason_kind == "answer" else status


WITHOUT_TOOLS = "without tools"
"""The note of a decision of an agent whose model calls no tools, and was allowed to answer without."""

WITHOUT_SEARCH = "without search"
"""The note of a decision of an agent whose searches all failed: nobody answered, which is not "nothing found"."""

LENIENT = "label read leniently"
"""The note of a label that did not stand alone in what a model wrote."""

OrderSide = Literal["buy", "sell"]
OrderUnit = Literal["usd", "shares", "weight"]
OrderStatus = Literal["pending", "filled", "expired", "replaced"]
ORDER_SIDES: tuple[OrderSide, ...] = get_args(OrderSide)
ORDER_UNITS: tuple[OrderUnit, ...] = get_args(OrderUnit)
ORDER_STATUSES: tuple[OrderStatus, ...] = get_args(OrderStatus)


ITEM_SUBJECTS = ("comment", "window", "pair")
"""The kinds of subjects that are items of a data set, each frozen with its run under the subject's own id."""


@dataclass(frozen=True, slots=True, order=True)
class Subject:
    """What a decision is about: an event, a portfolio, a cohort, a comment, a pair."""

    kind: str
    id: str


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a bot thinks of one market.

    Nothing is checked here, nor in what follows: a strategy may say anything,
    and the game answers with complaints that say what to fix.
    """

    market_id: str
    probability: float
    """Of YES, in [0, 1]."""
    confidence: float | None = None
    """0 to 10, or not stated."""
    rationale: str = ""


@dataclass(frozen=True, slots=True)
class MarketDecision:
    """A forecast and a bet on the same market in one, short for a `Forecast` and an `Order`."""

    market_id: str
    probability: float
    """Of YES, in [0, 1]."""
    bet_usd: float = 0.0
    """Positive buys YES, negative buys NO; zero is a legal bet."""
    confidence: float | None = None
    """0 to 10, or not stated."""
    rationale: str = ""


@dataclass(frozen=True, slots=True)
class Order:
    """What is asked for: so much of an instrument, bought or sold."""

    instrument: Instrument
    amount: float
    unit: OrderUnit = "usd"
    """Of the amount; a weight is the share of an account that the position shall have."""
    side: OrderSide = "buy"
    asked: float | None = None
    """The amount as it was said, where a rule of the game has changed it."""


@dataclass(frozen=True, slots=True)
class Label:
    """The class a bot puts something in."""

    item_id: str
    """What is labelled, as the view names it."""
    label: str
    probabilities: Mapping[str, float] = field(default_factory=dict)
    """Of each class it might be, in [0, 1]; empty where none is stated."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What one bot said about one subject; each game says which parts it wants."""

    forecasts: tuple[Forecast | MarketDecision, ...] = ()
    orders: tuple[Order, ...] = ()
    labels: tuple[Label, ...] = ()
    unallocated_usd: float | None = None
    """As the bot stated it; None lets the game compute the rest."""
    rationale: str = ""
    notes: tuple[str, ...] = ()
    by_system: bool = False
    """Whether a game put it in the place of an answer that could not be taken."""


@dataclass(frozen=True, slots=True)
class Abstention:
    """A bot's word that it does not decide, and why."""

    reason: str
    kind: AbstentionKind = "bot"
    """One for want of budget, or of members, may be asked again; its own word stands."""


@dataclass(frozen=True, slots=True)
class Fill:
    """What an order came to: shares of an instrument, what each cost, the fee and the cash."""

    instrument: Instrument
    shares: float
    """Negative where they were sold."""
    price: float
    fee_usd: float
    cash_usd: float
    """Without the fee; negative is money spent."""
    model: str = "mid"
    """The fill model that set the price."""


@dataclass(frozen=True, slots=True)
class BookedOrder:
    """An order and what became of it."""

    order: Order
    """As it was carried out, after any scaling."""
    fills: tuple[Fill, ...] = ()
    status: OrderStatus = "filled"
    note: str = ""
    """Why it, or a part of it, was not filled."""
    asked: float | None = None
    """The amount as it was said, where a rule of the game has changed it."""


@dataclass(frozen=True, slots=True)
class BookedBet:
    """What was bet on one market of an event, and the price of YES that its forecast is compared with."""

    market_id: str
    asked_usd: float
    """Positive for YES, negative for NO."""
    booked_usd: float
    price: EntryPrice


@dataclass(frozen=True, slots=True)
class Booking:
    """What became of a decision."""

    bets: tuple[BookedBet, ...] = ()
    """In a game on one event, for each of its markets; empty in others."""
    orders: tuple[BookedOrder, ...] = ()
    journal: tuple[JournalRow, ...] = ()
    """What is to be written into the bot's account; empty in a game without accounts."""
    unallocated_usd: float | None = None
    """What no order took."""
    scale: float = 1.0
    """What every order was multiplied by where the game scales; else 1."""


@dataclass(frozen=True, slots=True)
class Source:
    """One search or one page; what is not known, or has no meaning for its kind, is None."""

    kind: SourceKind
    text: str
    """The query of a search, the address that was asked for of a page."""
    final_url: str | None = None
    """Where the page was in the end, after redirects."""
    sha256: str | None = None
    """Of the page's text as the bot could read it, by which it is kept."""
    title: str = ""
    published_at: datetime | None = None
    """An aware instant."""
    results: int | None = None
    """How many a search returned."""
