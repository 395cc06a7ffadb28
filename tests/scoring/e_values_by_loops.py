"""The definition of e-values once more, one event, decision and day at a time and without numpy."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

DAY = 86_400.0
FRACTIONS = [0.999 * share for share in (0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0)]


class Stake(NamedTuple):
    """A stake on a market; `at` is in days."""

    usd: float
    price: float
    decision: int
    event: int
    market: int
    at: float


class Day(NamedTuple):
    day: int
    better: float
    worse: float
    book: float
    dependence: float | None
    dependence_worse: float | None


class Prices(NamedTuple):
    """What markets paid, (payout, day), and what was seen of them, (market, day, price)."""

    paid: Mapping[int, tuple[float, float]]
    seen: Sequence[tuple[int, float, float]]

    def ratio(self, stake: Stake, at: float) -> float:
        """Return the side price at a time over that of the stake."""
        found = self._price(stake, at)
        if found is None:
            return 1.0
        return found / stake.price if stake.usd > 0 else (1 - found) / (1 - stake.price)

    def _price(self, stake: Stake, at: float) -> float | None:
        payout, paid_at = self.paid.get(stake.market, (math.nan, math.inf))
        if paid_at <= at:
            return payout if paid_at > stake.at else None
        known = [(day, row) for row, (m, day, _) in enumerate(self.seen) if m == stake.market and stake.at < day <= at]
        return self.seen[max(known)[1]][2] if known else None


def days(stakes: Sequence[Stake], prices: Prices, as_of: float) -> list[Day]:
    """Return the e-values at every midnight up to a time in days."""
    found: list[Day] = []
    gained, changed = Sums(), Sums()
    before = dict.fromkeys((one.event for one in stakes), 0.0)
    inverse = dict.fromkeys(before, 1.0)
    book = [1.0] * len(FRACTIONS)
    for day in range(int(min(one.at for one in stakes)) - 1, math.floor(as_of) + 1):
        made = [one for one in stakes if one.at <= day]
        accounts = [math.prod(_wealth(made, prices, e, day, share) for e in before) for share in FRACTIONS]
        inverse_before, inverse = inverse, {e: 1 / _wealth(_first(made, e), prices, e, day, 0.5) for e in before}
        gains = {e: _gain([one for one in made if one.event == e], prices, day) for e in before}
        changes = [gains[e] - before[e] for e in before]
        before = gains
        root = gained.after(changes)
        root_worse = changed.after([inverse[e] - inverse_before[e] for e in before])
        at_stake = sum(_worth_before(one, prices, day) for one in stakes if one.at < day)
        back = sum(changes) / at_stake if at_stake > 1e-9 else 0.0
        book = [worth * (1 + share * max(back, -1.0)) for worth, share in zip(book, FRACTIONS, strict=True)]
        better = 1.0 if root is None else (sum(accounts) / len(FRACTIONS)) ** (1 / root)
        worse = 1.0 if root_worse is None else math.prod(inverse.values()) ** (1 / root_worse)
        found.append(Day(day, better, worse, sum(book) / len(book), root, root_worse))
    return found


class Sums:
    """What G is a ratio of, over the days so far."""

    def __init__(self) -> None:
        """Begin without a day."""
        self.above = self.below = 0.0
        self.days = 0

    def after(self, changes: Sequence[float]) -> float | None:
        """Return G after one more day, on which events changed so far; None before the first change."""
        changes = [change if abs(change) > 1e-9 else 0.0 for change in changes]
        if any(changes):
            self.above += sum(changes) ** 2
            self.below += sum(change**2 for change in changes)
            self.days += 1
        return max(1.0, self.above / self.below + 2 * math.sqrt(2 / self.days)) if self.days else None


def _wealth(made: Sequence[Stake], prices: Prices, event: int, day: float, share: float) -> float:
    wealth, account = 1.0, share
    for _, decision in sorted({(one.at, one.decision) for one in made if one.event == event}):
        own = [one for one in made if one.decision == decision]
        wealth += account * _gain(own, prices, day)
        account *= 1 - share * sum(abs(one.usd) for one in own)
    return wealth


def _first(made: Sequence[Stake], event: int) -> list[Stake]:
    """Return what was staked first on an event."""
    own = [one for one in made if one.event == event and one.usd]
    decision = min(((one.at, one.decision) for one in own), default=(0.0, -1))[1]
    return [one for one in own if one.decision == decision]


def _gain(stakes: Sequence[Stake], prices: Prices, day: float) -> float:
    return sum(abs(one.usd) * (prices.ratio(one, day) - 1) for one in stakes)


def _worth_before(stake: Stake, prices: Prices, day: float) -> float:
    """Return what a position made before a midnight was worth at the one before, or cost since; 0 once it has paid."""
    paid_at = prices.paid.get(stake.market, (0.0, math.inf))[1]
    if paid_at <= max(day - 1, stake.at):
        return 0.0
    return abs(stake.usd) * (prices.ratio(stake, day - 1) if stake.at <= day - 1 else 1.0)
