"""Filters: which markets say enough to be compared, and which were open together."""

import math
from typing import Any

import numpy as np
import pytest

from predibot.related.beliefs import Beliefs
from predibot.related.features import daily_changes, volatile_share
from predibot.related.filters import Filters, apply_filters, open_days, overlap_days
from tests.related.made import FIRST_DAY, from_logits, from_prices

MOVING = (0.2 * (-1.0) ** np.arange(30)).tolist()
"""Logits that go up and down by four tenths a day."""


def beliefs_of(rows: int, **columns: Any) -> Beliefs:
    return from_logits(np.array([MOVING] * rows), **columns)


def test_the_quarter_that_traded_least_in_its_domain_is_left_out() -> None:
    volumes = [1, 2, 3, 4, 100, 200, 300, 400]
    found = apply_filters(beliefs_of(8, volumes=volumes, domains=["a"] * 4 + ["b"] * 4), Filters())
    assert found.kept.tolist() == [False, True, True, True] * 2
    assert (found.little_traded, found.flat, found.volume_unknown) == (2, 0, 0)


def test_markets_without_a_volume_pass_and_are_counted() -> None:
    found = apply_filters(beliefs_of(5, volumes=[math.nan, 1, 2, 3, 4]), Filters())
    assert found.kept.tolist() == [True, False, True, True, True]
    assert found.volume_unknown == 1


def test_a_market_that_hardly_moves_is_left_out_and_counted() -> None:
    beliefs = from_logits(np.array([MOVING, [0.01 * value for value in MOVING]]))
    found = apply_filters(beliefs, Filters())
    assert (found.kept.tolist(), found.flat) == ([True, False], 1)


@pytest.mark.parametrize("days", [7, 8])
def test_a_market_needs_a_whole_window(days: int) -> None:
    """Seven returns need eight prices."""
    beliefs = from_logits(np.array([MOVING[:days]]))
    assert apply_filters(beliefs, Filters()).kept.tolist() == [days == 8]


def test_the_share_of_volatile_windows_is_what_loops_find() -> None:
    generator = np.random.default_rng(3)
    prices = generator.uniform(0.1, 0.9, (6, 50))
    prices[:, 20:] = 0.5 + 0.001 * generator.normal(size=(6, 30))
    prices[generator.random(prices.shape) < 0.04] = math.nan
    beliefs = from_prices(prices.tolist())
    found = volatile_share(daily_changes(beliefs.prices, logits=True), 6, window_days=7, least_deviation=0.1)
    for market, row in enumerate(prices):
        returns = np.diff(np.log(row / (1 - row)))
        windows = [returns[start : start + 7] for start in range(len(returns) - 6)]
        told = [np.std(window, ddof=1) >= 0.1 for window in windows if not np.isnan(window).any()]
        assert found[market] == pytest.approx(np.mean(told) if told else math.nan, nan_ok=True)


def test_markets_are_open_from_their_first_to_their_last_price() -> None:
    beliefs = from_prices([[0.5] * 10, [0.5] * 5, [0.5]], first_days=[0, 8, 20])
    first, last = open_days(beliefs)
    assert (first - FIRST_DAY).tolist() == [0, 8, 20]
    assert (last - FIRST_DAY).tolist() == [9, 12, 20]
    rows = np.arange(3)
    assert overlap_days(first, last, rows[:, np.newaxis], rows).tolist() == [[10, 2, 0], [2, 5, 0], [0, 0, 1]]


def test_a_market_without_a_price_is_open_with_nobody() -> None:
    first, last = open_days(from_prices([[0.5] * 3, [math.nan] * 3]))
    assert overlap_days(first, last, np.array([0, 1]), np.array([1, 1])).tolist() == [0, 0]
