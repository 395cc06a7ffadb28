"""Accounts: how a journal is folded, and what an account is worth at prices; pure."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import reduce

from predibot.domain.account import Account, JournalRow, Position
from predibot.domain.price import Instrument, Price


def account_of(journal: Iterable[JournalRow]) -> Account:
    """Return the account that a journal comes to, its rows in the order in which they were written.

    Raises:
        ValueError: If a row takes more shares than are held, or says something that its kind does not have.
    """
    return reduce(_after, journal, Account())


def value_usd(account: Account, prices: Mapping[Instrument, Price]) -> float:
    """Return what an account is worth: its cash, and its positions at the mid.

    Raises:
        ValueError: If something is held that has no price here: it is worth something, and nobody knows what.
    """
    unpriced = [instrument.id for instrument in account.positions if instrument not in prices]
    if unpriced:
        raise ValueError(f"no price of {', '.join(unpriced)}, which the account holds")
    worth = (position.shares * prices[instrument].mid for instrument, position in account.positions.items())
    return math.fsum((account.cash_usd, *worth))


def _after(account: Account, row: JournalRow) -> Account:
    cash_usd = account.cash_usd + row.cash_usd
    if row.kind == "deposit":
        return replace(account, cash_usd=cash_usd, paid_in_usd=account.paid_in_usd + row.cash_usd)
    if row.kind == "fee":
        return replace(account, cash_usd=cash_usd, fees_usd=account.fees_usd - row.cash_usd)
    if row.kind == "dividend":
        return replace(account, cash_usd=cash_usd, dividends_usd=account.dividends_usd + row.cash_usd)
    if row.instrument is None or row.shares == 0.0:
        raise ValueError(f"a {row.kind} of nothing: it has {row.shares:g} shares of {row.instrument}")
    held = account.held(row.instrument)
    if row.kind == "split":
        kept, realised_usd = replace(held, shares=held.shares + row.shares), 0.0
    elif row.shares > 0.0:
        kept, realised_usd = Position(held.shares + row.shares, held.cost_usd - row.cash_usd), 0.0
    else:
        kept, realised_usd = _without(held, -row.shares, row)
    positions = {**account.positions, row.instrument: kept}
    if kept.shares == 0.0:
        # Nothing under any size disappears but nothing itself.
        del positions[row.instrument]
    return replace(account, cash_usd=cash_usd, positions=positions, realised_usd=account.realised_usd + realised_usd)


def _without(held: Position, shares: float, row: JournalRow) -> tuple[Position, float]:
    """Return what is left where so many shares go at average cost, and what that realised."""
    if shares > held.shares:
        raise ValueError(f"a {row.kind} takes {shares:g} shares of {row.instrument}, and {held.shares:g} are held")
    cost_usd = held.cost_usd if shares == held.shares else held.cost_usd * (shares / held.shares)
    return Position(held.shares - shares, held.cost_usd - cost_usd), row.cash_usd - cost_usd
