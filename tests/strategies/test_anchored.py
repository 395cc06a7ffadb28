"""A small step from the price toward what members believe."""

import pytest

from predibot.domain.decision import Abstention, Decision, MarketDecision
from predibot.domain.event import Event
from predibot.errors import PluginError
from predibot.plugins.strategies import load_strategy, spec_of
from predibot.scoring import step_from_price
from tests.agents.scripted import context, rain
from tests.decisions import taken


def believes(*chances: float) -> Decision:
    return Decision(tuple(MarketDecision(f"m{n}", chance) for n, chance in enumerate(chances, start=1)))


def step(
    stored: dict[str, Decision | None], event: Event | None = None, /, **arguments: object
) -> Decision | Abstention:
    strategy = load_strategy(spec_of("anchored", {"members": list(stored)} | arguments))
    return strategy.decide(context(event or rain("m1"), members=stored))


def test_it_goes_a_tenth_of_the_way_in_log_odds_and_bets_on_that() -> None:
    event = rain("m1", "m2")
    prices = [market.quote.price.yes for market in event.markets if market.quote and market.quote.price]
    decision = taken(step({"a": believes(0.9, 1.0), "b": believes(0.9, 1.0)}, event))
    expected = step_from_price(prices, [0.9, 0.99], 0.1)
    assert [each.probability for each in decision.forecasts] == pytest.approx(expected)
    assert all(p > price for p, price in zip(expected, prices, strict=True))
    assert len(decision.orders) == 2
    assert decision.notes == ("step 0.1 from 2 members",)


def test_a_price_outside_its_range_is_repeated_without_a_bet() -> None:
    decision = taken(step({"a": believes(0.9)}, lowest_price=0.95, highest_price=1.0))
    price = rain("m1").markets[0].quote
    assert price is not None and price.price is not None
    assert decision.forecasts[0].probability == price.price.yes
    assert decision.orders == ()


def test_members_without_a_decision_on_all_markets_count_as_missing() -> None:
    stored: dict[str, Decision | None] = {"a": believes(0.9), "b": None, "c": None}
    found = step(stored)
    assert isinstance(found, Abstention)
    assert found.kind == "members"
    assert isinstance(step(stored, min_share=0.3), Decision)


@pytest.mark.parametrize(
    "arguments",
    [{"members": []}, {"members": ["a", "a"]}, {"lowest_price": 0.9, "highest_price": 0.1}, {"step": 1.5}],
)
def test_what_makes_no_pool_or_range_is_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(PluginError, match="anchored"):
        spec_of("anchored", {"members": ["a"]} | arguments)
