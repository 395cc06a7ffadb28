"""The forecasters of the sandbox with a portfolio: they look each market up, answer in weights, and are as named."""

import json
import random
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from predibot.agents.prompts.render import extract_prompt, one_shot_prompt
from predibot.agents.prompts.untrusted_text import Fence
from predibot.contracts import Context
from predibot.domain.account import Account
from predibot.errors import AnswerError
from predibot.games.portfolio_weights import PortfolioView, PortfolioWeights
from predibot.recipe.text import packaged_crypto_words
from predibot.sandbox.server.hosts.chat import BREAKAGES, MISALLOCATIONS, answer_chat
from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT
from predibot.sandbox.world.conversation import read_conversation
from predibot.selection import SelectionRules, select
from tests.sandbox.venues import venue_of
from tests.sandbox.world.test_forecasters import TOOLS

GAME = PortfolioWeights()


@pytest.fixture(scope="module")
def view(server: SandboxServer) -> Iterator[PortfolioView]:
    with venue_of(server) as venue:
        listed = venue.events(SANDBOX_OPENS_AT).events
    rules = GAME.select(SelectionRules(crypto=packaged_crypto_words()))
    events = select(listed, rules, SANDBOX_OPENS_AT).selected
    yield GAME.view(GAME.subjects(events)[0], events, venue="sandbox", account=Account(500.0, paid_in_usd=500.0))


def prompt_of(view: PortfolioView, *, day: int = 0) -> str:
    context = Context(SANDBOX_OPENS_AT, view, GAME, random.Random(1), untrusted_mark=f"{0:024d}")
    return f"{one_shot_prompt(context, Fence.of(context), GAME.form(view))}\nIt is day {day}."


def message_of(name: str, messages: list[dict[str, Any]], tools: object = None) -> dict[str, Any]:
    body = json.dumps({"model": f"sandbox/{name}", "messages": messages, "tools": tools}).encode()
    reply = json.loads(answer_chat("/chat/completions", body, now_seconds=0).body)
    # One kind of `broken` answers that it is asked too often.
    return dict(reply["choices"][0]["message"]) if "choices" in reply else {}


def answer_of(name: str, view: PortfolioView, *, day: int = 0) -> str:
    return str(message_of(name, [{"role": "user", "content": prompt_of(view, day=day)}])["content"])


@pytest.mark.parametrize("name", ["sharp", "noisy", "overconfident", "lazy", "gullible", "restless"])
def test_an_answer_holds_and_says_a_probability_of_every_market(view: PortfolioView, name: str) -> None:
    decision = GAME.form(view).parse(answer_of(name, view))
    assert sum(order.amount for order in decision.orders) <= 1.0 + 1e-9
    assert len(decision.forecasts) == len(view.markets) == 10
    assert not decision.notes


def test_restless_holds_something_else_every_day(view: PortfolioView) -> None:
    days = [GAME.form(view).parse(answer_of("restless", view, day=day)) for day in range(5)]
    for first, second in pairwise(days):
        before = {order.instrument: order.amount for order in first.orders}
        after = {order.instrument: order.amount for order in second.orders}
        moved = sum(abs(before.get(each, 0.0) - after.get(each, 0.0)) for each in {*before, *after})
        assert moved > 0.2


def searched(view: PortfolioView, name: str) -> list[str]:
    """Return what a forecaster searches for where nothing is ever found."""
    messages = [{"role": "user", "content": prompt_of(view)}]
    queries = []
    while True:
        message = message_of(name, messages, TOOLS)
        (call,) = message["tool_calls"]
        if call["function"]["name"] == "final_answer":
            return queries
        queries.append(json.loads(call["function"]["arguments"])["query"])
        messages += [message, {"role": "tool", "tool_call_id": call["id"], "content": "nothing was found"}]


def test_a_diligent_forecaster_looks_each_market_up(view: PortfolioView) -> None:
    assert searched(view, "sharp") == [" ".join(each.market.question.split())[:300] for each in view.markets]
    assert searched(view, "restless") == []


def test_sharp_goes_by_what_a_page_says_against_the_price(view: PortfolioView) -> None:
    market = view.markets[0]
    address = "http://news.example/1"
    said = "99" if view.prices[market.yes].mid < 0.5 else "1"
    page = (
        "Published on 4 January 2026 at 10:00 UTC. On the question “"
        f"{market.market.question}”, forecasters put the chance of “Yes” at {said} percent."
    )
    messages = [
        {"role": "user", "content": prompt_of(view)},
        {"role": "assistant", "content": f"Read: {address}"},
        {"role": "user", "content": f"Observation:\n{page}"},
    ]
    answer = json.loads(message_of("sharp", messages)["content"])
    held = market.asset("YES" if said == "99" else "NO")
    assert answer["allocations"][held] > 0.5
    assert set(answer["allocations"]) == {held, "CASH"}


def test_broken_fails_in_every_way_there_is_and_is_never_taken_for_what_it_is_not(view: PortfolioView) -> None:
    complaints = set()
    for day in range(80):
        message = message_of("broken", [{"role": "user", "content": prompt_of(view, day=day)}])
        try:
            decision = GAME.form(view).parse(message.get("content") or "")
        except AnswerError as error:
            complaints.add(str(error).partition(":")[0].partition("'")[0][:40])
            continue
        assert sum(order.amount for order in decision.orders) <= 1.0 + 1e-9
        complaints.update(note.partition("'")[0] for note in decision.notes)
        complaints.add("percent" if any(order.amount == 0.45 for order in decision.orders) else "taken")
    said = " | ".join(sorted(complaints))
    for part in ("NaN", "both sides of market", "no asset of this portfolio", "percent", "not JSON"):
        assert part in said
    assert len({*MISALLOCATIONS, *BREAKAGES}) == 11


def test_a_report_is_taken_over_as_it_stands(view: PortfolioView) -> None:
    context = Context(SANDBOX_OPENS_AT, view, GAME, random.Random(1))
    report = answer_of("sharp", view)
    prompt = extract_prompt(context, Fence.of(context), GAME.form(view), report)
    taken = json.loads(message_of("lazy", [{"role": "user", "content": prompt}])["content"])
    assert taken["allocations"] == json.loads(report)["allocations"]


def test_a_prompt_about_an_event_is_still_answered_with_bets() -> None:
    markets = {"markets": [{"id": "1", "question": "Will it snow?", "price_yes": 0.4}]}
    prompt = f"You bet $1 of imaginary money.\n```json\n{json.dumps(markets)}\n```\n"
    messages = [{"role": "user", "content": prompt}]
    assert not read_conversation({"messages": messages}).asks_for_weights
    assert "market_decisions" in json.loads(message_of("restless", messages)["content"])
