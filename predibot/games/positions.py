"""Positions: the shares of one outcome that a member of a cohort owns, from the first purchase to the last sale."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, get_args

from predibot.domain.account import Account, JournalKind, JournalRow
from predibot.domain.price import Instrument
from predibot.games.accounts import SETTLING
from predibot.scoring.accounts.record import SizedBet

PositionState = Literal["open", "PENDING", "WON", "LOST", "EXITED", "CANCELLED"]
"""`PENDING`: closed and not settled. `WON` and `LOST`: settled at 1 and 0. `EXITED`: sold. `CANCELLED`: any other
resolution, which pays a part of a dollar or the cost."""
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
    shares: float = 0.0
    cost_usd: float = 0.0
    """The cost of the remaining shares, at average cost, without fees."""
    bought_usd: float = 0.0
    """All purchases, without fees."""
    realised_usd: float = 0.0
    """The gain of sales and settlements over their cost."""
    ended_at: datetime | None = None
    joined: str = ""
    """The later position that took over its shares when a reversal brought them back."""
    legs: tuple[SizedBet, ...] = ()
    ended_by: JournalKind | None = None
    payout_usd: float = 0.0
    is_closed: bool = False
    """Whether nobody can trade it any more."""

    @property
    def state(self) -> PositionState:
        """Return what became of it."""
        if self.ended_by is None:
            return "PENDING" if self.is_closed else "open"
        if self.ended_by == "fill":
            return "EXITED"
        if self.ended_by == "refund" or self.joined or self.payout_usd not in (0.0, 1.0):
            return "CANCELLED"
        return "WON" if self.payout_usd == 1.0 else "LOST"

    @property
    def is_open(self) -> bool:
        """Return whether any of its shares remain."""
        return self.state in ("open", "PENDING")

    @property
    def average_price(self) -> float | None:
        """Return the average cost of a remaining share, None without any."""
        return self.cost_usd / self.shares if self.shares else None


def positions_of(journal: Iterable[JournalRow], closed: Collection[Instrument] = ()) -> tuple[CohortPosition, ...]:
    """Return all positions of an account in order of opening; `closed` are outcomes that nobody can trade any more."""
    fold = _PositionFold()
    for row in journal:
        fold.add(row)
    return tuple(replace(each, is_closed=each.instrument in closed) for each in fold.positions.values())


def list_resolved_bets(positions: Iterable[CohortPosition]) -> tuple[SizedBet, ...]:
    """Return the bets on positions that were held until their resolution, for the Brier score of their sizes. Whether
    a bet on a cancelled position won is unknown.
    """
    won = {"WON": True, "LOST": False, "CANCELLED": None}
    return tuple(
        replace(leg, won=won[position.state])
        for position in positions
        if position.state in won
        for leg in position.legs
    )


def resolved_bets_over_time(journal: Iterable[JournalRow]) -> tuple[tuple[SizedBet, ...], ...]:
    """Return the resolved bets of an account as they were after each row of its journal."""
    fold, found, after = _PositionFold(), tuple[SizedBet, ...](), []
    for row in journal:
        fold.add(row)
        if row.kind in SETTLING or row.kind == "reversal":
            found = tuple(list_resolved_bets(fold.positions.values()))
        after.append(found)
    return tuple(after)


def standing_of(account: Account, least_cash_usd: float) -> Standing:
    """Return whether an account can still bet; bankrupt means no cash and no positions."""
    if not account.positions and account.cash_usd <= _NOTHING_USD:
        return "bankrupt"
    return "cannot bet" if account.cash_usd < least_cash_usd - _NOTHING_USD else "playing"


class _PositionFold:
    def __init__(self) -> None:
        self.positions: dict[str, CohortPosition] = {}
        self.cash_usd = 0.0
        self._open: dict[Instrument, str] = {}
        self._ended: dict[Instrument, list[tuple[str, float, float, float]]] = {}
        """The resolved parts of each: position id, shares, their cost, their payout."""

    def add(self, row: JournalRow) -> None:
        if row.instrument is not None and row.shares != 0.0:
            act = self._reverse if row.kind == "reversal" else self._buy if row.shares > 0.0 else self._end
            act(row, row.instrument)
        self.cash_usd += row.cash_usd

    def _change(self, position: CohortPosition, **changes: Any) -> None:
        self.positions[position.id] = replace(position, **changes)

    def _buy(self, row: JournalRow, instrument: Instrument) -> None:
        name = self._open.setdefault(instrument, f"p{len(self.positions) + 1}")
        position = self.positions.get(name) or CohortPosition(name, instrument, row.at)
        self._change(
            position,
            shares=position.shares + row.shares,
            cost_usd=position.cost_usd - row.cash_usd,
            bought_usd=position.bought_usd - row.cash_usd,
            legs=(*position.legs, SizedBet(-row.cash_usd, self.cash_usd)),
        )

    def _end(self, row: JournalRow, instrument: Instrument) -> None:
        # The account of the same journal was made first, and refuses rows that take more than is held.
        shares, position = -row.shares, self.positions[self._open[instrument]]
        cost_usd = position.cost_usd if shares == position.shares else position.cost_usd * (shares / position.shares)
        changes: dict[str, Any] = {
            "shares": position.shares - shares,
            "cost_usd": position.cost_usd - cost_usd,
            "realised_usd": position.realised_usd + (row.cash_usd - cost_usd),
        }
        if row.kind in SETTLING:
            self._ended.setdefault(instrument, []).append((position.id, shares, cost_usd, row.cash_usd))
            changes["payout_usd"] = row.cash_usd / shares
        if changes["shares"] == 0.0:
            del self._open[instrument]
            changes |= {"ended_at": row.at, "ended_by": row.kind}
        self._change(position, **changes)

    def _reverse(self, row: JournalRow, instrument: Instrument) -> None:
        name, shares, cost_usd, paid_usd = self._ended[instrument].pop()
        undone = replace(self.positions[name], realised_usd=self.positions[name].realised_usd - (paid_usd - cost_usd))
        kept = self.positions[self._open.setdefault(instrument, name)]
        if kept.id == name:
            kept = replace(undone, ended_at=None, ended_by=None)
        else:
            self._change(undone, joined=kept.id, bought_usd=undone.bought_usd - cost_usd, legs=())
            kept = replace(kept, bought_usd=kept.bought_usd + cost_usd, legs=(*undone.legs, *kept.legs))
        self._change(kept, shares=kept.shares + shares, cost_usd=kept.cost_usd + cost_usd)
