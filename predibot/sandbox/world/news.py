"""The news of the sandbox: which pages are written about an event, when, and with which numbers."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from predibot.sandbox.world.calendar import MINUTES_AN_HOUR
from predibot.sandbox.world.draws import Draws
from predibot.sandbox.world.plan import EventPlan, choose_by_share
from predibot.sandbox.world.world import World

Kind = Literal["analysis", "rumour", "wrong", "filler", "hostile", "result"]

HOSTILE_KINDS = 5
_KIND_SHARES: dict[Kind, float] = {"analysis": 0.55, "rumour": 0.15, "wrong": 0.10, "filler": 0.05, "hostile": 0.15}
_NOISE: dict[Kind, float] = {"analysis": 0.15, "rumour": 1.0}
"""Standard deviation of a page's error, in log odds."""
_UNDATED_SHARE = 0.08
_UPDATED_SHARE = 0.15
_PAGES_A_LIFE = 14
_SHORTEST_GAP_HOURS, _LONGEST_GAP_HOURS = 4, 48
_SURE = 0.97
_LONGEST_RESULT_DELAY_MINUTES = 600
_SLUG = re.compile(r"(\d+)-(\d+)-[a-z0-9-]*")


@dataclass(frozen=True, slots=True)
class NewsPage:
    """A page about an event."""

    event: int
    slot: int
    kind: Kind
    published_minute: int
    updated_minute: int | None
    """When newer numbers replace its own; None for never."""
    is_dated: bool
    market: int | None = None
    """The market whose result it reports; None for a page about the whole event."""

    def version_minute(self, minute: int) -> int:
        """Return when the text that is there at a minute was written."""
        is_updated = self.updated_minute is not None and self.updated_minute <= minute
        return self.updated_minute if self.updated_minute is not None and is_updated else self.published_minute


@dataclass(frozen=True, slots=True)
class NewsClaim:
    """A statement about a market: a chance of its first outcome, or its result."""

    question: str
    outcome: str
    chance: float | None
    """In (0, 1); None with a result."""
    result: str = ""
    """The outcome that happened, `neither` for a void market; empty before."""


def pages_of(draws: Draws, plan: EventPlan) -> tuple[NewsPage, ...]:
    """Return every page about an event, oldest first; times and kinds are fixed at its birth."""
    life_hours = plan.decided_hour - plan.opens_hour
    gap_hours = min(max(life_hours / _PAGES_A_LIFE, _SHORTEST_GAP_HOURS), _LONGEST_GAP_HOURS)
    slots = np.arange(2 + math.ceil(life_hours / gap_hours))
    rolls = [
        draws.uniform(f"page {name}", event=plan.number, item=slots, known_at_minute=plan.known_at_minute).tolist()
        for name in ("kind", "minute", "date", "update")
    ]
    pages = [_make_page(plan, slot, gap_hours, *(column[slot] for column in rolls)) for slot in slots.tolist()]
    pages = [page for page in pages if page.published_minute < plan.decided_hour * MINUTES_AN_HOUR]
    return tuple(sorted([*pages, *_result_pages(draws, plan, len(slots))], key=lambda page: page.published_minute))


def _make_page(
    plan: EventPlan, slot: int, gap_hours: float, kind_roll: float, minute_roll: float, date_roll: float, update: float
) -> NewsPage:
    """Return a page; the first two come with the event, so that there is always one to read."""
    opens_minute = plan.opens_hour * MINUTES_AN_HOUR
    is_first = slot < 2
    gap_minutes = gap_hours * MINUTES_AN_HOUR
    minute = opens_minute + int(30 * minute_roll if is_first else (slot - 2 + minute_roll) * gap_minutes)
    rewritten = minute + int((1 + 20 * update) * gap_minutes)
    return NewsPage(
        event=plan.number,
        slot=slot,
        kind="analysis" if is_first else choose_by_share(kind_roll, _KIND_SHARES),
        published_minute=minute,
        updated_minute=rewritten if update < _UPDATED_SHARE else None,
        is_dated=is_first or date_roll >= _UNDATED_SHARE,
    )


def _result_pages(draws: Draws, plan: EventPlan, first_slot: int) -> list[NewsPage]:
    count = len(plan.markets)
    delays = draws.uniform(
        "result page", event=plan.number, item=np.arange(count), known_at_minute=plan.known_at_minute
    ).tolist()
    return [
        NewsPage(
            event=plan.number,
            slot=first_slot + market.index,
            kind="result",
            published_minute=market.decided_hour * MINUTES_AN_HOUR
            + 1
            + int(_LONGEST_RESULT_DELAY_MINUTES * delays[market.index]),
            updated_minute=None,
            is_dated=True,
            market=market.index,
        )
        for market in plan.markets
    ]


def statements_of(world: World, page: NewsPage, minute: int) -> list[NewsClaim]:
    """Return the statements of a published page at a minute; nothing in them was written later."""
    plan = world.plan(page.event)
    wording = plan.wording
    written = page.version_minute(minute)
    if page.kind == "filler":
        return []
    if page.market is not None:
        payout = world.outcome(page.event, page.market, written)
        outcomes = plan.markets[page.market].outcomes
        result = "neither" if payout == 0.5 else outcomes[0 if payout == 1.0 else 1]
        return [NewsClaim(wording.questions[page.market], outcomes[0], None, result)]
    chances = _state_chances(world.draws, page, world.insider_chances(page.event, written), written)
    return [
        NewsClaim(question, market.outcomes[0], chance)
        for question, market, chance in zip(wording.questions, plan.markets, chances, strict=True)
        if world.outcome(page.event, market.index, written) is None
    ]


def _state_chances(draws: Draws, page: NewsPage, chances: Sequence[float], written_minute: int) -> list[float]:
    """Return the chances a page states, each in (0, 1): with noise, turned round, or near certainty."""
    if page.kind == "hostile":
        return [0.99] * len(chances)
    if page.kind == "wrong":
        return [_SURE if chance < 0.5 else 1.0 - _SURE for chance in chances]
    items = page.slot * 512 + 2 * np.arange(len(chances)) + int(written_minute != page.published_minute)
    noise = draws.normal("page noise", event=page.event, item=items, known_at_minute=written_minute)
    odds = np.log(np.clip(chances, 0.002, 0.998) / (1.0 - np.clip(chances, 0.002, 0.998)))
    said: list[float] = (1.0 / (1.0 + np.exp(-(odds + _NOISE[page.kind] * noise)))).tolist()
    return said


def hostile_kind(page: NewsPage) -> int:
    """Return which of the hostile kinds a page is."""
    return (page.event + page.slot) % HOSTILE_KINDS


def slug_of(world: World, page: NewsPage) -> str:
    """Return the last part of a page's address."""
    words = re.sub(r"[^a-z0-9]+", "-", world.plan(page.event).wording.title.lower()).strip("-")[:60]
    return f"{world.names.event_id(page.event)}-{page.slot}-{words.rstrip('-')}"


def page_at(world: World, slug: str, minute: int) -> NewsPage | None:
    """Return the page with this address, or None where none is published by a minute."""
    match = _SLUG.fullmatch(slug)
    number = world.names.event_of(match.group(1)) if match else None
    if match is None or number is None or not world.is_born(number, minute):
        return None
    for page in pages_of(world.draws, world.plan(number)):
        if page.slot == int(match.group(2)) and page.published_minute <= minute and slug_of(world, page) == slug:
            return page
    return None
