"""The game of portfolio weights: whom it asks about what, what it shows, and what it books."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from predibot.domain.account import Account, Position
from predibot.domain.account_past import AccountPast
from predibot.domain.decision import Booking, Decision, Forecast, Label, Order
from predibot.domain.event import Event
from predibot.domain.price import Price
from predibot.errors import AnswerError, PluginError, UsageError
from predibot.games.fills import FillModel
from predibot.games.portfolio_weights import PortfolioView, PortfolioWeights
from predibot.recipe.text import packaged_crypto_words
from predibot.selection import SelectionRules, select
from tests.games.portfolios import AT, VENUE, events_of, market_of, parsed, side, view_of


def test_there_is_one_portfolio_whatever_is_listed() -> None:
    game = PortfolioWeights()
    assert game.subjects(()) == game.subjects(events_of({"A": 0.5}))
    assert [(subject.kind, subject.id) for subject in game.subjects(())] == [("portfolio", "weights")]
    assert game.stake_usd == 500.0


def test_a_view_needs_its_account() -> None:
    game, events = PortfolioWeights(), events_of({"A": 0.5})
    with pytest.raises(UsageError, match="no portfolio with an account"):
        game.view(game.subjects(events)[0], events, venue=VENUE)


def test_a_view_values_what_has_no_price_now_at_its_last() -> None:
    past = AccountPast(last_prices={side("A"): Price(AT - timedelta(days=2), 0.25)})
    view = view_of({"A": None, "B": 0.6}, held={side("A"): Position(100.0, 30.0)}, past=past)
    assert view.value_usd == 525.0
    assert side("A") not in view.prices
    assert view_of({"A": None, "B": 0.6}, held={side("A"): Position(100.0, 30.0)}).value_usd is None


def test_a_market_that_closed_has_no_price_and_stays_in_the_view() -> None:
    (open_event, closed_event) = events_of({"A": 0.3, "B": 0.6})
    closed_event = replace(closed_event, markets=(replace(closed_event.markets[0], closed=True),))
    game = PortfolioWeights()
    view = game.view(game.subjects(())[0], (open_event, closed_event), venue=VENUE, account=Account(cash_usd=1.0))
    assert set(view.prices) == {side("A"), side("A", "NO")}
    assert "B_Yes" in view.assets


def test_what_left_the_universe_is_shown_and_no_baseline_counts_it() -> None:
    view = view_of(past=AccountPast(outside=frozenset({"B"})))
    assert [each.in_universe for each in view.markets] == [True, False]
    assert view.prices_yes == {"A": 0.3}
    assert "B_No" in view.assets


def booked(decision: Decision, view: PortfolioView | None = None, **rules: Any) -> Booking:
    """Return the booking of a decision on a view, by these rules."""
    view = view_of() if view is None else view
    return PortfolioWeights(**rules).book(decision, view, view.account, view.prices, FillModel())


def test_weights_wait_for_the_next_slot_and_move_no_money() -> None:
    booking = booked(parsed({"A_Yes": 0.5, "B_Yes": 0.7}))
    assert booking.journal == ()
    assert {order.status for order in booking.orders} == {"pending"}
    assert [order.order.amount for order in booking.orders] == pytest.approx([0.5 / 1.2, 0.7 / 1.2])
    assert [order.asked for order in booking.orders] == [0.5, 0.7]
    assert booking.unallocated_usd == 500.0


@pytest.mark.parametrize("fill", ["next", "same"])
def test_no_order_keeps_every_share(fill: str) -> None:
    booking = booked(Decision(), view_of(held={side("A"): Position(10.0, 3.0)}), fill=fill)
    assert (booking.orders, booking.journal) == ((), ())


def ordered(*weights: tuple[str, float], of: str = "YES") -> Decision:
    return Decision(orders=tuple(Order(side(name, of), weight, "weight") for name, weight in weights))


@pytest.mark.parametrize(
    ("decision", "why"),
    [
        (ordered(("A", float("nan"))), "its weight is nan"),
        (ordered(("A", -0.1)), "its weight is -0.1"),
        (ordered(("A", True)), "its weight is True"),
        (ordered(("A", 0.1), ("A", 0.2)), "is ordered 2 times"),
        (ordered(("Z", 0.1)), "'Z:YES', no asset of this portfolio"),
        (Decision(orders=(Order(side("A"), 5.0),)), "its order is to buy in usd"),
        (Decision(orders=(Order(side("A"), 0.5, "weight", "sell"),)), "its order is to sell in weight"),
        (Decision(labels=(Label("A", "x"),)), "it has labels"),
        (Decision((Forecast("Z", 0.5),)), "market 'Z' is none of this portfolio"),
        (Decision((Forecast("A", 1.5),)), "the probability is 1.5"),
        (Decision((Forecast("A", 0.5), Forecast("A", 0.6))), "has 2 probabilities"),
        (Decision(orders=(*ordered(("A", 0.5)).orders, *ordered(("A", 0.5), of="NO").orders)), "both sides of market"),
    ],
)
def test_the_booking_checks_what_any_strategy_says(decision: Decision, why: str) -> None:
    with pytest.raises(AnswerError) as caught:
        booked(decision)
    assert why in str(caught.value)


def test_the_booking_scales_what_a_strategy_overweighs_and_keeps_what_it_said() -> None:
    decision = ordered(("A", 0.8), ("B", 0.8))
    booking = booked(decision)
    assert [order.order.amount for order in booking.orders] == [0.5, 0.5]
    assert [order.asked for order in booking.orders] == [0.8, 0.8]
    assert booking.scale == pytest.approx(1 / 1.6)
    with pytest.raises(AnswerError, match=r"lower them by 0\.6 in total"):
        booked(decision, overweight="refuse")


def test_a_weight_on_no_asset_of_the_view_is_a_mistake_of_the_strategy() -> None:
    with pytest.raises(PluginError, match="'Z_Yes', which is none of this portfolio"):
        view_of().orders({"Z_Yes": 0.5})


@pytest.mark.parametrize(
    ("volumes_24h", "played"),
    [
        ({"a": (5.0, 90.0), "b": (70.0, 80.0), "c": (None, 85.0)}, "a1 c1 b1"),
        # An unknown volume comes last, and ties go by id.
        ({"c": (None,), "b": (7.0,), "a": (7.0,), "d": (0.0,)}, "a0 b0 d0 c0"),
        # Crypto, and markets without an end.
        ({f"bitcoin-{n}-": (float(n),) for n in range(10, 22)}, " ".join(f"bitcoin-{n}-0" for n in range(21, 11, -1))),
    ],
)
def test_the_universe_is_the_ten_most_traded_markets_of_the_day_one_an_event(
    volumes_24h: dict[str, tuple[float | None, ...]], played: str
) -> None:
    """Events are named by id and by question; a market after its event and its place in it."""
    events = [
        Event(
            name,
            name,
            tuple(
                replace(market_of(f"{name}{number}", 0.5), volume_24h_usd=volume_usd, volume_1wk_usd=1.0)
                for number, volume_usd in enumerate(volumes)
            ),
            volume_1wk_usd=float(len(name)),
        )
        for name, volumes in volumes_24h.items()
    ]
    rules = PortfolioWeights().select(SelectionRules(crypto=packaged_crypto_words()))
    selected = select(events, rules, AT).selected
    assert [market.id for event in selected for market in event.markets] == played.split()
