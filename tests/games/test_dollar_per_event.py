"""One dollar an event: what is booked, and what is said about everything that is not."""

from dataclasses import replace
from typing import Any

import pytest

from predibot.domain.decision import Decision, Fill, MarketDecision
from predibot.domain.event import Event
from predibot.domain.price import Instrument, Quote
from predibot.errors import AnswerError, UsageError
from predibot.games.dollar_per_event import DollarPerEvent
from predibot.plugins.games import make_game
from tests.decisions import book
from tests.selection.worlds import NOW, event, market, quoted

EVENT = event(markets=[market("a"), market("b")])
QUOTES = {"a": quoted(0.25), "b": quoted(0.6)}


def decision(a: Any = 0.4, b: Any = -0.5, **more: Any) -> Decision:
    return Decision((MarketDecision("a", 0.3, a), MarketDecision("b", 0.5, b)), **more)


def complaint(
    said: Decision, *, on: Event = EVENT, quotes: dict[str, Quote] = QUOTES, game: DollarPerEvent | None = None
) -> str:
    with pytest.raises(AnswerError) as caught:
        book(game or DollarPerEvent(), said, on, quotes)
    return str(caught.value)


def test_a_bet_buys_shares_of_its_side_at_the_price_of_that_side() -> None:
    booking = book(DollarPerEvent(), decision(a=0.4, b=-0.5), EVENT, QUOTES)
    yes, no = booking.orders
    # 0.40 / 0.25 = 1.6 shares of YES, 0.50 / (1 - 0.60) = 1.25 shares of NO
    assert yes.fills == (Fill(Instrument("polymarket", "binary_outcome", "a:YES"), 1.6, 0.25, 0.0, -0.4),)
    assert no.fills == (Fill(Instrument("polymarket", "binary_outcome", "b:NO"), 1.25, 0.4, 0.0, -0.5),)
    assert booking.unallocated_usd == pytest.approx(0.1)
    assert booking.scale == 1.0


def test_a_bet_of_zero_is_booked_without_a_fill_and_keeps_its_price() -> None:
    booking = book(DollarPerEvent(), decision(a=0), EVENT, QUOTES)
    bet = booking.bets[0]
    assert (bet.booked_usd, bet.price.yes, len(booking.orders)) == (0.0, 0.25, 1)


def test_a_bet_of_zero_on_a_market_nobody_quotes_is_booked_at_the_price_that_was_shown() -> None:
    bet = book(DollarPerEvent(), decision(a=0.0), EVENT, {"b": QUOTES["b"]}).bets[0]
    assert bet.price.yes == 0.4


def test_every_market_is_decided_on_exactly_once() -> None:
    said = Decision((MarketDecision("a", 0.3), MarketDecision("a", 0.4), MarketDecision("c", 0.5)))
    text = complaint(said)
    assert "market 'a' is decided 2 times; keep one" in text
    assert "market 'c' is not one of this event; take it out" in text
    assert "market 'b' is missing; add its probability and its bet" in text


@pytest.mark.parametrize(
    ("probability", "said"),
    [
        (True, "the probability is True; give a number from 0 to 1"),
        ("0.5", "the probability is '0.5'; give a number"),
        (float("nan"), "the probability is nan"),
        (None, "the probability is None"),
        (-0.1, "the probability is -0.1"),
        (37, "the probability is 37; give a number from 0 to 1, 37 % is 0.37"),
        (101, "the probability is 101; give a number from 0 to 1"),
    ],
)
def test_a_probability_is_a_number_from_zero_to_one(probability: Any, said: str) -> None:
    text = complaint(Decision((MarketDecision("a", probability), MarketDecision("b", 0.5))))
    assert f"market 'a': {said}" in text


@pytest.mark.parametrize("confidence", [-1, 10.5, True, "high", float("inf")])
def test_a_confidence_is_a_number_from_zero_to_ten(confidence: Any) -> None:
    text = complaint(Decision((MarketDecision("a", 0.3, confidence=confidence), MarketDecision("b", 0.5))))
    assert f"the confidence is {confidence!r}; give a number from 0 to 10 or leave it out" in text


@pytest.mark.parametrize("bet", [True, "0.2", None, float("nan"), float("-inf"), 10**400])
def test_a_bet_is_a_finite_number(bet: Any) -> None:
    assert "market 'a': the bet is" in complaint(decision(a=bet))


def test_a_closed_market_takes_no_bet_but_a_forecast() -> None:
    closed = replace(EVENT, markets=(market("a", closed=True), market("b")))
    assert complaint(decision(), on=closed) == "market 'a': it is closed; set its bet to 0"
    assert book(DollarPerEvent(), decision(a=0.0), closed, QUOTES)


@pytest.mark.parametrize("price_yes", [0.0, 1.0, None])
def test_a_market_without_a_usable_quote_takes_no_bet(price_yes: float | None) -> None:
    quotes = {**QUOTES, "a": Quote(at=NOW, displayed=price_yes)}
    assert complaint(decision(), quotes=quotes) == "market 'a': it has no usable quote now; set its bet to 0"


def test_a_side_priced_below_a_tenth_of_a_cent_takes_no_bet() -> None:
    cheap = {**QUOTES, "a": quoted(0.0009), "b": quoted(0.9995)}
    text = complaint(decision(), quotes=cheap)
    assert "market 'a': YES is priced at 0.0009, below 0.001" in text
    assert "market 'b': NO is priced at 0.0005, below 0.001" in text
    assert book(DollarPerEvent(), decision(), EVENT, {**QUOTES, "a": quoted(0.001)})


def test_more_than_a_dollar_is_refused_with_what_to_lower() -> None:
    assert complaint(decision(a=0.6, b=-0.6)) == "staked $1.20 of $1.00; lower the bets by $0.20 in total"
    assert "by $1.1e-06 in total" in complaint(decision(a=0.5, b=-0.5000011))


def test_a_dollar_and_a_millionth_is_a_dollar() -> None:
    booking = book(DollarPerEvent(), decision(a=0.5, b=-0.5000009), EVENT, QUOTES)
    assert booking.unallocated_usd == 0.0


def test_scaling_is_opted_into_and_recorded_beside_what_was_asked() -> None:
    booking = book(DollarPerEvent("scale"), decision(a=0.9, b=-0.6), EVENT, QUOTES)
    assert booking.scale == pytest.approx(1 / 1.5)
    assert [bet.asked_usd for bet in booking.bets] == [0.9, -0.6]
    assert [bet.booked_usd for bet in booking.bets] == pytest.approx([0.6, -0.4])
    assert booking.unallocated_usd == pytest.approx(0.0)


def test_scaling_leaves_a_dollar_or_less_alone() -> None:
    assert book(DollarPerEvent("scale"), decision(), EVENT, QUOTES).scale == 1.0


def test_bets_beyond_counting_are_refused_even_where_scaling_is_on() -> None:
    assert "more than can be counted" in complaint(decision(a=1e308, b=1e308), game=DollarPerEvent("scale"))


@pytest.mark.parametrize("stated", [0.1, 0.109, 0.091, None])
def test_what_is_left_may_be_stated_to_a_cent_or_not_at_all(stated: float | None) -> None:
    booking = book(DollarPerEvent(), decision(unallocated_usd=stated), EVENT, QUOTES)
    assert booking.unallocated_usd == pytest.approx(0.1)


@pytest.mark.parametrize("stated", [0.2, -0.1, True, "0.1", float("nan")])
def test_what_is_left_must_be_what_the_bets_leave(stated: Any) -> None:
    text = complaint(decision(unallocated_usd=stated))
    assert "unallocated is" in text
    assert "$0.10" in text


def test_all_complaints_come_at_once_and_numbered() -> None:
    said = Decision((MarketDecision("a", 2.0, 0.9, confidence=11), MarketDecision("a", 0.5, -0.9)))
    text = complaint(said)
    assert [f"({number})" in text for number in range(1, 7)] == [True] * 5 + [False]


def test_a_game_is_made_by_name_and_a_slip_is_met_with_the_nearest_word() -> None:
    assert make_game("dollar_per_event", overstake="scale") == DollarPerEvent("scale")
    assert make_game("dollar_per_event").stake_usd == 1.0
    with pytest.raises(UsageError, match=r"no game 'dolar_per_event'. Did you mean 'dollar_per_event'"):
        make_game("dolar_per_event")
    with pytest.raises(UsageError, match=r"unknown argument 'overstakes'. Did you mean 'overstake'"):
        make_game("dollar_per_event", overstakes="scale")
    with pytest.raises(UsageError, match=r"it should be 'refuse' or 'scale'. Did you mean 'scale'"):
        make_game("dollar_per_event", overstake="skale")
