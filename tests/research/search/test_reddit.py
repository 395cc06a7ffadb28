"""Reddit as a search provider: an app's token, posts with their instants, and what is left out."""

import base64
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from predibot.tools.web_search import SearchPolicy, find_news

from predibot.errors import UsageError
from predibot.research.search.open_provider import open_provider
from predibot.research.search.provider import SearchFailed
from predibot.research.search.providers.http_providers import ProviderRequests
from predibot.research.search.providers.reddit_provider import RedditSearch

NOW = datetime(2026, 1, 9, 12, tzinfo=UTC)
KEY = "an-app:its-planted-secret"
TOKEN = {"access_token": "tok-1", "token_type": "bearer", "expires_in": 3600, "scope": "*"}
"""As Reddit's wiki on OAuth2 shows it."""


def post(title: str, at: datetime, /, **changes: Any) -> dict[str, Any]:
    """Return a post as a listing of Reddit has it, with some of its fields."""
    fields = {
        "title": title,
        "selftext": "What people say.",
        "permalink": "/r/economics/comments/abc/a_post/",
        "url": "https://elsewhere.example/",
        "created_utc": at.timestamp(),
        "edited": False,
        "is_self": True,
        "score": 812,
        "num_comments": 44,
    }
    return {"kind": "t3", "data": fields | changes}


def listing(*children: object) -> dict[str, Any]:
    return {"kind": "Listing", "data": {"after": None, "dist": len(children), "children": list(children)}}


class Reddit:
    """What stands in Reddit's place, and what it was asked: method, path, fields, authorization and agent."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, dict[str, list[str]], str, str]] = []
        self.token: tuple[int, object] = (200, TOKEN)
        self.found: tuple[int, object] = (200, listing())
        self.hosts: list[str] = []

    def answer(self, request: httpx.Request) -> httpx.Response:
        fields = parse_qs(request.content.decode() or request.url.query.decode())
        authorization, agent = request.headers["authorization"], request.headers["user-agent"]
        self.requests.append((request.method, request.url.path, fields, authorization, agent))
        self.hosts.append(request.url.host)
        status, content = self.token if request.url.path == "/api/v1/access_token" else self.found
        return httpx.Response(status, json=content)


@pytest.fixture
def reddit() -> Reddit:
    return Reddit()


def provider_at(reddit: Reddit) -> RedditSearch:
    return RedditSearch(lambda: NOW, KEY, http=ProviderRequests(transport=httpx.MockTransport(reddit.answer)))


def test_an_app_gets_a_token_once_and_asks_with_it(reddit: Reddit) -> None:
    reddit.found = (200, listing(post("Rates", NOW - timedelta(days=1))))
    provider = provider_at(reddit)
    found = [provider.search("rate cut", before=NOW, count=5) for _ in range(2)]
    assert [(method, path) for method, path, *_ in reddit.requests] == [
        ("POST", "/api/v1/access_token"), ("GET", "/search"), ("GET", "/search"),
    ]  # fmt: skip
    assert reddit.hosts == ["www.reddit.com", "oauth.reddit.com", "oauth.reddit.com"]
    _, _, form, basic, agent = reddit.requests[0]
    assert form == {"grant_type": ["client_credentials"]}
    assert basic == f"Basic {base64.b64encode(KEY.encode()).decode()}"
    assert "predibot" in agent
    _, _, query, bearer, _ = reddit.requests[1]
    assert (bearer, query["q"], query["type"], query["t"]) == ("bearer tok-1", ["rate cut"], ["link"], ["all"])
    (result,) = found[0].results
    assert (result.title, result.snippet) == ("Rates (r/economics on Reddit)", "What people say.")
    assert result.url == "https://www.reddit.com/r/economics/comments/abc/a_post/"
    assert (result.published_at, found[0].cost_usd) == (NOW - timedelta(days=1), 0.0)


def test_a_post_is_of_its_last_edit_and_later_ones_are_left_out_before_they_are_counted(reddit: Reddit) -> None:
    old, late = NOW - timedelta(days=3), NOW - timedelta(hours=1)
    reddit.found = (
        200,
        listing(
            post("later", late),
            post("edited later", old, edited=late.timestamp()),
            post("undated", old, created_utc=None),
            post("edited before", old, edited=(old + timedelta(hours=2)).timestamp()),
        ),
    )
    results = provider_at(reddit).search("q", before=NOW - timedelta(days=1), count=1).results
    assert [(each.title.partition(" (")[0], each.published_at) for each in results] == [
        ("edited before", old + timedelta(hours=2))
    ]


def test_a_window_is_widened_to_what_reddit_knows(reddit: Reddit) -> None:
    provider = open_provider("reddit", clock=lambda: NOW, key=KEY, base_url="http://mine.example/")
    provider.http = provider_at(reddit).http  # type: ignore[attr-defined]  # of Reddit's provider
    provider.search("q", before=NOW, count=3, after=NOW - timedelta(days=3))  # type: ignore[call-arg]  # it takes one
    assert reddit.requests[1][2]["t"] == ["week"]
    assert reddit.hosts == ["mine.example"] * 2


@pytest.mark.parametrize(
    "child",
    [
        {"kind": "t1", "data": {"title": "a comment", "permalink": "/r/a/1", "created_utc": 1.0}},
        post("elsewhere", NOW, permalink="https://evil.example/"),
        post("elsewhere", NOW, permalink="//evil.example/r/"),
        post("no title", NOW, title=None),
        {"kind": "t3", "data": []},
        "text",
    ],
)
def test_what_is_no_post_of_reddit_is_left_out(reddit: Reddit, child: object) -> None:
    reddit.found = (200, listing(child))
    assert provider_at(reddit).search("q", before=None, count=3).results == ()


@pytest.mark.parametrize(
    ("token", "found", "said"),
    [
        ((401, {"message": "Unauthorized", "error": 401}), (200, listing()), "reddit refuses us"),
        ((200, {"error": "unsupported_grant_type"}), (200, listing()), "no token to this app"),
        ((200, TOKEN), (429, {}), "ask too much"),
        ((200, TOKEN), (200, {"kind": "Listing"}), "something else than its format says"),
    ],
)
def test_a_fault_is_told_without_the_key(reddit: Reddit, token: Any, found: Any, said: str) -> None:
    reddit.token, reddit.found = token, found
    with pytest.raises(SearchFailed, match=said) as caught:
        provider_at(reddit).search("q", before=None, count=3)
    assert "planted" not in str(caught.value) and "tok-1" not in str(caught.value)


@pytest.mark.parametrize("key", ["only-an-id", ":secret", "id:"])
def test_a_key_that_is_not_id_and_secret_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(UsageError, match="ID:SECRET") as caught:
        open_provider("reddit", clock=lambda: NOW, key=key)
    assert key not in str(caught.value).replace("ID:SECRET", "")
    with pytest.raises(UsageError, match="needs a key"):
        open_provider("reddit", clock=lambda: NOW)


def test_posts_of_a_window_are_news_of_a_market(reddit: Reddit) -> None:
    reddit.found = (200, listing(post("In it", NOW - timedelta(days=2)), post("Too old", NOW - timedelta(days=9))))
    policy = SearchPolicy(before=NOW - timedelta(days=1), after=NOW - timedelta(days=3), count=10)
    (item,) = find_news([provider_at(reddit)], "q", policy)
    assert item.title == "In it (r/economics on Reddit)"
    assert urlsplit(item.url or "").netloc == "www.reddit.com"
