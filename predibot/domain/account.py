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
"""Cash that is below zero by no more than this is zero."""
MODES: tuple[Mode, ...] = get_args(Mode)
"""Of the runs that an account plays in; scores never mix them."""
MarkState = Literal["quoted", "stale", "closed", "settled"]
"""Of what an account holds, when it is valued: `quoted` where the venue shows a price; `stale` where it shows none, or
does not know the market any more; `closed` where nobody can trade it and nothing was paid yet; `settled` where its
payout is known. All but the first are marked at the last price there was, or the payout."""
MARK_STATES: tuple[MarkState, ...] = get_args(MarkState)
ACCOUNT_SUBJECTS = ("portfolio", "cohort")
"""The kinds of subjects of which a bot has an account; a decision on any other books into none."""


@dataclass(frozen=True, slots=True)
class JournalRow:
    """One thing that happened to an account; rows are only ever added."""

    kind: JournalKind
    at: datetime
    cash_usd: float = 0.0
    """What the account gained, negative where it paid."""
    instrument: Instrument | None = None
    shares: float = 0.0
    """What it gained of the instrument, negative where it gave some away."""
    follows_from: str = ""
    """The decision or the resolution it follows from."""
    revision: int | None = None
    """Of the resolution it follows from; None of what follows from none."""


@dataclass(frozen=True, slots=True)
class Position:
    """Shares of one instrument, and what they cost, fees left out."""

    shares: float
    cost_usd: float


@dataclass(frozen=True, slots=True)
class Account:
    """What a journal comes to.

    Cash and the cost of what is held are always what was paid in, with what was
    realised and the dividends, without the fees.
    """

    cash_usd: float = 0.0
    positions: Mapping[Instrument, Position] = field(default_factory=dict)
    paid_in_usd: float = 0.0
    realised_usd: float = 0.0
    dividends_usd: float = 0.0
    fees_usd: float = 0.0

    @property
    def owing(self) -> bool:
        """Return whether it spent what a reversal took back: it may only sell, and repays first."""
        return self.cash_usd < -ROUNDING_USD

    def held(self, instrument: Instrument) -> Position:
        """Return the position in an instrument, an empty one where nothing is held."""
        return self.positions.get(instrument, Position(0.0, 0.0))
