"""The prompt: what a model is told about an event, from a text whose fields are checked."""

import json
import re
from collections.abc import Mapping
from importlib.resources import files

from predibot.agents.prompts.untrusted_text import Fence
from predibot.contracts import Context
from predibot.domain.clock import format_instant
from predibot.domain.event import Event, Market
from predibot.domain.price import MIN_SIDE_PRICE, PricePoint

MAX_PRICES = 20
MAX_TITLE_CHARACTERS = 500
MAX_RULES_CHARACTERS = 12_000
MAX_REPORT_CHARACTERS = 80_000
_FIELD = re.compile(r"\{\{(\w+)\}\}")
# Also what turns the direction of text around, and half of a surrogate pair, which is no UTF-8.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")

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


def decide_prompt(context: Context, fence: Fence, *, price_blind: bool, min_searches: int, min_pages: int) -> str:
    """Return what an agent with tools is asked."""
    research = (
        f"Search at least {min_searches} times in different words and read at least {min_pages} pages "
        "before you decide; look for what speaks against your first thought too."
        if min_searches or min_pages
        else "Search and read as much as you need before you decide."
    )
    return filled("decide", {**event_fields(context, fence, price_blind=price_blind), "research_words": research})


def one_shot_prompt(context: Context, fence: Fence, *, price_blind: bool) -> str:
    """Return what a model without tools is asked."""
    fields = event_fields(context, fence, price_blind=price_blind)
    return filled("one_shot", {**fields, "answer_shape": ANSWER_SHAPE})


def report_prompt(context: Context, fence: Fence, *, price_blind: bool) -> str:
    """Return what a model that searches by itself is asked for: a report that says numbers."""
    return filled("report", event_fields(context, fence, price_blind=price_blind))


def extract_prompt(context: Context, fence: Fence, report: str) -> str:
    """Return what a model is asked that turns a report into an answer."""
    event = context.subject
    fields = {
        "count": str(len(event.markets)),
        "markets": fence.around(_as_block(markets_json(event, price_blind=True))),
        "stake": _stake(context),
        "report": fence.around(bounded(report, MAX_REPORT_CHARACTERS)),
        "answer_shape": ANSWER_SHAPE,
    }
    return filled("extract", {**fields, **_fences(fence)})


def event_fields(context: Context, fence: Fence, *, price_blind: bool) -> dict[str, str]:
    """Return the fields that say what is to be decided.

    What the venue says, titles and rules too, was written by strangers: it is
    bounded, without control characters, and inside the fence.

    Args:
        context: The event, the instant and the stake.
        fence: Goes around the venue's words.
        price_blind: Whether prices and their history are left out.
    """
    priced = (
        "Prices are not shown: say what you think, not what others think."
        if price_blind
        else "The price of YES is what the market thinks of it."
    )
    return {
        "stake": _stake(context),
        "now": format_instant(context.now),
        "price_words": priced,
        "least_price": f"${MIN_SIDE_PRICE:g}",
        "event": fence.around(_event_text(context, price_blind=price_blind)),
        "markets_json": fence.around(_as_block(markets_json(context.subject, price_blind=price_blind))),
        **_fences(fence),
    }


def markets_json(event: Event, *, price_blind: bool) -> str:
    """Return the markets as one line of JSON, for models that like it exact."""
    rows = []
    for market in event.markets:
        row: dict[str, object] = {"id": market.id, "question": one_line(market.question)}
        price = market.quote.price if market.quote is not None else None
        if not price_blind and price is not None:
            row["price_yes"] = round(price.yes, 6)
        rows.append(row)
    # A backtick could end the block it stands in; escaped it is the same JSON.
    return json.dumps({"markets": rows}, ensure_ascii=False).replace("`", "\\u0060")


def one_line(text: str) -> str:
    """Return a title on one line, without control characters, at most so long as a title is."""
    return bounded(" ".join(_CONTROL.sub(" ", text).split()), MAX_TITLE_CHARACTERS)


def bounded(text: str, characters: int) -> str:
    """Return a text without control characters, and its beginning where it is long."""
    harmless = _CONTROL.sub(" ", text)
    return harmless if len(harmless) <= characters else f"{harmless[:characters]} … (shortened)"


def _as_block(text: str) -> str:
    return f"```json\n{text}\n```"


def _stake(context: Context) -> str:
    return f"${context.game.stake_usd:g}"


def _fences(fence: Fence) -> dict[str, str]:
    return {"fence_open": fence.opening, "fence_close": fence.closing}


def _event_text(context: Context, *, price_blind: bool) -> str:
    """Return the event and its markets; rules that several share are said once."""
    event = context.subject
    said = {event.description: "those of the event"}
    parts = [f"event: {one_line(event.title)}"]
    if event.description:
        parts.append(f"rules of the event: {_rules(event.description)}")
    for market in event.markets:
        lines = _market_lines(market)
        if market.description:
            known = said.get(market.description)
            lines.append(f"rules: {known or _rules(market.description)}")
            said.setdefault(market.description, f"those of market {market.id}")
        if not price_blind:
            lines += _price_lines(market, context.history(market.id))
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _rules(text: str) -> str:
    """Return rules without empty lines, the further ones indented, so that none looks like another market."""
    lines = (line.strip() for line in bounded(text, MAX_RULES_CHARACTERS).splitlines())
    return "\n  ".join(line for line in lines if line)


def _market_lines(market: Market) -> list[str]:
    outcomes = " / ".join(map(one_line, market.outcomes))
    lines = [f"market id: {market.id}", f"question: {one_line(market.question)}", f"outcomes: {outcomes}"]
    if market.closes_at is not None:
        lines.append(f"closes: {format_instant(market.closes_at)}")
    return lines


def _price_lines(market: Market, history: tuple[PricePoint, ...]) -> list[str]:
    quote = market.quote
    lines = []
    if quote is not None and quote.price is not None:
        book = f" (bid {quote.bid:g}, ask {quote.ask:g})" if quote.bid is not None and quote.ask is not None else ""
        lines.append(f"price of YES now: {quote.price.yes:.4g}{book}")
    if shown := history[-MAX_PRICES:]:
        daily = ", ".join(f"{point.at:%Y-%m-%d} {point.price:.3g}" for point in shown)
        lines.append(f"price of YES by day: {daily}")
    return lines
