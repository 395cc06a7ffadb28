"""Weights of a market over time: who held how much of it, slot by slot."""

from dataclasses import replace

import numpy as np
import pytest

from predibot.scoring.accounts.allocation import drawdowns, weights_held
from predibot.scoring.accounts.market_weights import market_weights, mean_of_bots
from tests.scoring.accounts.made_accounts import account, at_slots, board_of, record_of

PRICES = np.array([[0.5, 0.2], [0.6, 0.2], [0.3, 0.4]])


def test_weights_are_shares_of_the_account_with_its_cash() -> None:
    # 100 shares at .5 and 200 at .2 beside $10: 50, 40 and 10 of $100.
    held = weights_held(np.array([[0.5, 0.2]]), np.array([[100.0, 200.0]]), np.array([10.0]))
    assert held.tolist() == [[0.5, 0.4]]


def test_a_position_without_a_price_makes_the_whole_slot_unknown_and_one_of_nothing_does_not() -> None:
    prices, shares = np.array([[0.5, np.nan], [0.5, np.nan]]), np.array([[10.0, 1.0], [10.0, 0.0]])
    held = weights_held(prices, shares, np.array([5.0, 5.0]))
    assert np.isnan(held[0]).all()
    assert held[1].tolist() == [0.5, 0.0]


def test_a_drawdown_is_measured_from_the_highest_value_so_far() -> None:
    assert drawdowns(np.array([100.0, 50.0, 200.0, 150.0])).tolist() == [0.0, -0.5, 0.0, -0.25]


def test_the_cash_of_all_slots_is_on_average_what_the_board_says() -> None:
    own = account("a", "one_shot", np.array([[0.4, 1.0], [0.5, 2.0], [1.0, 0.0]]), PRICES)
    (score,) = board_of(record_of(PRICES, own)).scores
    cash = 1.0 - weights_held(PRICES, own.shares, own.cash_usd).sum(axis=1)
    assert cash == pytest.approx([0.6, 0.3, 0.7])
    assert score.behaviour.cash_share == pytest.approx(cash.mean())


def test_the_market_that_bots_moved_most_comes_first_whatever_baselines_do() -> None:
    steady = account("a", "one_shot", np.array([[0.2, 0.0], [0.2, 2.0], [0.2, 0.0]]), PRICES)
    wild = account("b", "random_weights", np.array([[2.0, 0.0], [0.0, 0.0], [3.0, 0.0]]), PRICES)
    second, first = market_weights(record_of(PRICES, steady, wild), 5)[::-1]
    assert (first.instruments, second.instruments) == (("m1",), ("m0",))
    assert first.net("a") == pytest.approx([0.0, 0.4, 0.0])
    assert first.moved == pytest.approx([0.0, 0.4, 0.4])
    assert first.price.tolist() == [0.2, 0.2, 0.4]


def test_yes_and_no_of_a_market_are_told_apart() -> None:
    prices = np.array([[0.7, 0.3], [0.8, 0.2]])
    own = account("a", "one_shot", np.array([[0.5, 0.0], [0.0, 2.0]]), prices)
    record = replace(record_of(prices, own), outcome=np.array([1, -1]), market=np.array([4, 4]))
    (found,) = market_weights(record, 1)
    assert found.instruments == ("m0", "m1")
    assert (found.long["a"].round(6).tolist(), found.short["a"].round(6).tolist()) == ([0.35, 0.0], [0.0, 0.4])
    assert found.price.tolist() == [0.7, 0.8]


def test_a_slot_without_a_turn_is_unknown_and_is_left_out_of_the_mean() -> None:
    every = account("a", "one_shot", np.array([[0.2, 0.0], [0.4, 0.0], [0.2, 0.0]]), PRICES)
    late = replace(at_slots(every, slice(1, None)), bot="b")
    (found,) = market_weights(record_of(PRICES, every, late), 1)
    assert np.isnan(found.net("b")[0])
    assert mean_of_bots([found.net("a"), found.net("b")]) == pytest.approx(found.net("a"))
