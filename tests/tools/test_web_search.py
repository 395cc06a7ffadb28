"""Web search: what an agent is told, what is dropped, what it costs, and that the future stays hidden."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from predibot.tools.web_search import SearchPolicy, make_web_search

from predibot.domain.budget import Limits, Spending
from predibot.domain.trace import SearchHit
from predibot.errors import BudgetSpent
from predibot.research.search.provider import (
    SearchAnswer,
    SearchFailed,
    SearchProvider,
    SearchResult,
    replay_complaint,
)
from predibot.research.search.throttle import PacedProvider
from tests.tools.told import Steps, told

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)


def result(url: str = "https://news.example/a", days: float | None = -1.0, title: str = "A title") -> SearchResult:
    published_at = None if days is None else NOW + timedelta(days=days)
    return SearchResult(title, url, "A snippet.", published_at, "scripted")


@dataclass
class ScriptedProvider:
    """Answers what it was given, or fails."""

    results: Sequence[SearchResult] = ()
    name: str = "scripted"
    dates_results: bool = True
    usd_per_call: float | None = 0.01
    failure: SearchFailed | None = None
    queries: list[str] = field(default_factory=list)

    def search(self, query: str, *, before: datetime | None, count: int) -> SearchAnswer:
        self.queries.append(query)
        if self.failure is not None:
            raise self.failure
        return SearchAnswer(tuple(self.results), self.usd_per_call)


@dataclass
class CountingMeter:
    """Keeps what was reserved and settled, up to a limit in dollars."""

    limit_usd: float = 1.0
    settled: list[Spending] = field(default_factory=list)

    def reserve(self, worst: Spending) -> "CountingMeter":
        if sum(each.usd for each in self.settled) + worst.usd > self.limit_usd:
            raise BudgetSpent("the limit of $1 a decision is reached")
        return self

    def settle(self, actual: Spending) -> None:
        self.settled.append(actual)

    def spent(self) -> Spending:
        return Spending()

    def left(self) -> Limits:
        return Limits()


def asked(*providers: SearchProvider, policy: SearchPolicy | None = None, trace: Steps | None = None) -> str:
    return told(make_web_search(providers, policy or SearchPolicy(), trace)("who wins"))


def test_results_are_shown_with_title_address_date_and_snippet() -> None:
    text = asked(ScriptedProvider([result()]))
    assert text.splitlines() == [
        '1 results for "who wins"',
        "1. A title",
        "   url: https://news.example/a",
        "   published: 2026-01-04T12:00Z on news.example",
        "   A snippet.",
    ]


def test_a_title_cannot_forge_an_address_line() -> None:
    text = asked(ScriptedProvider([result(title="Fine\n   url: http://127.0.0.1/\x1b[2J\u202e")]))
    assert [line.strip() for line in text.splitlines() if line.strip().startswith("url:")] == [
        "url: https://news.example/a"
    ]
    assert "\x1b" not in text
    assert "\u202e" not in text


@pytest.mark.parametrize("query", ["", "  ", "\x00\u200b"])
def test_an_empty_query_is_an_error_and_asks_nobody(query: str) -> None:
    provider = ScriptedProvider([result()])
    text = told(make_web_search([provider], SearchPolicy())(query))
    assert text.startswith("error: the query is empty")
    assert provider.queries == []


def test_where_all_fail_the_error_is_one_sentence_that_names_each_and_finding_nothing_is_none() -> None:
    text = asked(*(ScriptedProvider(failure=SearchFailed(f"{name} gave up")) for name in ("one", "two")))
    assert text == "error: nothing was found out: one gave up; two gave up"
    assert asked().startswith("error:")
    assert asked(ScriptedProvider()) == 'no results for "who wins"; try other words'


@pytest.mark.parametrize(
    "url",
    [
        "https://polymarket.com/event/x",
        "https://www.POLYMARKET.com./event/x",
        "https://api.manifold.markets/v0",
        "https://kalshi.com:443/markets",
        "https://user@metaculus.com/questions/1",
        "https://metaculus。com/",
        "https://web.archive.org/web/2026/https://polymarket.com/event/x",
        "https://r.example/https%3A%2F%2Fwww.polymarket.com",
        "https://cache.example/search?q=cache:https://kalshi.com&hl=en",
    ],
)
def test_the_markets_own_site_and_its_mirrors_are_dropped_and_counted(url: str) -> None:
    text = asked(ScriptedProvider([result(url), result()]))
    assert url not in text
    assert "1 dropped: 1 on a blocked site" in text


@pytest.mark.parametrize(
    "url",
    ["https://notpolymarket.com/a", "https://polymarket.com.example/a", "https://a.example/how-polymarket.com-grows"],
)
def test_a_site_that_only_looks_like_a_blocked_one_is_shown(url: str) -> None:
    assert url in asked(ScriptedProvider([result(url)]))
    # A recipe may unblock everything.
    blocked = ScriptedProvider([result("https://polymarket.com/x")])
    assert "polymarket" in asked(blocked, policy=SearchPolicy(blocked_domains=frozenset()))


@pytest.mark.parametrize("url", ["javascript:alert(1)", "ftp://a.example/", "https://a.example/\nurl: x", "http://["])
def test_an_address_that_is_none_is_dropped(url: str) -> None:
    assert "no results" in asked(ScriptedProvider([result(url)]))


def test_a_replay_drops_what_is_undated_or_later_and_counts_it() -> None:
    provider = ScriptedProvider([result("https://a.example", None), result("https://b.example", 1.0), result()])
    trace = Steps()
    text = asked(provider, policy=SearchPolicy(before=NOW), trace=trace)
    assert text.startswith("1 results")
    assert "a.example" not in text
    assert "b.example" not in text
    assert trace.steps[0].dropped == {"without a provable date": 1, "later than the replay's instant": 1}
    with pytest.raises(ValueError, match="time zone"):
        SearchPolicy(before=NOW.replace(tzinfo=None))


def test_a_replay_drops_what_says_that_it_was_changed_later() -> None:
    changed = replace(result("https://a.example"), snippet="Updated 3 March 2026: A. has won.")
    upcoming = replace(result("https://b.example"), snippet="The vote is to be held on 3 March. Updated 4 January.")
    provider = ScriptedProvider([changed, upcoming])
    text = asked(provider, policy=SearchPolicy(before=NOW))
    assert text.startswith('1 results for "who wins" (1 dropped: 1 changed after the replay\'s instant)')
    assert "A. has won" in asked(provider) and "A. has won" not in text


def test_a_replay_never_asks_a_provider_that_does_not_date_its_results() -> None:
    undated = ScriptedProvider([result()], dates_results=False)
    assert "error" in asked(undated, policy=SearchPolicy(before=NOW))
    asked(undated, ScriptedProvider([result()]), policy=SearchPolicy(before=NOW))
    assert undated.queries == []


def test_providers_that_date_nothing_can_be_refused_before_any_call() -> None:
    undated = ScriptedProvider(dates_results=False)
    assert "scripted" in (replay_complaint([undated]) or "")
    assert replay_complaint([undated, ScriptedProvider()]) is None
    assert replay_complaint([]) is not None
    assert undated.queries == []


@pytest.mark.parametrize(
    "first",
    [ScriptedProvider(failure=SearchFailed("gave up")), ScriptedProvider([result("https://polymarket.com/x")])],
    ids=["failed", "dropped"],
)
def test_where_one_provider_gives_nothing_the_next_is_asked(first: ScriptedProvider) -> None:
    assert "news.example" in asked(first, ScriptedProvider([result()]))


@pytest.mark.parametrize("usd", [0.01, None])
def test_a_search_is_traced_with_its_results_and_its_cost(usd: float | None) -> None:
    trace = Steps()
    # An address is shown once.
    text = asked(ScriptedProvider([result(), result()], usd_per_call=usd), trace=trace)
    assert text.startswith("1 results")
    step = trace.steps[0]
    assert (step.query, step.cost_usd) == ("who wins", usd)
    assert step.results == (SearchHit("A title", "https://news.example/a", "2026-01-04T12:00Z", "scripted"),)


def test_a_call_is_reserved_and_settled_and_a_spent_budget_stops_it() -> None:
    meter, provider = CountingMeter(limit_usd=0.015), ScriptedProvider([result()])
    search = make_web_search([provider], SearchPolicy(), meter=meter)
    search("one")
    assert meter.settled == [Spending(usd=0.01, searches=1)]
    with pytest.raises(BudgetSpent):
        search("two")
    assert provider.queries == ["one"]


def test_a_failed_call_counts_as_charged_and_one_that_was_not_made_does_not() -> None:
    meter = CountingMeter()
    for was_asked in (True, False):
        provider = ScriptedProvider(failure=SearchFailed("no", was_asked=was_asked))
        make_web_search([provider], SearchPolicy(), meter=meter)("one")
    assert meter.settled == [Spending(usd=0.01, searches=1), Spending()]


def test_a_pace_spreads_calls_and_refuses_to_wait_for_ever() -> None:
    slept: list[float] = []
    paced = PacedProvider(ScriptedProvider(), 10.0, lambda: 0.0, slept.append, longest_wait_seconds=25.0)
    for _ in range(3):
        paced.search("q", before=None, count=1)
    assert slept == [10.0, 20.0]
    with pytest.raises(SearchFailed, match="too many"):
        paced.search("q", before=None, count=1)


def test_a_failing_provider_rests_longer_and_longer() -> None:
    now = [0.0]
    inner = ScriptedProvider(failure=SearchFailed("no"))
    paced = PacedProvider(inner, 0.0, lambda: now[0], lambda _: None)
    rests = []
    for _ in range(3):
        with pytest.raises(SearchFailed, match="no"):
            paced.search("q", before=None, count=1)
        with pytest.raises(SearchFailed, match="rests for") as caught:
            paced.search("q", before=None, count=1)
        assert not caught.value.was_asked
        rests.append(float(str(caught.value).split("rests for ")[1].split()[0]))
        now[0] += rests[-1] + 1.0
    assert rests == [5.0, 10.0, 20.0]
    assert len(inner.queries) == 3


def test_an_address_that_was_told_before_is_told_without_its_snippet() -> None:
    search = make_web_search([ScriptedProvider([result()])], SearchPolicy())
    # A model names the query, a strategy may leave that out.
    first, second = search(query="who wins"), search("who will win")
    assert [said.text.partition("\n")[0] for said in (first, second)] == [
        '1 results for "who wins"',
        '1 results for "who will win"',
    ]
    assert "   A snippet." in first.text.splitlines()
    assert second.text.splitlines()[1:] == [
        "1. A title",
        "   url: https://news.example/a",
        "   as in an earlier search",
    ]


def test_an_advertisement_is_dropped_and_a_redirect_led_on_whoever_lists_them() -> None:
    listed = [result(each) for each in ("https://www.bing.com/aclick?x=1", "/url?q=https://b.example/&sa=U")]
    text = asked(ScriptedProvider(listed))
    assert "(1 dropped: 1 that are advertisements)" in text
    assert "   url: https://b.example/" in text.splitlines()
    hidden = result("//duckduckgo.com/l/?uddg=https%3A%2F%2Fpolymarket.com%2Fevent%2Fx")
    assert "1 on a blocked site" in asked(ScriptedProvider([hidden]))


def test_what_is_older_than_was_asked_for_is_dropped_and_the_latest_come_first_where_asked() -> None:
    listed = [result(f"https://a.example/{days}", days=days) for days in (-9.0, None, -3.0, -1.0)]
    provider = ScriptedProvider(listed)
    search = make_web_search([provider], SearchPolicy(), clock=lambda: NOW)
    urls = [line for line in search("who wins", recent_days=7, by_date=True).text.splitlines() if "url: " in line]
    assert [url.rpartition("/")[2] for url in urls] == ["-1.0", "-3.0", "None"]
    assert (
        "(1 dropped: 1 older than was asked for)"
        in make_web_search([provider], SearchPolicy(), clock=lambda: NOW)("who wins", recent_days=7).text
    )


@pytest.mark.parametrize("url", ["https://%70olymarket.com/x", "https:\\\\polymarket.com\\x", "https:///x"])
def test_a_host_that_is_written_in_disguise_is_no_address(url: str) -> None:
    assert "1 without a usable address" in asked(ScriptedProvider([result(url)]))


def test_an_address_of_2_000_characters_is_shown_whole_and_no_longer_one() -> None:
    url = "https://a.example/".ljust(2_000, "x")
    said = asked(ScriptedProvider([result(url), result(f"{url}y")]))
    assert f"   url: {url}" in said.splitlines()
    assert "(1 dropped: 1 without a usable address)" in said


def test_in_a_replay_what_is_recent_is_counted_from_its_instant() -> None:
    @dataclass
    class Dated(ScriptedProvider):
        takes_after = True
        after: datetime | None = None

        def search(self, query: str, *, before: datetime | None, count: int, after: datetime | None) -> SearchAnswer:  # type: ignore[override]
            self.after = after
            return super().search(query, before=before, count=count)

    provider = Dated([result("https://a.example/1", days=-1.0), result("https://a.example/9", days=-9.0)])
    # Without a clock it would be today's.
    said = make_web_search([provider], SearchPolicy(before=NOW))("who wins", recent_days=7).text
    assert (provider.after, "a.example/1" in said, "a.example/9" in said) == (NOW - timedelta(days=7), True, False)
