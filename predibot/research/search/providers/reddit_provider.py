"""Reddit as a search provider: what people posted, with the instant of each post, by the key of an app of one's own."""

import base64
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import ClassVar

from predibot.errors import UsageError
from predibot.research.search.dates import shortest_span
from predibot.research.search.provider import SearchAnswer, SearchFailed, SearchResult
from predibot.research.search.providers.http_providers import ProviderRequests

TOKEN_URL = "https://www.reddit.com"  # an address, no token
SEARCH_URL = "https://oauth.reddit.com"
_SITE = "https://www.reddit.com"
_AGENT = "python:predibot (read-only search)"
_SPANS = (("day", 1), ("week", 7), ("month", 31), ("year", 366))
_MOST_POSTS = 100
_SNIPPET_CHARACTERS = 400
_EARLY_SECONDS = 60.0
"""A token is renewed so long before its end."""


@dataclass(slots=True)
class RedditSearch:
    """Searches all of Reddit for posts, by the application-only grant of OAuth: nobody's account is used.

    Reddit cannot search up to a date, so later posts are left out here. A post that was edited counts as of its
    last edit, as its words may be of then. Numbers that grow later, such as votes and comments, are not shown.

    Source:
        Reddit's API documentation, `GET /search` (q, sort, t, limit, type), and its wiki on OAuth2, "Application Only
        OAuth": `POST /api/v1/access_token` with `grant_type=client_credentials` and the app's id and secret as basic
        authorization.
    """

    clock: Callable[[], datetime]
    key: str = field(repr=False)
    """Id and secret of an app of the kind "script" or "web app", as `ID:SECRET`."""
    base_url: str | None = None
    """Stands for both of Reddit's hosts."""
    usd_per_call: float | None = 0.0
    http: ProviderRequests = field(default_factory=ProviderRequests)
    monotonic: Callable[[], float] = time.monotonic
    name: ClassVar = "reddit"
    dates_results: ClassVar = True
    takes_after: ClassVar = True
    _token: str = field(default="", init=False, repr=False)
    _ends: float = field(default=0.0, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse a key of another form."""
        app, colon, secret = self.key.partition(":")
        if not (app and colon and secret):
            raise UsageError("the key of search provider 'reddit' is ID:SECRET of an app; set REDDIT_API_KEY to both")

    def search(self, query: str, *, before: datetime | None, count: int, after: datetime | None = None) -> SearchAnswer:
        """Return posts up to `before`, the most relevant first; `after` is widened to a day, week, month or year."""
        span = None if after is None else shortest_span(self.clock() - after, _SPANS)
        params = {"q": query, "sort": "relevance", "t": span or "all", "type": "link", "raw_json": "1"}
        url = f"{(self.base_url or SEARCH_URL).rstrip('/')}/search"
        found = self.http.ask(
            self.name,
            "GET",
            url,
            headers={"authorization": f"bearer {self._access_token()}", "user-agent": _AGENT},
            params=params | {"limit": str(_MOST_POSTS)},
        )
        listing = found.get("data")
        children = listing.get("children") if isinstance(listing, Mapping) else None
        if not isinstance(children, list):
            raise SearchFailed("reddit answered something else than its format says")
        posts = [post for each in children if (post := _result(each)) is not None]
        known = [each for each in posts if before is None or (each.published_at and each.published_at <= before)]
        return SearchAnswer(tuple(known[:count]), self.usd_per_call)

    def _access_token(self) -> str:
        with self._lock:
            if self.monotonic() < self._ends:
                return self._token
            basic = base64.b64encode(self.key.encode()).decode()
            found = self.http.ask(
                self.name,
                "POST",
                f"{(self.base_url or TOKEN_URL).rstrip('/')}/api/v1/access_token",
                headers={"authorization": f"Basic {basic}", "user-agent": _AGENT},
                form={"grant_type": "client_credentials"},
            )
            token, seconds = found.get("access_token"), found.get("expires_in")
            if not isinstance(token, str) or not token.isascii() or not token.isprintable() or not token:
                raise SearchFailed("reddit gives no token to this app; see its id and secret")
            lasts = float(seconds) if isinstance(seconds, int | float) and not isinstance(seconds, bool) else 0.0
            self._token, self._ends = token, self.monotonic() + lasts - _EARLY_SECONDS
            return token


def _result(child: object) -> SearchResult | None:
    """Return a post as a result; None for another thing, or a post without a title or a place on Reddit."""
    post = child.get("data") if isinstance(child, Mapping) and child.get("kind") == "t3" else None
    if not isinstance(post, Mapping):
        return None
    title, place, text = post.get("title"), post.get("permalink"), post.get("selftext")
    if not isinstance(title, str) or not isinstance(place, str) or not place.startswith("/r/"):
        return None
    room = place.split("/")[2]
    return SearchResult(
        title=f"{title} (r/{room} on Reddit)",
        url=f"{_SITE}{place}",
        snippet=text[:_SNIPPET_CHARACTERS] if isinstance(text, str) else "",
        published_at=max(filter(None, (_instant(post.get("created_utc")), _instant(post.get("edited")))), default=None),
        provider="reddit",
    )


def _instant(seconds: object) -> datetime | None:
    """Return an instant from seconds since 1970; None for `false`, which an unedited post has, and for no instant."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None
