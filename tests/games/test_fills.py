"""Fill models: at which prices an order is filled, how much of it, and what the venue charges."""

import pytest

from predibot.domain.decision import Fill, Order
from predibot.domain.event import Event, Market, MarketRef, prices_of
from predibot.domain.price import Depth, FeeSchedule, Level, Price, Quote
from predibot.errors import UsageError
from predibot.games.fills import FillModel
from tests.games.holdings import AT, booked_price, outcome

A = outcome("A")
BOOK = booked_price(0.5, bids=((0.49, 100.0), (0.40, 50.0)), asks=((0.50, 100.0), (0.60, 50.0)))


def fill_of(name: str, order: Order, price: Price = BOOK) -> Fill:
    """Return the fill of an order by the model of a name."""
    fill = FillModel(name).fill(order, price)
    assert fill is not None
    return fill


@pytest.mark.parametrize(
    ("order", "shares", "cash_usd"),
    [
        (Order(A, 40.0), 80.0, -40.0),
        (Order(A, 62.0), 120.0, -62.0),
        (Order(A, 1000.0), 150.0, -80.0),
        (Order(A, 120.0, "shares"), 120.0, -62.0),
        (Order(A, 1000.0, "shares"), 150.0, -80.0),
        (Order(A, 120.0, "shares", "sell"), -120.0, 57.0),
        (Order(A, 53.0, "usd", "sell"), -110.0, 53.0),
        (Order(A, 1000.0, "shares", "sell"), -150.0, 69.0),
    ],
)
def test_a_book_is_walked_from_its_best_level(order: Order, shares: float, cash_usd: float) -> None:
    fill = fill_of("book", order)
    assert (fill.shares, fill.cash_usd) == (pytest.approx(shares), pytest.approx(cash_usd))
    assert fill.price == pytest.approx(abs(cash_usd / shares))
    assert fill.model == "book"


def test_what_is_taken_whole_over_several_levels_is_exactly_what_was_asked_for() -> None:
    levels = tuple((0.5 - 0.01 * step, 7.0 + 0.37 * step) for step in range(12))
    price = booked_price(0.5, bids=levels, asks=tuple((1.0 - each, shares) for each, shares in levels))
    for step in range(1, 800):
        sold = fill_of("book", Order(A, step / 11.0, "shares", "sell"), price)
        bought = fill_of("book", Order(A, step / 37.0), price)
        assert (-sold.shares, -bought.cash_usd) == (step / 11.0, step / 37.0)


def test_each_level_is_charged_at_its_own_price() -> None:
    price = booked_price(0.5, bids=(), asks=((0.50, 100.0), (0.60, 50.0)), rate=0.04)
    assert fill_of("book", Order(A, 150.0, "shares"), price).fee_usd == pytest.approx(0.04 * (100 * 0.25 + 50 * 0.24))
    assert fill_of("quote", Order(A, 150.0, "shares"), price).fee_usd == pytest.approx(0.04 * 150 * 0.25)
    assert fill_of("mid", Order(A, 75.0), price).fee_usd == pytest.approx(0.04 * 150 * 0.25)


def test_a_venue_that_states_no_fees_charges_none_and_an_exponent_counts() -> None:
    assert fill_of("mid", Order(A, 10.0), Price(AT, 0.5)).fee_usd == 0.0
    squared = Price(AT, 0.5, fees=FeeSchedule(0.04, 2.0))
    assert fill_of("mid", Order(A, 10.0, "shares"), squared).fee_usd == pytest.approx(10 * 0.04 * 0.0625)


def test_a_side_without_offers_fills_nothing() -> None:
    bare = Price(AT, 0.5)
    assert FillModel("book").fill(Order(A, 1.0), bare) is None
    assert FillModel("quote").fill(Order(A, 1.0, "shares", "sell"), bare) is None
    assert FillModel("mid").fill(Order(A, 1.0), Price(AT, 0.0)) is None


def test_what_would_bring_less_than_its_fee_is_not_sold() -> None:
    dear = Price(AT, 0.01, fees=FeeSchedule(0.05, 0.0))
    assert FillModel("mid").fill(Order(A, 10.0, "shares", "sell"), dear) is None
    assert FillModel("mid").fill(Order(A, 10.0, "shares", "buy"), dear) is not None


@pytest.mark.parametrize("order", [Order(A, 0.5, "weight"), Order(A, 0.0), Order(A, -1.0), Order(A, float("nan"))])
def test_what_is_no_amount_is_refused(order: Order) -> None:
    with pytest.raises(ValueError, match=r"no amount|asks for nothing"):
        FillModel("mid").fill(order, BOOK)


def test_an_unknown_model_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="'best' is no fill model; take one of mid, quote, book"):
        FillModel("best")


def test_the_book_of_no_is_that_of_yes_turned() -> None:
    depth = Depth((Level(0.40, 10.0), Level(0.25, 20.0)), (Level(0.50, 30.0),))
    market = Market(MarketRef("m"), "?", ("Yes", "No"), quote=Quote(AT, 0.40, 0.50, depth=depth), fees=FeeSchedule(0.1))
    prices = prices_of(Event("e", "E", (market,)), "toy")
    yes, no = prices[market.ref.instrument("toy", "YES")], prices[market.ref.instrument("toy", "NO")]
    assert (yes.bids, yes.asks) == (depth.bids, depth.asks)
    assert no.bids == (Level(0.50, 30.0),)
    assert no.asks == (Level(0.60, 10.0), Level(0.75, 20.0))
    assert (no.bid, no.ask) == (no.bids[0].price, no.asks[0].price)
    assert yes.fees == no.fees == FeeSchedule(0.1)


def test_a_book_out_of_order_is_refused() -> None:
    with pytest.raises(ValueError, match="best level first"):
        Depth(bids=(Level(0.2, 1.0), Level(0.3, 1.0)))
