"""What holds for every booking of a dollar, whatever is bet."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.domain.decision import Booking, Decision, MarketDecision
from predibot.domain.event import Event
from predibot.domain.price import Quote
from predibot.errors import AnswerError
from predibot.games.dollar_per_event import DollarPerEvent
from tests.decisions import book
from tests.selection.worlds import event, market, quoted

prices = st.floats(0.001, 0.999)
stakes = st.lists(st.tuples(prices, st.floats(-1.0, 1.0)), min_size=1, max_size=6)
numbers = st.floats() | st.integers() | st.booleans() | st.none() | st.text(max_size=3)


def table(bets: list[tuple[float, float]]) -> tuple[Decision, Event, dict[str, Quote]]:
    ids = [str(number) for number in range(len(bets))]
    said = Decision(tuple(MarketDecision(i, 0.5, bet) for i, (_, bet) in zip(ids, bets, strict=True)))
    return said, event(markets=[market(i) for i in ids]), {i: quoted(p) for i, (p, _) in zip(ids, bets, strict=True)}


def cash_out_usd(booking: Booking) -> float:
    return -math.fsum(fill.cash_usd for booked in booking.orders for fill in booked.fills)


@given(stakes)
def test_no_cent_is_lost_or_made(bets: list[tuple[float, float]]) -> None:
    said, on, quotes = table(bets)
    booking = book(DollarPerEvent("scale"), said, on, quotes)
    assert cash_out_usd(booking) + booking.unallocated_usd == pytest.approx(1.0, abs=1.1e-6)
    assert booking.unallocated_usd >= 0.0


@given(stakes)
def test_shares_times_price_is_the_cash_that_left(bets: list[tuple[float, float]]) -> None:
    said, on, quotes = table(bets)
    booking = book(DollarPerEvent("scale"), said, on, quotes)
    spent_usd = [sum(fill.shares * fill.price for fill in booked.fills) for booked in booking.orders]
    assert spent_usd == pytest.approx([abs(bet.booked_usd) for bet in booking.bets if bet.booked_usd])


@given(stakes)
def test_scaling_keeps_proportions_and_sides_and_never_adds(bets: list[tuple[float, float]]) -> None:
    said, on, quotes = table(bets)
    booking = book(DollarPerEvent("scale"), said, on, quotes)
    assert booking.scale <= 1.0
    for asked, bet in zip(said.forecasts, booking.bets, strict=True):
        assert isinstance(asked, MarketDecision)
        assert bet.asked_usd == asked.bet_usd
        assert bet.booked_usd == pytest.approx(asked.bet_usd * booking.scale)


@given(stakes)
def test_refusing_and_scaling_agree_on_everything_up_to_a_dollar(bets: list[tuple[float, float]]) -> None:
    said, on, quotes = table(bets)
    scaled = book(DollarPerEvent("scale"), said, on, quotes)
    if math.fsum(abs(bet) for _, bet in bets) <= 1.0:
        assert book(DollarPerEvent(), said, on, quotes) == scaled
    elif scaled.scale < 1.0:
        with pytest.raises(AnswerError, match="lower the bets"):
            book(DollarPerEvent(), said, on, quotes)


@given(numbers, numbers, numbers, numbers)
def test_whatever_is_said_is_booked_within_the_rules_or_complained_about(
    probability: Any, bet: Any, confidence: Any, rest: Any
) -> None:
    said = Decision((MarketDecision("a", probability, bet, confidence),), unallocated_usd=rest)
    try:
        booking = book(DollarPerEvent(), said, event(markets=[market("a")]), {"a": quoted(0.3)})
    except AnswerError as error:
        assert str(error)
    else:
        assert 0.0 <= float(probability) <= 1.0
        assert cash_out_usd(booking) == pytest.approx(abs(float(bet)))
