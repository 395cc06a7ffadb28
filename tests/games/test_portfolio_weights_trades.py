"""Portfolios that are traded at once: the published cases, worked by hand, and what nobody offers."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from predibot.domain.account import Account, JournalRow, Position
from predibot.domain.account_past import AccountPast
from predibot.domain.decision import BookedOrder, Booking
from predibot.domain.price import Instrument, Price, Quote
from predibot.games.accounts import account_of
from predibot.games.fills import FillModel
from predibot.games.portfolio_weights import PortfolioWeights
from tests.games.portfolios import AT, VENUE, events_of, side

SAME = PortfolioWeights(fill="same")
DEPOSIT = JournalRow("deposit", AT, 500.0)


class Portfolio:
    """A journal that decisions are booked into, one after the other."""

    def __init__(self, *journal: JournalRow) -> None:
        self.journal = list(journal or (DEPOSIT,))

    @property
    def account(self) -> Account:
        return account_of(self.journal)

    def decide(
        self,
        allocations: Mapping[str, float],
        prices: Mapping[str, float | None],
        *,
        last: Mapping[Instrument, float] | None = None,
        game: PortfolioWeights = SAME,
    ) -> Booking:
        events = events_of(prices)
        past = AccountPast(
            at=AT, last_prices={each: Price(AT - timedelta(days=1), price) for each, price in (last or {}).items()}
        )
        view = game.view(game.subjects(events)[0], events, venue=VENUE, account=self.account, past=past)
        answer = game.form(view).parse({"reasoning": "", "allocations": allocations})
        booking = game.book(answer, view, self.account, view.prices, FillModel(game.fills))
        self.journal += booking.journal
        return booking


def shares(account: Account) -> dict[str, float]:
    return {instrument.id: round(held.shares, 6) for instrument, held in account.positions.items()}


def order_of(booking: Booking, name: str) -> BookedOrder:
    (found,) = [each for each in booking.orders if each.order.instrument == side(name)]
    return found


def test_three_days_of_the_published_portfolio() -> None:
    portfolio, weights = Portfolio(), {"Q1_Yes": 0.25, "Q2_No": 0.15, "CASH": 0.6}
    # NO of Q2 costs .93.
    portfolio.decide(weights, {"Q1": 0.05, "Q2": 0.07})
    assert portfolio.account.cash_usd == pytest.approx(300.0, abs=1e-9)
    assert shares(portfolio.account) == {"Q1:YES": 2500.0, "Q2:NO": 80.645161}
    portfolio.decide(weights, {"Q1": 0.10, "Q2": 0.07})
    assert portfolio.account.cash_usd == pytest.approx(375.0)
    assert shares(portfolio.account) == {"Q1:YES": 1562.5, "Q2:NO": 100.806452}
    assert portfolio.account.position(side("Q1")).cost_usd == pytest.approx(78.125)
    booking = portfolio.decide({"Q3_Yes": 0.5, "CASH": 0.5}, {"Q1": 0.10, "Q2": 0.07, "Q3": None})
    assert portfolio.account.cash_usd == pytest.approx(625.0)
    assert portfolio.account.positions == {}
    unfilled = order_of(booking, "Q3")
    assert (unfilled.status, unfilled.fills, unfilled.order.amount) == ("expired", (), 0.5)
    assert "no price" in unfilled.note


def bought(instrument: Instrument, number: float, price: float, cash_usd: float) -> Portfolio:
    cost_usd = number * price
    return Portfolio(
        JournalRow("deposit", AT, cash_usd + cost_usd), JournalRow("fill", AT, -cost_usd, instrument, number)
    )


def test_what_has_no_price_is_kept_whatever_is_asked_for_and_sold_at_no_price() -> None:
    portfolio = bought(side("A"), 1000.0, 0.5, 0.0)
    for weights in ({"CASH": 1.0}, {"B_Yes": 1.0}, {"A_Yes": 0.1}, {"A_Yes": 1.0}):
        order = order_of(portfolio.decide(weights, {"A": None, "B": 0.4}, last={side("A"): 0.5}), "A")
        assert (order.status, "no price" in order.note) == ("expired", True)
        assert portfolio.account.positions == {side("A"): Position(1000.0, 500.0)}
        assert portfolio.account.cash_usd == 0.0


def test_beside_what_has_no_price_the_cash_there_is_is_spent_and_no_more() -> None:
    portfolio = bought(side("A"), 500.0, 0.5, 250.0)
    booking = portfolio.decide({"B_Yes": 1.0}, {"A": None, "B": 0.4}, last={side("A"): 0.5})
    assert shares(portfolio.account) == {"A:YES": 500.0, "B:YES": 625.0}
    assert portfolio.account.cash_usd == pytest.approx(0.0, abs=1e-9)
    assert booking.scale == pytest.approx(0.5)


def test_a_market_that_closed_is_not_traded_though_a_quote_of_it_is_still_there() -> None:
    portfolio = bought(side("A"), 1000.0, 0.5, 0.0)
    events = events_of({"A": 0.5})
    game, account = SAME, portfolio.account
    closed = (replace(events[0], markets=(replace(events[0].markets[0], closed=True),)),)
    last = AccountPast(at=AT, last_prices={side("A"): Price(AT, 0.5)})
    view = game.view(game.subjects(events)[0], closed, venue=VENUE, account=account, past=last)
    answer = game.form(view).parse({"allocations": {"CASH": 1}})
    booking = game.book(
        answer, view, account, {side("A"): Price(AT, 0.5), side("A", "NO"): Price(AT, 0.5)}, FillModel("mid")
    )
    assert booking.journal == ()


def test_more_than_there_is_is_scaled_and_never_borrowed() -> None:
    portfolio = Portfolio()
    booking = portfolio.decide({"A_Yes": 0.8, "B_Yes": 0.8}, {"A": 0.25, "B": 0.5})
    assert shares(portfolio.account) == {"A:YES": 1000.0, "B:YES": 500.0}
    assert portfolio.account.cash_usd == pytest.approx(0.0, abs=1e-9)
    assert [each.asked for each in booking.orders] == [0.8, 0.8]
    assert [each.order.amount for each in booking.orders] == [0.5, 0.5]


def test_a_position_is_sold_whole_for_cash_and_realises_its_gain() -> None:
    portfolio = bought(side("A"), 1000.0, 0.5, 0.0)
    portfolio.decide({"CASH": 1}, {"A": 0.6})
    assert portfolio.account.cash_usd == pytest.approx(600.0)
    assert portfolio.account.realised_usd == pytest.approx(100.0)
    assert portfolio.account.positions == {}


def test_a_recipe_sets_by_which_price_trades_are_made() -> None:
    (event,) = events_of({"A": 0.5})
    event = replace(event, markets=(replace(event.markets[0], quote=Quote(AT, bid=0.48, ask=0.52)),))
    worth = {}
    for name in ("mid", "quote"):
        game = PortfolioWeights(fill="same", fills=name)  # type: ignore[arg-type]
        account = Account(cash_usd=500.0, paid_in_usd=500.0)
        view = game.view(game.subjects(())[0], (event,), venue=VENUE, account=account)
        answer = game.form(view).parse({"allocations": {"A_Yes": 0.5}})
        booking = game.book(answer, view, account, view.prices, FillModel(game.fills))
        (fill,) = booking.orders[0].fills
        assert fill.shares == pytest.approx(500.0)
        worth[name] = booking.unallocated_usd + fill.shares * 0.5  # type: ignore[operator]
    # 500 shares bought 2 cents above the middle.
    assert worth["mid"] - worth["quote"] == pytest.approx(10.0)
