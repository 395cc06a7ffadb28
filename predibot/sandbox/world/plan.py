"""The plan of an event: everything that is fixed at its birth, its wording included."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TypeVar

import numpy as np

from predibot.sandbox.world.calendar import MINUTES_AN_HOUR, date_text
from predibot.sandbox.world.draws import Draws
from predibot.sandbox.world.vocabulary import CATEGORIES, WORDS, Category, Quantity

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Wording:
    """The texts of an event and its markets; questions and names correspond by index."""

    category: str
    title: str
    description: str
    questions: tuple[str, ...]
    names: tuple[str, ...]
    """The short name of each market within its event; empty for a single one."""
    outcomes: tuple[str, str] = ("Yes", "No")

    @property
    def tags(self) -> tuple[tuple[str, str], ...]:
        """Return label and slug of each tag."""
        return CATEGORIES[self.category].tags

    @property
    def fee_rate(self) -> float:
        """Return the category's taker fee rate."""
        return CATEGORIES[self.category].fee_rate


def choose(uniforms: Iterator[float], items: Sequence[Item]) -> Item:
    """Return one of the items at random."""
    return items[int(next(uniforms) * len(items))]


def choose_by_share(uniform: float, shares: Mapping[Item, float]) -> Item:
    """Return an item at random, by its share; the first if rounding leaves the sum below one."""
    for item, share in shares.items():
        uniform -= share
        if uniform < 0.0:
            return item
    return next(iter(shares))


def choose_category(uniforms: Iterator[float]) -> str:
    """Return a category's name; shares are the vocabulary's."""
    return choose_by_share(next(uniforms), {name: category.share for name, category in CATEGORIES.items()})


def single_wording(uniforms: Iterator[float], category: str, *, date: str) -> Wording:
    """Return an event of one market; in a match, the teams are the outcomes."""
    template = choose(uniforms, CATEGORIES[category].singles)
    words = _pick_words(uniforms)
    title = template.format(date=date, **words)
    is_match = " vs. " in template
    if is_match:
        rules = f"This market resolves to the side that wins the match on {date}."
    else:
        rules = f'This market resolves to "Yes" if the event named in the title has happened by {date}.'
    outcomes = (words["team"], words["rival"]) if is_match else ("Yes", "No")
    return Wording(category, title, _describe(rules), (title,), ("",), outcomes)


def ladder_wording(uniforms: Iterator[float], category: str, *, date: str, rungs: int) -> Wording:
    """Return an event that asks whether a quantity is above each of several levels, lowest first."""
    phrase, levels = _pick_levels(uniforms, CATEGORIES[category], count=rungs)
    return Wording(
        category,
        title=f"{_capitalise(phrase)} above ___ on {date}?",
        description=_describe(f"Each market asks whether {phrase} is above its level on {date}."),
        questions=tuple(f"Will {phrase} be above {level} on {date}?" for level in levels),
        names=tuple(levels),
    )


def dates_wording(uniforms: Iterator[float], category: str, *, dates: Sequence[str]) -> Wording:
    """Return an event that asks whether a quantity is above a level on each of several dates."""
    phrase, (level,) = _pick_levels(uniforms, CATEGORIES[category], count=1)
    return Wording(
        category,
        title=f"{_capitalise(phrase)} above {level} on...?",
        description=_describe(f"Each market asks whether {phrase} is above {level} on its date."),
        questions=tuple(f"Will {phrase} be above {level} on {date}?" for date in dates),
        names=tuple(dates),
    )


def brackets_wording(uniforms: Iterator[float], category: str, *, date: str, count: int) -> Wording:
    """Return an event of exclusive markets: contenders where there are enough, else ranges of a quantity."""
    contests = [contest for contest in CATEGORIES[category].contests if len(WORDS[contest[2]]) >= count]
    if contests:
        title, question, listed = choose(uniforms, contests)
        words = _pick_words(uniforms)
        start = int(next(uniforms) * len(WORDS[listed]))
        names = [WORDS[listed][(start + place) % len(WORDS[listed])] for place in range(count)]
        title, questions = title.format(**words), [question.format(contender=name, **words) for name in names]
        rule = f", not later than {date}"
    else:
        phrase, edges = _pick_levels(uniforms, CATEGORIES[category], count=count - 1)
        between = [f"between {low} and {high}" for low, high in pairwise(edges)]
        names = [f"below {edges[0]}", *between, f"{edges[-1]} or more"]
        title, questions = (
            f"{_capitalise(phrase)} on {date}?",
            [f"Will {phrase} be {name} on {date}?" for name in names],
        )
        rule = f": the range {phrase} is in on {date}"
    rules = f"Exactly one of the markets resolves to Yes{rule}."
    return Wording(category, title, _describe(rules), tuple(questions), tuple(names))


def _pick_words(uniforms: Iterator[float]) -> dict[str, str]:
    """Return one word of each list, and a rival other than the team."""
    words = {name: choose(uniforms, items) for name, items in WORDS.items()}
    words["rival"] = choose(uniforms, [team for team in WORDS["team"] if team != words["team"]])
    return words


def _pick_levels(uniforms: Iterator[float], category: Category, *, count: int) -> tuple[str, list[str]]:
    """Return a quantity's phrase and `count` of its levels, lowest first."""
    quantity: Quantity = choose(uniforms, category.quantities)
    words = _pick_words(uniforms)
    lowest = quantity.base + quantity.step * round(8 * (next(uniforms) - 0.5))
    levels = [quantity.form.format(lowest + quantity.step * place) for place in range(count)]
    return quantity.phrase.format(**words), levels


def _capitalise(phrase: str) -> str:
    """Return a phrase as the start of a title: without its article, with a capital."""
    bare = phrase.removeprefix("the ").removeprefix("a ")
    return bare[0].upper() + bare[1:]


def _describe(rules: str) -> str:
    return (
        f"{rules}\n\nIf the event is cancelled or its result cannot be determined, the market resolves 50-50."
        "\n\nThe resolution source is the official announcement; places and names are invented."
    )


_EVENT_UNIFORMS = 96
_MARKET_UNIFORMS = 24


@dataclass(frozen=True, slots=True)
class MarketPlan:
    """A market; YES, its first outcome, means that the level at `decided_hour` lies in (low, high]."""

    index: int
    low: float
    high: float
    decided_hour: int
    """When everybody knows the outcome, in hours since 1970."""
    end_minute: int | None
    """The end that the venue states, which trading may miss; None where it states none."""
    tick: float
    half_spread: float
    one_sided: str
    """The only side of its book, "bid" or "ask"; else ""."""
    trade_lag_hours: int
    share: float
    """Its share of the event's volume, in (0, 1]."""
    fee_rate: float | None
    arrays_as_text: bool
    numbers_as_text: bool
    outcomes: tuple[str, str]


@dataclass(frozen=True, slots=True)
class EventPlan:
    """An event and its markets."""

    number: int
    known_at_minute: int
    born_minute: int
    opens_hour: int
    """The first hour with a price."""
    end_minute: int | None
    daily_volume_usd: float
    news_share: float
    """The share of the uncertainty that news removes, in [0, 1]."""
    closing_share: float
    """The share of the uncertainty that the outcome removes, in [0, 1]."""
    news_count: int
    is_exclusive: bool
    timestamp_digits: int
    wording: Wording
    markets: tuple[MarketPlan, ...] = field(repr=False)

    @property
    def decided_hour(self) -> int:
        """Return when its last outcome is known."""
        return max(market.decided_hour for market in self.markets)


_Span = tuple[float, float, int]
"""The bounds of a market's YES, and the hour when it is decided."""


def plan_event(draws: Draws, *, number: int, known_at_minute: int, born_minute: int, life_hours: int) -> EventPlan:
    """Return the plan of an event: the same for a seed and a number."""
    uniforms = iter(
        draws.uniform("event", event=number, item=np.arange(_EVENT_UNIFORMS), known_at_minute=known_at_minute).tolist()
    )
    opens_hour = -(-born_minute // MINUTES_AN_HOUR)
    traits = [next(uniforms) for _ in range(10)]
    delay_minutes = _end_delay_minutes(traits[0], traits[1])
    last_hour = opens_hour + life_hours
    end_minute = max(born_minute, last_hour * MINUTES_AN_HOUR + delay_minutes)
    wording, spans = _choose_structure(uniforms, opens_hour=opens_hour, last_hour=last_hour, end_minute=end_minute)
    plan = EventPlan(
        number=number,
        known_at_minute=known_at_minute,
        born_minute=born_minute,
        opens_hour=opens_hour,
        end_minute=None if traits[2] < 0.08 else end_minute,
        daily_volume_usd=4_000.0 * math.exp(1.7 * _normal(traits[4], traits[5])),
        news_share=0.2 + 0.3 * traits[6],
        closing_share=0.05 + 0.3 * traits[7],
        news_count=1 + int(traits[8] * 6),
        # Only brackets end above.
        is_exclusive=any(high < math.inf for _, high, _ in spans),
        timestamp_digits=int(traits[9] * 7),
        wording=wording,
        markets=(),
    )
    return replace(plan, markets=_make_markets(draws, plan, spans, delay_minutes=delay_minutes))


def _end_delay_minutes(chance: float, amount: float) -> int:
    """Return how far the stated end lies after the true one: mostly 0, sometimes days before or after."""
    if chance < 0.15:
        return -MINUTES_AN_HOUR * int(6 + 100 * amount)
    return MINUTES_AN_HOUR * int(6 + 100 * amount) if chance < 0.25 else 0


def _choose_structure(
    uniforms: Iterator[float], *, opens_hour: int, last_hour: int, end_minute: int
) -> tuple[Wording, list[_Span]]:
    """Return the words and markets of one of four structures: a single question, a ladder of levels, a series of dates,
    brackets.
    """
    category = choose_category(uniforms)
    kind, centre = next(uniforms), _normal(next(uniforms), next(uniforms))
    date = date_text(end_minute)
    if kind < 0.45:
        wording = single_wording(uniforms, category, date=date)
        if wording.outcomes[0] == "Yes" and next(uniforms) < 0.06:
            wording = replace(wording, outcomes=("No", "Yes"))
        return wording, [(centre, math.inf, last_hour)]
    if kind < 0.65:
        rungs = 3 + int(4 * next(uniforms))
        gap = 0.25 + 0.35 * next(uniforms)
        levels = [0.7 * centre + gap * (place - (rungs - 1) / 2) for place in range(rungs)]
        wording = ladder_wording(uniforms, category, date=date, rungs=rungs)
        return wording, [(level, math.inf, last_hour) for level in levels]
    if kind < 0.80:
        count = 2 + int(3 * next(uniforms))
        life_hours = last_hour - opens_hour
        hours = [opens_hour + max(place, life_hours * place // count) for place in range(1, count + 1)]
        shift_minutes = end_minute - last_hour * MINUTES_AN_HOUR
        dates = [date_text(hour * MINUTES_AN_HOUR + shift_minutes) for hour in hours]
        return dates_wording(uniforms, category, dates=dates), [(0.4 * centre, math.inf, hour) for hour in hours]
    count = 24 if next(uniforms) < 0.05 else 3 + int(7 * next(uniforms))
    widths = [0.3 + next(uniforms) for _ in range(count)]
    # Increasing, so that every bracket has a chance.
    borders = [-1.8 + 3.6 * sum(widths[: place + 1]) / sum(widths) for place in range(count - 1)]
    edges = [-math.inf, *borders, math.inf]
    wording = brackets_wording(uniforms, category, date=date, count=count)
    return wording, [(low, high, last_hour) for low, high in pairwise(edges)]


def _make_markets(
    draws: Draws, plan: EventPlan, spans: Sequence[_Span], *, delay_minutes: int
) -> tuple[MarketPlan, ...]:
    count = len(spans)
    traits = draws.uniform(
        "market",
        event=plan.number,
        item=np.arange(count * _MARKET_UNIFORMS),
        known_at_minute=plan.known_at_minute,
    ).reshape(count, _MARKET_UNIFORMS)
    weights = np.exp(1.2 * np.sqrt(-2 * np.log(traits[:, 0])) * np.cos(2 * np.pi * traits[:, 1]))
    shares = weights / weights.sum()
    return tuple(
        _make_market(plan, span, index, traits[index].tolist(), share=float(shares[index]), delay_minutes=delay_minutes)
        for index, span in enumerate(spans)
    )


def _make_market(
    plan: EventPlan, span: _Span, index: int, traits: list[float], *, share: float, delay_minutes: int
) -> MarketPlan:
    uniforms, (low, high, decided_hour) = iter(traits[2:]), span
    tick = 0.001 if plan.is_exclusive or next(uniforms) < 0.6 else 0.01
    ticks_wide = choose(uniforms, (0.5, 0.5, 1.0, 1.5, 2.0))
    is_wide, width = next(uniforms) < 0.08, next(uniforms)
    sided = next(uniforms)
    end_minute = decided_hour * MINUTES_AN_HOUR + delay_minutes
    states_end = plan.end_minute is None or next(uniforms) >= 0.05
    return MarketPlan(
        index=index,
        low=low,
        high=high,
        decided_hour=decided_hour,
        end_minute=max(plan.born_minute, end_minute) if states_end else None,
        tick=tick,
        half_spread=0.06 + 0.07 * width if is_wide and not plan.is_exclusive else ticks_wide * tick,
        one_sided="" if plan.is_exclusive or sided >= 0.04 else ("bid" if sided < 0.02 else "ask"),
        trade_lag_hours=int(3 * next(uniforms)),
        share=share,
        fee_rate=plan.wording.fee_rate if next(uniforms) < 0.5 else None,
        arrays_as_text=next(uniforms) >= 0.1,
        numbers_as_text=next(uniforms) < 0.1,
        outcomes=plan.wording.outcomes,
    )


def _normal(radius: float, angle: float) -> float:
    return math.sqrt(-2.0 * math.log(radius)) * math.cos(2.0 * math.pi * angle)
