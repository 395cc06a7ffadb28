"""The text on one event for a model: the event, its markets, and what an answer is asked for."""

from collections.abc import Callable
from datetime import date, datetime, timedelta

from predibot.domain.clock import format_instant
from predibot.domain.event import OTHER_WORDS, Event, EventView, Market, exclusive_lines
from predibot.domain.price import MIN_SIDE_PRICE, PricePoint
from predibot.domain.untrusted_text import paragraph, title_line
from predibot.games.answers import Words, as_block, json_line

CONFIDENCE = "from 0, a pure guess, to 10, no doubt at all"
WHY = "why its price is wrong, or why it is right where you bet nothing"
MAX_PRICES = 20
"""The most days of prices that are shown, up to the last one."""
NO_PRICE = "–"
"""Stands for a day without a price."""
MAX_RULES_CHARACTERS = 12_000
_DAYS_IN_HOURS = 2

_BETS = "A positive bet buys YES, a negative bet buys NO, and 0 is no bet."
_OBJECTIVE = (
    "Two things count, and you should make both as large as you can: what your bets gain in the mean over all events, "
    "and how much nearer your probabilities are to what happens than the prices are, on every market, bet or no bet. "
    "A bet on YES gains in the mean only if your probability of YES is above the price by more than the costs, which "
    "are the spread and the venue's fee; a bet on NO only if it is below the price by more than the costs. In "
    "between, bet nothing."
)
_RATIONALE_FIRST = "Begin each entry with its rationale; the probability comes after it and follows from it."
_PAYOUT = (
    "Your probability of YES is what a share of YES pays on average, in dollars: 1 for YES, 0 for NO, and where the "
    "rules cancel or split a market what they pay then, such as 0.5."
)
_ADD_UP = (
    " Where at most one market is YES, these add up to 1: the probabilities of YES of all such markets, shown or not, "
    "and the chance that none is YES."
)
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
    within = f"The sizes of all bets together must not be above {stake}"
    steps = (
        f"For every market give the probability of YES, between 0 and 1, and your confidence in it, {CONFIDENCE}.",
        "For every market give a bet in dollars. A positive bet buys YES, a negative bet buys NO, 0 is no bet. "
        "A share of YES costs the price and pays $1 if the answer is YES; a share of NO costs one minus the price "
        f"and pays $1 if it is NO. {within}; what you do not bet is unallocated and earns nothing. {_CHEAP}",
        f"For every market say in its rationale {why}.",
    )
    told = f"the probability of YES between 0 and 1; your confidence in it, {CONFIDENCE}"
    entry = f"{told}; a bet in dollars; and as its rationale, {why}"
    if rationale_first:
        steps = (steps[-1], *steps[:-1])
        entry = f"first its rationale, {why}; then {told}; and a bet in dollars"
    return Words(
        task=f"You forecast real events and bet {stake} of imaginary money on one of them.",
        view=_view(seen, price_blind=price_blind, history=history, untrusted=untrusted),
        steps=steps,
        entries="with an entry for every market id above",
        ask=f"For every market: {entry}.\n{_BETS} {within}; what you do not bet is unallocated. {_CHEAP}",
        report_about="on these markets",
        report="For every market id above say, in numbers: the probability of YES between 0 and 1; your confidence in "
        f"it, {CONFIDENCE}; and a bet in dollars. Say {why}, and what speaks against that.\n{_BETS} {within}. "
        f"{_CHEAP}",
        extract_about=f"about an event with {len(event.markets)} markets",
        extract_from="take probabilities, bets and confidence from the report as they stand.\n"
        "Where the report gives no probability for a market, answer with "
        '{"abstain": "which market has none"} instead.',
        extract_view=f"The markets:\n\n{untrusted(as_block(markets_json(event, price_blind=True)))}",
        extract=f"{within}. Where the report gives no bet for a market, its bet is 0. Where it gives no confidence, "
        "use 5.",
        objective=_OBJECTIVE,
        parts={"rationale_first": _RATIONALE_FIRST},
    )


def markets_json(event: Event, *, price_blind: bool) -> str:
    """Return the markets as one line of JSON."""
    rows = []
    for market in event.markets:
        row: dict[str, object] = {"id": market.id, "question": title_line(market.question)}
        price = market.quote.price if market.quote is not None else None
        if not price_blind and price is not None:
            row["price_yes"] = round(price.yes, 6)
        rows.append(row)
    return json_line("markets", rows)


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
        else "The price of YES is what the market thinks of it."
    )
    is_exclusive = any(each.exclusive_group for each in event.left_out) or exclusive_lines(event.markets)
    return (
        "# The event and its markets\n\n"
        f"Each market is a question that is answered YES, its first outcome, or NO, its second. {priced} {_PAYOUT}"
        f"{_ADD_UP if is_exclusive else ''}\n\n"
        f"{untrusted(_event_text(seen, price_blind=price_blind, history=history))}\n\n"
        f"The same as JSON:\n\n{untrusted(as_block(markets_json(event, price_blind=price_blind)))}"
    )


def _event_text(seen: EventView, *, price_blind: bool, history: Callable[[str], tuple[PricePoint, ...]]) -> str:
    """Return the event and its markets; what several markets share stands there once."""
    event = seen.event
    said = {event.description: "those of the event"}
    facts = {market.id: _market_facts(market, seen.at, price_blind=price_blind) for market in event.markets}
    first, *others = facts.values()
    shared = [fact for fact in first if others and all(fact in each for each in others)]
    lines = [f"event: {title_line(event.title)}", *(f"of every market: {fact}" for fact in shared)]
    parts = ["\n".join([*lines, *exclusive_lines(event.markets), *_left_out_lines(event, price_blind=price_blind)])]
    if event.description:
        parts.append(f"rules of the event: {paragraph(event.description, MAX_RULES_CHARACTERS)}")
    for market in event.markets:
        lines = [f"market id: {market.id}", f"question: {title_line(market.question)}"]
        lines += [fact for fact in facts[market.id] if fact not in shared]
        if market.description:
            known = said.get(market.description)
            lines.append(f"rules: {known or paragraph(market.description, MAX_RULES_CHARACTERS)}")
            said.setdefault(market.description, f"those of market {market.id}")
        if not price_blind:
            lines += _price_lines(market, history(market.id))
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _left_out_lines(event: Event, *, price_blind: bool) -> list[str]:
    """Return what is not shown; the prices of markets that do not exclude each other add up to nothing."""
    lines, groups = [], {market.exclusive_group for market in event.markets}
    for each in event.left_out:
        line = f"not shown: {each.markets} more open market{'s' * (each.markets > 1)} of this event"
        ids = [market.id for market in event.markets if market.exclusive_group == each.exclusive_group]
        if each.exclusive_group and ids:
            line += f"; of these and {'those shown' if len(groups) == 1 else ', '.join(ids)} at most one is YES"
            if not price_blind and each.price_yes is not None:
                line += f"; when the run was made, the prices of those not shown added up to {each.price_yes:.3g}"
        lines.append(line)
    return lines


def _market_facts(market: Market, at: datetime | None, *, price_blind: bool) -> list[str]:
    """Return what the venue says of a market besides its question, rules and price, a line each."""
    facts = [f"outcomes: {' / '.join(map(title_line, market.outcomes))}"]
    if market.opened_at is not None and (at is None or market.opened_at <= at):
        facts.append(f"opened: {market.opened_at:%Y-%m-%d}")
    if market.closes_at is not None:
        left = "" if at is None else f", {_time_left(market.closes_at - at)}"
        facts.append(f"closes: {format_instant(market.closes_at)}{left}")
    volumes = {"in all": market.volume_usd, "in a week": market.volume_1wk_usd, "in a day": market.volume_24h_usd}
    if traded := [f"{volume:,.0f} {when}" for when, volume in volumes.items() if volume is not None]:
        facts.append(f"traded, in the venue's money: {', '.join(traded)}")
    if market.is_other:
        facts.append(OTHER_WORDS)
    if market.orders.words and not price_blind:
        facts.append(f"orders at the venue: {market.orders.words}")
    return facts


def _time_left(left: timedelta) -> str:
    """Return a time in hours up to two days, then in days.

    Examples:
        >>> _time_left(timedelta(hours=30)), _time_left(timedelta(days=12.4)), _time_left(timedelta(days=-3))
        ('30 hours left', '12 days left', 'which was 3 days ago')
    """
    size = abs(left)
    hours, days = size / timedelta(hours=1), size / timedelta(days=1)
    length = f"{hours:.0f} hours" if days < _DAYS_IN_HOURS else f"{days:.0f} days"
    return f"{length} left" if left >= timedelta(0) else f"which was {length} ago"


def _price_lines(market: Market, history: tuple[PricePoint, ...]) -> list[str]:
    quote = market.quote
    lines = []
    if quote is not None and quote.price is not None:
        book = f" (bid {quote.bid:g}, ask {quote.ask:g})" if quote.bid is not None and quote.ask is not None else ""
        lines.append(f"price of YES now: {quote.price.yes:.4g}{book}")
    by_day = {point.at.date(): point.price for point in history}
    last = max(by_day, default=date.min)
    if recent := {day: price for day, price in by_day.items() if (last - day).days < MAX_PRICES}:
        first = min(recent)
        days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
        daily = " ".join(f"{recent[day]:.3g}" if day in recent else NO_PRICE for day in days)
        lines.append(f"price of YES by day, {first} to {last}: {daily}")
    return lines
