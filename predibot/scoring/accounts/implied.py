"""Price-implied risk of accounts: how far growth may still come out otherwise, and on how much it depends."""

import math
from dataclasses import dataclass

import numpy as np

from predibot.scoring.accounts.record import AccountRecord, AccountsRecord, Markets
from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.inference.dependence import dependence

MOST_IN_ONE_EVENT = 0.25
"""Share of an account's value; above it few outcomes decide, and intervals hold the expected growth less often."""
MOST_DEPENDENCE = 3.0
"""A larger D means that one swing decides."""
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class ImpliedRisk:
    """The variance that prices imply of an account's log growth, or of the difference of two."""

    variance: float = 0.0
    """V, of the sum of log returns; 0 for shares, which have no payout in [0, 1]."""
    dependence: float = 1.0
    """D, which multiplies the variance where events moved as one."""
    most_in_one_event: float = 0.0
    """The largest share of the account's value in one event on any date; 0 for a difference."""

    @property
    def deviation(self) -> float:
        """Return the standard deviation of log growth that prices imply."""
        return math.sqrt(self.variance * self.dependence)

    @property
    def few_decide(self) -> bool:
        """Return whether few outcomes or one swing decide; then the interval proves nothing."""
        return self.most_in_one_event > MOST_IN_ONE_EVENT + _ROUNDING or self.dependence > MOST_DEPENDENCE


def implied_risk(record: AccountsRecord, account: AccountRecord, other: AccountRecord | None = None) -> ImpliedRisk:
    """Return the risk that prices imply of an account's log growth, or of its difference to `other`'s.

    With w = shares / value of the account after the fills of a slot, those of a
    market together as YES, and q(p) = p (1 - p), 0 once it is settled: V is the
    sum over slots and markets of w^2 (q(price) - q(price at the next slot)). For
    outcomes that exclude each other it is the sum over slots of Q(w; prices)
    less Q(w; prices at the next slot), Q(w; p) = sum w^2 p - (sum w p)^2, with prices
    scaled to add up to at most one. D is `dependence` of the gains of each event. A
    missing price is the last known one. Two accounts are compared over their common slots.
    """
    if record.sectors is not None:
        return ImpliedRisk()
    both = account.slot if other is None else np.intersect1d(account.slot, other.slot)
    held, markets = shares_of_value(record, account, both), record.markets.at(both)
    less = 0.0 if other is None else _weights(record, other, both, markets)
    weight = _weights(record, account, both, markets) - less
    gained = weight[:-1] * np.diff(markets.price_yes, axis=0)
    date, market = np.nonzero(gained)
    day = days_of(record, both[1:])
    _, event = np.unique(markets.event, return_inverse=True)
    return ImpliedRisk(
        _variance(weight[:-1], markets),
        dependence(gained[date, market], event[market], day[date]),
        0.0 if other is not None else _most_in_one_event(record, held),
    )


def shares_of_value(record: AccountsRecord, account: AccountRecord, slots: Ints) -> Floats:
    """Return the part of an account's value in each instrument after the fills of slots; cash last, (slots, i + 1)."""
    _, worth, cash = _holdings(record, account, slots)
    found = np.zeros((slots.size, len(record.instruments) + 1))
    found[:, account.held], found[:, -1] = worth, cash
    return _for_each_dollar(found, worth.sum(axis=1) + cash)


def distance(record: AccountsRecord, one: AccountRecord, other: AccountRecord) -> float | None:
    """Return the mean L1 distance of two accounts' weights, cash included; None without a common slot."""
    both = np.intersect1d(one.slot, other.slot)
    if not both.size:
        return None
    apart = shares_of_value(record, one, both) - shares_of_value(record, other, both)
    return float(np.abs(apart).sum(axis=1).mean())


def _holdings(record: AccountsRecord, account: AccountRecord, slots: Ints) -> tuple[Floats, Floats, Floats]:
    """Return an account's shares after its fills and their dollars, (slots, h) each, and its cash, (slots,)."""
    rows = np.searchsorted(account.slot, slots)
    shares = account.shares[rows]
    return shares, shares * np.nan_to_num(record.known_prices[np.ix_(slots, account.held)]), account.cash_usd[rows]


def _weights(record: AccountsRecord, account: AccountRecord, slots: Ints, markets: Markets) -> Floats:
    """Return shares of YES, negative for NO, for each dollar of an account after its fills, (slots, m)."""
    shares, worth, cash = _holdings(record, account, slots)
    sign = np.where(record.outcome[account.held] < 0, -1.0, 1.0)
    found = np.zeros((markets.event.size, slots.size))
    np.add.at(found, markets.of_instrument[account.held], (shares * sign).T)
    return _for_each_dollar(found.T, worth.sum(axis=1) + cash)


def _for_each_dollar(amounts: Floats, whole: Floats) -> Floats:
    """Return amounts over the account's worth, (slots, ...); 0 for an account worth nothing."""
    return np.where(whole > 0.0, 1.0 / np.where(whole > 0.0, whole, 1.0), 0.0)[:, np.newaxis] * amounts


def _variance(weight: Floats, markets: Markets) -> float:
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
    return (weight**2 * fair) @ member - ((weight * fair) @ member) ** 2


def _most_in_one_event(record: AccountsRecord, held: Floats) -> float:
    event = np.arange(held.shape[1] - 1) if record.event is None else record.event
    _, number = np.unique(event, return_inverse=True)
    member = (number[:, np.newaxis] == np.arange(number.max(initial=-1) + 1)).astype(np.float64)
    return float((np.abs(held[:, :-1]) @ member).max(initial=0.0))


def days_of(record: AccountsRecord, slots: Ints) -> Ints:
    """Return the UTC day of some slots of a record."""
    return np.array([record.at[slot].timestamp() // 86_400 for slot in slots.tolist()], dtype=np.int64)
