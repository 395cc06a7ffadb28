"""Positions: what a member of a cohort has bought of one outcome, from the first share to the last one's end."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, get_args

from predibot.domain.account import Account, JournalKind, JournalRow
from predibot.domain.price import Instrument
from predibot.games.accounts import SETTLING
from predibot.scoring.accounts.record import SizedBet

PositionState = Literal["open", "PENDING", "WON", "LOST", "EXITED", "CANCELLED"]
"""`PENDING` is closed and not settled. `WON` and `LOST` paid 1 and 0. `CANCELLED` is anything else that a resolution
comes to, where no side won: a part of a dollar, or what the position cost. `EXITED` was sold."""
POSITION_STATES: tuple[PositionState, ...] = get_args(PositionState)
Standing = Literal["playing", "cannot bet", "bankrupt"]
_NOTHING_USD = 1e-9


@dataclass(frozen=True, slots=True)
class CohortPosition:
    """A position in one outcome; buying again after all was sold opens another one."""

    id: str
    """`p1` is the first that the account opened."""
    instrument: Instrument
    opened_at: datetime
    state: PositionState
    shares: float
    """Held now."""
    cost_usd: float
    """Of what is held now, at average cost, fees left out."""
    bought_usd: float
    """All that was paid for it, fees left out."""
    realised_usd: float
    """What sales and its end brought beyond what was sold had cost."""
    ended_at: datetime | None = None
    """None where something is held."""
    joined: str = ""
    """The position that took its shares when a reversal brought them back, where it had been opened since."""
    legs: tuple[SizedBet, ...] = ()
    """The bets that bought it."""

    @property
    def is_open(self) -> bool:
        """Return whether something of it is held."""
        return self.state in ("open", "PENDING")

    @property
    def average_price(self) -> float | None:
        """Return what a share that is held cost on average; None where none is."""
        return self.cost_usd / self.shares if self.shares else None


def positions_of(journal: Iterable[JournalRow], closed: Collection[Instrument] = ()) -> tuple[CohortPosition, ...]:
    """Return all positions of an account, in the order in which they were opened.

    Args:
        journal: Of the account, in its order.
        closed: Outcomes that nobody can trade any more.

    Raises:
        ValueError: If a row takes from a position that is not there.
    """
    fold = _Fold()
    for row in journal:
        if row.instrument is not None and row.shares != 0.0:
            fold.add(row, row.instrument)
        fold.cash_usd += row.cash_usd
    return tuple(each.frozen(closed) for each in fold.opened)


def resolved_bets(positions: Iterable[CohortPosition]) -> tuple[SizedBet, ...]:
    """Return the bets on positions that were held until they were resolved, for the Brier score of their sizes.

    Whether one won is unknown where the position was cancelled. Of what was
    sold before there is none.
    """
    won = {"WON": True, "LOST": False, "CANCELLED": None}
    return tuple(
        replace(leg, won=won[position.state])
        for position in positions
        if position.state in won
        for leg in position.legs
    )


def standing_of(account: Account, least_cash_usd: float) -> Standing:
    """Return whether an account can still bet, which takes so much cash.

    Bankrupt is one that has no cash and holds nothing.
    """
    if not account.positions and account.cash_usd <= _NOTHING_USD:
        return "bankrupt"
    return "cannot bet" if account.cash_usd < least_cash_usd - _NOTHING_USD else "playing"


@dataclass(slots=True)
class _Open:
    """A position while its journal is read."""

    id: str
    instrument: Instrument
    opened_at: datetime
    shares: float = 0.0
    cost_usd: float = 0.0
    bought_usd: float = 0.0
    realised_usd: float = 0.0
    ended_at: datetime | None = None
    ended_by: JournalKind | None = None
    payout_usd: float = 0.0
    """What a share was paid at its end."""
    joined: str = ""
    legs: list[SizedBet] = field(default_factory=list)

    def state(self, closed: Collection[Instrument]) -> PositionState:
        if self.ended_by is None:
            return "PENDING" if self.instrument in closed else "open"
        if self.ended_by == "fill":
            return "EXITED"
        if self.ended_by == "refund" or self.joined or self.payout_usd not in (0.0, 1.0):
            return "CANCELLED"
        return "WON" if self.payout_usd == 1.0 else "LOST"

    def frozen(self, closed: Collection[Instrument]) -> CohortPosition:
        return CohortPosition(
            self.id,
            self.instrument,
            self.opened_at,
            self.state(closed),
            self.shares,
            self.cost_usd,
            self.bought_usd,
            self.realised_usd,
            self.ended_at,
            self.joined,
            tuple(self.legs),
        )


class _Fold:
    def __init__(self) -> None:
        self.opened: list[_Open] = []
        self.cash_usd = 0.0
        self._open: dict[Instrument, _Open] = {}
        self._ended: dict[Instrument, list[tuple[_Open, float, float, float]]] = {}
        """Of each, what was ended by resolutions: the shares, what they had cost, and what they were paid."""

    def add(self, row: JournalRow, instrument: Instrument) -> None:
        if row.kind == "reversal":
            self._reverse(row, instrument)
        elif row.shares > 0.0:
            self._buy(row, instrument)
        else:
            self._end(row, instrument)

    def _buy(self, row: JournalRow, instrument: Instrument) -> None:
        position = self._open.get(instrument)
        if position is None:
            position = _Open(f"p{len(self.opened) + 1}", instrument, row.at)
            self.opened.append(position)
            self._open[instrument] = position
        position.shares += row.shares
        position.cost_usd -= row.cash_usd
        position.bought_usd -= row.cash_usd
        position.legs.append(SizedBet(-row.cash_usd, self.cash_usd))

    def _end(self, row: JournalRow, instrument: Instrument) -> None:
        shares, position = -row.shares, self._open.get(instrument)
        if position is None or shares > position.shares:
            held = 0.0 if position is None else position.shares
            raise ValueError(f"a {row.kind} takes {shares:g} shares of {instrument.id}, and {held:g} are held")
        cost_usd = position.cost_usd if shares == position.shares else position.cost_usd * (shares / position.shares)
        position.shares -= shares
        position.cost_usd -= cost_usd
        position.realised_usd += row.cash_usd - cost_usd
        if row.kind in SETTLING:
            self._ended.setdefault(instrument, []).append((position, shares, cost_usd, row.cash_usd))
            position.payout_usd = row.cash_usd / shares
        if position.shares == 0.0:
            del self._open[instrument]
            position.ended_at, position.ended_by = row.at, row.kind

    def _reverse(self, row: JournalRow, instrument: Instrument) -> None:
        if not self._ended.get(instrument):
            raise ValueError(f"a reversal of nothing: {instrument.id} was not settled")
        undone, shares, cost_usd, paid_usd = self._ended[instrument].pop()
        undone.realised_usd -= paid_usd - cost_usd
        kept = self._open.setdefault(instrument, undone)
        if kept is undone:
            undone.ended_at = undone.ended_by = None
        else:
            undone.joined = kept.id
            kept.bought_usd += cost_usd
            undone.bought_usd -= cost_usd
            kept.legs[:0], undone.legs = undone.legs, []
        kept.shares += shares
        kept.cost_usd += cost_usd
