"""Accounts: how a journal is folded into one, and what it is worth at prices; pure."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Self

from predibot.domain.account import Account, JournalRow, Position
from predibot.domain.decision import Fill
from predibot.domain.price import Instrument, Price

SETTLING = ("settlement", "refund")
"""The kinds of rows with which a resolution ends a position; a reversal undoes them."""


def account_of(journal: Iterable[JournalRow]) -> Account:
    """Return the account of a journal in its order; raise `ValueError` for malformed rows or missing shares."""
    return Journal().with_rows(journal).account


def accounts_of(journal: Iterable[JournalRow]) -> Iterator[Account]:
    """Yield the account after each row of a journal, with the errors of `account_of`."""
    fold = _Fold()
    for row in journal:
        fold.add(row)
        yield fold.account()


def journal_of_fills(fills: Iterable[Fill], at: datetime, follows_from: str = "") -> Iterator[JournalRow]:
    """Yield a row for each fill, followed by one for its fee."""
    for fill in fills:
        yield JournalRow("fill", at, fill.cash_usd, fill.instrument, fill.shares, follows_from)
        if fill.fee_usd:
            yield JournalRow("fee", at, -fill.fee_usd, fill.instrument, 0.0, follows_from)


def value_usd(account: Account, prices: Mapping[Instrument, Price]) -> float:
    """Return an account's cash plus positions at the mid.

    Raises `ValueError` if one has no price, as its worth is unknown.
    """
    unpriced = [instrument.id for instrument in account.positions if instrument not in prices]
    if unpriced:
        raise ValueError(f"no price of {', '.join(unpriced)}, which the account holds")
    worth = (position.shares * prices[instrument].mid for instrument, position in account.positions.items())
    return math.fsum((account.cash_usd, *worth))


class _Fold:
    """An account while its journal is read; each row takes constant time."""

    def __init__(self) -> None:
        self._cash_usd = self._paid_in_usd = self._realised_usd = self._dividends_usd = self._fees_usd = 0.0
        self._positions: dict[Instrument, Position] = {}
        self._ended: defaultdict[Instrument, list[tuple[float, float, float]]] = defaultdict(list)
        """Shares, cash and cost of each settlement, in order."""

    def copy(self) -> "_Fold":
        other = _Fold()
        other.__dict__.update(self.__dict__)
        other._positions = dict(self._positions)
        other._ended = defaultdict(list, {each: list(ends) for each, ends in self._ended.items()})
        return other

    def account(self) -> Account:
        return Account(
            cash_usd=self._cash_usd,
            positions=dict(self._positions),
            paid_in_usd=self._paid_in_usd,
            realised_usd=self._realised_usd,
            dividends_usd=self._dividends_usd,
            fees_usd=self._fees_usd,
        )

    def add(self, row: JournalRow) -> None:
        if row.kind == "deposit":
            self._paid_in_usd += row.cash_usd
        elif row.kind == "fee":
            self._fees_usd -= row.cash_usd
        elif row.kind == "dividend":
            self._dividends_usd += row.cash_usd
        elif row.instrument is None or row.shares == 0.0:
            of = "nothing" if row.instrument is None else row.instrument.id
            raise ValueError(f"a {row.kind} of nothing: it has {row.shares:g} shares of {of}")
        else:
            self._trade(row, row.instrument)
        self._cash_usd += row.cash_usd

    def _trade(self, row: JournalRow, instrument: Instrument) -> None:
        held = self._positions.get(instrument, Position(0.0, 0.0))
        if row.kind == "split":
            if row.cash_usd or not held.shares or held.shares + row.shares <= 0.0:
                raise ValueError(f"a split of {held.shares:g} shares by {row.shares:g}, for ${row.cash_usd:g}")
            kept = Position(held.shares + row.shares, held.cost_usd)
        elif row.kind == "reversal":
            kept = self._reverse(row, instrument, held)
        elif row.shares > 0.0:
            if row.kind != "fill":
                raise ValueError(f"a {row.kind} adds {row.shares:g} shares of {instrument.id}; it can only end them")
            kept = Position(held.shares + row.shares, held.cost_usd - row.cash_usd)
        else:
            kept = self._reduce(row, instrument, held)
        if kept.shares == 0.0:
            # However small a position, only an empty one disappears.
            self._positions.pop(instrument, None)
        else:
            self._positions[instrument] = kept

    def _reduce(self, row: JournalRow, instrument: Instrument, held: Position) -> Position:
        """Return what is left of a position after shares go at average cost."""
        shares = -row.shares
        if shares > held.shares:
            raise ValueError(f"a {row.kind} takes {shares:g} shares of {instrument.id}, and {held.shares:g} are held")
        cost_usd = held.cost_usd if shares == held.shares else held.cost_usd * (shares / held.shares)
        self._realised_usd += row.cash_usd - cost_usd
        if row.kind in SETTLING:
            self._ended[instrument].append((shares, row.cash_usd, cost_usd))
        return Position(held.shares - shares, held.cost_usd - cost_usd)

    def _reverse(self, row: JournalRow, instrument: Instrument, held: Position) -> Position:
        """Return the position with the shares of its last settlement back at their cost, beside any bought since."""
        if not self._ended[instrument]:
            raise ValueError(f"a reversal of nothing: {instrument.id} was not settled")
        shares, cash_usd, cost_usd = self._ended[instrument].pop()
        if (row.shares, row.cash_usd) != (shares, -cash_usd):
            raise ValueError(
                f"a reversal of {row.shares:g} shares for ${row.cash_usd:g}, and the settlement of {instrument.id} "
                f"was of {shares:g} for ${cash_usd:g}"
            )
        self._realised_usd -= cash_usd - cost_usd
        return Position(held.shares + shares, held.cost_usd + cost_usd)


@dataclass(frozen=True, slots=True)
class Journal:
    """Rows of a journal and their account; adding rows does not fold the earlier ones again."""

    rows: tuple[JournalRow, ...] = ()
    account: Account = field(default_factory=Account)
    _fold: _Fold = field(default_factory=_Fold, repr=False, compare=False)

    def with_rows(self, further: Iterable[JournalRow]) -> Self:
        """Return the journal with more rows at its end, with the errors of `account_of`."""
        added, fold = tuple(further), self._fold.copy()
        for row in added:
            fold.add(row)
        return type(self)((*self.rows, *added), fold.account(), fold)
