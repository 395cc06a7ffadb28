"""The prompt: what a model is told about an event, from a text whose fields are checked."""

import json
import re
from collections.abc import Mapping
from importlib.resources import files

from predibot.agents.fence import Fence
from predibot.contracts import Context
from predibot.domain.clock import format_instant
from predibot.domain.event import Event, Market
from predibot.domain.price import PricePoint

MAX_PRICES = 20
MAX_RULES_CHARACTERS = 12_000
_FIELD = re.compile(r"\{\{(\w+)\}\}")

ANSWER_SHAPE = """{
  "market_decisions": [
    {"market_id": "...", "estimated_probability": 0.5, "bet": 0.0, "confidence": 5, "rationale": "..."}
  ],
  "unallocated_capital": 1.0
}"""


def filled(name: str, fields: Mapping[str, str]) -> str:
    """Return a packaged text with its fields filled in.

    Args:
        name: Of the file, without its ending.
        fields: Exactly those that the text has.

    Raises:
        ValueError: If a field is missing or unknown: a prompt with a hole in it
            must never reach a model.
    """
    text = files("predibot.agents.prompts").joinpath(f"{name}.md").read_text(encoding="utf-8")
    wanted = set(_FIELD.findall(text))
    if missing := wanted - fields.keys():
        raise ValueError(f"prompt {name!r} has the field {sorted(missing)[0]!r}, which was not given")
    if unknown := fields.keys() - wanted:
        raise ValueError(f"prompt {name!r} has no field {sorted(unknown)[0]!r}")
    return _FIELD.sub(lambda match: fields[match.group(1)], text)


def event_fields(context: Context, *, price_blind: bool) -> dict[str, str]:
    """Return the fields that say what is to be decided.

    Args:
        context: The event, the instant and the stake.
        price_blind: Whether prices and their history are left out.
    """
    event = context.subject
    priced = (
        "Prices are not shown: say what you think, not what others think."
        if price_blind
        else "The price of YES is what the market thinks of it."
    )
    return {
        "stake": f"${context.game.stake_usd:g}",
        "now": format_instant(context.now),
        "title": event.title,
        "rules": _bounded(_shared_rules(event)),
        "price_words": priced,
        "markets": "\n\n".join(_market_text(context, market, price_blind) for market in event.markets),
        "markets_json": markets_json(event, price_blind=price_blind),
    }


def decide_prompt(context: Context, fence: Fence, *, price_blind: bool, min_searches: int, min_pages: int) -> str:
    """Return what an agent with tools is asked."""
    research = (
        f"Search at least {min_searches} times in different words and read at least {min_pages} pages "
        "before you decide; look for what speaks against your first thought too."
        if min_searches or min_pages
        else "Search and read as much as you need before you decide."
    )
    fields = event_fields(context, price_blind=price_blind)
    fences = {"fence_open": fence.opening, "fence_close": fence.closing}
    return filled("decide", {**fields, **fences, "research_words": research})


def one_shot_prompt(context: Context, *, price_blind: bool) -> str:
    """Return what a model without tools is asked."""
    return filled("one_shot", {**event_fields(context, price_blind=price_blind), "answer_shape": ANSWER_SHAPE})


def extract_prompt(context: Context, fence: Fence, report: str) -> str:
    """Return what a model is asked that turns a report into an answer."""
    return filled(
        "extract",
        {
            "count": str(len(context.subject.markets)),
            "markets_json": markets_json(context.subject, price_blind=True),
            "stake": f"${context.game.stake_usd:g}",
            "fence_open": fence.opening,
            "fence_close": fence.closing,
            "report": report.replace(fence.mark, "(marker removed)"),
            "answer_shape": ANSWER_SHAPE,
        },
    )


def markets_json(event: Event, *, price_blind: bool) -> str:
    """Return the markets as one line of JSON, for models that like it exact."""
    rows = []
    for market in event.markets:
        row: dict[str, object] = {"id": market.id, "question": market.question}
        price = market.quote.price if market.quote is not None else None
        if not price_blind and price is not None:
            row["price_yes"] = round(price.yes, 6)
        rows.append(row)
    return json.dumps({"markets": rows}, ensure_ascii=False)


def _shared_rules(event: Event) -> str:
    """Return the event's description once; a market's own is said with the market."""
    return event.description or "The rules are those of the markets below."


def _market_text(context: Context, market: Market, price_blind: bool) -> str:
    lines = [f"market id: {market.id}", f"question: {market.question}", f"outcomes: {' / '.join(market.outcomes)}"]
    if market.description and market.description != context.subject.description:
        lines.append(f"rules: {_bounded(market.description)}")
    if market.closes_at is not None:
        lines.append(f"closes: {format_instant(market.closes_at)}")
    if not price_blind:
        lines += _price_lines(market, context.history(market.id))
    return "\n".join(lines)


def _price_lines(market: Market, history: tuple[PricePoint, ...]) -> list[str]:
    quote = market.quote
    lines = []
    if quote is not None and quote.price is not None:
        book = f" (bid {quote.bid:g}, ask {quote.ask:g})" if quote.bid is not None and quote.ask is not None else ""
        lines.append(f"price of YES now: {quote.price.yes:.4g}{book}")
    shown = history[-MAX_PRICES:]
    if shown:
        daily = ", ".join(f"{point.at:%Y-%m-%d} {point.price:.3g}" for point in shown)
        lines.append(f"price of YES by day: {daily}")
    return lines


def _bounded(text: str) -> str:
    return text if len(text) <= MAX_RULES_CHARACTERS else f"{text[:MAX_RULES_CHARACTERS]} … (shortened)"
