"""What prices imply of accounts: how far their growth may still come out otherwise, and on how much it hangs."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from predibot.scoring.accounts.record import AccountRecord, AccountsRecord
from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.inference.dependence import dependence

MOST_IN_ONE_EVENT = 0.25
"""Of an account's value: beyond it a few outcomes decide, and intervals hold the expected growth less often."""
MOST_DEPENDENCE = 3.0
"""D beyond which one swing decides."""
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Implied:
    """What the prices of what an account held say of its log growth, or of the difference of two."""

    variance: float = 0.0
    """V, of the sum of log returns; of what has no payout in [0, 1], as shares, there is none."""
    dependence: float = 1.0
    """D, by which it is multiplied where events moved as one."""
    most_in_one_event: float = 0.0
    """The largest share of the account's value that stood in one event on any date; 0 of a difference."""

    @property
    def deviation(self) -> float:
        """Return how far the log growth may still come out otherwise."""
        return math.sqrt(self.variance * self.dependence)

    @property
    def few_decide(self) -> bool:
        """Return whether few outcomes or one swing decide: then nobody is told by the interval."""
        return self.most_in_one_event > MOST_IN_ONE_EVENT + _ROUNDING or self.dependence > MOST_DEPENDENCE


def implied(record: AccountsRecord, account: AccountRecord, other: AccountRecord | None = None) -> Implied:
    """Return what prices imply of an account's log growth, or of its difference to another's.

    With w = shares / value of the account after the fills of a slot, those of a
    market together as YES, and q(p) = p (1 - p), 0 once it is settled: V is the
    sum over slots and markets of w^2 (q(price) - q(price at the next slot)). Of
    outcomes that exclude each other it is the sum over slots of Q(w; prices)
    less Q(w; prices at the next slot), Q(w; p) = sum w^2 p - (sum w p)^2, prices
    that add up to more than one scaled to one. D is `dependence` of what each
    event gained. A missing price is the last one there was.

    Args:
        record: Of both.
        account: Whose.
        other: Less this one's, over the slots that both have.
    """
    if record.sectors is not None:
        return Implied()
    both = account.slot if other is None else np.intersect1d(account.slot, other.slot)
    held, markets = shares_of_value(record, account, both), _Markets.of(record, both)
    less = 0.0 if other is None else _weights(record, other, both, markets)
    weight = _weights(record, account, both, markets) - less
    gained = weight[:-1] * np.diff(markets.price_yes, axis=0)
    date, market = np.nonzero(gained)
    day = days_of(record, both[1:])
    _, event = np.unique(markets.event, return_inverse=True)
    return Implied(
        _variance(weight[:-1], markets),
        dependence(gained[date, market], event[market], day[date]),
        0.0 if other is not None else _most_in_one_event(record, held),
    )


def shares_of_value(record: AccountsRecord, account: AccountRecord, slots: Ints) -> Floats:
    """Return what part of an account's value stood in each instrument after the fills of some of its slots.

    The last column is cash: (slots, i + 1).
    """
    rows = np.searchsorted(account.slot, slots)
    prices = last_known(record.prices[:, account.held])[slots]
    worth = account.shares[rows] * np.nan_to_num(prices)
    whole = worth.sum(axis=1) + account.cash_usd[rows]
    found = np.zeros((slots.size, len(record.instruments) + 1))
    found[:, account.held], found[:, -1] = worth, account.cash_usd[rows]
    return _for_each_dollar(found, whole)


def distance(record: AccountsRecord, one: AccountRecord, other: AccountRecord) -> float | None:
    """Return the mean L1 distance of two accounts' weights, cash included; None of no common slot."""
    both = np.intersect1d(one.slot, other.slot)
    if not both.size:
        return None
    apart = shares_of_value(record, one, both) - shares_of_value(record, other, both)
    return float(np.abs(apart).sum(axis=1).mean())


@dataclass(frozen=True, slots=True, eq=False)
class _Markets:
    """The m markets of a record at some of its slots."""

    of_instrument: Ints
    """(i,)"""
    price_yes: Floats
    """(slots, m), never NaN."""
    settled: NDArray[np.bool_]
    """(slots, m)"""
    event: Ints
    """(m,)"""
    group: Ints
    """Of those that exclude each other, -1 for none, (m,)."""

    @classmethod
    def of(cls, record: AccountsRecord, slots: Ints) -> "_Markets":
        """Return them; what is seen of one side is seen of the other."""
        alone = np.arange(len(record.instruments))
        market = alone if record.market is None else record.market
        _, first, column = np.unique(market, return_index=True, return_inverse=True)
        seen = np.where(record.outcome < 0, 1.0 - record.prices, record.prices)
        prices = np.full((seen.shape[0], first.size), np.nan)
        for number, each in enumerate(column.tolist()):
            prices[:, each] = np.where(np.isnan(prices[:, each]), seen[:, number], prices[:, each])
        # Nothing is gained before the first price.
        prices = last_known(last_known(prices)[::-1])[::-1][slots]
        settled = np.zeros(record.prices.shape, np.bool_) if record.settled is None else record.settled
        return cls(
            column.astype(np.int64),
            np.clip(np.nan_to_num(prices), 0.0, 1.0),
            settled[slots][:, first],
            (alone if record.event is None else record.event)[first],
            (np.full(alone.shape, -1) if record.group is None else record.group)[first],
        )


def _weights(record: AccountsRecord, account: AccountRecord, slots: Ints, markets: _Markets) -> Floats:
    """Return shares of YES, negative for NO, for each dollar of an account after its fills, (slots, m)."""
    rows = np.searchsorted(account.slot, slots)
    prices = last_known(record.prices[:, account.held])[slots]
    whole = (account.shares[rows] * np.nan_to_num(prices)).sum(axis=1) + account.cash_usd[rows]
    sign = np.where(record.outcome[account.held] < 0, -1.0, 1.0)
    found = np.zeros((markets.event.size, slots.size))
    np.add.at(found, markets.of_instrument[account.held], (account.shares[rows] * sign).T)
    return _for_each_dollar(found.T, whole)


def _for_each_dollar(amounts: Floats, whole: Floats) -> Floats:
    """Return amounts over what the account was worth, (slots, ...); nothing of one without anything."""
    found: Floats = np.where(whole > 0.0, 1.0 / np.where(whole > 0.0, whole, 1.0), 0.0)[:, np.newaxis] * amounts
    return found


def _variance(weight: Floats, markets: _Markets) -> float:
    price, alone = markets.price_yes, markets.group < 0
    open_ = np.where(markets.settled, 0.0, price * (1.0 - price))
    added = float((weight**2 * (open_[:-1] - open_[1:]))[:, alone].sum())
    if not alone.all():
        _, group = np.unique(markets.group[~alone], return_inverse=True)
        member = (group[:, np.newaxis] == np.arange(group.max() + 1)).astype(np.float64)
        rest = weight[:, ~alone]
        before, after = (
            _spread(np.where(markets.settled[rows][:, ~alone], 0.0, rest), price[rows][:, ~alone], member)
            for rows in (slice(None, -1), slice(1, None))
        )
        added += float((before - after).sum())
    return added if added > _ROUNDING * float((weight**2).sum()) else 0.0


def _spread(weight: Floats, price: Floats, member: Floats) -> Floats:
    """Return Q of each group at each slot, (slots, groups)."""
    fair = price / np.maximum(price @ member, 1.0)[:, np.argmax(member, axis=1)]
    found: Floats = (weight**2 * fair) @ member - ((weight * fair) @ member) ** 2
    return found


def _most_in_one_event(record: AccountsRecord, held: Floats) -> float:
    event = np.arange(held.shape[1] - 1) if record.event is None else record.event
    _, number = np.unique(event, return_inverse=True)
    member = (number[:, np.newaxis] == np.arange(number.max(initial=-1) + 1)).astype(np.float64)
    return float((np.abs(held[:, :-1]) @ member).max(initial=0.0))


def last_known(prices: Floats) -> Floats:
    """Return prices with the last one there was where there is none, (slots, ...)."""
    row = np.where(np.isnan(prices), 0, np.arange(prices.shape[0])[:, np.newaxis])
    found: Floats = np.take_along_axis(prices, np.maximum.accumulate(row, axis=0), axis=0)
    return found


def days_of(record: AccountsRecord, slots: Ints) -> Ints:
    """Return the UTC day of some slots of a record."""
    return np.array([record.at[slot].timestamp() // 86_400 for slot in slots.tolist()], dtype=np.int64)
