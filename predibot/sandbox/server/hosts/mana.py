"""Manifold as a host of the sandbox: a list of markets with their answers, and the bets that moved them.

An event of one market is a binary market; any other is a market with an answer for each of its markets, whose chances
add up to one if they are exclusive. A void market is cancelled, or resolved to its last price. A disputed one is first
resolved to the wrong side and corrected days later. YES is always the first outcome, whatever its label.
"""

from collections.abc import Sequence

from predibot.sandbox.server.hosts.gamma_payload import Json, slug_of
from predibot.sandbox.server.hosts.snapshot import Snapshot
from predibot.sandbox.server.reply import HttpReply, Query, RequestDenial, error_reply, json_reply, whole_number
from predibot.sandbox.world.calendar import MINUTES_A_DAY
from predibot.sandbox.world.plan import EventPlan
from predibot.sandbox.world.world import CORRECTED_AFTER_MINUTES, EventState, MarketState

LARGEST_PAGE = 1_000
DEFAULT_PAGE = 100
LARGEST_OFFSET = 1_000
_SECONDS_A_MINUTE = 60
_FAR_FUTURE_MS = 8_640_000_000_000_000
"""The last instant of JavaScript's calendar: the end of a market without one."""
_INVALID = error_reply(400, "Error validating request.")
_CLOSED_OF = {"open": False, "resolved": True, "all": None}
"""Whether the events of each list are closed; None for both."""
_UNPLAYED: tuple[tuple[str, Json], ...] = (
    ("poll", {"outcomeType": "POLL", "mechanism": "none"}),
    ("number", {"outcomeType": "PSEUDO_NUMERIC", "mechanism": "cpmm-1", "min": 0, "max": 100, "probability": 0.4}),
    ("lottery", {"outcomeType": "BINARY", "mechanism": "cpmm-1", "token": "CASH", "probability": 0.6}),
    ("gone", {"outcomeType": "BINARY", "mechanism": "cpmm-1", "probability": 0.5}),
)
"""Other entries of the list: three of kinds that are not played, and one whose own page is missing."""


def answer_mana(snapshot: Snapshot, path: str, query: Query) -> HttpReply:
    """Return Manifold's reply to a GET below `/mana`."""
    try:
        match path.strip("/").split("/"):
            case ["v0", "search-markets"]:
                return _list_reply(snapshot, query)
            case ["v0", "market", contract]:
                number = event_of(snapshot, contract)
                if number is None:
                    return error_reply(404, "Contract not found")
                return json_reply(_whole_payload(snapshot, number))
            case ["v0", "bets"]:
                return _bets_reply(snapshot, query)
    except RequestDenial as refused:
        return refused.reply
    return error_reply(404, "not found")


def contract_id(snapshot: Snapshot, number: int) -> str:
    """Return the id of an event: that of its only market, or its own where it has several."""
    names = snapshot.world.names
    return names.market_id(number, 0) if _is_binary(snapshot.world.plan(number)) else names.event_id(number)


def event_of(snapshot: Snapshot, contract: str) -> int | None:
    """Return the number of the listed event with this id, or None."""
    place = snapshot.world.names.market_of(contract)
    number = snapshot.world.names.event_of(contract) if place is None else place[0]
    known = number is not None and snapshot.is_listed(number) and contract_id(snapshot, number) == contract
    return number if known else None


def _is_binary(plan: EventPlan) -> bool:
    return len(plan.markets) == 1


def _list_reply(snapshot: Snapshot, query: Query) -> HttpReply:
    offset = whole_number(query, "offset", 0, _INVALID)
    limit = whole_number(query, "limit", DEFAULT_PAGE, _INVALID)
    if not 0 <= offset <= LARGEST_OFFSET or not 1 <= limit <= LARGEST_PAGE:
        return _INVALID
    wanted, sort = query.get("filter", ["all"])[-1], query.get("sort", ["most-popular"])[-1]
    if wanted not in _CLOSED_OF or sort != "24-hour-vol":
        return _INVALID
    numbers = snapshot.numbers(closed=_CLOSED_OF[wanted])
    numbers.sort(key=lambda number: (-snapshot.state(number).volume.day_usd, number))
    listed = [_list_payload(snapshot, number) for number in numbers]
    for place, (name, kind) in enumerate(_UNPLAYED if wanted == "open" else ()):
        at = min(2 * place, len(listed))
        row: Json = {"id": f"{name}0", "question": f"A {name}?", "isResolved": False, **kind}
        listed.insert(at, row | {"volume24Hours": listed[at]["volume24Hours"] if at < len(listed) else 0.0})
    return json_reply(listed[offset : offset + limit])


def _list_payload(snapshot: Snapshot, number: int) -> Json:
    state, contract = snapshot.state(number), contract_id(snapshot, number)
    plan, is_binary = state.plan, _is_binary(state.plan)
    payload: Json = {
        "id": contract,
        "creatorId": "u1",
        "createdTime": _ms(plan.born_minute),
        "question": plan.wording.title,
        "slug": slug_of(plan.wording.title, contract),
        "url": f"https://mana.invalid/u1/{contract}",
        "outcomeType": "BINARY" if is_binary else "MULTIPLE_CHOICE",
        "mechanism": "cpmm-1" if is_binary else "cpmm-multi-1",
        "token": "MANA",
        "volume": state.volume.total_usd,
        "volume24Hours": state.volume.day_usd,
        "uniqueBettorCount": 40 + number % 300,
        "isResolved": False,
        "closeTime": _closes_at_ms(state),
    }
    if is_binary:
        payload["probability"] = snapshot.world.quotes(number, snapshot.minute)[0].shown
    if all(market.settled_minute is not None for market in state.markets):
        payload |= _event_resolution(snapshot, state)
    return payload


def _closes_at_ms(state: EventState) -> int:
    """Return the stated end of an event; one that has passed while it trades moves to the day after tomorrow."""
    stated, now = state.plan.end_minute, state.minute
    if state.is_closed:
        return _ms(now if stated is None else min(now, stated))
    if stated is None and state.plan.number % 3 == 0:
        return _FAR_FUTURE_MS
    stated = state.plan.born_minute + 90 * MINUTES_A_DAY if stated is None else stated
    return _ms(stated if stated > now else (now // MINUTES_A_DAY + 2) * MINUTES_A_DAY)


def _whole_payload(snapshot: Snapshot, number: int) -> Json:
    state = snapshot.state(number)
    plan = state.plan
    paragraph = {"type": "paragraph", "content": [{"type": "text", "text": plan.wording.description}]}
    payload = _list_payload(snapshot, number) | {
        "description": {"type": "doc", "content": [paragraph]},
        "textDescription": plan.wording.description,
        "groupSlugs": [slug for _, slug in plan.wording.tags],
    }
    if _is_binary(plan):
        return payload
    names, quotes = snapshot.world.names, snapshot.world.quotes(number, snapshot.minute)
    answers: list[Json] = []
    for market, quote in zip(state.markets, quotes, strict=True):
        answer: Json = {
            "id": names.market_id(number, market.plan.index),
            "index": market.plan.index,
            "contractId": payload["id"],
            "text": plan.wording.names[market.plan.index],
            "isOther": False,
            "probability": quote.shown,
            "volume": market.volume.total_usd,
        }
        if not plan.is_exclusive and market.settled_minute is not None:
            answer |= _market_resolution(snapshot, state, market)
        answers.append(answer)
    return payload | {
        "answers": answers,
        "shouldAnswersSumToOne": plan.is_exclusive,
        "addAnswersMode": "DISABLED",
    }


def _event_resolution(snapshot: Snapshot, state: EventState) -> Json:
    if _is_binary(state.plan):
        said = _market_resolution(snapshot, state, state.markets[0])
        return {"isResolved": True, "closeTime": said["resolutionTime"], **said}
    minute, is_wrong = _resolution_minute(snapshot, state.markets)
    found: Json = {"isResolved": True, "resolutionTime": _ms(minute), "closeTime": _ms(minute)}
    if not state.plan.is_exclusive:
        return found
    names = [snapshot.world.names.market_id(state.plan.number, market.plan.index) for market in state.markets]
    paid = [market.payout for market in state.markets]
    if 1.0 in paid:
        won = paid.index(1.0)
        return found | {"resolution": names[(won + 1) % len(names) if is_wrong else won]}
    if state.plan.number % 2 and 0.5 in paid:
        return found | {"resolution": "MKT", "resolutions": dict.fromkeys(names, 100 / len(names))}
    return found | {"resolution": "CANCEL"}


def _market_resolution(snapshot: Snapshot, state: EventState, market: MarketState) -> Json:
    minute, is_wrong = _resolution_minute(snapshot, [market])
    number, index = state.plan.number, market.plan.index
    found: Json = {"resolutionTime": _ms(minute)}
    if market.payout == 0.5:
        if number % 3 == 0:
            return found | {"resolution": "CANCEL"}
        _, prices = snapshot.world.price_history(number, index, snapshot.minute)
        return found | {"resolution": "MKT", "resolutionProbability": prices[-1] if number % 3 == 1 else 0.5}
    is_yes = (market.payout == 1.0) is not is_wrong
    # Manifold states it here too, where it is no payout.
    return found | {"resolution": "YES" if is_yes else "NO", "resolutionProbability": 0.99 if is_yes else 0.05}


def _resolution_minute(snapshot: Snapshot, markets: Sequence[MarketState]) -> tuple[int, bool]:
    """Return when settled markets were last resolved, and whether that is still to be corrected."""
    minute = max(market.settled_minute or 0 for market in markets)
    if not any(market.is_disputed for market in markets):
        return minute, False
    corrected = minute + CORRECTED_AFTER_MINUTES
    return (corrected, False) if snapshot.minute >= corrected else (minute, True)


def _bets_reply(snapshot: Snapshot, query: Query) -> HttpReply:
    """Return a page of a contract's bets, latest first; `before` is the last id that the client has."""
    number = event_of(snapshot, query.get("contractId", [""])[-1])
    if number is None:
        return error_reply(404, "Contract not found")
    limit = whole_number(query, "limit", LARGEST_PAGE, _INVALID)
    if not 1 <= limit <= LARGEST_PAGE:
        return _INVALID
    bets = bets_of(snapshot, number)
    if query.get("includeZeroShareRedemptions", [""])[-1] != "true":
        bets = [bet for bet in bets if not bet["isRedemption"] or bet["shares"]]
    start = 0
    if "before" in query:
        known = [place for place, bet in enumerate(bets) if bet["id"] == query["before"][-1]]
        if not known:
            return error_reply(404, "Bet not found")
        start = known[0] + 1
    return json_reply(bets[start : start + limit])


def bets_of(snapshot: Snapshot, number: int) -> list[Json]:
    """Return the bets of an event, latest first: one an hour that moves the price of each market.

    Between them are rows that moved nothing: redemptions, cancelled and waiting orders, and limit orders of an hour
    before that the hour's bet filled. A bet on one of several exclusive answers moves the others by redemptions of no
    shares.
    """
    found = snapshot.bets.get(number)
    if found is not None:
        return found
    contract, names = contract_id(snapshot, number), snapshot.world.names
    found = []
    state = snapshot.state(number)
    for market in state.markets:
        index = market.plan.index
        first_hour, prices = snapshot.world.price_history(number, index, snapshot.minute)
        name = names.market_id(number, index)
        of = {"contractId": contract} if contract == name else {"contractId": contract, "answerId": name}
        for hour, price in enumerate(prices, start=first_hour):
            at = hour * 3_600_000 + number % 40 * 1_000
            if at > _ms(snapshot.minute):
                break
            side = "YES" if hour % 2 else "NO"
            filled: Json = {"timestamp": at, "amount": 20, "shares": 30, "matchedBetId": None}
            bet: Json = {**of, "id": f"b{name}h{hour}", "userId": f"u{hour % 7}", "createdTime": at, "outcome": side}
            bet |= {"amount": 20, "shares": 30, "probAfter": price, "isRedemption": False}
            made = bet | ({"fills": [filled], "isFilled": True, "isCancelled": False} if hour % 3 else {})
            before = prices[max(hour - first_hour - 1, 0)]
            if state.plan.is_exclusive and hour % len(state.markets) != index and price != before:
                made |= {"amount": 0, "shares": 0, "probBefore": before, "isRedemption": True}
            found.append(made)
            if hour % 5 == 0 and hour > first_hour:
                # Its fills are added to it, and its price stays that of its placing.
                order = bet | {
                    "id": f"b{name}l{hour}",
                    "createdTime": at - 3_600_000,
                    "limitProb": price,
                    "probAfter": before,
                }
                found.append(order | {"fills": [filled], "isFilled": True, "isCancelled": False})
            if hour % 5 == 1:
                found.append(bet | {"id": f"b{name}r{hour}", "isRedemption": True, "probAfter": 0.5})
            if hour % 5 in (2, 3):
                idle = {"amount": 0, "shares": 0, "fills": [], "isFilled": False, "isCancelled": hour % 5 == 2}
                found.append(bet | {"id": f"b{name}o{hour}", "probAfter": 0.5, "limitProb": 0.5, **idle})
    found.sort(key=lambda bet: (-int(str(bet["createdTime"])), str(bet["id"])))
    snapshot.bets[number] = found
    return found


def _ms(minute: int) -> int:
    return minute * _SECONDS_A_MINUTE * 1_000
