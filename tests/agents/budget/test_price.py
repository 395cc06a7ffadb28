"""Prices: what is known, what a call cost, and who may not start."""

import pytest

from predibot.agents.budget.price import TokenPrice, cost_of, dearest, require_price
from predibot.domain.budget import Limits
from predibot.domain.chat import Cost, Usage
from predibot.errors import UsageError

USAGE = Usage(1_000, 100)


def test_the_cost_by_hand() -> None:
    # 1,000 tokens at $2 a million, 100 at $10 a million, and half a cent for the call.
    assert TokenPrice(2.0, 10.0, call_usd=0.005).usd(1_000, 100) == pytest.approx(0.002 + 0.001 + 0.005)


def test_the_first_who_knows_the_cost_is_believed() -> None:
    price = TokenPrice(1.0, 1.0)
    assert cost_of(USAGE, provider_usd=0.5, table_usd=2.0, price=price) == Cost(0.5, "provider")
    assert cost_of(USAGE, table_usd=2.0, price=price) == Cost(2.0, "litellm")
    assert cost_of(USAGE, price=price) == Cost(0.0011, "recipe")
    assert cost_of(USAGE) == Cost(None, "unknown")


@pytest.mark.parametrize("usd", [0.0, -0.0, 1e-320, 1e-12, 1e-7])
def test_a_word_of_next_to_nothing_is_passed_over_where_the_price_is_known(usd: float) -> None:
    price = TokenPrice(1.0, 1.0)
    assert cost_of(USAGE, provider_usd=usd, price=price) == Cost(0.0011, "recipe")
    assert cost_of(USAGE, provider_usd=usd, table_usd=2.0, price=price) == Cost(2.0, "litellm")
    assert cost_of(USAGE, provider_usd=usd) == Cost(usd, "provider")
    assert cost_of(USAGE, provider_usd=usd, price=TokenPrice(0.0, 0.0)) == Cost(usd, "provider")
    # A discount is one.
    assert cost_of(USAGE, provider_usd=0.00002, price=price) == Cost(0.00002, "provider")


@pytest.mark.parametrize(
    "raw",
    [
        {"prompt_tokens_details": {"cached_tokens": 800}},
        {"input_tokens_details": {"cached_tokens": 800}},
        {"prompt_cache_hit_tokens": 800},
        {"prompt_tokens_details": {"cached_tokens": 800.0}},
        {"prompt_tokens_details": {"cached_tokens": True}, "prompt_cache_hit_tokens": 800},
    ],
)
def test_what_was_cached_costs_what_the_recipe_says_of_it(raw: dict[str, object]) -> None:
    usage = Usage(1_000, 100, raw)
    # 200 tokens at $2 a million, 800 at $0.20, 100 at $10.
    price = TokenPrice(2.0, 10.0, cached_usd_per_million_tokens=0.2)
    assert cost_of(usage, price=price).usd == pytest.approx(0.0004 + 0.00016 + 0.001)
    assert cost_of(usage, price=TokenPrice(2.0, 10.0)).usd == pytest.approx(0.002 + 0.001)


def test_no_more_is_cached_than_was_sent() -> None:
    assert Usage(100, 1, {"prompt_cache_hit_tokens": 10**400}).cached_tokens == 100
    assert Usage(100, 1, {"prompt_cache_hit_tokens": -5}).cached_tokens == 0
    assert Usage(None, 1, {"prompt_cache_hit_tokens": 5}).cached_tokens == 0
    for none in (True, "5", 5.5, float("nan"), float("inf")):
        assert Usage(100, 1, {"prompt_cache_hit_tokens": none}).cached_tokens == 0


def test_an_unknown_cost_is_never_zero() -> None:
    assert cost_of(Usage(None, 5), price=TokenPrice(1.0, 0.0)) == Cost(None, "unknown")
    assert cost_of(Usage(5, None), price=TokenPrice(1.0, 1.0)) == Cost(None, "unknown")
    assert cost_of(Usage(), price=TokenPrice(0.0, 0.0)) == Cost(0.0, "recipe")


def test_the_dearest_is_taken_part_by_part() -> None:
    assert dearest(TokenPrice(1.0, 9.0), None, TokenPrice(2.0, 3.0, call_usd=0.1)) == TokenPrice(2.0, 9.0, call_usd=0.1)
    assert dearest(None, None) is None


def test_searches_are_priced_one_by_one_or_the_cost_is_unknown() -> None:
    searching = Usage(1_000, 100, searches=3)
    assert cost_of(searching, price=TokenPrice(1.0, 1.0, search_usd=0.01)).usd == pytest.approx(0.0011 + 0.03)
    assert cost_of(searching, price=TokenPrice(1.0, 1.0)) == Cost(None, "unknown")
    assert cost_of(Usage(1_000, 100, searches=0), price=TokenPrice(1.0, 1.0)) == Cost(0.0011, "recipe")
    assert dearest(TokenPrice(1.0, 1.0), TokenPrice(0.5, 0.5, search_usd=0.01)) == TokenPrice(1.0, 1.0, search_usd=0.01)


def test_a_bot_of_unknown_price_may_not_start_with_a_limit_in_dollars() -> None:
    with pytest.raises(
        UsageError, match=r"'acme/gpt'.* set price_usd_per_million_tokens in the recipe, 0 for a local model"
    ):
        require_price("gpt", "acme/gpt", None, [Limits(), Limits(usd=1.0)])
    require_price("gpt", "acme/gpt", None, [Limits(tokens=10), Limits(seconds=5.0)])
    require_price("gpt", "acme/gpt", TokenPrice(0.0, 0.0), [Limits(usd=1.0)])
