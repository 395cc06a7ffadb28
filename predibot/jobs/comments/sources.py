"""Sources: what each platform serves of resolved markets, their comments and their traders, in one form."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from predibot.errors import VenueChanged
from predibot.jobs.comments.raw_store import RawStore
from predibot.text_tasks.activity import Unreadable, manifold_changes, manifold_price, polymarket_change
from predibot.text_tasks.cleaning import Platform
from predibot.text_tasks.positions import Change, Holdings, Position, in_order, position_by_mana, position_by_shares
from predibot.text_tasks.windows import PricePath

Get = Callable[[str, Sequence[tuple[str, str]]], object]
"""Asks an address with a query; errors as `VenueClient.get`."""
COMMENT_PAGE = 100
LARGEST_COMMENT_OFFSET = 200
ACTIVITY_PAGE = 500
MANIFOLD_PAGE = 1_000
LEAST_VOLUME = 10_000.0
FEWEST_BETTORS = 50
_SETTLED = 1e-4


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment as its venue has it."""

    id: str
    user: str
    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class Thread:
    """The comments that a market shows, the oldest first."""

    comments: tuple[Comment, ...]
    truncated: bool
    """Whether there may be more than the venue serves."""
    unreadable: int = 0


@dataclass(frozen=True, slots=True)
class CommentedMarket:
    """A resolved market."""

    id: str
    question: str
    resolved: int
    """1 for YES, -1 for NO, 0 for anything else."""
    closed_at: datetime
    volume: float
    key: str
    """By which trades name it."""
    thread: tuple[str, str] = ("", "")
    token: str = ""


@dataclass(frozen=True, slots=True)
class Traded:
    """What the commenters of a market did in it."""

    changes: Mapping[str, tuple[Change, ...]]
    """By user; one who never traded has none."""
    unreadable: frozenset[str]
    """Users with a row that cannot be read, of whom nothing is known."""


class Source(Protocol):
    """A platform that comments are collected from."""

    platform: Platform
    fewest_comments: int

    def markets(self) -> Iterator[tuple[str, CommentedMarket | None]]:
        """Yield each listed market that can be read, with why it is not taken; no reason where it is."""

    def thread(self, market: CommentedMarket) -> Thread:
        """Return the comments that a market shows."""

    def traded(self, market: CommentedMarket, users: Sequence[str]) -> Traded:
        """Return what these users did in a market."""

    def prices(self, market: CommentedMarket) -> PricePath:
        """Return the price path of YES."""

    def position(self, held: Holdings) -> Position:
        """Return what is labelled of holdings."""


class PolymarketComments:
    """Gamma's markets and comments, the Data API's activity, the CLOB's prices."""

    platform: Platform = "polymarket"
    fewest_comments = 10

    def __init__(self, get: Get, store: RawStore, *, gamma_url: str, data_url: str, clob_url: str) -> None:
        """Ask these hosts."""
        self._get, self._store = get, store
        self._gamma, self._data, self._clob = gamma_url, data_url, clob_url

    def markets(self) -> Iterator[tuple[str, CommentedMarket | None]]:
        """Yield the closed markets."""
        cursor, seen = "", set[str]()
        while True:
            page = self._object("markets", f"page {cursor}", f"{self._gamma}/markets/keyset", _page_query(cursor))
            for payload in _list(page.get("markets"), "markets"):
                yield _polymarket_market(payload)
            cursor = str(page.get("next_cursor") or "")
            if not cursor:
                return
            if cursor in seen:
                raise VenueChanged("the list of markets begins anew: next_cursor came twice; try again later")
            seen.add(cursor)

    def thread(self, market: CommentedMarket) -> Thread:
        """Return the comments of a market's event or series: both ends of it, and replies where the middle lacks."""
        kind, entity = market.thread
        answers = self._store.answer("comments", f"{kind} {entity}", lambda: self._both_orders(kind, entity))
        served = _list(answers, "comments")
        rows = {str(row.get("id")): row for row in served}
        # All of them different, and as many as both orders show: there may be more in between.
        truncated = min(len(served), len(rows)) >= 2 * (LARGEST_COMMENT_OFFSET + COMMENT_PAGE)
        if truncated:
            for top in sorted({str(row.get("parentCommentID") or row.get("id")) for row in rows.values()}):
                url = f"{self._gamma}/comments/{top}"
                replies = self._store.answer("replies", top, lambda url=url: self._get(url, ()))  # type: ignore[misc]
                rows |= {str(row.get("id")): row for row in _list(replies, "replies")}
        return _thread(rows.values(), _polymarket_comment, truncated=truncated)

    def _both_orders(self, kind: str, entity: str) -> list[object]:
        found: list[object] = []
        for ascending in ("true", "false"):
            for offset in range(0, LARGEST_COMMENT_OFFSET + 1, COMMENT_PAGE):
                query = (
                    ("parent_entity_type", kind),
                    ("parent_entity_id", entity),
                    ("limit", str(COMMENT_PAGE)),
                    ("offset", str(offset)),
                    ("order", "createdAt"),
                    ("ascending", ascending),
                )
                page = _list(self._get(f"{self._gamma}/comments", query), "comments")
                found += page
                if not page:
                    # The whole thread came in one order.
                    return found
        return found

    def traded(self, market: CommentedMarket, users: Sequence[str]) -> Traded:
        """Return the activity of these users in a market."""
        changes: dict[str, tuple[Change, ...]] = {}
        unreadable = set()
        for user in users:
            name = f"{user} {market.key}"
            rows = self._store.answer("activity", name, lambda user=user: self._activity(user, market.key))  # type: ignore[misc]
            try:
                read = [polymarket_change(row) for row in _list(rows, "activity") if row["conditionId"] == market.key]
            except (Unreadable, KeyError):
                unreadable.add(user)
                continue
            changes[user] = in_order(change for change in read if change is not None)
        return Traded(changes, frozenset(unreadable))

    def _activity(self, user: str, condition: str) -> list[object]:
        found: list[object] = []
        while True:
            query = (
                ("user", user),
                ("market", condition),
                ("limit", str(ACTIVITY_PAGE)),
                ("offset", str(len(found))),
                ("sortBy", "TIMESTAMP"),
                ("sortDirection", "ASC"),
            )
            page = _list(self._get(f"{self._data}/activity", query), "activity")
            found += page
            # The host does not clamp this page; an empty one is the end in any case.
            if len(page) < ACTIVITY_PAGE:
                return found

    def prices(self, market: CommentedMarket) -> PricePath:
        """Return the prices of the YES token, without the payout at their end."""
        query = (("market", market.token), ("interval", "max"), ("fidelity", "720"))
        answer = self._object("prices", market.token, f"{self._clob}/prices-history", query)
        points = [(row["t"], row["p"]) for row in _list(answer.get("history"), "history")]
        dated = sorted((datetime.fromtimestamp(t, UTC), float(p)) for t, p in points)
        kept = [(at, p) for at, p in dated if at < market.closed_at]
        return PricePath(tuple(at for at, _ in kept), tuple(p for _, p in kept), market.closed_at)

    def position(self, held: Holdings) -> Position:
        """Return the side of more shares."""
        return position_by_shares(held)

    def _object(self, kind: str, name: str, url: str, query: Sequence[tuple[str, str]]) -> Mapping[str, Any]:
        answer = self._store.answer(kind, name, lambda: self._get(url, query))
        if not isinstance(answer, dict):
            raise VenueChanged(f"{url} answered {type(answer).__name__}; it is an object")
        return answer


class ManifoldComments:
    """Manifold's markets, comments and bets."""

    platform: Platform = "manifold"
    fewest_comments = 100

    def __init__(self, get: Get, store: RawStore, *, manifold_url: str) -> None:
        """Ask this host."""
        self._get, self._store, self._url = get, store, manifold_url

    def markets(self) -> Iterator[tuple[str, CommentedMarket | None]]:
        """Yield the resolved binary markets; beyond what an offset reaches, by the instant they were made."""
        url = f"{self._url}/v0/search-markets"
        before, seen = "", set[str]()
        while True:
            query = [("filter", "resolved"), ("contractType", "BINARY"), ("sort", "newest")]
            query += [("limit", str(MANIFOLD_PAGE)), *([("beforeTime", before)] if before else [])]
            page = self._store.answer("markets", f"before {before}", lambda query=tuple(query): self._get(url, query))  # type: ignore[misc]
            rows = [row for row in _list(page, "markets") if row.get("id") not in seen]
            for row in rows:
                seen.add(row.get("id"))
                yield _manifold_market(row)
            if not rows or len(_list(page, "markets")) < MANIFOLD_PAGE:
                return
            before = str(min(row["createdTime"] for row in rows))

    def thread(self, market: CommentedMarket) -> Thread:
        """Return all comments of a market."""
        rows = self._store.answer("comments", market.id, lambda: self._comments(market.id))
        return _thread(_list(rows, "comments"), _manifold_comment, truncated=False)

    def _comments(self, contract: str) -> list[object]:
        found: list[object] = []
        while True:
            query = (
                ("contractId", contract),
                ("limit", str(MANIFOLD_PAGE)),
                ("page", str(len(found) // MANIFOLD_PAGE)),
            )
            page = _list(self._get(f"{self._url}/v0/comments", query), "comments")
            found += page
            if len(page) < MANIFOLD_PAGE:
                return found

    def traded(self, market: CommentedMarket, users: Sequence[str]) -> Traded:
        """Return the bets of these users in a market."""
        wanted, unreadable = set(users), set()
        changes = defaultdict[str, list[Change]](list)
        for bet in self._bets_of(market):
            user = str(bet.get("userId"))
            if user in wanted:
                try:
                    changes[user] += manifold_changes(bet)
                except Unreadable:
                    unreadable.add(user)
        return Traded({user: in_order(changes[user]) for user in wanted - unreadable}, frozenset(unreadable))

    def prices(self, market: CommentedMarket) -> PricePath:
        """Return the price after each bet."""
        points = []
        for bet in self._bets_of(market):
            try:
                point = manifold_price(bet)
            except Unreadable:
                continue
            if point is not None and point.at < market.closed_at:
                points.append((point.at, point.yes))
        points.sort(key=lambda each: each[0])
        return PricePath(tuple(at for at, _ in points), tuple(p for _, p in points), market.closed_at)

    def position(self, held: Holdings) -> Position:
        """Return the side of more mana."""
        return position_by_mana(held)

    def _bets_of(self, market: CommentedMarket) -> list[Any]:
        return _list(self._store.answer("bets", market.id, lambda: self._bets(market.id)), "bets")

    def _bets(self, contract: str) -> list[object]:
        found: list[Any] = []
        while True:
            query = [("contractId", contract), ("limit", str(MANIFOLD_PAGE))]
            query += [("before", str(found[-1]["id"]))] if found else []
            page = _list(self._get(f"{self._url}/v0/bets", query), "bets")
            found += page
            if len(page) < MANIFOLD_PAGE:
                return found


def _page_query(cursor: str) -> list[tuple[str, str]]:
    query = [("closed", "true"), ("limit", "100"), ("order", "volumeNum"), ("ascending", "false")]
    return [*query, *([("after_cursor", cursor)] if cursor else [])]


def _list(answer: object, what: str) -> list[Any]:
    if not isinstance(answer, list) or not all(isinstance(row, dict) for row in answer):
        raise VenueChanged(f"{what} are {type(answer).__name__}; they are a list of objects")
    return answer


def _thread(rows: "Sequence[Any] | Any", read: Callable[[Mapping[str, Any]], Comment], *, truncated: bool) -> Thread:
    found: dict[str, Comment] = {}
    unreadable = 0
    for row in rows:
        try:
            comment = read(row)
        except (KeyError, TypeError, ValueError, OverflowError):
            unreadable += 1
            continue
        found[comment.id] = comment
    return Thread(tuple(sorted(found.values(), key=lambda each: (each.at, each.id))), truncated, unreadable)


def _polymarket_comment(row: Mapping[str, Any]) -> Comment:
    return Comment(str(row["id"]), str(row["profile"]["proxyWallet"]), _iso(row["createdAt"]), str(row["body"]))


def _manifold_comment(row: Mapping[str, Any]) -> Comment:
    at = datetime.fromtimestamp(row["createdTime"] / 1_000, UTC)
    content = row.get("content")
    text = row["text"] if content is None else content if isinstance(content, str) else " ".join(_texts(content, 0))
    return Comment(str(row["id"]), str(row["userId"]), at, text)


def _texts(node: object, depth: int) -> Iterator[str]:
    """Yield the texts of a rich document, whatever lies in it."""
    if depth > 50 or not isinstance(node, dict):
        return
    if isinstance(node.get("text"), str):
        yield node["text"]
    inner = node.get("content")
    for each in inner if isinstance(inner, list) else ():
        yield from _texts(each, depth + 1)


def _iso(text: object) -> datetime:
    at = datetime.fromisoformat(str(text).replace(" ", "T").replace("+00", "+00:00").replace("+00:00:00", "+00:00"))
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def _polymarket_market(row: Mapping[str, Any]) -> tuple[str, CommentedMarket | None]:
    try:
        outcomes, prices, tokens = (_inner(row.get(name)) for name in ("outcomes", "outcomePrices", "clobTokenIds"))
        if [str(each).casefold() for each in outcomes] != ["yes", "no"] or len(prices) != 2 or len(tokens) != 2:
            return "not binary", None
        if not row.get("conditionId"):
            return "no condition id", None
        event = row["events"][0]
        series = event.get("series") or []
        thread = ("Series", str(series[0]["id"])) if series else ("Event", str(event["id"]))
        volume = float(row["volumeNum"])
        yes, no = (float(price) for price in prices)
        market = CommentedMarket(
            str(row["id"]),
            str(row["question"]),
            _resolved(yes, no),
            _iso(row["closedTime"]),
            volume,
            str(row["conditionId"]),
            thread,
            str(tokens[0]),
        )
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        return "unreadable", None
    return ("", market) if volume >= LEAST_VOLUME else ("volume", market)


def _resolved(yes: float, no: float) -> int:
    if abs(yes + no - 1.0) > _SETTLED:
        return 0
    return 1 if yes >= 1.0 - _SETTLED else -1 if no >= 1.0 - _SETTLED else 0


def _inner(value: object) -> list[Any]:
    found = json.loads(value) if isinstance(value, str) and value else value
    return found if isinstance(found, list) else []


def _manifold_market(row: Mapping[str, Any]) -> tuple[str, CommentedMarket | None]:
    try:
        if row["outcomeType"] != "BINARY" or row["isResolved"] is not True:
            return "not binary", None
        volume, bettors = float(row["volume"]), int(row["uniqueBettorCount"])
        resolved = {"YES": 1, "NO": -1}.get(row["resolution"], 0)
        closed = datetime.fromtimestamp(row["resolutionTime"] / 1_000, UTC)
        market = CommentedMarket(str(row["id"]), str(row["question"]), resolved, closed, volume, str(row["id"]))
    except (KeyError, TypeError, ValueError, OverflowError):
        return "unreadable", None
    if volume < LEAST_VOLUME:
        return "volume", market
    return ("", market) if bettors >= FEWEST_BETTORS else ("bettors", market)
