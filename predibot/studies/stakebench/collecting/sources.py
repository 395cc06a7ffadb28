"""Sources: resolved markets of each platform with comments and trades, in one form."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from predibot.errors import VenueChanged
from predibot.rows import grouped
from predibot.studies.label_game import MAX_MONEY
from predibot.studies.stakebench.activity import manifold_changes, polymarket_change
from predibot.studies.stakebench.cleaning import Platform
from predibot.studies.stakebench.collecting.raw_store import RawStore
from predibot.studies.stakebench.data_set import Resolved, StepPath
from predibot.studies.stakebench.positions import Change, position_by_mana, position_by_shares, sort_changes
from predibot.venues.http import RequestRefusal
from predibot.venues.manifold.bets import UnreadableRow, instant_of, manifold_price
from predibot.venues.manifold.parse import document_texts
from predibot.venues.polymarket.parse import payouts_of, tokens_of

Get = Callable[[str, Sequence[tuple[str, str]]], object]
"""Requests an address with a query; raises what `VenueClient.get` does."""
COMMENT_PAGE = 100
LARGEST_COMMENT_OFFSET = 200
ACTIVITY_PAGE = 500
LARGEST_ACTIVITY_OFFSET = 10_000
MANIFOLD_PAGE = 1_000
LEAST_VOLUME = 10_000.0
FEWEST_BETTORS = 50
_SINCE_EVER = datetime.min.replace(tzinfo=UTC)
_RESOLVED: Mapping[str, Resolved] = {"YES": 1, "NO": -1}
_WALLET = re.compile("0x[0-9a-fA-F]{40}")


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment of a venue."""

    id: str
    user: str
    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class Thread:
    """The comments that a market shows, the oldest first."""

    comments: tuple[Comment, ...]
    truncated: bool
    """Whether the venue may have more than it serves."""
    unreadable: int = 0


@dataclass(frozen=True, slots=True)
class CommentedMarket:
    """A resolved market."""

    id: str
    question: str
    resolved: Resolved
    closed_at: datetime
    volume: float
    key: str
    """Its id in trades."""
    thread: tuple[str, str] = ("", "")
    tokens: tuple[str, ...] = ()
    """YES and NO, where trades name them."""
    no_first: bool = False


@dataclass(slots=True)
class MarketActivity:
    """The trades of a market's commenters in it."""

    changes: dict[str, tuple[Change, ...]] = field(default_factory=dict)
    """By user; absent without trades."""
    unreadable: dict[str, datetime] = field(default_factory=dict)
    """Users with an unreadable row, and the instant from which their holdings are unknown."""

    def add(
        self,
        user: str,
        rows: Iterable[Mapping[str, Any]],
        read: Callable[[Mapping[str, Any]], Iterable[Change | None]],
        at: tuple[str, int],
    ) -> None:
        """Add the rows of a user as `read` reads them; `at` is the field of their instant, and its units per second."""
        changes: list[Change] = []
        for row in rows:
            try:
                changes += (change for change in read(row) if change is not None)
            except UnreadableRow:
                try:
                    since = instant_of(row.get(at[0]), per_second=at[1])
                except UnreadableRow:
                    since = _SINCE_EVER
                self.unreadable[user] = min(self.unreadable.get(user, since), since)
        self.changes[user] = sort_changes(changes)


class PolymarketComments:
    """Markets and comments from Gamma, activity from the Data API, prices from the CLOB."""

    platform: Platform = "polymarket"
    fewest_comments = 10
    position = staticmethod(position_by_shares)

    def __init__(self, get: Get, store: RawStore, *, gamma_url: str, data_url: str, clob_url: str) -> None:
        """Ask these hosts."""
        self._get, self._store = get, store
        self._gamma, self._data, self._clob = gamma_url, data_url, clob_url

    def markets(self) -> Iterator[tuple[str, CommentedMarket | None]]:
        """Yield the closed markets."""
        cursor, seen = "", set[str]()
        while True:
            query = [("closed", "true"), ("limit", "100"), ("order", "volumeNum"), ("ascending", "false")]
            query += [("after_cursor", cursor)] if cursor else []
            page = self._object("markets", f"page {cursor}", f"{self._gamma}/markets/keyset", query, of="markets")
            for payload in page["markets"]:
                yield _polymarket_market(payload)
            cursor = str(page.get("next_cursor") or "")
            if not cursor:
                return
            if cursor in seen:
                raise VenueChanged("the list of markets begins anew: next_cursor came twice; try again later")
            seen.add(cursor)

    def thread(self, market: CommentedMarket) -> Thread:
        """Return the comments of a market's event or series: of a long thread both ends, and the replies to them."""
        kind, entity = market.thread
        answer = self._store.answer("threads", f"{kind} {entity}", lambda: self._both_orders(kind, entity))
        if not isinstance(answer, dict):
            raise VenueChanged(f"a kept thread is {type(answer).__name__}; it is an object. Collect into a new folder")
        listed = enumerate(_list(answer.get("comments"), "comments"))
        rows = {str(row.get("id") or f"#{number}"): row for number, row in listed}
        truncated = answer.get("whole") is not True
        if truncated:
            for top in sorted({str(row.get("parentCommentID") or row.get("id")) for row in rows.values()}):
                replies = self._store.answer("replies", top, lambda top=top: self._replies(top))  # type: ignore[misc]
                rows |= {str(row.get("id")): row for row in _list(replies, "replies")}
        return _thread(rows.values(), _polymarket_comment, truncated=truncated)

    def _both_orders(self, kind: str, entity: str) -> Mapping[str, object]:
        """Return the comments of a thread, and whether they are all: one order ended, or both meet."""
        found: list[dict[str, Any]] = []
        for ascending in ("true", "false"):
            offset = 0
            while offset <= LARGEST_COMMENT_OFFSET:
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
                    return {"whole": True, "comments": found}
                # A short page is not the end.
                offset += len(page)
        ids = [row["id"] for row in found if isinstance(row.get("id"), str | int)]
        return {"whole": len(set(ids)) < len(ids), "comments": found}

    def _replies(self, top: str) -> list[Any]:
        try:
            return _list(self._get(f"{self._gamma}/comments/{quote(top, safe='')}", ()), "replies")
        except RequestRefusal as error:
            # The replies to a deleted comment cannot be requested.
            if error.status != 404:
                raise
            return []

    def read_activity(self, market: CommentedMarket, users: Sequence[str]) -> MarketActivity:
        """Return the activity of users in a market."""
        found = MarketActivity()
        for user in users:
            name = f"{user} {market.key}"
            rows = self._store.answer("activity", name, lambda user=user: self._activity(user, market.key))  # type: ignore[misc]
            if rows is None:
                found.unreadable[user] = _SINCE_EVER
                continue
            of_market = (
                row
                for row in _list(rows, "activity")
                if str(row.get("conditionId") or market.key).casefold() == market.key.casefold()
            )
            found.add(
                user,
                of_market,
                lambda row: [polymarket_change(row, market.tokens, no_first=market.no_first)],
                ("timestamp", 1),
            )
        return found

    def _activity(self, user: str, condition: str) -> list[dict[str, Any]] | None:
        """Return a user's activity in a market; None where neither offsets nor instants reach all of it."""
        found: list[dict[str, Any]] = []
        offset, since = 0, 0
        while True:
            query = [
                ("user", user),
                ("market", condition),
                ("limit", str(ACTIVITY_PAGE)),
                ("offset", str(offset)),
                ("sortBy", "TIMESTAMP"),
                ("sortDirection", "ASC"),
                *([("start", str(since - 1))] if since else []),
            ]
            page = _list(self._get(f"{self._data}/activity", query), "activity")
            found += (row for row in page if _second(row, since) >= since)
            # The host does not clamp this page, and an empty one is always the end.
            if len(page) < ACTIVITY_PAGE:
                return found
            offset += len(page)
            if offset > LARGEST_ACTIVITY_OFFSET:
                # No offset reaches further: go on from the last second, whose rows all come again.
                last = max(_second(row, since) for row in page)
                if last <= since:
                    return None
                # A row without an instant is kept; it marks its user as unreadable.
                found, offset, since = [row for row in found if _second(row, 0) < last], 0, last

    def prices(self, market: CommentedMarket) -> StepPath:
        """Return the prices of the YES token without the payout at the end."""
        query = (("market", market.tokens[0]), ("interval", "max"), ("fidelity", "720"))
        answer = self._object("prices", market.tokens[0], f"{self._clob}/prices-history", query, of="history")
        points = []
        for row in answer["history"]:
            try:
                at, price = datetime.fromtimestamp(row["t"], UTC), float(row["p"])
            except (KeyError, TypeError, ValueError, OverflowError, OSError):
                continue
            if at < market.closed_at and 0.0 <= price <= 1.0:
                points.append((at, price))
        points.sort()
        return StepPath.of(points, market.closed_at)

    def _object(
        self, kind: str, name: str, url: str, query: Sequence[tuple[str, str]], *, of: str
    ) -> Mapping[str, Any]:
        """Return an answer that is an object with a list of objects; other answers are not stored."""

        def checked(answer: object) -> dict[str, Any]:
            if not isinstance(answer, dict):
                raise VenueChanged(f"{url} answered {type(answer).__name__}; it is an object")
            _list(answer.get(of), of)
            return answer

        return checked(self._store.answer(kind, name, lambda: checked(self._get(url, query))))


class ManifoldComments:
    """Manifold's markets, comments and bets."""

    platform: Platform = "manifold"
    fewest_comments = 100
    position = staticmethod(position_by_mana)

    def __init__(self, get: Get, store: RawStore, *, manifold_url: str) -> None:
        """Ask this host."""
        self._get, self._store, self._url = get, store, manifold_url

    def markets(self) -> Iterator[tuple[str, CommentedMarket | None]]:
        """Yield the resolved binary markets; beyond the last offset, by their instant of creation."""
        url = f"{self._url}/v0/search-markets"
        before, seen = "", set[str]()
        while True:
            query = [("filter", "resolved"), ("contractType", "BINARY"), ("sort", "newest")]
            query += [("limit", str(MANIFOLD_PAGE)), *([("beforeTime", before)] if before else [])]
            page = _list(
                self._store.answer(
                    "markets",
                    f"before {before}",
                    lambda query=tuple(query): _list(self._get(url, query), "markets"),  # type: ignore[misc]
                ),
                "markets",
            )
            rows = [row for row in page if str(row.get("id")) not in seen]
            for row in rows:
                seen.add(str(row.get("id")))
                yield _manifold_market(row)
            made = [row["createdTime"] for row in page if isinstance(row.get("createdTime"), int)]
            if not rows or len(page) < MANIFOLD_PAGE or not made:
                return
            # More markets may share the last one's instant.
            before = str(min(made) + 1)

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

    def read_activity(self, market: CommentedMarket, users: Sequence[str]) -> MarketActivity:
        """Return the bets of users in a market."""
        bets = grouped((str(bet.get("userId")), bet) for bet in self._bets_of(market))
        found = MarketActivity()
        for user in users:
            found.add(user, bets[user], manifold_changes, ("createdTime", 1_000))
        return found

    def prices(self, market: CommentedMarket) -> StepPath:
        """Return the price after each bet."""
        points = []
        # They come newest first; of two at one instant the newer price lasts.
        for bet in reversed(self._bets_of(market)):
            try:
                point = manifold_price(bet)
            except UnreadableRow:
                continue
            if point is not None and point[0] < market.closed_at:
                points.append(point)
        points.sort(key=lambda each: each[0])
        return StepPath.of(points, market.closed_at)

    def _bets_of(self, market: CommentedMarket) -> list[Any]:
        return _list(self._store.answer("bets", market.id, lambda: self._bets(market.id)), "bets")

    def _bets(self, contract: str) -> list[object]:
        found: list[Any] = []
        before = ""
        while True:
            query = [("contractId", contract), ("limit", str(MANIFOLD_PAGE)), *([("before", before)] if before else [])]
            page = _list(self._get(f"{self._url}/v0/bets", query), "bets")
            found += page
            if len(page) < MANIFOLD_PAGE:
                return found
            ids = [row["id"] for row in page if isinstance(row.get("id"), str)]
            if not ids or ids[-1] == before:
                raise VenueChanged("a page of bets has no id from which to go on")
            before = ids[-1]


CommentSource = PolymarketComments | ManifoldComments
"""A platform that comments are collected from."""


def _list(answer: object, what: str) -> list[Any]:
    """Return the rows of a list; a row that is no object becomes an empty, unreadable one."""
    if not isinstance(answer, list) or (answer and not any(row is None or isinstance(row, dict) for row in answer)):
        raise VenueChanged(f"{what} are {type(answer).__name__}; they are a list of objects")
    return [row if isinstance(row, dict) else {} for row in answer]


def _thread(rows: Iterable[Any], read: Callable[[Mapping[str, Any]], Comment], *, truncated: bool) -> Thread:
    found: dict[str, Comment] = {}
    unreadable = 0
    for row in rows:
        try:
            comment = read(row)
        except (KeyError, TypeError, ValueError, OverflowError, OSError):
            unreadable += 1
            continue
        found[comment.id] = comment
    return Thread(tuple(sorted(found.values(), key=lambda each: (each.at, each.id))), truncated, unreadable)


def _polymarket_comment(row: Mapping[str, Any]) -> Comment:
    user = _word(row["profile"]["proxyWallet"])
    if not _WALLET.fullmatch(user):
        raise ValueError(f"{user[:60]!r} is no wallet, whose activity could be asked for")
    return Comment(_word(row["id"]), user, _iso(row["createdAt"]), _text(row["body"]))


def _manifold_comment(row: Mapping[str, Any]) -> Comment:
    at = datetime.fromtimestamp(row["createdTime"] / 1_000, UTC)
    content = row.get("content")
    text = row["text"] if content is None else " ".join(document_texts(content))
    return Comment(_word(row["id"]), _word(row["userId"]), at, _text(text))


def _word(value: object) -> str:
    """Return an id, a word or a whole number; raise `TypeError` otherwise."""
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise TypeError(f"an id is {value!r:.40}; it is a word")
    return _text(str(value))


def _text(value: object) -> str:
    """Return a text with lone surrogates, which JSON may hold, replaced; raise `TypeError` if it is no text."""
    if not isinstance(value, str):
        raise TypeError(f"a text is {type(value).__name__}")
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _second(row: Mapping[str, Any], unreadable: int) -> int:
    try:
        return int(instant_of(row.get("timestamp"), per_second=1).timestamp())
    except UnreadableRow:
        return unreadable


def _iso(text: object) -> datetime:
    at = datetime.fromisoformat(str(text).replace(" ", "T").replace("+00", "+00:00").replace("+00:00:00", "+00:00"))
    return at.astimezone(UTC) if at.tzinfo is not None else at.replace(tzinfo=UTC)


def _polymarket_market(row: Mapping[str, Any]) -> tuple[str, CommentedMarket | None]:
    try:
        outcomes, tokens = _nested_list(row.get("outcomes")), tokens_of(row)
        if sorted(str(each).strip().casefold() for each in outcomes) != ["no", "yes"] or len(tokens) != 2:
            return "not binary", None
        if not row.get("conditionId"):
            return "no condition id", None
        event = row["events"][0]
        series = event.get("series") or []
        thread = ("Series", _word(series[0]["id"])) if series else ("Event", _word(event["id"]))
        payouts = payouts_of(row)
        if payouts is None:
            return "not settled", None
        market = CommentedMarket(
            _word(row["id"]),
            _text(row["question"]),
            1 if payouts[0] == 1.0 else -1 if payouts[0] == 0.0 else 0,
            _iso(row["closedTime"]),
            _amount(row["volume"] if row.get("volumeNum") in (None, "") else row["volumeNum"]),
            _word(row["conditionId"]),
            thread,
            tokens,
            str(outcomes[0]).strip().casefold() == "no",
        )
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError):
        return "unreadable", None
    return ("", market) if market.volume >= LEAST_VOLUME else ("volume", market)


def _amount(value: Any) -> float:
    number = float(value)
    if not abs(number) <= MAX_MONEY:
        raise ValueError(f"a volume is {number}")
    return number


def _nested_list(value: object) -> list[Any]:
    found = json.loads(value) if isinstance(value, str) and value else value
    return found if isinstance(found, list) else []


def _manifold_market(row: Mapping[str, Any]) -> tuple[str, CommentedMarket | None]:
    try:
        if row["outcomeType"] != "BINARY" or row["isResolved"] is not True:
            return "not binary", None
        volume, bettors = _amount(row["volume"]), int(row["uniqueBettorCount"])
        resolved = _RESOLVED.get(row["resolution"], 0)
        closed = datetime.fromtimestamp(row["resolutionTime"] / 1_000, UTC)
        market = CommentedMarket(_word(row["id"]), _text(row["question"]), resolved, closed, volume, _word(row["id"]))
    except (KeyError, TypeError, ValueError, OverflowError, OSError):
        return "unreadable", None
    if volume < LEAST_VOLUME:
        return "volume", market
    return ("", market) if bettors >= FEWEST_BETTORS else ("bettors", market)
