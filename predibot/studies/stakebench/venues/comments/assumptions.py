"""Assumptions about the hosts of collected comments, each tried; see `predibot doctor --live`."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from predibot.contracts import Assumption
from predibot.net.json_client import JsonClient
from predibot.studies.stakebench.activity import polymarket_change
from predibot.venues.assumptions import Hosts, Mismatch, require_objects, try_assumptions
from predibot.venues.manifold.bets import instant_of
from predibot.venues.polymarket.parse import event_ids_of

_FEW = 10
_PAGE = ("limit", "100")


@dataclass(slots=True, kw_only=True)
class _CommentHosts(Hosts):
    gamma_url: str
    data_url: str
    manifold_url: str
    markets: list[dict[str, Any]] = field(default_factory=list)
    users: list[str] = field(default_factory=list)


def assumptions(*, gamma_url: str, data_url: str, manifold_url: str) -> Iterator[Assumption]:
    """Yield each assumption with what a request found; about ten requests, none of which needs a key."""
    gamma_url, data_url, manifold_url = (url.rstrip("/") for url in (gamma_url, data_url, manifold_url))
    with JsonClient(takes_compressed=True) as client:
        hosts = _CommentHosts(client=client, gamma_url=gamma_url, data_url=data_url, manifold_url=f"{manifold_url}/v0")
        yield from try_assumptions(hosts, _CHECKS)


def _check_closed(hosts: _CommentHosts) -> str:
    params = [("closed", "true"), ("order", "volumeNum"), ("ascending", "false"), _PAGE]
    hosts.markets = require_objects(
        hosts.answer("GET", f"{hosts.gamma_url}/markets/keyset", params)["markets"], "markets"
    )
    named = sum(bool(event_ids_of(each) and each.get("conditionId")) for each in hosts.markets)
    if not named:
        raise Mismatch("no market names its event and its condition")
    return f"{named} of {len(hosts.markets)} markets name their event and condition"


def _comments(hosts: _CommentHosts) -> str:
    seen = 0
    for market in hosts.markets[:_FEW]:
        event = (market.get("events") or [{}])[0]
        series = event.get("series") or []
        kind, entity = ("Series", series[0]) if series else ("Event", event)
        params = [("parent_entity_type", kind), ("parent_entity_id", str(entity.get("id"))), _PAGE]
        params += [("offset", "0"), ("order", "createdAt"), ("ascending", "true")]
        rows = hosts.answer("GET", f"{hosts.gamma_url}/comments", params)
        listed = require_objects(rows, "comments") if rows else []
        seen += len(listed)
        whole = [row for row in listed if row.get("body") and row.get("createdAt") and row.get("profile")]
        hosts.users += [str(row["profile"]["proxyWallet"]) for row in whole]
        if hosts.users:
            return f"{len(listed)} comments of {kind.lower()} {entity.get('id')}"
    raise Mismatch(f"not one of {seen} comments has its text, its instant and its user")


def _activity(hosts: _CommentHosts) -> str:
    url, order = f"{hosts.data_url}/activity", [("sortBy", "TIMESTAMP"), ("sortDirection", "ASC")]
    for user in dict.fromkeys(hosts.users[:_FEW]):
        asked = [("user", user), ("limit", "500"), ("offset", "0"), *order]
        if not (anywhere := hosts.answer("GET", url, asked)):
            continue
        condition = str(require_objects(anywhere, "activity")[0].get("conditionId"))
        rows = require_objects(hosts.answer("GET", url, [*asked, ("market", condition)]), "activity")
        foreign = [row for row in rows if str(row.get("conditionId")).casefold() != condition.casefold()]
        made = [instant_of(row.get("timestamp"), per_second=1) for row in rows]
        if foreign or made != sorted(made):
            raise Mismatch(f"{len(foreign)} of {len(rows)} are of other markets, or the first is not the oldest")
        read = [polymarket_change(row) for row in rows]
        return f"{len(rows)} rows of a user in a market, {sum(each is not None for each in read)} of shares"
    raise Mismatch("not tried: nobody who was seen to comment has traded")


def _manifold(hosts: _CommentHosts) -> str:
    url, params = f"{hosts.manifold_url}/search-markets", (("filter", "resolved"), ("contractType", "BINARY"))
    rows = hosts.rows(url, *params, ("sort", "newest"), ("limit", "100"))
    other = [row for row in rows if row.get("outcomeType") != "BINARY" or row.get("isResolved") is not True]
    if other:
        raise Mismatch(f"{len(other)} of {len(rows)} are not binary or not resolved")
    for row in rows[:_FEW]:
        comments = hosts.answer("GET", f"{hosts.manifold_url}/comments", [("contractId", str(row.get("id"))), _PAGE])
        for each in require_objects(comments, "comments") if comments else ():
            instant_of(each["createdTime"], per_second=1_000)
            if each["userId"] and (each.get("content") or each.get("text")):
                return f"{len(comments)} comments of market {row.get('id')}"
    raise Mismatch(f"none of {_FEW} resolved markets has a comment with its text, its instant and its user")


_CHECKS: Mapping[str, Callable[[_CommentHosts], str]] = {
    "closed markets by volume": _check_closed,
    "comments of an event": _comments,
    "activity of a user in a market": _activity,
    "comments of Manifold's markets": _manifold,
}
