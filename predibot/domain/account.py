"""Accounts: the cash and the positions of one bot in one game instance, which follow from a journal."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, get_args

from predibot.domain.price import Instrument

JournalKind = Literal["deposit", "fill", "fee", "settlement", "reversal", "refund", "split", "dividend", "delisting"]
JOURNAL_KINDS: tuple[JournalKind, ...] = get_args(JournalKind)
Mode = Literal["live", "replay"]
ROUNDING_USD = 1e-9
"""Cash no further below zero than this counts as zero."""
MODES: tuple[Mode, ...] = get_args(Mode)
MarkState = Literal["quoted", "stale", "closed", "settled"]
"""How a position is priced when its account is valued.

`quoted`: the venue shows a price. `stale`: it shows none, or no longer knows the market. `closed`: nobody can trade it,
and it has not paid yet. `settled`: its payout is known. All but `quoted` take the last known price, or the payout.
"""
MARK_STATES: tuple[MarkState, ...] = get_args(MarkState)
ACCOUNT_SUBJECTS = ("portfolio", "cohort")
"""The kinds of subjects for which a bot has an account; a decision on any other books into none."""


@dataclass(frozen=True, slots=True)
class JournalRow:
    """One thing that happened to an account; rows are only ever added."""

    kind: JournalKind
    at: datetime
    cash_usd: float = 0.0
    """Negative where the account paid."""
    instrument: Instrument | None = None
    shares: float = 0.0
    follows_from: str = ""
    revision: int | None = None
    """The revision of the resolution it follows from, if any."""


@dataclass(frozen=True, slots=True)
class Position:
    """Shares of one instrument, and what they cost without fees."""

    shares: float
    cost_usd: float


@dataclass(frozen=True, slots=True)
class Account:
    """The sum of a journal. Cash plus the cost of positions is always paid in + realised + dividends - fees."""

    cash_usd: float = 0.0
    positions: Mapping[Instrument, Position] = field(default_factory=dict)
    paid_in_usd: float = 0.0
    realised_usd: float = 0.0
    dividends_usd: float = 0.0
    fees_usd: float = 0.0

    @property
    def owing(self) -> bool:
        """Return whether a reversal took back money that was spent: it may only sell, and repays first."""
        return self.cash_usd < -ROUNDING_USD

    def position(self, instrument: Instrument) -> Position:
        """Return the position in an instrument, an empty one where there is none."""
        return self.positions.get(instrument, Position(0.0, 0.0))
