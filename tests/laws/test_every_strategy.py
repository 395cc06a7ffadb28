"""Every strategy on every event of a simulated world: what must hold whatever is played."""

from collections.abc import Iterator
from datetime import datetime
from math import fsum

import pytest

from predibot.contracts import FIRST_GAME, Context
from predibot.domain.decision import Booking, Decision, seeded_random
from predibot.domain.event import Event, EventView
from predibot.plugins.games import game_names, make_game
from predibot.plugins.strategies import load_strategy, spec_of, strategy_names
from predibot.recipe.text import packaged_crypto_words
from predibot.sandbox.server.options import SandboxOptions
from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT
from predibot.selection import SelectionRules, select
from predibot.venues.polymarket.client import Polymarket
from tests import decisions

AT = SANDBOX_OPENS_AT
TALKING = (
    *("anchored", "calibrated", "code_agent", "deep_research", "ensemble", "one_shot", "reasoning_judge"),
    *("label_vote", "tool_agent"),
)
"""Those that need a model, or other bots; what they hand in is held to the same rules elsewhere."""
ALONE = tuple(name for name in strategy_names() if name not in TALKING and FIRST_GAME in spec_of(name).games)

GAMES_ON_EVENTS = (FIRST_GAME,)
Decided = tuple[str, list[tuple[Event, Decision]]]
"""The name of a strategy, and what it decides on each event."""


@pytest.fixture(scope="module")
def events() -> Iterator[tuple[Event, ...]]:
    """Every event of a world that has a usable market, whatever its volume or subject."""
    with SandboxServer(now=AT, options=SandboxOptions(seed=11, events=40)) as server:
        venue = Polymarket(
            gamma_url=server.gamma_url, clob_url=server.clob_url, name="sandbox", live=False, clock=lambda: AT
        )
        with venue:
            listed = venue.events(AT).events
    rules = SelectionRules(
        crypto=packaged_crypto_words(), exclude=(), min_volume_24h_usd=0.0, ends_within_days=999.0, events=1000
    )
    yield select(listed, rules, AT).selected


def decide(name: str, event: Event, now: datetime = AT) -> Decision:
    rng = seeded_random(0, "laws", name, event.id)
    answer = load_strategy(spec_of(name)).decide(
        Context(now=now, view=EventView(event, "sandbox"), game=make_game(FIRST_GAME), rng=rng)
    )
    assert isinstance(answer, Decision)
    return answer


def book(game: str, decision: Decision, event: Event) -> Booking:
    quotes = {market.id: market.quote for market in event.markets if market.quote is not None}
    return decisions.book(make_game(game), decision, event, quotes, venue="sandbox")


@pytest.fixture(scope="module", params=ALONE)
def decided(request: pytest.FixtureRequest, events: tuple[Event, ...]) -> Decided:
    return request.param, [(event, decide(request.param, event)) for event in events]


@pytest.mark.parametrize("game", [name for name in game_names() if name in GAMES_ON_EVENTS])
def test_every_game_on_events_conserves_money(game: str, decided: Decided) -> None:
    for event, decision in decided[1]:
        booking = book(game, decision, event)
        spent_usd = -fsum(fill.cash_usd for booked in booking.orders for fill in booked.fills)
        assert spent_usd + booking.unallocated_usd == pytest.approx(make_game(game).stake_usd)


def test_no_bet_can_pay_more_than_a_dollar_a_share_or_lose_more_than_its_stake(decided: Decided) -> None:
    for event, decision in decided[1]:
        for booked in book(FIRST_GAME, decision, event).orders:
            for fill in booked.fills:
                assert 0.0 < fill.price < 1.0
                assert fill.shares * fill.price == pytest.approx(booked.order.amount)
                assert fill.fee_usd >= 0.0


def test_a_decision_depends_on_its_event_and_never_on_the_order_of_deciding(decided: Decided) -> None:
    name, forward = decided
    assert [(event, decide(name, event)) for event, _ in reversed(forward)] == forward[::-1]


def test_every_market_gets_a_forecast_also_without_money_on_it(decided: Decided) -> None:
    for event, decision in decided[1]:
        assert {each.market_id for each in decision.forecasts} == {market.id for market in event.markets}
