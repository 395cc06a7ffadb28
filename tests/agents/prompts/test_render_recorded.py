"""Prompts on recorded events: everything a forecaster needs, once."""

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from predibot.agents.prompts.render import decide_prompt
from predibot.contracts import Context
from predibot.domain.clock import parse_instant
from predibot.domain.event import Event, EventView
from predibot.domain.untrusted_text import MAX_TITLE_CHARACTERS, title_line
from predibot.games.dollar_per_event import DollarPerEvent
from predibot.venues.archive.reader import Archive
from tests.agents.scripted import FENCE

INSTANT = parse_instant("2026-02-13T19:30:00Z")


@pytest.fixture(scope="module")
def recorded(shared_data: Path) -> list[tuple[Event, str]]:
    archive = Archive(shared_data / "polymarket-2026-02")
    events = [event for event in archive.events(INSTANT).events if event.markets][:40]
    # A game shows at most a handful of the markets of an event.
    shown = [replace(event, markets=event.markets[:8]) for event in events]
    return [(event, prompt_of(event)) for event in shown]


def prompt_of(event: Event) -> str:
    seen = Context(INSTANT, EventView(event), DollarPerEvent(), random.Random(0))
    return decide_prompt(seen, FENCE, seen.form(), min_searches=2, min_pages=2)


def test_every_market_is_asked_about_with_its_price_and_its_rules_once(recorded: list[tuple[Event, str]]) -> None:
    assert recorded
    for event, prompt in recorded:
        assert title_line(event.title)[:MAX_TITLE_CHARACTERS] in prompt
        assert re.findall(r"^market id: (\S+)$", prompt, re.MULTILINE) == [market.id for market in event.markets]
        for rules in {market.description for market in event.markets if len(market.description) > 200}:
            first_line = next(line for line in rules.splitlines() if len(line) > 40).strip()
            assert first_line in prompt or any(
                first_line in first.replace(old, new)
                for new, old in re.findall(
                    "^rules: those of .* with “(.*)” in the place of “(.*)”$", prompt, re.MULTILINE
                )
                for first in {market.description for market in event.markets}
                if first.splitlines()[0].strip() in prompt
            )


def test_the_venues_words_are_all_inside_the_fence(recorded: list[tuple[Event, str]]) -> None:
    for event, prompt in recorded:
        outside = re.sub(f"\n{FENCE.opening}\n.*?\n{FENCE.closing}\n", "\n", prompt, flags=re.DOTALL)
        assert title_line(event.title) not in outside
        assert all(market.question not in outside for market in event.markets)
