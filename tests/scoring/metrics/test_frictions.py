"""Frictions: what a bet gains when it is bought at the ask, valued at the bid, and pays a fee."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.scoring import quote_gains

NAN = math.nan
# A book around a mid: the bid, the spread above it, and what the mid is then.
BOOKS = st.tuples(st.floats(0.01, 0.9), st.floats(0.0, 0.09))
CASES = st.tuples(
    st.floats(-1.0, 1.0), BOOKS, st.floats(0.0, 1.0), st.booleans(), st.floats(0.0, 0.2), st.floats(0.0, 2.0)
)
Case = tuple[float, tuple[float, float], float, bool, float, float]


def gain(
    usd: float,
    bid: float,
    ask: float,
    later: float,
    *,
    settled: bool = False,
    fee_rate: float = NAN,
    fee_exponent: float = NAN,
) -> float:
    found = quote_gains(
        [usd], [bid], [ask], [later], settled=[settled], fee_rates=[fee_rate], fee_exponents=[fee_exponent]
    )
    return float(found[0])


def by_hand(
    usd: float, bid: float, ask: float, later: float, *, settled: bool, fee_rate: float, fee_exponent: float
) -> float:
    """Return the same in words: how many shares the dollars bought, and what one is worth."""
    if usd == 0.0:
        return 0.0
    cost = ask if usd > 0.0 else 1.0 - bid
    shares: float = abs(usd) / (cost + fee_rate * (cost * (1.0 - cost)) ** fee_exponent)
    mid = later if usd > 0.0 else 1.0 - later
    worth = mid if settled else max(mid - (ask - bid) / 2.0, 0.0)
    return shares * worth - abs(usd)


@given(CASES)
def test_every_bet_gains_what_its_shares_are_worth_less_what_they_cost(case: Case) -> None:
    usd, (bid, spread), later, settled, rate, exponent = case
    asked: dict[str, Any] = {"settled": settled, "fee_rate": rate, "fee_exponent": exponent}
    found, expected = (one(usd, bid, bid + spread, later, **asked) for one in (gain, by_hand))
    assert found == pytest.approx(expected, abs=1e-12)


def test_what_is_not_known_has_no_value_unless_nothing_was_bet() -> None:
    for bid, ask, later in ((NAN, NAN, 0.5), (0.4, 0.5, NAN)):
        assert math.isnan(gain(1.0, bid, ask, later))
        assert gain(0.0, bid, ask, later) == 0.0


def test_where_nothing_is_on_offer_nothing_is_bought() -> None:
    assert math.isnan(gain(1.0, 0.0, 0.0, 0.5))
    assert math.isnan(gain(-1.0, 1.0, 1.0, 0.5))


def test_a_share_is_never_worth_less_than_nothing() -> None:
    assert gain(1.0, 0.30, 0.50, 0.05) == -1.0


def test_a_fee_that_is_not_stated_is_not_charged_and_an_exponent_is_one() -> None:
    assert gain(1.0, 0.4, 0.5, 0.6) == gain(1.0, 0.4, 0.5, 0.6, fee_rate=0.0)
    one = gain(1.0, 0.4, 0.5, 0.6, fee_rate=0.05, fee_exponent=1.0)
    assert gain(1.0, 0.4, 0.5, 0.6, fee_rate=0.05) == one


def test_nothing_in_is_nothing_out() -> None:
    none = np.zeros(0)
    found = quote_gains(none, none, none, none, settled=none, fee_rates=none, fee_exponents=none)
    assert found.shape == (0,)
