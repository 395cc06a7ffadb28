"""The baselines of portfolios: what each holds of markets whose prices are known, and that they play nothing else."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from predibot.contracts import Context
from predibot.domain.account import Position
from predibot.domain.account_past import AccountPast, PastAllocation
from predibot.domain.decision import Decision, seeded_random
from predibot.errors import PluginError
from predibot.games.fills import FillModel
from predibot.games.portfolio_weights import PortfolioView, PortfolioWeights
from predibot.plugins.strategies import load_strategy, spec_of
from tests.games.portfolios import AT, side, view_of, weights_of

NAMES = ("all_cash", "equal_weights", "buy_and_hold", "market_favourite", "random_weights")
PRICES = {"A": 0.3, "B": 0.6, "C": 0.5, "D": None}


def decided(name: str, view: PortfolioView, *seed: str) -> Decision:
    context = Context(AT, view, PortfolioWeights(), seeded_random("baselines", *seed), account=view.account)
    answer = load_strategy(spec_of(name)).decide(context)
    assert isinstance(answer, Decision)
    return answer


def held(name: str, prices: Mapping[str, float | None] = PRICES, *seed: str) -> dict[str, float]:
    view = view_of(prices)
    return weights_of(decided(name, view, *seed), view)


def test_all_cash_holds_nothing_and_sells_what_it_has() -> None:
    assert held("all_cash") == {"CASH": 1.0}
    view = view_of(held={side("A"): Position(5.0, 1.0)})
    assert weights_of(decided("all_cash", view), view) == {"A_Yes": 0.0, "CASH": 1.0}


@pytest.mark.parametrize("name", ["equal_weights", "buy_and_hold"])
def test_the_same_weight_goes_to_the_dearer_side_of_each_market_with_a_price(name: str) -> None:
    assert held(name) == {"A_No": 0.333333, "B_Yes": 0.333333, "C_Yes": 0.333333, "CASH": 0.0}
    assert held(name, {"A": None}) == {"CASH": 1.0}


def test_equal_weights_are_made_anew_and_what_left_the_universe_is_sold() -> None:
    past = AccountPast(allocations=(PastAllocation(AT, {"A_No": 0.5}, 500.0, 0.0),), outside=frozenset({"A"}))
    view = view_of(held={side("A", "NO"): Position(10.0, 7.0)}, past=past)
    assert weights_of(decided("equal_weights", view), view) == {"A_No": 0.0, "B_Yes": 1.0, "CASH": 0.0}


def test_buy_and_hold_buys_once_and_later_keeps_shares_and_cash_as_they_are() -> None:
    began = AccountPast(allocations=(PastAllocation(AT - timedelta(days=1), {"A_No": 1.0}, 500.0, 0.0),))
    for view in (view_of(past=began), view_of(held={side("A"): Position(5.0, 1.0)})):
        assert decided("buy_and_hold", view) == Decision()


def test_market_favourite_holds_the_dearest_side_and_ties_go_to_the_first() -> None:
    assert held("market_favourite") == {"A_No": 1.0, "CASH": 0.0}
    assert held("market_favourite", {"A": 0.75, "B": 0.25}) == {"A_Yes": 1.0, "CASH": 0.0}
    assert held("market_favourite", {"A": 0.5}) == {"A_Yes": 1.0, "CASH": 0.0}
    assert held("market_favourite", {"A": None}) == {"CASH": 1.0}


def test_random_weights_follow_from_the_seed_and_spread_evenly() -> None:
    assert held("random_weights", PRICES, "x") == held("random_weights", PRICES, "x")
    drawn = [held("random_weights", PRICES, str(number)) for number in range(400)]
    cash = [weights["CASH"] for weights in drawn]
    # Dirichlet(1, 1, 1, 1): each part has the mean 1/4 and the variance 3/80.
    assert sum(cash) / 400 == pytest.approx(0.25, abs=4 * (3 / 80 / 400) ** 0.5)
    for name in ("A", "B", "C"):
        yes = sum(f"{name}_Yes" in weights for weights in drawn)
        assert sum(f"{name}_No" in weights for weights in drawn) == 400 - yes
        assert yes == pytest.approx(200, abs=4 * 100**0.5)


@pytest.mark.parametrize("name", NAMES)
def test_a_baseline_keeps_the_rules_where_prices_are_extreme_or_missing(name: str) -> None:
    for prices in ({"A": 0.999, "B": 0.001}, {"A": None, "B": None}, {}, {"A": 1.0, "B": 0.0}):
        view = replace(view_of({"Z": 0.5, **prices}), past=AccountPast(outside=frozenset({"Z"})))
        booking = PortfolioWeights().book(decided(name, view), view, view.account, view.prices, FillModel("mid"))
        assert sum(each.order.amount for each in booking.orders) <= 1.0 + 1e-9


@pytest.mark.parametrize("name", NAMES)
def test_a_baseline_of_portfolios_plays_no_other_game(name: str) -> None:
    with pytest.raises(PluginError, match=r"plays portfolio_weights.*, and not game 'dollar_per_event'"):
        spec_of(name).playing("dollar_per_event")
    assert spec_of(name).playing("portfolio_weights").name == name
