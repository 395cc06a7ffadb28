"""What is taken: answers that keep the game's rules, and complaints that say no more than they may."""

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pytest

from predibot.contracts import Context
from predibot.domain.decision import Decision, MarketDecision
from predibot.domain.event import Event, EventView
from predibot.domain.price import Quote
from predibot.errors import AnswerError, NoAnswer
from predibot.games.dollar_per_event import DollarPerEvent
from predibot.plugins.strategies import load_strategy, spec_of
from tests.agents.scripted import GOOD, NOW, ScriptedModel, Turn, answer, context, rain, said, toolbox
from tests.decisions import as_orders


def priced(*prices: float) -> Event:
    """Return an event with a market at each price."""
    event = rain(*(f"m{number}" for number in range(1, len(prices) + 1)))
    quotes = [Quote(NOW, bid=price, ask=price) for price in prices]
    return replace(event, markets=tuple(map(lambda m, q: replace(m, quote=q), event.markets, quotes)))


def complaint(event: Event, bets: Sequence[float], *, price_blind: bool) -> str:
    """Return what is said about bets on an event's markets, or nothing."""
    markets = tuple(MarketDecision(market.id, 0.5, bet) for market, bet in zip(event.markets, bets, strict=True))
    try:
        DollarPerEvent().form(EventView(event), price_blind=price_blind).check(as_orders(Decision(markets), event))
    except AnswerError as error:
        assert error.__cause__ is None
        return str(error)
    return ""


def test_who_sees_prices_is_told_the_price_and_who_is_blind_to_them_is_not() -> None:
    event = priced(0.0005, 0.4)
    assert "YES is priced at 0.0005" in complaint(event, [0.3, 0.3], price_blind=False)
    assert complaint(event, [0.3, 0.3], price_blind=True) == (
        "no bet on this side can be booked now for market 'm1'; set it to 0"
    )


def test_blind_or_not_the_same_decisions_hold() -> None:
    for prices, bets in product(product((0.0004, 0.3, 0.9996), repeat=2), product((-0.6, 0.0, 0.6), repeat=2)):
        seeing, blind = (bool(complaint(priced(*prices), bets, price_blind=each)) for each in (False, True))
        assert seeing is blind


@pytest.mark.parametrize("price", [0.0004, 0.00071, 0.3123, 0.9996])
def test_no_complaint_to_the_blind_depends_on_what_the_price_is(price: float) -> None:
    said = complaint(priced(price, 0.5), [0.9, 0.9], price_blind=True)
    assert said == complaint(priced(0.5, 0.5), [0.9, 0.9], price_blind=True)
    assert "staked $1.80 of $1.00" in said


SAMPLE = json.dumps(answer(said(bet=0.5), unallocated=0.5))


@pytest.mark.parametrize(
    ("strategy", "arguments", "script"),
    [
        ("tool_agent", {"min_searches": 0, "min_pages": 0}, [("final_answer", json.loads(SAMPLE)), GOOD]),
        ("one_shot", {}, [SAMPLE]),
        ("deep_research", {"extract_model": "any"}, ["Rain is likely.", SAMPLE]),
        ("ensemble", {"samples": 2}, [SAMPLE]),
    ],
)
def test_a_price_blind_bot_is_never_sent_a_price(
    strategy: str, arguments: dict[str, object], script: list[Turn]
) -> None:
    model = ScriptedModel(script)
    seen: Context = context(priced(0.00052), model=lambda _name: model, tools=toolbox())
    # No bet on that side can be booked, so that no answer holds, and all complaints are seen.
    with pytest.raises(NoAnswer, match=r"can be booked now|samples have a decision"):
        load_strategy(spec_of(strategy, {"model": "any", "price_blind": True, **arguments})).decide(seen)
    sent = "\n".join(message.text for request in model.requests for message in request.messages)
    assert "can be booked now" in sent
    assert "0.0005" not in sent
    assert "priced" not in sent
