"""Rebalancing: what fees, books and debts do to it; the game plays the accepted cases in its test of trades."""

import math
from collections.abc import Mapping, Sequence

import pytest

from predibot.domain.account import Account, JournalRow, Position
from predibot.domain.decision import Booking
from predibot.domain.price import FeeSchedule, Instrument, Price
from predibot.games.accounts import account_of, value_usd
from predibot.games.fills import FillModel
from predibot.games.rebalance import rebalance
from tests.games.holdings import AT, booked_price, bought, deposit, outcome, priced, worth_usd

A, B, C = (outcome(name) for name in "ABC")


def moved(
    journal: Sequence[JournalRow],
    weights: Mapping[Instrument, float],
    prices: Mapping[Instrument, Price],
    fills: FillModel | None = None,
    **more: Mapping[Instrument, float],
) -> tuple[list[JournalRow], Account, Booking]:
    """Return the journal, the account and the booking after a rebalance."""
    booking = rebalance(account_of(journal), weights, prices, fills or FillModel("mid"), at=AT, **more)
    after = [*journal, *booking.journal]
    return after, account_of(after), booking


def test_what_is_held_and_has_neither_a_price_nor_a_last_one_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="no price of A"):
        moved([deposit(500.0), bought(A, 500.0, 0.5)], {B: 1.0}, priced(B=0.25))


def test_r5_more_than_all_is_refused_here_and_scaled_by_the_game() -> None:
    with pytest.raises(ValueError, match="never borrowed"):
        moved([deposit(500.0)], {A: 0.8, B: 0.8}, priced(A=0.3, B=0.7))


@pytest.mark.parametrize(("weight", "price"), [(0.005, 760.0), (0.5, 100_000.0), (1e-12, 760.0)])
def test_r7_and_r8_a_small_part_of_a_share_keeps_its_value(weight: float, price: float) -> None:
    stock = Instrument("toy", "equity", "STOCK")
    _, account, _ = moved([deposit(1000.0)], {stock: weight}, {stock: Price(AT, price)})
    assert value_usd(account, {stock: Price(AT, price)}) == pytest.approx(1000.0, abs=1e-9)
    assert account.position(stock).shares == pytest.approx(1000.0 * weight / price, rel=1e-12)


@pytest.mark.parametrize("weight", [-0.1, 1.1, math.nan, math.inf])
def test_what_is_no_weight_is_refused(weight: float) -> None:
    with pytest.raises(ValueError, match="a weight is in"):
        moved([deposit(500.0)], {A: weight}, priced(A=0.3))


def test_a_position_whose_shares_stay_keeps_its_cost_to_the_bit() -> None:
    journal = [deposit(500.0), bought(A, 333.3, 0.1), bought(A, 77.7, 0.7), bought(B, 100.0, 0.3)]
    before, now = account_of(journal), priced(A=0.37, B=0.61)
    worth = {each: position.shares * now[each].mid for each, position in before.positions.items()}
    total_usd = before.cash_usd + math.fsum(worth.values())
    _, account, booking = moved(journal, {each: usd / total_usd for each, usd in worth.items()}, now)
    assert (account, booking.journal) == (before, ())
    # One of them changes, and the other does not notice.
    _, account, _ = moved(journal, {A: worth[A] / total_usd}, now)
    assert account.position(A) == before.position(A)


BOOKS = {
    A: booked_price(0.41, bids=((0.40, 1e6),), asks=((0.42, 1e6),), rate=0.05),
    B: booked_price(0.72, bids=((0.71, 1e6),), asks=((0.73, 1e6),), rate=0.02),
}


@pytest.mark.parametrize("weights", [{B: 0.6}, {B: 0.98}, {A: 0.1, B: 0.9}, {A: 0.7}])
def test_values_under_mid_and_quote_differ_by_the_spread_and_the_fees(weights: dict[Instrument, float]) -> None:
    # From equal accounts, at one set of prices: what was paid above the mid, or got below it, is what is missing.
    journal = [deposit(500.0), bought(A, 800.0, 0.41)]
    mids = {each: price.mid for each, price in BOOKS.items()}
    values = {}
    for model in (FillModel("mid"), FillModel("quote"), FillModel("book")):
        _, account, booking = moved(journal, weights, BOOKS, model)
        fills = [fill for order in booking.orders for fill in order.fills]
        # Offered everywhere is a cent from the mid, whichever side it is traded at.
        spread_usd = sum(abs(fill.shares) * (0.0 if model.name == "mid" else 0.01) for fill in fills)
        values[model.name] = worth_usd(account, mids) + spread_usd + account.fees_usd
        assert fills and account.fees_usd > 0.0 and account.cash_usd >= -1e-9
    assert values["quote"] == pytest.approx(values["mid"], abs=1e-9) == pytest.approx(500.0, abs=1e-9)
    assert values["book"] == pytest.approx(500.0, abs=1e-9)


@pytest.mark.parametrize("name", ["mid", "quote", "book"])
def test_all_buys_are_scaled_by_one_factor_to_the_cash_fees_included(name: str) -> None:
    _, account, booking = moved([deposit(500.0)], {A: 0.5, B: 0.5}, BOOKS, FillModel(name))
    assert booking.scale < 1.0
    for instrument, price in BOOKS.items():
        assert account.position(instrument).shares == pytest.approx(booking.scale * 250.0 / price.mid, rel=1e-12)
    assert account.cash_usd == pytest.approx(0.0, abs=1e-9)
    assert account.fees_usd > 1.0
    assert all("scaled by" in order.note for order in booking.orders)


def test_what_is_not_in_the_book_is_not_filled_and_its_cash_stays() -> None:
    thin = {A: booked_price(0.5, bids=((0.49, 10.0),), asks=((0.51, 100.0), (0.6, 50.0)))}
    journal, account, booking = moved([deposit(500.0)], {A: 0.8}, thin, FillModel("book"))
    assert account.position(A) == Position(150.0, 0.51 * 100 + 0.6 * 50)
    assert booking.orders[0].note.startswith("150 of 800 shares were filled")
    _, account, booking = moved(journal, {}, thin, FillModel("book"))
    assert (account.position(A).shares, booking.orders[0].status) == (140.0, "filled")
    _, account, booking = moved(journal, {}, {A: booked_price(0.5, bids=(), asks=())}, FillModel("book"))
    assert (account.position(A).shares, booking.orders[0].status) == (150.0, "expired")


def test_in_a_book_the_factor_is_the_largest_that_the_cash_is_enough_for() -> None:
    steep = {A: booked_price(0.5, bids=(), asks=((0.5, 400.0), (0.9, 1000.0)))}
    _, account, booking = moved([deposit(500.0)], {A: 1.0}, steep, FillModel("book"))
    # 400 shares cost 200; the other 300 dollars buy 333.33 at .9.
    assert account.position(A).shares == pytest.approx(400.0 + 300.0 / 0.9, rel=1e-9)
    assert booking.scale == pytest.approx((400.0 + 300.0 / 0.9) / 1000.0, rel=1e-9)
    assert 0.0 <= account.cash_usd + 1e-9 < 1e-6


def test_who_owes_only_sells_and_repays_first() -> None:
    # 300 of what was won and taken back again had been spent on A.
    won = [JournalRow("settlement", AT, 400.0, B, -400.0, "r", 1), bought(A, 1200.0, 0.5)]
    back = JournalRow("reversal", AT, -400.0, B, 400.0, "r", 2)
    journal = [deposit(300.0), bought(B, 400.0, 0.25), *won, back]
    assert account_of(journal).owing and account_of(journal).cash_usd == -400.0
    _, account, booking = moved(journal, {A: 0.2, B: 0.8}, priced(A=0.5, B=0.1))
    assert account.position(B).shares == 400.0
    # V = -400 + 600 + 40; a fifth of it stays in A, the rest repays.
    assert account.position(A).shares == pytest.approx(0.2 * 240.0 / 0.5)
    assert account.cash_usd == pytest.approx(240.0 * 0.8 - 40.0)
    (refused,) = [each for each in booking.orders if each.order.instrument == B]
    assert refused.status == "expired" and "owes" in refused.note


def test_who_owes_more_than_everything_is_worth_sells_it_all() -> None:
    journal = [deposit(100.0), bought(A, 200.0, 0.5), JournalRow("settlement", AT, 200.0, A, -200.0, "r", 1)]
    journal += [bought(B, 400.0, 0.5), JournalRow("reversal", AT, -200.0, A, 200.0, "r", 2)]
    _, account, _ = moved(journal, {A: 0.5, B: 0.5}, priced(A=0.01, B=0.01))
    assert (account.cash_usd, dict(account.positions), account.owing) == (pytest.approx(-194.0), {}, True)


def test_who_is_worth_nothing_or_less_is_told_why_nothing_was_bought() -> None:
    owing = [deposit(100.0), bought(A, 200.0, 0.5), JournalRow("settlement", AT, 200.0, A, -200.0, "r", 1)]
    owing += [bought(B, 600.0, 0.5), JournalRow("reversal", AT, -200.0, A, 200.0, "r", 2)]
    _, _, booking = moved(owing, {C: 0.5}, priced(A=0.01, B=0.01, C=0.5))
    (refused,) = [each for each in booking.orders if each.order.instrument == C]
    assert (refused.status, refused.fills, refused.order.side) == ("expired", (), "buy")
    assert "owes" in refused.note
    _, _, booking = moved([deposit(100.0), bought(A, 200.0, 0.5)], {B: 1.0}, priced(A=0.0, B=0.5))
    (refused,) = [each for each in booking.orders if each.order.instrument == B]
    assert (refused.status, refused.note) == ("expired", "the account is worth nothing, which buys none")


def test_who_has_no_cash_because_a_position_cannot_be_sold_is_told_so() -> None:
    _, _, booking = moved([deposit(100.0), bought(A, 200.0, 0.5)], {B: 1.0}, priced(B=0.5), frozen={A: 0.5})
    (refused,) = [each for each in booking.orders if each.order.instrument == B]
    assert (refused.status, refused.note) == ("expired", "there was no cash for it")


def test_a_sale_that_its_fee_forbids_says_so() -> None:
    journal = [deposit(500.0), bought(A, 100.0, 0.5)]
    dear = {A: Price(AT, 0.01, fees=FeeSchedule(0.05, 0.0))}
    _, account, booking = moved(journal, {}, dear)
    assert (account.position(A).shares, booking.orders[0].status) == (100.0, "expired")
    assert booking.orders[0].note == "its fee is more than it would bring"


def test_nothing_is_sold_for_nothing_and_a_worthless_thing_is_kept() -> None:
    journal = [deposit(100.0), bought(A, 100.0, 0.5)]
    _, account, booking = moved(journal, {A: 0.5}, priced(A=0.0))
    assert account.position(A).shares == 100.0
    assert booking.orders[0].status == "expired"
    _, account, _ = moved(journal, {}, priced(A=0.0))
    assert account.position(A).shares == 100.0
