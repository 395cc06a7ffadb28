"""Assumptions on Manifold's host, each tested with a request; see `predibot doctor --live`."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from predibot.contracts import Assumption
from predibot.net.json_client import JsonClient
from predibot.venues import fields
from predibot.venues.assumptions import Hosts, Mismatch, try_assumptions
from predibot.venues.manifold.bets import manifold_price
from predibot.venues.manifold.client import PAGE_SIZE
from predibot.venues.manifold.parse import parse_event, parse_resolutions, payload_id, skip_reason

_NEVER = datetime.min.replace(tzinfo=UTC)
_FEW = 5


@dataclass(slots=True, kw_only=True)
class _Host(Hosts):
    url: str
    """With `/v0`."""
    listed: list[dict[str, Any]] = field(default_factory=list)
    bets: list[dict[str, Any]] = field(default_factory=list)

    def search(self, *params: tuple[str, str]) -> list[dict[str, Any]]:
        ordered = (("term", ""), ("sort", "24-hour-vol"), ("limit", str(PAGE_SIZE)))
        return self.rows(f"{self.url}/search-markets", *ordered, *params)

    def market(self, contract: str) -> Any:
        return self.answer("GET", f"{self.url}/market/{contract}")

    def playable(self) -> list[dict[str, Any]]:
        found = [each for each in self.listed if skip_reason(each) is None]
        if not found:
            raise Mismatch("not tried: no market that can be played was listed before")
        return found


def assumptions(url: str) -> Iterator[Assumption]:
    """Yield each assumption with what was seen; about a dozen requests without a key."""
    with JsonClient(takes_compressed=True) as client:
        yield from try_assumptions(_Host(client=client, url=f"{url.rstrip('/')}/v0"), _CHECKS)


def _check_open(host: _Host) -> str:
    host.listed = host.search(("filter", "open"), ("offset", "0"))
    resolved = [payload_id(each) for each in host.listed if each.get("isResolved")]
    if resolved:
        raise Mismatch(f"{len(resolved)} are resolved, such as {resolved[0]}")
    return f"{len(host.listed)} markets, {len(host.playable())} of them played"


def _check_volumes(host: _Host) -> str:
    volumes = [fields.volume_or_none(each.get("volume24Hours")) for each in host.playable()]
    stated = len(volumes) - volumes.count(None)
    if not stated:
        raise Mismatch("no market states what was traded in a day")
    return f"{stated} of {len(volumes)} state it"


def _check_offset(host: _Host) -> str:
    if not host.listed:
        raise Mismatch("not tried: there is no page to go on from")
    first = {payload_id(each) for each in host.listed}
    try:
        again = host.search(("filter", "open"), ("offset", str(len(host.listed))))
    except Mismatch as empty:
        # Only an empty page ends the list.
        if empty.status or len(host.listed) == PAGE_SIZE:
            raise
        return f"the list has one page of {len(host.listed)}"
    if all(payload_id(each) in first for each in again):
        raise Mismatch("the next page is the first one again")
    return f"the next page begins with {payload_id(again[0])}"


def _check_market(host: _Host) -> str:
    asked, gone, answers = [payload_id(each) for each in host.playable()[:_FEW]], 0, 0
    for contract in asked:
        try:
            event, _ = parse_event(host.market(contract), quoted_at=_NEVER)
        except Mismatch as refused:
            # A market that was taken down stays listed for a while.
            if refused.status != HTTPStatus.NOT_FOUND:
                raise
            gone += 1
            continue
        if event is None or event.id != contract or not any(market.is_priced for market in event.markets):
            raise Mismatch(f"market {contract} cannot be read, or has no price")
        answers += len(event.markets)
    if not answers:
        raise Mismatch(f"none of {len(asked)} markets that are listed is there")
    return f"{len(asked) - gone} of {len(asked)} with {answers} answers"


def _check_bets(host: _Host) -> str:
    for each in host.playable()[:_FEW]:
        asked = payload_id(each)
        host.bets = host.rows(f"{host.url}/bets", ("contractId", asked), *_BETS_PARAMS)
        foreign = [bet for bet in host.bets if bet.get("contractId") != asked]
        made = [fields.require_number(bet.get("createdTime")) for bet in host.bets]
        prices = [price for bet in host.bets if (price := manifold_price(bet)) is not None]
        if foreign or made != sorted(made, reverse=True):
            raise Mismatch(f"{len(foreign)} of {len(made)} are of other markets, or the latest is not first")
        if prices:
            return f"{len(prices)} of {len(made)} bets moved a price"
    raise Mismatch("no bet says to what price it moved")


def _check_before(host: _Host) -> str:
    if len(host.bets) < 2:
        raise Mismatch("not tried: there were no two bets before")
    asked, known = host.bets[0], {bet.get("id") for bet in host.bets[:1]}
    contract = ("contractId", str(asked.get("contractId")))
    older = host.rows(f"{host.url}/bets", contract, ("before", str(asked.get("id"))), *_BETS_PARAMS)
    if any(bet.get("id") in known for bet in older):
        raise Mismatch("the bet it was to begin before came again")
    return f"{len(older)} bets before {asked.get('id')}"


def _check_resolutions(host: _Host) -> str:
    read, unread = 0, dict[str, str]()
    rows = [each for each in host.search(("filter", "resolved"), ("offset", "0")) if skip_reason(each) is None]
    for each in rows[:_FEW]:
        found, failed = parse_resolutions(host.market(payload_id(each)), first_seen_at=_NEVER)
        read, unread = read + len(found), {**unread, **failed}
    if unread or not read:
        raise Mismatch(next(iter(unread.values()), "no market that says how it was resolved"))
    return f"{read} markets and answers of {len(rows[:_FEW])}"


_BETS_PARAMS = (("limit", "1000"), ("includeZeroShareRedemptions", "true"))
_CHECKS: Mapping[str, Callable[[_Host], str]] = {
    "open markets are listed": _check_open,
    "what a day traded is stated": _check_volumes,
    "offset leads on": _check_offset,
    "a market is read by id": _check_market,
    "bets of a market, the latest first": _check_bets,
    "bets before one": _check_before,
    "resolutions": _check_resolutions,
}
