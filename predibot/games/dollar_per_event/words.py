"""The words of one dollar an event: what a model is told about an event, and what it is asked."""

from collections.abc import Callable

from predibot.domain.clock import format_instant
from predibot.domain.event import OTHER_WORDS, Event, Market, exclusive_lines
from predibot.domain.price import MIN_SIDE_PRICE, PricePoint
from predibot.domain.untrusted_text import paragraph, title_line
from predibot.games.answers import Words, as_block, json_line

MAX_PRICES = 20
MAX_RULES_CHARACTERS = 12_000

_BETS = "A positive bet buys YES, a negative bet buys NO, and 0 is no bet."
_CHEAP = f"A bet on a side that costs less than ${MIN_SIDE_PRICE:g} is refused."


def event_words(
    event: Event,
    stake_usd: float,
    *,
    price_blind: bool,
    history: Callable[[str], tuple[PricePoint, ...]],
    untrusted: Callable[[str], str],
) -> Words:
    """Return what a model is told about an event.

    What the venue says, titles and rules too, is untrusted: it is
    bounded, without control characters, and inside the fence.

    Args:
        event: With the quotes the bot is shown.
        stake_usd: For all bets together.
        price_blind: Whether prices and their history are left out.
        history: Daily prices of YES by market id, asked only where they are shown.
        untrusted: Puts a text inside the fence.
    """
    stake = f"${stake_usd:g}"
    within = f"The sizes of all bets together must not be above {stake}"
    return Words(
        task=f"You forecast real events and bet {stake} of imaginary money on one of them.",
        view=_view(event, price_blind=price_blind, history=history, untrusted=untrusted),
        steps=(
            "For every market give the probability of YES, between 0 and 1, and your confidence in it, from 0 to 10.",
            "For every market give a bet in dollars. A positive bet buys YES, a negative bet buys NO, 0 is no bet. "
            "A share of YES costs the price and pays $1 if the answer is YES; a share of NO costs one minus the price "
            f"and pays $1 if it is NO. {within}; what you do not bet is unallocated and earns nothing. {_CHEAP}",
            "Bet only where your probability and the price differ enough to make it worth while. You are scored on "
            "your probabilities too, also where you bet nothing.",
        ),
        entries="with an entry for every market id above",
        ask="For every market: the probability of YES between 0 and 1, your confidence in it from 0 to 10, a bet in "
        f"dollars and a sentence or two why.\n{_BETS} {within}; what you do not bet is unallocated. {_CHEAP}\n"
        "You are scored on your probabilities too, also where you bet nothing.",
        report_about="on these markets",
        report="For every market id above say, in numbers: the probability of YES between 0 and 1, your confidence in "
        f"it from 0 to 10, and a bet in dollars, with the reasons and what speaks against them.\n{_BETS} {within}. "
        f"{_CHEAP}",
        extract_about=f"about an event with {len(event.markets)} markets",
        extract_from="take probabilities, bets and confidence from the report as they stand.\n"
        "Where the report gives no probability for a market, answer with "
        '{"abstain": "which market has none"} instead.',
        extract_view=f"The markets:\n\n{untrusted(as_block(markets_json(event, price_blind=True)))}",
        extract=f"{within}. Where the report gives no bet for a market, its bet is 0. Where it gives no confidence, "
        "use 5.",
    )


def markets_json(event: Event, *, price_blind: bool) -> str:
    """Return the markets as one line of JSON, for models that like it exact."""
    rows = []
    for market in event.markets:
        row: dict[str, object] = {"id": market.id, "question": title_line(market.question)}
        price = market.quote.price if market.quote is not None else None
        if not price_blind and price is not None:
            row["price_yes"] = round(price.yes, 6)
        rows.append(row)
    return json_line("markets", rows)


def _view(
    event: Event,
    *,
    price_blind: bool,
    history: Callable[[str], tuple[PricePoint, ...]],
    untrusted: Callable[[str], str],
) -> str:
    priced = (
        "Prices are not shown: say what you think, not what others think."
        if price_blind
        else "The price of YES is what the market thinks of it."
    )
    return (
        "# The event and its markets\n\n"
        f"Each market is a question that is answered YES, its first outcome, or NO, its second. {priced}\n\n"
        f"{untrusted(_event_text(event, price_blind=price_blind, history=history))}\n\n"
        f"The same as JSON:\n\n{untrusted(as_block(markets_json(event, price_blind=price_blind)))}"
    )


def _event_text(event: Event, *, price_blind: bool, history: Callable[[str], tuple[PricePoint, ...]]) -> str:
    """Return the event and its markets; rules that several share are said once."""
    said = {event.description: "those of the event"}
    parts = ["\n".join((f"event: {title_line(event.title)}", *exclusive_lines(event.markets)))]
    if event.description:
        parts.append(f"rules of the event: {paragraph(event.description, MAX_RULES_CHARACTERS)}")
    for market in event.markets:
        lines = _market_lines(market)
        if market.description:
            known = said.get(market.description)
            lines.append(f"rules: {known or paragraph(market.description, MAX_RULES_CHARACTERS)}")
            said.setdefault(market.description, f"those of market {market.id}")
        if not price_blind:
            lines += _price_lines(market, history(market.id))
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _market_lines(market: Market) -> list[str]:
    outcomes = " / ".join(map(title_line, market.outcomes))
    lines = [f"market id: {market.id}", f"question: {title_line(market.question)}", f"outcomes: {outcomes}"]
    if market.closes_at is not None:
        lines.append(f"closes: {format_instant(market.closes_at)}")
    if market.is_other:
        lines.append(OTHER_WORDS)
    return lines


def _price_lines(market: Market, history: tuple[PricePoint, ...]) -> list[str]:
    quote = market.quote
    lines = []
    if quote is not None and quote.price is not None:
        book = f" (bid {quote.bid:g}, ask {quote.ask:g})" if quote.bid is not None and quote.ask is not None else ""
        lines.append(f"price of YES now: {quote.price.yes:.4g}{book}")
    if market.orders.words:
        lines.append(f"orders at the venue: {market.orders.words}")
    if shown := history[-MAX_PRICES:]:
        daily = ", ".join(f"{point.at:%Y-%m-%d} {point.price:.3g}" for point in shown)
        lines.append(f"price of YES by day: {daily}")
    return lines
