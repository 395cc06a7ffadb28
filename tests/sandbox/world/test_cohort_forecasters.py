"""The forecasters of the sandbox in a weekly cohort: they read its prompt, answer in its form, and are as named."""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from predibot.agents.prompts.render import one_shot_prompt
from predibot.agents.prompts.untrusted_text import Fence
from predibot.contracts import Context
from predibot.domain.account import JournalRow
from predibot.domain.account_past import AccountPast
from predibot.domain.decision import Decision, Subject
from predibot.domain.event import Event
from predibot.errors import AnswerError
from predibot.games.accounts import account_of
from predibot.games.weekly_cohort import WeeklyCohort
from predibot.games.weekly_cohort.view import CohortView
from predibot.recipe.text import packaged_crypto_words
from predibot.sandbox.server.hosts.chat import answer_chat
from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT, minute_of
from predibot.sandbox.world.cohort_forecasters import read_cohort, wrong_cohort_answers
from predibot.sandbox.world.forecasters import NAMES
from predibot.sandbox.world.world import World
from predibot.selection import SelectionRules, select
from tests.sandbox.venues import venue_of

GAME = WeeklyCohort()
COHORT = Subject("cohort", "2026-01-04")
WORLD = World.from_seed(5, events=100, named=True)
BETTING = ("sharp", "noisy", "overconfident", "gullible")


@dataclass(frozen=True)
class Asked:
    """A server, and the markets that a cohort shows of it."""

    server: SandboxServer
    events: tuple[Event, ...]

    def view(self, *bought: tuple[int, float], cash_usd: float = 10_000.0) -> CohortView:
        """Return the view of an account that has bought the first outcome of some markets, by their place."""
        journal = [JournalRow("deposit", SANDBOX_OPENS_AT, cash_usd)]
        markets = [market for event in self.events for market in event.markets]
        for place, shares in bought:
            instrument = markets[place].instruments("sandbox")[0]
            journal.append(JournalRow("fill", SANDBOX_OPENS_AT, -0.01 * shares, instrument, shares))
        past = AccountPast(journal=tuple(journal), at=SANDBOX_OPENS_AT)
        return GAME.view(COHORT, self.events, venue="sandbox", account=account_of(journal), past=past)

    def answer(self, name: str, view: CohortView, more: str = "") -> dict[str, Any]:
        body = {
            "model": f"sandbox/{name}",
            "messages": [{"role": "user", "content": f"{prompt_of(view)}\n{more}"}],
        }
        reply = answer_chat("/chat/completions", json.dumps(body).encode(), now_seconds=0, informed=self.chances)
        said = json.loads(reply.body)
        return dict(said["choices"][0]["message"]) if "choices" in said else {}

    def chances(self, market_id: str) -> tuple[float, ...] | None:
        """Return what those are told who know more than the price."""
        return self.server._insider_chances(market_id, minute=minute_of(SANDBOX_OPENS_AT))

    def decision(self, name: str, view: CohortView, more: str = "") -> Decision:
        return GAME.form(view).parse(self.answer(name, view, more)["content"])


def prompt_of(view: CohortView) -> str:
    context = Context(SANDBOX_OPENS_AT, view, GAME, random.Random(1), untrusted_mark=f"{0:024d}")
    return one_shot_prompt(context, Fence.of(context), GAME.form(view))


@pytest.fixture(scope="module")
def asked() -> Iterator[Asked]:
    with SandboxServer(WORLD, now=SANDBOX_OPENS_AT) as server, venue_of(server) as venue:
        listed = venue.events(SANDBOX_OPENS_AT).events
        rules = GAME.select(SelectionRules(crypto=packaged_crypto_words()))
        yield Asked(server, select(listed, rules, SANDBOX_OPENS_AT).selected)


def test_they_read_every_price_that_the_prompt_shows_under_the_name_that_answers_use(asked: Asked) -> None:
    view = asked.view((0, 100.0), (1, 50.0))
    cohort = read_cohort(prompt_of(view))
    assert cohort is not None and cohort.cash_usd == pytest.approx(view.account.cash_usd, abs=0.005)
    assert [each.id for each in cohort.positions] == ["p1", "p2"]
    found = {}
    for each in cohort.outcomes:
        outcome = view.by_id[each.market_id].outcome(each.side)
        assert outcome is not None and outcome.price is not None
        assert outcome.price.mid == pytest.approx(each.price, abs=5e-4)
        found[outcome.instrument] = each
        if len(view.by_id[each.market_id].outcomes) > 2 and each.number >= 0:
            assert view.by_id[each.market_id].outcomes[each.number] == outcome
    binary = [market for market in view.markets if len(market.outcomes) == 2]
    assert sum(len(market.outcomes) for market in binary) <= len(found)
    assert any(each.side not in ("YES", "NO") for each in cohort.outcomes)
    # No other prompt is taken for a cohort.
    assert read_cohort("cash: $5.00\nmarkets: none") is None


@pytest.mark.parametrize("name", [name for name in NAMES if name != "broken"])
def test_each_answers_in_the_form_of_the_game_and_says_that_it_is_a_script(asked: Asked, name: str) -> None:
    view = asked.view()
    decision = asked.decision(name, view)
    assert "scripted forecaster" in decision.rationale
    assert bool(decision.orders) is (name in (*BETTING, "restless"))
    assert sum(order.amount for order in decision.orders) <= 2_500.0
    assert asked.decision(name, view) == decision


def test_without_money_they_hold_or_sell_what_they_have(asked: Asked) -> None:
    poor = asked.view((0, 5_000.0), (1, 4_900.0), cash_usd=100.0)
    for name in BETTING:
        assert not any(order.side == "buy" for order in asked.decision(name, poor).orders)
    sold = {len(asked.decision("restless", poor, str(n)).orders) for n in range(12)}
    assert sold == {0, 2}


def test_sharp_gains_by_what_it_is_told_and_noisy_does_not(asked: Asked) -> None:
    # What a dollar on each bet is worth to those who know more than the price.
    worth: dict[str, list[float]] = {"sharp": [], "noisy": []}
    for name in worth:
        for number in range(8):
            events = asked.events[number * 8 :]
            part = Asked(asked.server, events)
            view = part.view()
            for order in part.decision(name, view).orders:
                market, outcome = view.outcomes[order.instrument]
                chances = asked.chances(market.id)
                assert chances is not None and outcome.price is not None
                place = market.outcomes.index(outcome)
                chance = chances[place] if len(chances) > 1 else (chances[0], 1.0 - chances[0])[place]
                worth[name].append(chance / outcome.price.mid - 1.0)
    sharp, noisy = (sum(found) / len(found) for found in worth.values())
    assert len(worth["sharp"]) >= 30 and min(worth["sharp"]) > 0.0 and sharp > noisy + 0.2


def test_what_broken_says_is_refused_whatever_it_is(asked: Asked) -> None:
    view = asked.view((0, 100.0))
    cohort = read_cohort(prompt_of(view))
    assert cohort is not None
    form = GAME.form(view)
    wrong = wrong_cohort_answers(cohort)
    assert len(wrong) == 7
    for said in wrong.values():
        with pytest.raises(AnswerError):
            form.parse(json.dumps({**said, "reasoning": "x"}))
    seen = set()
    for number in range(60):
        message = asked.answer("broken", view, str(number))
        seen.add(str(message.get("content")))
        if message.get("content"):
            with pytest.raises(AnswerError):
                form.parse(message["content"])
    assert len(seen) >= 8


def test_nobody_is_told_of_what_is_not_listed_yet(asked: Asked) -> None:
    late = max(WORLD.event_numbers(minute_of(SANDBOX_OPENS_AT) + 60 * 24 * 60))
    assert asked.chances(WORLD.names.market_id(late, 0)) is asked.chances("nothing") is None
