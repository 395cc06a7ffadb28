"""Kelly: the share of one's money to bet at a price."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from predibot.domain.price import MIN_SIDE_PRICE
from predibot.domain.sizing import bet_usd
from predibot.scoring.metrics.kelly import kelly_fraction

CHANCES = st.floats(0, 1)
PRICES = st.floats(0, 1, exclude_min=True, exclude_max=True)
BETTABLE = st.floats(MIN_SIDE_PRICE, 1 - MIN_SIDE_PRICE)


@given(CHANCES, PRICES)
def test_the_share_is_on_the_side_with_the_edge_and_never_more_than_all(chance: float, price: float) -> None:
    share = kelly_fraction(chance, price)
    assert -1.0 <= share <= 1.0
    assert np.sign(share) == np.sign(chance - price)


@given(CHANCES, BETTABLE)
def test_strategies_that_size_by_kelly_bet_the_same(chance: float, price: float) -> None:
    assert bet_usd("kelly", chance, price, 1.0) == pytest.approx(kelly_fraction(chance, price), abs=1e-12)


@pytest.mark.parametrize(("chance", "price"), [(0.6, 0.5), (0.3, 0.1), (0.9, 0.7), (0.2, 0.4), (0.05, 0.5)])
def test_nothing_grows_faster(chance: float, price: float) -> None:
    def shrinks(share: float) -> float:
        cost, won = (price, chance) if share >= 0 else (1 - price, 1 - chance)
        bet = abs(share)
        return -(won * math.log(1 - bet + bet / cost) + (1 - won) * math.log(1 - bet))

    best = minimize_scalar(shrinks, bounds=(-0.999, 0.999), method="bounded", options={"xatol": 1e-9})
    assert kelly_fraction(chance, price) == pytest.approx(best.x, abs=1e-5)


def test_who_is_certain_bets_all() -> None:
    assert kelly_fraction(1.0, 0.4) == 1.0
    assert kelly_fraction(0.0, 0.4) == -1.0


@pytest.mark.parametrize("same", [0.0, 0.3, 1.0])
def test_at_a_price_that_is_the_probability_nothing_is_bet(same: float) -> None:
    assert kelly_fraction(same, same) == 0.0


def test_two_numbers_give_a_float_and_arrays_the_shape_they_have_together() -> None:
    assert type(kelly_fraction(0.7, 0.4)) is float
    assert type(kelly_fraction(np.float64(0.7), np.float64(0.4))) is float
    assert kelly_fraction([0.7, 0.2], 0.4) == pytest.approx([0.5, -0.5])
    assert kelly_fraction(0.7, [0.4, 0.7]) == pytest.approx([0.5, 0.0])
    grid = kelly_fraction(np.full((3, 1), 0.7), np.full(2, 0.4))
    assert grid == pytest.approx(np.full((3, 2), 0.5))
