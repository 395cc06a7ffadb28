"""Allocations: turnover, concentration, days in drawdown."""

import numpy as np
import pytest

from predibot.scoring.accounts.allocation import concentration, slots_in_drawdown, turnover


def test_turnover_is_zero_where_nothing_moves_and_one_where_everything_does() -> None:
    weights = np.array([[0.25, 0.15, 0.6], [1.0, 0.0, 0.0]])
    assert turnover(weights, weights).tolist() == [0.0, 0.0]
    assert turnover(weights[1:], np.array([[0.0, 0.0, 1.0]])).tolist() == [1.0]


def test_turnover_by_hand() -> None:
    # |.5 - .2| + |.1 - .1| + |.4 - .7|, halved.
    assert turnover(np.array([[0.5, 0.1, 0.4]]), np.array([[0.2, 0.1, 0.7]])) == pytest.approx([0.3])


def test_n_alike_are_concentrated_as_one_nth_whatever_the_cash() -> None:
    assert concentration(np.full((1, 8), 0.05)) == pytest.approx([1 / 8])


def test_a_slot_at_the_peak_is_not_in_drawdown() -> None:
    assert slots_in_drawdown(np.array([5.0, 5.0, 4.0, 5.0, 3.0, 6.0])) == 2
