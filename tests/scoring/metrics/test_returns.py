"""Returns: what a bet gained by the time its market had another price."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.scoring import horizon_gains

PRICES = st.floats(0.001, 0.999)
LATER = st.floats(0, 1)
BETS = st.floats(-1, 1)


@given(BETS, PRICES, LATER)
def test_a_bet_never_loses_more_than_its_stake(bet: float, before: float, later: float) -> None:
    assert horizon_gains([bet], [before], [later])[0] >= -abs(bet)


@given(BETS, PRICES)
def test_an_unmoved_price_gains_nothing(bet: float, price: float) -> None:
    assert horizon_gains([bet], [price], [price])[0] == 0.0


@given(st.lists(st.tuples(BETS, PRICES, LATER | st.just(math.nan)), max_size=10))
def test_gains_agree_with_shares_bought_and_sold(rows: list[tuple[float, float, float]]) -> None:
    def by_shares(bet: float, before: float, later: float) -> float:
        if bet > 0:
            return bet / before * later - bet
        return -bet / (1 - before) * (1 - later) + bet

    found = horizon_gains(*([row[index] for row in rows] for index in range(3)))
    np.testing.assert_allclose(found, [by_shares(*row) for row in rows], rtol=1e-9, atol=1e-9)


def test_a_zero_bet_gains_a_plain_zero_even_where_the_side_is_free() -> None:
    gains = horizon_gains([0.0, -0.0, 0.0], [0.0, 1.0, 0.5], [0.5, 0.5, 0.1])
    assert [str(gain) for gain in gains.tolist()] == ["0.0", "0.0", "0.0"]


def test_a_position_of_a_hundredth_of_a_share_keeps_its_value() -> None:
    assert horizon_gains([0.005], [0.5], [1.0]) == pytest.approx([0.005])


def test_an_unknown_price_gives_no_gain_and_not_zero() -> None:
    assert np.isnan(horizon_gains([0.5, 0.0], [0.5, 0.5], [math.nan, math.nan])).all()


def test_several_horizons_at_once_have_a_row_each() -> None:
    gains = horizon_gains([1.0, -1.0], [0.5, 0.5], [[0.5, 0.5], [1.0, 1.0], [0.75, math.nan]])
    np.testing.assert_allclose(gains, [[0.0, 0.0], [1.0, -1.0], [0.5, math.nan]])
