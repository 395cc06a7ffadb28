"""Accounts, instruments and prices that tests of accounts are made of."""

from collections.abc import Mapping
from datetime import UTC, datetime

from predibot.domain.account import Account, JournalRow
from predibot.domain.price import BINARY_OUTCOME, FeeSchedule, Instrument, Level, Price
from predibot.domain.resolution import Resolution

AT = datetime(2026, 3, 1, tzinfo=UTC)


def outcome(name: str) -> Instrument:
    """Return an outcome of a market."""
    return Instrument("toy", BINARY_OUTCOME, name)


def priced(**mids: float) -> dict[Instrument, Price]:
    """Return the prices of outcomes, at the mid."""
    return {outcome(name): Price(AT, mid) for name, mid in mids.items()}


def booked_price(
    mid: float, *, bids: tuple[tuple[float, float], ...], asks: tuple[tuple[float, float], ...], rate: float = 0.0
) -> Price:
    """Return a price with a book of (price, shares), the best level first, and a fee of that rate."""
    levels = [tuple(Level(*level) for level in side) for side in (bids, asks)]
    best = [side[0].price if side else None for side in levels]
    return Price(AT, mid, best[0], best[1], "mid", levels[0], levels[1], FeeSchedule(rate))


def deposit(cash_usd: float) -> JournalRow:
    """Return the first row of an account."""
    return JournalRow("deposit", AT, cash_usd)


def bought(instrument: Instrument, shares: float, price: float) -> JournalRow:
    """Return a fill; shares below zero are sold."""
    return JournalRow("fill", AT, -shares * price, instrument, shares, "decision 1")


def resolved(payout_yes: float | None, at: datetime = AT) -> Resolution:
    """Return a resolution that is effective from an instant."""
    return Resolution(payout_yes, at, "venue", at)


def worth_usd(account: Account, mids: Mapping[Instrument, float]) -> float:
    """Return cash and shares at the mids, added up in the plainest way."""
    return account.cash_usd + sum(position.shares * mids[each] for each, position in account.positions.items())


def surplus_usd(account: Account) -> float:
    """Return by how much cash and cost differ from what was paid in and made, which law 1 says is nothing."""
    cost_usd = sum(position.cost_usd for position in account.positions.values())
    made_usd = account.paid_in_usd + account.realised_usd + account.dividends_usd - account.fees_usd
    return account.cash_usd + cost_usd - made_usd
