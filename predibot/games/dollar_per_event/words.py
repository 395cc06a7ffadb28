"""The text on one event for a model: the event, its markets, and the fields of an answer."""

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from itertools import takewhile

from predibot.domain.clock import format_instant
from predibot.domain.event import OTHER_WORDS, Event, EventView, Market, exclusive_lines
from predibot.domain.price import MIN_SIDE_PRICE, PricePoint
from predibot.domain.untrusted_text import MAX_TITLE_CHARACTERS, paragraph, title_line
from predibot.games.answers import Words, as_block, json_line

CONFIDENCE = "from 0, a pure guess, to 10, no doubt at all"
WHY = "why its price is wrong, or why you bet nothing"
MAX_PRICES = 20
"""The most days of prices that are shown, up to the last one."""
NO_PRICE = "–"
MAX_RULES_CHARACTERS = 12_000
_DAYS_IN_HOURS = 2

_BETS = "A positive bet buys YES, a negative bet buys NO, and 0 is no bet."
_OBJECTIVE = (
    "Two things count; make both as large as you can: what your bets gain on average over all events, and how much "
    "nearer your probabilities come to what happens than the prices do, on every market, whether you bet on it or not. "
    "A share of YES costs the ask and a share of NO one minus the bid, or what the price says where there is no bid or "
    "ask; the venue's fee comes on top. A bet on a side gains on average only if your probability of that side is "
    "above what its share costs. Where neither is, bet nothing."
)
_RATIONALE_FIRST = "Begin each entry with its rationale; the probability comes after it and follows from it."
_PAYOUT = (
    "Your probability of YES is what you expect a share of YES to pay on average, in dollars: 1 if the answer is YES, "
    "0 if it is NO, and what the rules say, such as 0.5, if the market is cancelled or split."
)
_ADD_UP = (
    " Where at most one market is YES, these chances add up to 1: that of YES for each such market, shown or not, and "
    "that of none being YES. What cancelled or split markets pay comes on top."
)
_EACH_GROUP = " Each group of such markets does so by itself."
_CHEAP = f"A bet on a side that costs less than ${MIN_SIDE_PRICE:g} is refused."


def event_words(
    seen: EventView,
    stake_usd: float,
    *,
    price_blind: bool,
    history: Callable[[str], tuple[PricePoint, ...]],
    untrusted: Callable[[str], str],
    rationale_first: bool = False,
) -> Words:
    """Return the text on an event for a model; strangers' words are bounded and inside the fence."""
    event, stake = seen.event, f"${stake_usd:g}"
    why = "why you think so" if price_blind else WHY
    within = f"The sizes of all bets add up to at most {stake}"
    steps = (
        f"For every market give the probability of YES, between 0 and 1, and your confidence in it, {CONFIDENCE}.",
        f"For every market give a bet in dollars. {_BETS} {within}; what you do not bet is unallocated and earns "
        f"nothing. {_CHEAP}",
        f"For every market say in its rationale {why}.",
    )
    told = f"the probability of YES between 0 and 1; your confidence in it, {CONFIDENCE}"
    entry = f"{told}; a bet in dollars; and as its rationale, {why}"
    if rationale_first:
        steps = (steps[-1], *steps[:-1])
        entry = f"its rationale, {why}; {told}; and a bet in dollars"
    return Words(
        task=f"You forecast a real event, and may bet {stake} of imaginary money on its markets.",
        view=_view(seen, price_blind=price_blind, history=history, untrusted=untrusted),
        steps=steps,
        entries="with an entry for every market id above",
        ask=f"For every market: {entry}.\n{_BETS} {within}; what you do not bet is unallocated. {_CHEAP}",
        report_about="on these markets",
        report="For every market id above say, in numbers: the probability of YES between 0 and 1; your confidence in "
        f"it, {CONFIDENCE}; and a bet in dollars. Say {why}, and what speaks against that.\n{_BETS} {within}. "
        f"{_CHEAP}",
        extract_about=f"about an event with {len(event.markets)} market{'s' * (len(event.markets) > 1)}",
        extract_from="take probabilities, bets and confidence from the report as they stand.\n"
        "Where the report gives no probability for a market, answer with "
        '{"abstain": "which market has none"} instead.',
        extract_view=f"The markets:\n\n{untrusted(as_block(markets_json(event)))}",
        extract=f"{within}. Write a bet on YES above 0, a bet on NO below 0, and 0 where the report gives no bet for a "
        "market. Where it gives no confidence, use 5.",
        objective=_OBJECTIVE,
        parts={"rationale_first": _RATIONALE_FIRST},
    )


def markets_json(event: Event) -> str:
    """Return the markets without prices as one line of JSON."""
    return json_line("markets", [{"id": each.id, "question": title_line(each.question)} for each in event.markets])


def _view(
    seen: EventView,
    *,
    price_blind: bool,
    history: Callable[[str], tuple[PricePoint, ...]],
    untrusted: Callable[[str], str],
) -> str:
    event = seen.event
    priced = (
        "Prices are not shown: say what you think, not what others think."
        if price_blind
        else "The price of YES is what the market expects of it."
    )
    is_exclusive = any(each.exclusive_group for each in event.left_out) or exclusive_lines(event.markets)
    groups = ({each.exclusive_group for each in event.markets} | {each.exclusive_group for each in event.left_out}) - {
        ""
    }
    add_up = (_ADD_UP + _EACH_GROUP * (len(groups) > 1)) if is_exclusive else ""
    return (
        "# The event and its markets\n\n"
        f"Each market is a question; its first outcome is YES, its second NO. {_PAYOUT} {priced}"
        f"{add_up}\n\n"
        f"{untrusted(_event_text(seen, price_blind=price_blind, history=history))}"
    )


def _event_text(seen: EventView, *, price_blind: bool, history: Callable[[str], tuple[PricePoint, ...]]) -> str:
    """Return the event and its markets; what several markets share stands there once."""
    event = seen.event
    said = {event.description: "the event"}
    whole = None
    facts = {market.id: _market_facts(market, seen.at, price_blind=price_blind) for market in event.markets}
    first, *others = facts.values()
    shared = [fact for fact in first if others and all(fact in each for each in others)]
    lines = [f"event: {title_line(event.title)}", *exclusive_lines(event.markets)]
    parts = ["\n".join([*lines, *_left_out_lines(event, price_blind=price_blind)])]
    if shared:
        parts.append("\n".join(["the same for every market:", *shared]))
    if event.description:
        parts.append(f"rules of the event: {paragraph(event.description, MAX_RULES_CHARACTERS)}")
    for market in event.markets:
        lines = [f"market id: {market.id}", f"question: {title_line(market.question)}"]
        lines += [fact for fact in facts[market.id] if fact not in shared]
        if market.description:
            lines.append(f"rules: {_rules(market, said, whole)}")
            said.setdefault(market.description, f"market {market.id}")
            whole = whole or market
        if not price_blind:
            lines += _price_lines(market, history(market.id))
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _rules(market: Market, said: Mapping[str, str], first: Market | None) -> str:
    """Return a market's rules, or which rules above they repeat: to the word, or with one phrase replaced."""
    if market.description in said:
        return f"those of {said[market.description]}"
    rules = paragraph(market.description, MAX_RULES_CHARACTERS)
    if first is not None:
        names = _difference(first.question, market.question)
        for old, new in (names, _difference(first.description, market.description)):
            whole_words = rf"(?<!\w){re.escape(old)}(?!\w)"
            changed = re.sub(whole_words, new.replace("\\", r"\\"), first.description)
            short = f"those of market {first.id} with “{title_line(new)}” in the place of “{title_line(old)}”"
            # `title_line` would cut a longer phrase, so the rules are given whole.
            is_whole = max(len(old), len(new)) <= MAX_TITLE_CHARACTERS
            if old and new and is_whole and changed == market.description and len(short) < len(rules):
                return short
    return rules


def _difference(before: str, after: str) -> tuple[str, str]:
    """Return the words in which two texts differ, without the words that both begin or end with.

    Examples:
        >>> _difference("Will Ada win in May?", "Will Bo Li win in May?")
        ('Ada', 'Bo Li')
    """
    first, second = before.split(), after.split()
    for step in (1, -1):
        pairs = zip(first[::step], second[::step], strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        first, second = (words[same:] if step == 1 else words[: len(words) - same] for words in (first, second))
    return " ".join(first).strip(".,;:?!"), " ".join(second).strip(".,;:?!")


def _left_out_lines(event: Event, *, price_blind: bool) -> list[str]:
    """Return what is not shown; only where markets exclude each other does a sum of prices mean much."""
    lines, groups = [], {market.exclusive_group for market in event.markets}
    for each in event.left_out:
        line = f"not shown: {each.markets} more open market{'s' * (each.markets > 1)} of this event"
        ids = [market.id for market in event.markets if market.exclusive_group == each.exclusive_group]
        if each.exclusive_group and ids:
            line += f"; of these and {'those shown' if len(groups) == 1 else ', '.join(ids)} at most one is YES"
            if not price_blind and each.price_yes is not None:
                line += f"; their prices added up to {each.price_yes:.3g} when the run was made"
        lines.append(line)
    return lines


def _market_facts(market: Market, at: datetime | None, *, price_blind: bool) -> list[str]:
    """Return what the venue says of a market besides its question, rules and price, a line each."""
    facts = [f"outcomes: {' / '.join(map(title_line, market.outcomes))}"]
    if market.opened_at is not None and (at is None or market.opened_at <= at):
        facts.append(f"opened: {market.opened_at:%Y-%m-%d}")
    if market.closes_at is not None:
        left = "" if at is None else f", {_time_left(market.closes_at - at)}"
        facts.append(f"planned end of trading: {format_instant(market.closes_at)}{left}")
    volumes = {
        "in all": market.volume_usd,
        "in the last week": market.volume_1wk_usd,
        "in the last day": market.volume_24h_usd,
    }
    if traded := [f"{volume:,.0f} {when}" for when, volume in volumes.items() if volume is not None]:
        facts.append(f"traded, in the venue's money: {', '.join(traded)}")
    if market.is_other:
        facts.append(OTHER_WORDS)
    if market.fees is not None:
        facts.append(f"fee of the venue: {market.fees.words}")
    if market.orders.words and not price_blind:
        facts.append(f"orders at the venue: {market.orders.words}")
    return facts


def _time_left(left: timedelta) -> str:
    """Return a time in hours up to two days, then in days.

    Examples:
        >>> _time_left(timedelta(hours=30)), _time_left(timedelta(days=12.4)), _time_left(timedelta(days=-3))
        ('in 30 hours', 'in 12 days', '3 days ago')
    """
    size = abs(left)
    hours, days = size / timedelta(hours=1), size / timedelta(days=1)
    length = f"{hours:.0f} hours" if days < _DAYS_IN_HOURS else f"{days:.0f} days"
    return f"in {length}" if left >= timedelta(0) else f"{length} ago"


def _price_lines(market: Market, history: tuple[PricePoint, ...]) -> list[str]:
    quote = market.quote
    lines = []
    if quote is not None and quote.price is not None:
        sides = {"bid": quote.bid, "ask": quote.ask}
        known = ", ".join(f"{name} {value:g}" for name, value in sides.items() if value is not None)
        lines.append(f"price of YES now: {quote.price.yes:.4g}{f' ({known})' if known else ''}")
    by_day = {point.at.date(): point.price for point in history}
    last = max(by_day, default=date.min)
    if recent := {day: price for day, price in by_day.items() if (last - day).days < MAX_PRICES}:
        first = min(recent)
        days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
        daily = " ".join(f"{recent[day]:.3g}" if day in recent else NO_PRICE for day in days)
        lines.append(f"price of YES by day, {first} to {last}: {daily}")
    return lines
