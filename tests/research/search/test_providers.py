"""Search providers: JSON of each with some that is not read, faults, dates, and a key that never shows."""

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from threading import Event
from typing import Any

import httpx
import pytest
from predibot.tools.web_search import SearchPolicy, make_web_search

from predibot.agents.budget.budget import Budget
from predibot.domain.budget import Limits
from predibot.errors import BudgetSpent, UsageError
from predibot.research.search.dates import latest_instant, latest_instant_of_ddgs
from predibot.research.search.open_provider import PROVIDER_NAMES, open_provider
from predibot.research.search.provider import SearchFailed, SearchProvider, asked_after
from predibot.research.search.providers.http_providers import OWN_URLS, HttpSearch, ProviderRequests
from tests.jobs.program import wait_until
from tests.research.web_world import World, drip, redirect, running, saying

NOW = datetime(2026, 1, 9, 12, tzinfo=UTC)
BEFORE = datetime(2026, 1, 6, 9, tzinfo=UTC)
KEY = "sk-planted-secret"


def clock() -> datetime:
    return NOW


def rows(url: str, text: str, date: str, said: str, without: Sequence[str] = (), **more: object) -> list[object]:
    """Return two results in a provider's names for things, with some that is not read; the second states no date."""
    first = {url: "https://a.example/1", "title": "One", text: "First.", date: said, "score": 0.9, **more}
    return [first, {url: "https://a.example/2", "title": "Two", text: "Second."} | dict.fromkeys(without)]


SEARXNG = {
    "results": rows("url", "content", "publishedDate", "2026-01-05T14:05:00+00:00", ("content", "publishedDate")),
    "number_of_results": 0,
    "unresponsive_engines": [["brave", "too many requests"]],
}
BRAVE_ROWS = rows("url", "description", "page_age", "2026-01-05T14:05:00", age="4 days ago", profile={"name": "A"})
BRAVE = {"query": {"original": "q"}, "web": {"type": "search", "results": BRAVE_ROWS}}
TAVILY = {"results": rows("url", "content", "published_date", "Mon, 05 Jan 2026 14:05:00 GMT"), "request_id": "x"}
EXA = {
    "results": rows("url", "text", "publishedDate", "2026-01-05T14:05:00.000Z", ["title"], id="https://a.example/1"),
    "costDollars": {"total": 0.007, "search": {"neural": 0.005}, "contents": {"text": 0.002}},
}
SERPER = {"organic": rows("link", "snippet", "date", "3 days ago", position=1), "credits": 1}


def answering(content: object, seen: list[httpx.Request] | None = None, status: int = 200) -> ProviderRequests:
    def answer(request: httpx.Request) -> httpx.Response:
        if seen is not None:
            seen.append(request)
        return httpx.Response(status, json=content)

    return ProviderRequests(transport=httpx.MockTransport(answer))


class Dripping(httpx.SyncByteStream):
    """A body without end, a byte at a time."""

    def __init__(self) -> None:
        self.closed = Event()

    def __iter__(self) -> Iterator[bytes]:
        yield from itertools.repeat(b"x")

    def close(self) -> None:
        self.closed.set()


def test_a_body_without_end_does_not_keep_its_thread_beyond_the_deadline() -> None:
    body = Dripping()
    answer = httpx.MockTransport(lambda _request: httpx.Response(200, stream=body))
    http = ProviderRequests(deadline_seconds=0.2, max_body_bytes=10**12, transport=answer)
    with pytest.raises(SearchFailed, match=r"mine gave no whole answer in 0\.2 s"):
        http.ask("mine", "GET", "http://127.0.0.1:8080/search")
    assert body.closed.wait(20.0)


Make = Callable[[ProviderRequests], SearchProvider]


def maker_of(name: str) -> Make:
    return lambda http: HttpSearch(name, clock, OWN_URLS[name], KEY, http=http)


def searxng(http: ProviderRequests) -> SearchProvider:
    return HttpSearch("searxng", clock, "http://127.0.0.1:8080/", usd_per_call=0.0, http=http)


brave, tavily, exa, serper = map(maker_of, ("brave", "tavily", "exa", "serper"))
ALL = [
    pytest.param(searxng, SEARXNG, id="searxng"),
    pytest.param(brave, BRAVE, id="brave"),
    pytest.param(tavily, TAVILY, id="tavily"),
    pytest.param(exa, EXA, id="exa"),
    pytest.param(serper, SERPER, id="serper"),
]


@pytest.mark.parametrize(("make", "payload"), ALL)
def test_a_providers_answer_becomes_results_with_dates_where_it_states_them(
    make: Make, payload: dict[str, Any]
) -> None:
    answer = make(answering(payload)).search("q", before=None, count=8)
    first, second = answer.results
    assert (first.url, first.title, first.snippet) == ("https://a.example/1", "One", "First.")
    assert first.published_at is not None
    assert datetime(2026, 1, 5, 14, 5, tzinfo=UTC) <= first.published_at < datetime(2026, 1, 8, tzinfo=UTC)
    assert second.published_at is None
    assert make(answering(payload)).search("q", before=None, count=1).results == (first,)


@pytest.mark.parametrize(("make", "payload"), ALL[1:])
def test_a_key_travels_in_a_header_only(make: Make, payload: dict[str, Any]) -> None:
    seen: list[httpx.Request] = []
    provider = make(answering(payload, seen))
    provider.search("q", before=None, count=8)
    (request,) = seen
    assert KEY not in str(request.url)
    assert KEY not in request.content.decode()
    assert any(KEY in value for value in request.headers.values())
    assert KEY not in repr(provider)


@pytest.mark.parametrize(
    ("make", "payload", "until", "since"),
    [
        (searxng, SEARXNG, "", "time_range=month"),
        (brave, BRAVE, "freshness=2000-01-01to2026-01-06", "freshness=2026-01-06to2026-01-09"),
        (tavily, TAVILY, '"end_date":"2026-01-06"', '"start_date":"2026-01-06"'),
        (exa, EXA, '"endPublishedDate":"2026-01-06T09:00:00.000Z"', '"startPublishedDate":"2026-01-06T09:00:00.000Z"'),
        (serper, SERPER, '"tbs":"cdr:1,cd_max:1/6/2026"', '"tbs":"cdr:1,cd_min:1/6/2026"'),
    ],
)
def test_nothing_later_is_asked_for_in_a_replay_and_nothing_earlier_where_somebody_wants_it(
    make: Make, payload: dict[str, Any], until: str, since: str
) -> None:
    # As each provider's documents of its search name it.
    seen: list[httpx.Request] = []
    provider = make(answering(payload, seen))
    provider.search("q", before=BEFORE, count=8)
    provider.search("q", before=None, count=8, **asked_after(BEFORE, provider))
    for request, said in zip(seen, (until, since), strict=True):
        assert said in f"{request.url}{request.content.decode()}"


@pytest.mark.parametrize("status", [301, 401, 403, 429, 500])
@pytest.mark.parametrize(("make", "payload"), ALL)
def test_a_status_other_than_success_is_a_failure_without_the_key(
    make: Make, payload: dict[str, Any], status: int
) -> None:
    with pytest.raises(SearchFailed) as caught:
        make(answering({"error": KEY}, status=status)).search("q", before=None, count=8)
    assert str(status) in str(caught.value)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("content", [[], "text", None, {}, {"results": 3, "organic": {}, "web": {"results": "x"}}])
@pytest.mark.parametrize(("make", "payload"), ALL)
def test_another_shape_never_crashes(make: Make, payload: dict[str, Any], content: object) -> None:
    try:
        answer = make(answering(content)).search("q", before=None, count=8)
    except SearchFailed:
        return
    assert answer.results == ()


def test_no_results_with_silent_engines_are_unknown() -> None:
    silent = {"results": [], "unresponsive_engines": [["google", "timeout"]]}
    with pytest.raises(SearchFailed, match="do not answer"):
        searxng(answering(silent)).search("q", before=None, count=8)


def test_exa_says_what_a_call_cost_and_others_are_told() -> None:
    assert exa(answering(EXA)).search("q", before=None, count=8).cost_usd == 0.007
    assert brave(answering(BRAVE)).search("q", before=None, count=8).cost_usd is None
    priced = HttpSearch("brave", clock, OWN_URLS["brave"], KEY, usd_per_call=0.005, http=answering(BRAVE))
    assert priced.search("q", before=None, count=8).cost_usd == 0.005
    # A discount is believed.
    priced = HttpSearch("exa", clock, OWN_URLS["exa"], KEY, usd_per_call=0.5, http=answering(EXA))
    assert priced.search("q", before=None, count=8).cost_usd == 0.007


@pytest.mark.parametrize("total", [0, 1e-15, -1.0, 10**400, None, "0.01", float("nan")])
def test_a_search_that_says_it_cost_next_to_nothing_holds_a_limit_at_its_known_price(total: object) -> None:
    http = answering({**EXA, "costDollars": {"total": total}})
    provider = HttpSearch("exa", clock, OWN_URLS["exa"], KEY, usd_per_call=0.01, http=http)
    meter = Budget.of("decision", Limits(usd=0.025))
    search = make_web_search([provider], SearchPolicy(), meter=meter)
    search("one")
    search("two")
    with pytest.raises(BudgetSpent, match="the decision's limit of"):
        search("three")
    assert meter.spent().usd == pytest.approx(0.02)


@pytest.mark.parametrize(
    ("does", "said"), [("redirect", "elsewhere"), ("drip", "no whole answer"), ("endless", "more than")]
)
def test_a_hostile_instance_is_left_in_time(does: str, said: str) -> None:
    http = ProviderRequests(deadline_seconds=0.5, max_body_bytes=100_000)
    began, before = time.monotonic(), set(threading.enumerate())
    with running(World()) as world:
        world.answer = {
            "redirect": saying(redirect("http://127.0.0.1:1/")),
            "drip": drip(b"HTTP/1.1 200 OK\r\n", b"X-Drip: 1\r\n", world.stop),
            "endless": saying(b"HTTP/1.1 200 OK\r\n\r\n" + b" " * 200_000),
        }[does]
        with pytest.raises(SearchFailed, match=said):
            HttpSearch("searxng", clock, f"http://127.0.0.1:{world.port}", http=http).search("q", before=None, count=8)
        # What drips goes on as long as the server does, and so would who listens to it.
        wait_until(lambda: not any(each.name == "predibot-call" for each in set(threading.enumerate()) - before))
    assert time.monotonic() - began < 20


def test_an_unreachable_or_impossible_address_is_a_failure() -> None:
    for base_url in ("http://127.0.0.1:9", "http://[", "no address"):
        with pytest.raises(SearchFailed):
            HttpSearch("searxng", clock, base_url).search("q", before=None, count=8)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-05T14:05:00Z", "2026-01-05T14:05:00+00:00"),
        ("2026-01-05T14:05:00.000+02:00", "2026-01-05T12:05:00+00:00"),
        ("2026-01-05T14:05:00", "2026-01-06T02:05:00+00:00"),
        ("2026-01-05T00:00:00.000Z", "2026-01-06T12:00:00+00:00"),
        ("2026-01-05", "2026-01-06T12:00:00+00:00"),
        ("Jan 5, 2026", "2026-01-06T12:00:00+00:00"),
        ("5 January 2026", "2026-01-06T12:00:00+00:00"),
        ("Mon, 05 Jan 2026 14:05:00 GMT", "2026-01-05T14:05:00+00:00"),
        ("1 day ago", "2026-01-09T12:00:00+00:00"),
        ("2 weeks ago", "2026-01-02T12:00:00+00:00"),
    ],
)
def test_a_date_means_the_latest_instant_it_can(text: str, expected: str) -> None:
    found = latest_instant(text, now=NOW)
    assert found is not None
    assert found.isoformat() == expected


@pytest.mark.parametrize("text", [None, 5, "", "soon", "2026-13-45", "9999-12-31T23:59:59-23:59", "x" * 900, "\x00"])
def test_a_date_that_cannot_be_read_is_none(text: object) -> None:
    assert latest_instant(text, now=NOW) is None


@pytest.mark.parametrize(
    "text", ["5000 years ago", "9999-12-31", "9999-12-31T00:00:00+00:00", "0001-01-01T00:00:00-23:00"]
)
@pytest.mark.parametrize("read", [latest_instant, latest_instant_of_ddgs])
def test_a_date_of_which_nobody_can_hold_the_end_costs_itself(text: str, read: Callable[..., datetime | None]) -> None:
    assert (read(text, now=NOW) or NOW).year in (1, NOW.year)


def test_every_provider_can_be_made_by_its_name() -> None:
    for name in PROVIDER_NAMES:
        key = f"app:{KEY}" if name == "reddit" else KEY
        made = open_provider(name, clock=clock, key=key, base_url="http://127.0.0.1:8080")
        assert made.name == name
        assert KEY not in repr(made)


@pytest.mark.parametrize("name", ["gogle", "searxng", "brave"])
def test_a_provider_that_cannot_be_made_says_what_to_do(name: str) -> None:
    with pytest.raises(UsageError):
        open_provider(name, clock=clock)
