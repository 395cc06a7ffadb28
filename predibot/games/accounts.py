"""Accounts: how a journal is folded, and what an account is worth at prices; pure."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from predibot.domain.account import Account, JournalRow, Position
from predibot.domain.price import Instrument, Price


def account_of(journal: Iterable[JournalRow]) -> Account:
    """Return the account that a journal comes to, its rows in the order in which they were written.

    Raises:
        ValueError: If a row takes more shares than are held, or says something that its kind does not have.
    """
    account, settled = Account(), dict[Instrument, tuple[JournalRow, Account]]()
    for row in journal:
        if row.kind == "reversal":
            account = _reversed(account, row, settled)
            continue
        if row.kind == "settlement" and row.instrument is not None:
            settled[row.instrument] = (row, account)
        account = _after(account, row)
    return account


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
        raise ValueError(f"a {row.kind} of nothing: it has {row.shares:g} shares of {_named(row.instrument)}")
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


def _reversed(account: Account, row: JournalRow, settled: dict[Instrument, tuple[JournalRow, Account]]) -> Account:
    """Return an account in which a settlement did not happen: the shares are back at what they cost."""
    instrument = row.instrument
    if instrument is None or instrument not in settled:
        raise ValueError(f"a reversal of nothing: {_named(instrument)} was not settled")
    undone, before = settled.pop(instrument)
    if (row.shares, row.cash_usd) != (-undone.shares, -undone.cash_usd):
        raise ValueError(
            f"a reversal of {row.shares:g} shares for ${row.cash_usd:g}, and the settlement of {instrument.id} was of "
            f"{undone.shares:g} for ${undone.cash_usd:g}"
        )
    held, back = account.held(instrument), before.held(instrument)
    # What was settled is all that was held of it; what was bought of it since stays beside it.
    cost_usd = back.cost_usd if undone.shares == -back.shares else back.cost_usd * (-undone.shares / back.shares)
    return replace(
        account,
        cash_usd=account.cash_usd + row.cash_usd,
        positions={**account.positions, instrument: Position(held.shares + row.shares, held.cost_usd + cost_usd)},
        realised_usd=account.realised_usd - (undone.cash_usd - cost_usd),
    )


def _without(held: Position, shares: float, row: JournalRow) -> tuple[Position, float]:
    """Return what is left where so many shares go at average cost, and what that realised."""
    if shares > held.shares:
        taken = f"{shares:g} shares of {_named(row.instrument)}"
        raise ValueError(f"a {row.kind} takes {taken}, and {held.shares:g} are held")
    cost_usd = held.cost_usd if shares == held.shares else held.cost_usd * (shares / held.shares)
    return Position(held.shares - shares, held.cost_usd - cost_usd), row.cash_usd - cost_usd


def _named(instrument: Instrument | None) -> str:
    return "nothing" if instrument is None else instrument.id
