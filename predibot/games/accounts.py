"""Accounts: how a journal is folded into one, its worth, and the rows that follow from markets and issuers; pure."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Self

from predibot.domain.account import Account, JournalKind, JournalRow, Position
from predibot.domain.decision import Fill
from predibot.domain.price import CorporateAction, CorporateActionKind, Instrument, Price
from predibot.domain.resolution import Resolution, latest_known

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


Revisions = Sequence[tuple[int, Resolution]]


def settle(journal: Journal, resolutions: Mapping[Instrument, Revisions], *, as_of: datetime) -> tuple[JournalRow, ...]:
    """Return the journal rows, dated `as_of` and with the number of their revision, of resolutions known then and not
    booked; later revisions are not seen.

    If an instrument was paid by an older revision, that payment is reversed and the instrument is settled again. All
    shares are settled, whenever they were bought. Unresolved instruments, also those with an unknown winner, give no
    row. A resolution's `payout_yes` is the payout of a share of its instrument, on the NO side after
    `Resolution.of_outcome(1)`. None pays back what the position cost.
    """
    positions, standing = journal.account.positions, _standing(journal.rows)
    written: list[JournalRow] = []
    for instrument in sorted(resolutions.keys() & (positions.keys() | standing.keys())):
        current = _current(resolutions[instrument], as_of)
        if current is None:
            continue
        revision, resolution = current
        ended = standing.get(instrument, [])
        is_as_paid = all(row.revision == revision for row in ended)
        cause = f"resolution {revision}"
        undone = [
            JournalRow("reversal", as_of, -row.cash_usd, instrument, -row.shares, cause, revision)
            for row in reversed(() if is_as_paid else ended)
        ]
        held = journal.with_rows(undone).account.position(instrument) if undone else positions.get(instrument)
        written += undone
        if held is not None:
            # A voided market pays back the cost.
            payout_usd = resolution.payout_yes
            kind: JournalKind = "refund" if payout_usd is None else "settlement"
            cash_usd = held.cost_usd if payout_usd is None else held.shares * payout_usd
            written.append(JournalRow(kind, as_of, cash_usd, instrument, -held.shares, cause, revision))
    return tuple(written)


def _current(revisions: Revisions, as_of: datetime) -> tuple[int, Resolution] | None:
    """Return the revision in force at an instant, with its number."""
    known = latest_known([resolution for _, resolution in revisions], as_of)
    return next(((number, resolution) for number, resolution in revisions if resolution is known), None)


def _standing(journal: Sequence[JournalRow]) -> dict[Instrument, list[JournalRow]]:
    """Return the settlements without a reversal, by instrument, in order."""
    standing: dict[Instrument, list[JournalRow]] = {}
    for row in journal:
        if row.instrument is not None and row.kind in SETTLING:
            standing.setdefault(row.instrument, []).append(row)
        elif row.instrument is not None and row.kind == "reversal":
            standing[row.instrument].pop()
    return standing


_ORDER: Sequence[CorporateActionKind] = ("dividend", "split", "delisting")
"""The order of actions on one date: a dividend is paid on the shares bought before that date."""


def corporate_rows(account: Account, actions: Mapping[Instrument, Sequence[CorporateAction]]) -> tuple[JournalRow, ...]:
    """Return the journal rows of actions on an account's positions, by instrument; none may be in the journal yet.
    Shares of a delisting without a stated payout stay, at their last close.
    """
    rows = []
    for instrument in sorted(actions.keys() & account.positions.keys()):
        shares = account.positions[instrument].shares
        for each in sorted(actions[instrument], key=lambda one: (one.effective_at, _ORDER.index(one.kind))):
            value, why = each.value, f"{each.kind} of {each.effective_at:%Y-%m-%d}"
            if value is None or shares == 0.0:
                continue
            if each.kind == "dividend" and value:
                rows.append(JournalRow("dividend", each.effective_at, shares * value, instrument, 0.0, why))
            elif each.kind == "delisting":
                rows.append(JournalRow("delisting", each.effective_at, shares * value, instrument, -shares, why))
                shares = 0.0
            elif each.kind == "split" and value != 1.0:
                gained = shares * value - shares
                rows.append(JournalRow("split", each.effective_at, 0.0, instrument, gained, why))
                shares += gained
    return tuple(rows)
