"""Price ranges: a market without a history, or one that hardly moved, is passed over, and the next takes its place."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from predibot.errors import VenueUnavailable
from predibot.jobs.deciding.select_events import Choice, choose, flat_because
from predibot.recipe.parse import load_recipe
from predibot.recipe.recipe import Recipe
from predibot.selection import SelectionRules
from tests.jobs.tiny import nobody, recipe_of
from tests.venues.payloads import NOW, event_payload, history_of, market_payload, pages_of, venue_of

RULES = replace(recipe_of("market_price").selection, events=2, history_days=10.0, min_range=0.02)
HOUR = 3_600


def venue_answer(prices: Mapping[int, tuple[float, ...]]) -> Callable[[httpx.Request], object]:
    """Return a venue with an event for each market, the first most traded, and their hourly prices, the last first."""
    listed = [
        event_payload(number, market_payload(number), volume1wk=10_000.0 - number, volume24hr=5_000.0)
        for number in prices
    ]
    pages = pages_of(listed)

    def answer(request: httpx.Request) -> object:
        if request.url.path == "/events/keyset":
            return pages(request)
        assert request.url.path == "/prices-history"
        own = prices[int(request.url.params["market"]) // 10]
        last = int(NOW.timestamp()) - HOUR
        points = [(last - HOUR * back, price) for back, price in enumerate(own)]
        return json.loads(history_of(*reversed(points)))

    return answer


def chosen(prices: Mapping[int, tuple[float, ...]], rules: SelectionRules = RULES) -> Choice:
    venue, _ = venue_of(venue_answer(prices))
    return choose(venue, rules, NOW, only_event_id=None, listener=nobody)


def test_flat_markets_and_those_without_a_history_make_way_for_the_next_each_with_its_reason() -> None:
    found = chosen({1: (0.5, 0.505), 2: (0.4, 0.42), 3: (0.3,), 4: (), 5: (0.2, 0.9), 6: (0.1, 0.9)}).selection
    assert [event.id for event in found.selected] == ["2", "5"]
    reasons = {each.event_id: (each.rule, each.reason) for each in found.passed_over}
    assert reasons["1"] == (
        "min_range",
        "none of its 1 markets can be played: moved by 0.005 in 10 days, below min_range 0.02 (1)",
    )
    for number in "34":
        assert reasons[number][1] == f"none of its 1 markets can be played: without a history of 10 days ({number})"
    assert reasons["6"][0] == "events"


def test_another_market_of_the_same_event_takes_the_place_of_a_flat_one() -> None:
    flat, moving = market_payload(1, volume1wk=900.0), market_payload(2, volume1wk=100.0)
    prices = {1: (0.5, 0.5), 2: (0.5, 0.6)}
    answers = venue_answer(prices)
    pages = pages_of([event_payload(1, flat, moving, volume24hr=5_000.0)])
    venue, _ = venue_of(lambda request: pages(request) if request.url.path == "/events/keyset" else answers(request))
    found = choose(venue, replace(RULES, max_markets=1), NOW, only_event_id=None, listener=nobody).selection
    assert [market.id for market in found.selected[0].markets] == ["2"]
    assert "event 1: 1 of 2 markets dropped: moved by 0 in 10 days, below min_range 0.02 (1)" in found.notes


def test_a_history_alone_asks_for_no_range_and_without_one_none_is_read() -> None:
    assert [
        event.id for event in chosen({1: (0.5, 0.5), 2: (0.4,)}, replace(RULES, min_range=0.0)).selection.selected
    ] == ["1"]
    venue, asked = venue_of(venue_answer({1: (), 2: ()}))
    rules = replace(RULES, history_days=0.0, min_range=0.0)
    assert len(choose(venue, rules, NOW, only_event_id=None, listener=nobody).selection.selected) == 2
    assert {request.url.path for request in asked.requests} == {"/events/keyset"}


def test_a_history_that_cannot_be_read_makes_no_run() -> None:
    answers = venue_answer({1: (0.5, 0.6), 2: (0.5, 0.6)})

    def answer(request: httpx.Request) -> object:
        return {"error": "busy"} if request.url.path == "/prices-history" else answers(request)

    venue, _ = venue_of(answer)
    with pytest.raises(VenueUnavailable, match="No run is made"):
        choose(venue, RULES, NOW, only_event_id=None, listener=nobody)


def test_a_market_that_moved_by_just_the_range_is_played() -> None:
    assert flat_because([0.25, 0.5], replace(RULES, min_range=0.25)) is None
    assert (
        flat_because([0.25, 0.499], replace(RULES, min_range=0.25)) == "moved by 0.249 in 10 days, below min_range 0.25"
    )


def test_rules_of_prices_are_in_no_document_of_a_recipe_that_does_not_ask_and_the_portfolio_states_them() -> None:
    assert "history_days" not in recipe_of("market_price").as_json()
    portfolio = load_recipe("portfolio", Path()).selection
    assert (portfolio.history_days, portfolio.min_range) == (10.0, 0.02)
    asked = replace(recipe_of("market_price"), selection=RULES)
    assert Recipe.from_json(asked.as_json()).selection == RULES
