"""Rolling delays: what holdings of some slots before would have come to."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.scoring.accounts.rolling_delay import DELAYS, rolling_delays


def by_loops(cash: np.ndarray, shares: np.ndarray, prices: np.ndarray, delay: int, longest: int) -> float:
    """Return CR(k) as equation 6 reads, over t = longest .. T - 1."""
    product = 1.0
    for t in range(longest, len(cash) - 1):
        held, then = shares[t - delay], cash[t - delay]
        worth = then + sum(held * prices[t])
        product *= 1.0 + sum(held * (prices[t + 1] - prices[t])) / worth
    return product - 1.0


def world(slots: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.uniform(1, 100, slots), rng.uniform(0, 50, (slots, 3)), rng.uniform(0.05, 0.95, (slots, 3))


@given(st.integers(18, 40), st.integers(0, 1_000))
def test_every_delay_is_what_plain_loops_say_over_the_same_slots(slots: int, seed: int) -> None:
    cash, shares, prices = world(slots, seed)
    found = rolling_delays(cash, shares, prices)
    actual = by_loops(cash, shares, prices, 0, 16)
    for delay in DELAYS:
        assert found[delay].n == slots - 17
        assert found[delay].actual_return == pytest.approx(actual)
        assert found[delay].cumulative_return == pytest.approx(by_loops(cash, shares, prices, delay, 16))


def test_the_published_bounds_make_equal_decisions_differ_and_ours_do_not() -> None:
    prices = (0.5 * 1.001 ** np.arange(51))[:, np.newaxis]
    cash, shares = np.zeros(51), np.full((51, 1), 100.0)
    published = rolling_delays(cash, shares, prices, own_bounds=True)[16]
    # 50 slots less 32 of them: 1.001^18 - 1.001^50.
    assert published.difference == pytest.approx(1.001**18 - 1.001**50)
    assert published.difference == pytest.approx(-0.033, abs=5e-4)
    assert rolling_delays(cash, shares, prices)[16].difference == 0.0


def test_a_slot_without_a_price_is_skipped_for_every_delay() -> None:
    cash, shares, prices = world(30)
    prices[22, 1] = np.nan
    found = rolling_delays(cash, shares, prices)
    assert {each.n for each in found.values()} == {30 - 17 - 2}
    # Of what nobody held in any of those slots, no price is missed.
    shares[:, 1] = 0.0
    assert {each.n for each in rolling_delays(cash, shares, prices).values()} == {30 - 17}


def test_fewer_than_eighteen_slots_have_no_value() -> None:
    assert rolling_delays(*world(17)) == {}
    assert rolling_delays(*world(18))[16].n == 1


def test_arrays_of_other_shapes_and_delays_of_nothing_are_refused() -> None:
    cash, shares, prices = world(20)
    with pytest.raises(ValueError, match="other runs or instruments"):
        rolling_delays(cash, shares, prices[1:])
    with pytest.raises(ValueError, match="above zero"):
        rolling_delays(cash, shares, prices, [0])
