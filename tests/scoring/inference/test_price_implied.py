"""Price-implied variance: how far a sum of gains may still come out otherwise, by the prices that were paid."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from predibot.scoring import price_implied_variance


class Held(NamedTuple):
    """A holding of a test; times are in days."""

    cluster: int
    market: int
    shares: float
    price: float
    later: float
    paid: bool
    start: float
    until: float


def variance_of(held: list[Held], groups: dict[int, int] | None = None) -> list[float]:
    found = price_implied_variance(
        [one.shares for one in held],
        [one.price for one in held],
        [one.later for one in held],
        [one.market for one in held],
        [one.cluster for one in held],
        [one.start for one in held],
        held_until=[one.until for one in held],
        settled=[one.paid for one in held],
        exclusive=None if groups is None else [groups.get(one.market, -1) for one in held],
    )
    return [float(one) for one in found]


def q(price: float) -> float:
    return price * (1.0 - price)


def plainly(held: list[Held]) -> list[float]:
    """Return the same by the definition, pair by pair."""
    found = []
    for cluster in sorted({one.cluster for one in held}):
        total = 0.0
        own = [one for one in held if one.cluster == cluster]
        for one in own:
            for other in own:
                if one.market != other.market:
                    continue
                later, earlier = (one, other) if one.start >= other.start else (other, one)
                ended = min(one, other, key=lambda each: each.until)
                if one is not other and earlier.until <= later.start:
                    continue
                total += one.shares * other.shares * (q(later.price) - (0.0 if ended.paid else q(ended.later)))
        found.append(max(total, 0.0))
    return found


def spread(shares: dict[int, float], prices: dict[int, float]) -> float:
    """Return sum X^2 p - (sum X p)^2."""
    total = max(sum(prices.values()), 1.0)
    mean = sum(shares[market] * prices.get(market, 0.0) / total for market in shares)
    return sum(shares[market] ** 2 * prices.get(market, 0.0) / total for market in shares) - mean**2


def plainly_exclusive(held: list[Held], groups: dict[int, int]) -> list[float]:
    """Return the same for markets that exclude each other, slot by slot."""
    found = []
    for cluster in sorted({one.cluster for one in held}):
        own = [one for one in held if one.cluster == cluster]
        total = sum(plainly([one for one in own if groups.get(one.market, -1) < 0]))
        for group in {groups[one.market] for one in own if groups.get(one.market, -1) >= 0}:
            members = [one for one in own if groups.get(one.market, -1) == group]
            net, price = {one.market: 0.0 for one in members}, dict[int, float]()
            variance = 0.0
            for slot in sorted({one.start for one in members}):
                bought = [one for one in members if one.start == slot]
                price |= {one.market: one.price for one in bought}
                before = dict(net)
                for one in bought:
                    net[one.market] += one.shares
                variance += spread(net, price) - spread(before, price)
            still = {one.market: 0.0 if one.paid else net[one.market] for one in members}
            variance -= spread(still, {one.market: one.later for one in members})
            total += max(variance, 0.0)
        found.append(max(total, 0.0))
    return found


def drawn(seed: int, *, days: float | None) -> list[Held]:
    """Return holdings drawn from a seed: for some days each, or all until the same instant."""
    rng = np.random.default_rng(seed)
    held = []
    for market in range(int(rng.integers(1, 7))):
        settles = float(rng.uniform(3, 15))
        path: NDArray[np.float64] = rng.uniform(0.0015, 0.9985, 40)
        # No two at one instant: which is the later one would not be known.
        for start in np.unique(rng.uniform(0.0, 12.0, int(rng.integers(1, 12)))).tolist():
            until = 12.0 if days is None else start + days
            paid = settles <= until and start < settles
            later = float(market % 2) if paid else float(path[int(until)])
            held.append(
                Held(market // 3, market, float(rng.normal(0, 9)), float(path[int(start)]), later, paid, start, until)
            )
    return held if days is not None else _of_one_end(held)


def _of_one_end(held: list[Held]) -> list[Held]:
    """Return holdings that are all held until the same instant, at which a market has one price."""
    last = {one.market: (one.later, one.paid) for one in held}
    return [one._replace(later=last[one.market][0], paid=last[one.market][1], until=math.inf) for one in held]


@pytest.mark.parametrize("days", [1.0, 2.0, 7.0, None])
@given(st.integers(0, 10_000))
def test_it_is_the_sum_over_all_pairs_that_overlap(days: float | None, seed: int) -> None:
    held = drawn(seed, days=days)
    assert variance_of(held) == pytest.approx(plainly(held), rel=1e-9, abs=1e-9)


@given(st.integers(0, 10_000))
def test_markets_that_exclude_each_other_are_taken_together_slot_by_slot(seed: int) -> None:
    held = [one._replace(start=float(int(one.start))) for one in drawn(seed, days=None)]
    held = list({(one.market, one.start): one for one in held}.values())
    groups = {market: market // 3 for market in range(6) if market != 2}
    assert variance_of(held, groups) == pytest.approx(plainly_exclusive(held, groups), rel=1e-9, abs=1e-9)


def test_one_bet_that_settles_has_the_variance_of_its_gain() -> None:
    # A dollar at 0.20 buys 5 shares: +4 with chance 0.20, else -1.
    assert variance_of([Held(0, 0, 5.0, 0.2, 1.0, True, 0, 9)]) == pytest.approx([0.2 * 16 + 0.8])


def test_a_share_of_every_outcome_of_one_event_is_certain_where_they_exclude_each_other() -> None:
    held = [Held(0, market, 1.0, price, 0.0, True, 0, 9) for market, price in enumerate((0.5, 0.3, 0.2))]
    assert variance_of(held, {0: 0, 1: 0, 2: 0}) == pytest.approx([0.0], abs=1e-12)
    assert variance_of(held) == pytest.approx([0.25 + 0.21 + 0.16])


def test_exclusive_outcomes_that_are_held_for_different_times_are_refused() -> None:
    held = [Held(0, 0, 1.0, 0.5, 0.4, False, 0, 1), Held(0, 1, 1.0, 0.5, 0.4, False, 0, 2)]
    with pytest.raises(ValueError, match="held_until differs"):
        variance_of(held, {0: 0, 1: 0})
