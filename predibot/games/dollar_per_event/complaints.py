"""Complaints: what is wrong with an answer, in sentences that name the place and say how to fix it."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from predibot.domain.decision import Decision, MarketDecision
from predibot.domain.event import Event, EventView, Market
from predibot.domain.price import MIN_SIDE_PRICE, EntryPrice, Instrument, Price, Side
from predibot.games.answers import mark_foreign, number_of, quoted

MAX_CONFIDENCE = 10.0

_WANTED = {
    "market_id": "the market's id as text, in quotes",
    "estimated_probability": "the probability of YES, a number between 0 and 1",
    "bet": "dollars as a number, positive for YES, negative for NO, 0 for no bet",
    "confidence": "a number between 0 and 10",
    "rationale": "a sentence or two why, as text",
    "market_decisions": "a list with one object for every market, no text around it",
    "unallocated_capital": "the dollars that are not bet, a number of 0 or more",
}
FIELDS = frozenset(_WANTED)
_FIELDS = {
    True: "market_id, estimated_probability, bet, confidence, rationale",
    False: "market_decisions, unallocated_capital, rationale",
}


def complaints_of(error: ValidationError, items: object) -> Iterator[str]:
    """Yield a sentence, without its full stop, for each error of pydantic; `items` are the answer's markets."""
    for found in error.errors(include_url=False, include_context=False):
        kind, location, value = found["type"], found["loc"], found["input"]
        name, where = str(location[-1]), _where(location, items)
        wanted = _WANTED.get(name, "it as the others are")
        if kind == "missing":
            yield f"{where} is missing; give {wanted}"
        elif kind in ("extra_forbidden", "invalid_key"):
            yield f"{where} is unknown; take it out, the fields are {_FIELDS[len(location) > 1]}"
        elif kind in ("model_type", "model_attributes_type"):
            yield f"{where} is {quoted(value)}; give an object with {_FIELDS[True]}"
        else:
            yield _value_complaint(kind, where, name, value, wanted)


def _where(location: tuple[int | str, ...], items: object) -> str:
    """Return the place of a complaint: a field and its market, or the entry's number where it has no id."""
    if len(location) == 1:
        return _field(location[0])
    row = int(location[1])
    if len(location) == 2:
        return f"entry {row + 1} of market_decisions"
    item: Mapping[Any, Any] = items[row] if isinstance(items, list) else {}
    older = location[2] == "estimated_probability" and "odds" in item and "estimated_probability" not in item
    name = "odds" if older else _field(location[2])
    market_id = item.get("market_id")
    known = isinstance(market_id, str) and location[2] != "market_id"
    return f"{name} of market {quoted(market_id)}" if known else f"{name} of entry {row + 1}"


def _field(name: object) -> str:
    return str(name) if name in FIELDS else f"the field {quoted(name)}"


def _value_complaint(kind: str, where: str, name: str, value: object, wanted: str) -> str:
    """Return the complaint on a value of a wrong type, out of range or too long."""
    if kind in ("string_too_long", "too_long"):
        size = len(value) if isinstance(value, str | list) else 0
        return f"{where} is too long ({size:,}); give {wanted}, shorter"
    if kind == "float_type" and isinstance(value, str) and (hint := _number_in(value, name)) is not None:
        return f"{where} is the text {quoted(value)}; write {hint} ({wanted})"
    said = f"{where} is {quoted(value)}; give {wanted}"
    if kind in ("less_than_equal", "greater_than_equal"):
        if name == "estimated_probability" and isinstance(value, int | float) and 1 < value <= 100:
            said += f"; for {value:g} percent write {value / 100:g}"
        if name == "unallocated_capital":
            said += "; lower the bets until it is"
    return said


def _number_in(text: str, name: str) -> str | None:
    """Return what to write instead of a number in quotes, or None."""
    bare = text.strip()
    percent = bare.endswith("%")
    try:
        number = float(bare.removesuffix("%").lstrip("$"))
    except ValueError:
        return None
    if not math.isfinite(number) or (percent and name != "estimated_probability"):
        return None
    return f"{number / 100:g}" if percent else f"{number:g} without quotes"


def decision_complaints(
    answer: Decision,
    lines: Sequence[MarketDecision],
    view: EventView,
    quotes: Mapping[Instrument, Price],
    prices: Mapping[str, EntryPrice],
) -> Iterator[str]:
    """Yield complaints about a decision, apart from the sum of its bets.

    `lines` are the forecast and the bet of each market it names, `quotes` the current prices by outcome, and `prices`
    those at which the markets would be recorded, by id.
    """
    yield from _order_complaints(answer, view)
    yield from _roll_call(lines, view.event)
    for line in lines:
        yield from _complaints(line, view, quotes, prices)


def _order_complaints(answer: Decision, view: EventView) -> Iterator[str]:
    """Yield complaints about orders, apart from their amounts as bets."""
    if answer.labels:
        yield "it has labels, which this game has no use for; leave them out"
    bet_on = Counter(said.market_id for said in answer.forecasts if isinstance(said, MarketDecision))
    outcomes = view.outcomes
    for order in answer.orders:
        if order.instrument not in outcomes:
            where = mark_foreign(repr(str(order.instrument.id)[:80]))
            yield f"an order is on {where}, no outcome of this event; take it out"
            continue
        market, _ = outcomes[order.instrument]
        name = f"market {mark_foreign(repr(market.id))}"
        bet_on[market.id] += 1
        if bet_on[market.id] == 2:
            yield f"{name} is bet on more than once; keep one bet"
        if order.side != "buy" or order.unit != "usd":
            yield f"{name}: its order is to {order.side} in {order.unit}; buy YES or NO for dollars"
        amount = number_of(order.amount)
        if amount is not None and amount < 0.0:
            yield f"{name}: its order is for {amount:g} dollars; order the other outcome for {-amount:g}"


def _roll_call(lines: Sequence[MarketDecision], event: Event) -> Iterator[str]:
    """Yield a complaint for each market of the event that is not decided exactly once."""
    asked = {market.id for market in event.markets}
    said = Counter(str(line.market_id) for line in lines)
    for market_id, times in said.items():
        if market_id not in asked:
            yield f"market {mark_foreign(repr(market_id[:80]))} is not one of this event; take it out"
        elif times > 1:
            yield f"market {mark_foreign(repr(market_id))} is decided {times} times; keep one"
    for market in event.markets:
        if market.id not in said:
            yield f"market {mark_foreign(repr(market.id))} is missing; add its probability and its bet, which may be 0"


def _complaints(
    said: MarketDecision, view: EventView, quotes: Mapping[Instrument, Price], prices: Mapping[str, EntryPrice]
) -> Iterator[str]:
    name = f"market {mark_foreign(repr(str(said.market_id)[:80]))}"
    yield from (f"{name}: {text}" for text in _probability_complaints(said.probability))
    if said.confidence is not None:
        confidence = number_of(said.confidence)
        if confidence is None or not 0.0 <= confidence <= MAX_CONFIDENCE:
            yield f"{name}: the confidence is {short_repr(said.confidence)}; give a number from 0 to 10 or leave it out"
    bet_usd = number_of(said.bet_usd)
    if bet_usd is None:
        yield f"{name}: the bet is {short_repr(said.bet_usd)}; give dollars as a number, negative for NO, 0 for no bet"
        return
    market = view.event.market(said.market_id)
    if market is not None:
        yield from (f"{name}: {text}" for text in _bet_complaints(bet_usd, market, view, quotes, prices))


def _probability_complaints(value: object) -> Iterator[str]:
    probability = number_of(value)
    if probability is None:
        yield f"the probability is {short_repr(value)}; give a number from 0 to 1"
    elif 1.0 < probability <= 100.0:
        hint = f"{probability:g} % is {probability / 100:g}"
        yield f"the probability is {probability:g}; give a number from 0 to 1, {hint}"
    elif not 0.0 <= probability <= 1.0:
        yield f"the probability is {probability:g}; give a number from 0 to 1"


def _bet_complaints(
    bet_usd: float,
    market: Market,
    view: EventView,
    quotes: Mapping[Instrument, Price],
    prices: Mapping[str, EntryPrice],
) -> Iterator[str]:
    if bet_usd == 0.0:
        if market.id not in prices:
            yield "it has no price at all, so nothing can be said about it"
        return
    price = quoted_price(market, view, quotes)
    side: Side = "YES" if bet_usd > 0 else "NO"
    if market.closed:
        yield "it is closed; set its bet to 0"
    elif price is None or not price.usable:
        yield "it has no usable quote now; set its bet to 0"
    elif price.of(side) < MIN_SIDE_PRICE:
        seen = f"{side} is priced at {price.of(side):.2g}, below {MIN_SIDE_PRICE:g}"
        yield f"{seen}; set its bet to 0 or bet on the other side"


def quoted_price(market: Market, view: EventView, quotes: Mapping[Instrument, Price]) -> EntryPrice | None:
    """Return the quoted price of YES of a market."""
    found = quotes.get(view.instrument(market, "YES"))
    return None if found is None else EntryPrice(found.mid, found.source)


def short_repr(value: object) -> str:
    """Return the `repr` of a wrong value, shortened for a message."""
    return mark_foreign(repr(value)[:40])
