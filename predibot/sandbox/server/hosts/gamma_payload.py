"""Gamma's objects: events and markets as JSON, with the habits of the real ones."""

import json
import re
from collections.abc import Sequence
from typing import TypeAlias

from predibot.sandbox.world.calendar import iso_text, iso_text_with_fraction, postgres_text
from predibot.sandbox.world.ids import Names
from predibot.sandbox.world.plan import EventPlan
from predibot.sandbox.world.quotes import BookQuote
from predibot.sandbox.world.vocabulary import CATEGORIES
from predibot.sandbox.world.world import EventState, MarketState, Stage, Volume

VOLUME_WINDOWS = {"volume24hr": "day_usd", "volume1wk": "week_usd", "volume1mo": "month_usd", "volume1yr": "year_usd"}
TOKENS_AFTER_MINUTES = 10
"""A market gets its tokens this long after it is listed."""

Json: TypeAlias = dict[str, object]


def slug_of(title: str, identity: str) -> str:
    """Return a title as an address, ending with the id."""
    return f"{re.sub(r'[^a-z0-9]+', '-', title.lower()).strip('-')}-{identity}"


def tag_ids() -> dict[str, str]:
    """Return the id of each tag by its slug."""
    slugs = [slug for category in CATEGORIES.values() for _, slug in category.tags]
    return {slug: str(100_200 + place) for place, slug in enumerate(slugs)}


def has_tokens(plan: EventPlan, minute: int) -> bool:
    """Return whether the event's markets have tokens yet."""
    return minute - plan.born_minute >= TOKENS_AFTER_MINUTES


def liquidity_usd(plan: EventPlan, share: float) -> float:
    """Return the money in a book; it follows the volume."""
    return round(2.5 * plan.daily_volume_usd * share, 4)


def event_payload(names: Names, state: EventState, *, is_exclusive: bool) -> Json:
    """Return an event without markets and tags, as `/markets` shows it."""
    plan = state.plan
    identity = names.event_id(plan.number)
    slug = slug_of(plan.wording.title, identity)
    created = _creation_text(plan)
    payload: Json = {
        "id": identity,
        "ticker": slug,
        "slug": slug,
        "title": plan.wording.title,
        "description": plan.wording.description,
        "resolutionSource": "",
        "startDate": created,
        "creationDate": created,
        "createdAt": created,
        "updatedAt": iso_text(state.minute),
        "active": True,
        "closed": state.is_closed,
        "archived": False,
        "new": False,
        "featured": False,
        "restricted": True,
        "enableOrderBook": True,
        "negRisk": is_exclusive,
        "commentCount": plan.number % 300,
        "openInterest": 0,
        "liquidity": liquidity_usd(plan, 1.0),
        "volume": state.volume.total_usd,
    } | _volume_windows(state.volume)
    if plan.end_minute is not None:
        payload["endDate"] = iso_text(plan.end_minute)
    if is_exclusive:
        payload["negRiskMarketID"] = names.neg_risk_id(plan.number)
    settled = [market.settled_minute for market in state.markets if market.settled_minute is not None]
    if len(settled) == len(state.markets):
        payload["closedTime"] = iso_text(max(settled))
    return payload


def tag_payloads(plan: EventPlan) -> list[Json]:
    """Return the tags of an event."""
    ids = tag_ids()
    return [{"id": ids[slug], "label": label, "slug": slug, "forceShow": False} for label, slug in plan.wording.tags]


def market_payload(names: Names, event: EventState, state: MarketState, quote: BookQuote) -> Json:
    """Return a market of an event."""
    plan, market = event.plan, state.plan
    identity = names.market_id(plan.number, market.index)
    question = plan.wording.questions[market.index]
    created = _creation_text(plan)
    is_live = has_tokens(plan, event.minute)
    payload: Json = {
        "id": identity,
        "question": question,
        "conditionId": names.condition_id(plan.number, market.index),
        "slug": slug_of(question, identity),
        "resolutionSource": "",
        "startDate": created,
        "createdAt": created,
        "updatedAt": iso_text(event.minute),
        "description": plan.wording.description,
        "groupItemTitle": plan.wording.names[market.index],
        "outcomes": _array(state, list(market.outcomes)),
        "outcomePrices": _array(state, _prices(state, quote, is_live=is_live)),
        "clobTokenIds": _array(
            state, [names.token_id(plan.number, market.index, side) for side in (0, 1)] if is_live else None
        ),
        "active": True,
        "closed": state.is_closed,
        "archived": False,
        "restricted": True,
        "enableOrderBook": True,
        "acceptingOrders": is_live and not state.is_closed,
        "orderPriceMinTickSize": market.tick,
        "orderMinSize": 5,
        "negRisk": plan.is_exclusive,
        "negRiskOther": False,
        "feesEnabled": market.fee_rate is not None,
        "liquidity": f"{liquidity_usd(plan, market.share):.4f}",
        "liquidityNum": liquidity_usd(plan, market.share),
        "volume": f"{state.volume.total_usd:.6f}",
        "volumeNum": _number(state, state.volume.total_usd),
    }
    payload |= {name: _number(state, value) for name, value in _volume_windows(state.volume).items()}
    payload |= _quote_fields(state, quote) if is_live else {}
    payload |= _settlement_fields(state)
    if market.end_minute is not None:
        payload |= {"endDate": iso_text(market.end_minute), "endDateIso": iso_text(market.end_minute)[:10]}
    if plan.is_exclusive:
        payload["negRiskMarketID"] = names.neg_risk_id(plan.number)
    if market.fee_rate is not None:
        payload["feeSchedule"] = {"rate": market.fee_rate, "exponent": 1, "takerOnly": True, "rebateRate": 0.25}
    return payload


def multi_outcome_payload(
    names: Names, event: EventState, quotes: Sequence[BookQuote], payouts: Sequence[float] | None
) -> Json:
    """Return mutually exclusive markets as one market with an outcome each; `payouts` is None until settlement."""
    plan, first, count = event.plan, event.markets[0], len(event.markets)
    is_live = has_tokens(plan, event.minute)
    shown = payouts or ([quote.shown for quote in quotes] if is_live else [1.0 / count] * count)
    tokens = [names.token_id(plan.number, index, 0) for index in range(count)]
    payload = market_payload(names, event, first, quotes[0])
    # With more than two outcomes it is unclear which one these would describe.
    for name in ("bestBid", "bestAsk", "spread", "lastTradePrice", "negRiskMarketID"):
        payload.pop(name, None)
    payload |= {
        "question": plan.wording.title,
        "slug": slug_of(plan.wording.title, names.market_id(plan.number, 0)),
        "groupItemTitle": "",
        "outcomes": _array(first, list(plan.wording.names)),
        "outcomePrices": _array(first, [f"{price:.6g}" for price in shown]),
        "clobTokenIds": _array(first, tokens if is_live else None),
        "negRisk": False,
        "liquidity": f"{liquidity_usd(plan, 1.0):.4f}",
        "liquidityNum": liquidity_usd(plan, 1.0),
        "volume": f"{event.volume.total_usd:.6f}",
        "volumeNum": _number(first, event.volume.total_usd),
    }
    return payload | {name: _number(first, value) for name, value in _volume_windows(event.volume).items()}


def _quote_fields(state: MarketState, quote: BookQuote) -> Json:
    """Return bid, ask, spread and last trade; without bids there is no `bestBid`, without asks `bestAsk` is 1."""
    bid, ask = quote.bid or 0.0, 1.0 if quote.ask is None else quote.ask
    fields: Json = {"bestAsk": _number(state, ask), "spread": round(ask - bid, 6), "lastTradePrice": quote.last_trade}
    return fields if quote.bid is None else {"bestBid": _number(state, bid), **fields}


def _settlement_fields(state: MarketState) -> Json:
    steps = ["proposed", "disputed", "proposed"] if state.is_disputed else ["proposed"]
    if state.stage is Stage.OPEN:
        return {"umaResolutionStatuses": _array(state, [])}
    if state.settled_minute is None:
        return {
            "umaResolutionStatus": "disputed" if state.is_disputed else "proposed",
            "umaResolutionStatuses": _array(state, steps),
        }
    return {
        "umaResolutionStatus": "resolved",
        "umaResolutionStatuses": _array(state, [*steps, "resolved"]),
        "closedTime": postgres_text(state.settled_minute),
        "umaEndDate": iso_text(state.settled_minute),
    }


def _prices(state: MarketState, quote: BookQuote, *, is_live: bool) -> list[str]:
    shown = quote.shown if is_live else 0.5
    first = shown if state.payout is None else state.payout
    return [f"{first:.6g}", f"{round(1 - first, 6):.6g}"]


def _volume_windows(volume: Volume) -> Json:
    return {name: getattr(volume, window) for name, window in VOLUME_WINDOWS.items()}


def _array(state: MarketState, values: list[str] | None) -> object:
    """Return a list as this market writes lists: as text or as JSON; None as "" or null."""
    if state.plan.arrays_as_text:
        return "" if values is None else json.dumps(values)
    return values


def _number(state: MarketState, value: object) -> object:
    return str(value) if state.plan.numbers_as_text else value


def _creation_text(plan: EventPlan) -> str:
    if plan.timestamp_digits == 0:
        return iso_text(plan.born_minute)
    return iso_text_with_fraction(
        plan.born_minute, microseconds=7_919_113 * (plan.number + 1), digits=plan.timestamp_digits
    )
