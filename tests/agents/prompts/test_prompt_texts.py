"""The packaged prompts whole, as a model reads them, at 1, 3 and 20 markets of made-up events."""

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from predibot.agents.prompts.render import (
    decide_prompt,
    extract_prompt,
    one_shot_prompt,
    packaged_prompt,
    report_prompt,
)
from predibot.contracts import Context
from predibot.domain.event import Event, EventView, Market, MarketRef, OrderTerms, UnplayedMarkets
from predibot.domain.price import FeeSchedule, PricePoint, Quote
from predibot.games.dollar_per_event import DollarPerEvent
from tests.agents.scripted import FENCE
from tests.golden import Golden
from tests.research.conftest import tokens_of as tokens_of

NOW = datetime(2031, 3, 1, 12, tzinfo=UTC)
TOWNS = (
    "Aldermoor", "Brackwater", "Cold Ferry", "Dunmarsh", "Eastholt", "Fennick", "Greywick", "Harrowgate Bay",
    "Ilverton", "Jessamy", "Kestrel Hill", "Lowmere", "Marrowby", "Northquay", "Oxhollow", "Pellam", "Quillbridge",
    "Rushcombe", "Saltersea", "Thornbury Reach",
)  # fmt: skip
MOST_TOKENS = 6_000


def lanterns(markets: int) -> Event:
    """Return an event of a venue: which town gets a festival; of three markets two more are not shown."""
    rules = (
        "This market pays YES if the Council of River Towns names this town as the host of its lantern festival of "
        "2032 in a statement on its own pages by 30 April 2031, 23:59 UTC. A town that is named and withdraws by then "
        "does not count. If no town is named by then, every market pays NO. If the festival is shared by two towns, "
        "each of the two pays one half."
    )
    listed = tuple(
        Market(
            MarketRef(f"{614200 + 7 * number}"),
            f"Will {town} host the lantern festival of 2032?",
            ("Yes", "No"),
            rules,
            NOW + timedelta(days=60.5),
            quote=Quote(NOW, bid=round(price - 0.005, 4), ask=round(price + 0.005, 4)),
            volume_usd=48_000.0 - 1_900 * number,
            volume_24h_usd=None if number == 2 else 700.0 - 30 * number,
            exclusive_group="lanterns",
            fees=FeeSchedule(0.05),
            orders=OrderTerms(True, 0.001, 5.0),
            is_other=False,
            opened_at=NOW - timedelta(days=40 if number % 5 else 12),
        )
        for number, town in enumerate(TOWNS[:markets])
        for price in (round(0.31 / (1 + number), 4),)
    )
    left_out = (UnplayedMarkets(2, "lanterns", 0.0412),) if markets == 3 else ()
    return Event("5511", "Which town hosts the lantern festival of 2032?", listed, left_out=left_out)


def history(market_id: str) -> tuple[PricePoint, ...]:
    """Return 21 days of prices, of one market with a gap."""
    draws = random.Random(market_id)
    days = [day for day in range(21) if market_id != "614207" or day not in (16, 17)]
    return tuple(PricePoint(NOW - timedelta(days=20.5 - day), round(draws.uniform(0.01, 0.4), 3)) for day in days)


def texts(markets: int) -> dict[str, str]:
    """Return every packaged prompt on events; `decide-2` as an agent has it, at once, and for a report."""
    first = Context(NOW, EventView(lanterns(markets)), DollarPerEvent(), random.Random(0), history=history)
    second = replace(first, prompt=packaged_prompt("decide-2"), rationale_first=True)
    form, reasoned = first.form(), second.form()
    others = (f"{market.question} 0.1, no bet." for market in lanterns(markets).markets[1:])
    report = "\n".join(("Aldermoor: probability of YES 0.4, confidence 6, a bet of $0.2 on YES.", *others))
    return {
        "decide": decide_prompt(first, FENCE, form, min_searches=2, min_pages=2),
        "decide-2": decide_prompt(second, FENCE, reasoned, min_searches=2, min_pages=2),
        "decide-2-at-once": one_shot_prompt(second, FENCE, reasoned),
        "one_shot": one_shot_prompt(first, FENCE, form),
        "report": report_prompt(first, FENCE, form),
        "extract": extract_prompt(first, FENCE, form, report),
    }


@pytest.mark.parametrize("markets", [1, 3, 20])
def test_the_prompts_are_those_that_were_read(golden: Golden, markets: int) -> None:
    for name, text in texts(markets).items():
        golden(f"{name}-{markets}.txt", text)


def test_a_prompt_on_twenty_markets_has_at_most_six_thousand_tokens(tokens_of: Callable[[str], int]) -> None:
    sizes = {name: tokens_of(text) for name, text in texts(20).items()}
    assert {name: size for name, size in sizes.items() if size > MOST_TOKENS} == {}
