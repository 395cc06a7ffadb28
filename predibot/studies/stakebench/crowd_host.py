"""The hosts of a simulated crowd, in the dialects and with the limits of both venues."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from predibot.sandbox.server.reply import HttpReply, error_reply, json_reply
from predibot.studies.stakebench.crowd import BEGINS, PLACED_BEFORE, CrowdComment, CrowdMarket, CrowdTrade

LARGEST_OFFSET = 200
PAGE = 100
MANIFOLD_PAGE = 1_000
ACTIVITY_PAGE = 500
_CHOSEN_OUTSIDE = 999


class CrowdHost:
    """Answers for a crowd as both venues do."""

    def __init__(self, markets: tuple[CrowdMarket, ...]) -> None:
        """Serve these markets."""
        self.markets = markets
        self.requests: list[str] = []
        self._by_condition = {condition_id(market): market for market in markets}
        self._by_token = {f"{market.number}1": market for market in markets}
        self._by_contract = {f"c{market.number}": market for market in markets}
        self._threads = {market.thread: market.comments for market in markets}

    def reply(self, target: str) -> HttpReply:
        """Return the reply to a path with its query; the first part of the path is the host."""
        self.requests.append(target)
        parts = urlsplit(target)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        try:
            match parts.path.strip("/").split("/"):
                case ["gamma", "markets", "keyset"]:
                    return self._markets(query)
                case ["gamma", "comments"]:
                    return self._comments(query)
                case ["gamma", "comments", comment]:
                    thread = next(said for said in self._threads.values() if any(each.id == comment for each in said))
                    return json_reply([_comment(each) for each in thread if comment in (each.id, each.parent)])
                case ["data", "activity"]:
                    return self._activity(query)
                case ["clob", "prices-history"]:
                    prices = self._by_token[query["market"]].prices
                    # A settled market's history ends with its payout.
                    paid = {"t": self._by_token[query["market"]].closes + 60, "p": 1.0}
                    return json_reply({"history": [*({"t": t, "p": p / 1000} for t, p in prices), paid]})
                case ["manifold", "v0", "search-markets"]:
                    return self._contracts(query)
                case ["manifold", "v0", "comments"]:
                    said, page = self._by_contract[query["contractId"]].comments, int(query.get("page", 0))
                    limit = min(int(query["limit"]), MANIFOLD_PAGE)
                    rows = [_manifold_comment(each) for each in reversed(said)]
                    return json_reply(rows[page * limit : (page + 1) * limit])
                case ["manifold", "v0", "bets"]:
                    return self._bets(query)
        except (KeyError, ValueError, StopIteration):
            return error_reply(422, "invalid query")
        return error_reply(404, "not found")

    def _markets(self, query: Mapping[str, str]) -> HttpReply:
        start, limit = int(query.get("after_cursor", 0)), min(int(query.get("limit", 20)), PAGE)
        page: dict[str, Any] = {"markets": [_market(each) for each in self.markets[start : start + limit]]}
        if start + limit < len(self.markets):
            page["next_cursor"] = str(start + limit)
        return json_reply(page)

    def _contracts(self, query: Mapping[str, str]) -> HttpReply:
        start, limit = int(query.get("offset", 0)), min(int(query.get("limit", PAGE)), MANIFOLD_PAGE)
        if start > MANIFOLD_PAGE:
            return error_reply(400, f"offset must be at most {MANIFOLD_PAGE}")
        made = [_contract(market) for market in self.markets]
        if "beforeTime" in query:
            made = [each for each in made if each["createdTime"] < int(query["beforeTime"])]
        made.sort(key=lambda each: -each["createdTime"])
        return json_reply(made[start : start + limit])

    def _comments(self, query: Mapping[str, str]) -> HttpReply:
        offset, limit = int(query.get("offset", 0)), min(int(query.get("limit", PAGE)), PAGE)
        if offset > LARGEST_OFFSET:
            return error_reply(422, f"offset must be at most {LARGEST_OFFSET}", kind="validation error")
        prefix = {"Event": "e", "Series": "s"}[query["parent_entity_type"]]
        said = self._threads[prefix + query["parent_entity_id"]]
        rows = said if query.get("ascending") == "true" else said[::-1]
        return json_reply([_comment(each) for each in rows[offset : offset + limit]])

    def _activity(self, query: Mapping[str, str]) -> HttpReply:
        offset, limit = int(query.get("offset", 0)), min(int(query["limit"]), ACTIVITY_PAGE)
        rows = [
            _activity_row(deed, query["user"], condition)
            for condition in (query["market"].split(",") if "market" in query else self._by_condition)
            for deed in self._by_condition[condition].trades.get(query["user"], ())
        ]
        rows.sort(key=lambda row: row["timestamp"])
        return json_reply(rows[offset : offset + limit])

    def _bets(self, query: Mapping[str, str]) -> HttpReply:
        bets = _bets_of(self._by_contract[query["contractId"]])
        bets.sort(key=lambda bet: (-bet["createdTime"], bet["id"]))
        start = next(at for at, bet in enumerate(bets) if bet["id"] == query["before"]) + 1 if "before" in query else 0
        return json_reply(bets[start : start + min(int(query["limit"]), MANIFOLD_PAGE)])


def condition_id(market: CrowdMarket) -> str:
    """Return the id of a market in trades; comments do not have it."""
    return f"0x{market.number + 1:064x}"


def _iso(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _market(market: CrowdMarket) -> dict[str, Any]:
    event: dict[str, Any] = {"id": str(market.number)}
    if market.series is not None:
        event["series"] = [{"id": str(market.series)}]
    return {
        "id": str(500_000 + market.number),
        "question": market.question,
        "conditionId": condition_id(market),
        "volumeNum": "250000.5",
        "closed": True,
        "outcomes": json.dumps(["Yes", "No"]),
        "outcomePrices": json.dumps(["1", "0"] if market.pays_yes else ["0", "1"]),
        "clobTokenIds": json.dumps([f"{market.number}1", f"{market.number}2"]),
        "closedTime": _iso(market.closes),
        "events": [event],
    }


def _comment(comment: CrowdComment) -> dict[str, Any]:
    return {
        "id": comment.id,
        "body": comment.text,
        "parentCommentID": comment.parent or None,
        "userAddress": "0xsigner",
        "profile": {"proxyWallet": comment.user, "name": f"name of {comment.user[-6:]}"},
        "createdAt": _iso(comment.at),
    }


def _activity_row(deed: CrowdTrade, user: str, condition: str) -> dict[str, Any]:
    moved = deed.yes or deed.no
    kind = {"trade": "TRADE", "split": "SPLIT", "merge": "MERGE", "convert": "CONVERSION", "redeem": "REDEEM"}
    row: dict[str, Any] = {
        "proxyWallet": user,
        "timestamp": deed.at,
        "conditionId": condition,
        "type": kind[deed.kind],
        "size": abs(moved),
        "usdcSize": abs(deed.paid),
        "outcomeIndex": _CHOSEN_OUTSIDE,
        "side": "",
    }
    if deed.kind in ("trade", "convert"):
        row["outcomeIndex"] = 0 if deed.yes else 1
    if deed.kind == "trade":
        row["side"] = "BUY" if moved > 0 else "SELL"
    return row


def _contract(market: CrowdMarket) -> dict[str, Any]:
    return {
        "id": f"c{market.number}",
        "question": market.question,
        "outcomeType": "BINARY",
        "isResolved": True,
        "resolution": "YES" if market.pays_yes else "NO",
        "resolutionProbability": 0.99 if market.pays_yes else 0.05,
        "resolutionTime": market.closes * 1_000,
        "closeTime": market.closes * 1_000,
        "createdTime": (BEGINS - market.number) * 1_000,
        "volume": 50_000,
        "uniqueBettorCount": sum(bool(deeds) for deeds in market.trades.values()) + 20,
    }


def _manifold_comment(comment: CrowdComment) -> dict[str, Any]:
    paragraph = {"type": "paragraph", "content": [{"type": "text", "text": comment.text}]}
    return {
        "id": comment.id,
        "userId": comment.user,
        "createdTime": comment.at * 1_000,
        "replyToCommentId": comment.parent or None,
        "content": {"type": "doc", "content": [paragraph]},
    }


def _bets_of(market: CrowdMarket) -> list[dict[str, Any]]:
    """Return the bets of a market; a limit order is one bet, made before its fills."""
    found: list[dict[str, Any]] = []
    orders: dict[tuple[str, int], dict[str, Any]] = {}
    for user, deeds in market.trades.items():
        for number, deed in enumerate(deeds):
            side, shares = ("YES", deed.yes) if deed.yes else ("NO", deed.no)
            bet: dict[str, Any] = {
                "id": f"{user}-{number}",
                "userId": user,
                "contractId": f"c{market.number}",
                "createdTime": deed.at * 1_000,
                "outcome": side,
                "amount": deed.paid,
                "shares": shares,
                "isRedemption": deed.kind == "redemption",
                "probAfter": market.price_at(deed.at) / 1_000,
            }
            if deed.kind == "cancelled":
                bet |= {"amount": 0, "shares": 0, "orderAmount": 50, "limitProb": 0.5, "fills": []}
                bet |= {"isFilled": False, "isCancelled": True}
            if deed.kind == "limit":
                fill = {"timestamp": deed.at * 1_000, "amount": deed.paid, "shares": shares}
                order = orders.get((user, deed.order))
                if order is not None:
                    order["fills"].append(fill)
                    order["amount"] += deed.paid
                    order["shares"] += shares
                    continue
                placed = deed.at - PLACED_BEFORE
                bet |= {"createdTime": placed * 1_000, "limitProb": 0.5, "isFilled": True, "fills": [fill]}
                # Its fills are added to it; its price stays that of its placing.
                bet |= {"isCancelled": False, "probAfter": market.price_at(placed) / 1_000}
                orders[user, deed.order] = bet
            found.append(bet)
    return found
