"""Decisions: what a bot said about a subject, and what became of its bets."""

from dataclasses import dataclass
from typing import Literal

from predibot.domain.price import EntryPrice, Instrument

Status = Literal["recorded", "refused", "failed", "abstained"]
STATUSES: tuple[Status, ...] = ("recorded", "refused", "failed", "abstained")

ReasonKind = Literal["bot", "budget", "members"]
REASON_KINDS: tuple[ReasonKind, ...] = ("bot", "budget", "members")
"""Why a bot abstains: of its own accord, because a limit was reached, or because bots it pools did not decide."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a decision is about: an event today; a portfolio, a pair or a comment later."""

    kind: str
    id: str


@dataclass(frozen=True, slots=True)
class MarketDecision:
    """What a bot said about one market: a forecast and a bet.

    Nothing is checked here: a strategy may say anything, and the game answers
    with complaints that say what to mend.
    """

    market_id: str
    probability: float
    """Of YES, in [0, 1]."""
    bet_usd: float = 0.0
    """Positive buys YES, negative buys NO; zero is a legal bet."""
    confidence: float | None = None
    """0 to 10, or not stated."""
    rationale: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """What one bot said about one event."""

    markets: tuple[MarketDecision, ...]
    unallocated_usd: float | None = None
    """As the bot stated it; None lets the game compute the rest."""
    rationale: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Abstention:
    """A bot's word that it does not decide, and why."""

    reason: str
    kind: ReasonKind = "bot"
    """One for want of budget, or of members, may be asked again; its own word stands."""


@dataclass(frozen=True, slots=True)
class Fill:
    """One purchase: shares of an instrument, what each cost, and the cash that left."""

    instrument: Instrument
    shares: float
    price: float
    fee_usd: float
    cash_usd: float
    """Negative: money spent."""


@dataclass(frozen=True, slots=True)
class BookedBet:
    """What was asked on one market, what was booked, and at which price of YES."""

    market_id: str
    asked_usd: float
    booked_usd: float
    price: EntryPrice
    fills: tuple[Fill, ...] = ()


@dataclass(frozen=True, slots=True)
class Booking:
    """What became of a decision."""

    bets: tuple[BookedBet, ...]
    unallocated_usd: float
    scale: float = 1.0
    """What every bet was multiplied by where the recipe allows scaling; else 1."""
