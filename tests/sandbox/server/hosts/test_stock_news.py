"""The news of simulated stocks: found by `TICKER stock news`, dated, and none from later."""

from datetime import UTC, datetime, timedelta

import httpx
import pytest

from predibot.research.search.provider import SearchResult
from predibot.sandbox.server.hosts.searxng import NewsIndex, answer_search
from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.stocks.companies import DEFAULT_TICKERS
from predibot.sandbox.stocks.news import outlook_of, stories_of
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT, minute_of
from predibot.sandbox.world.world import World
from tests.sandbox.venues import search_of


def found(server: SandboxServer, ticker: str, count: int = 10) -> tuple[SearchResult, ...]:
    return search_of(server).search(f"{ticker} stock news", before=None, count=count).results


def test_a_search_for_a_stock_finds_its_stories_newest_first(server: SandboxServer, world: World) -> None:
    for ticker in DEFAULT_TICKERS:
        day = SANDBOX_OPENS_AT.date()
        stories = [
            each
            for each in stories_of(world.draws, ticker, day - timedelta(days=90), day)
            if each.minute <= minute_of(SANDBOX_OPENS_AT)
        ]
        results = found(server, ticker)
        assert [(each.title, each.snippet) for each in results] == [
            (each.headline, each.summary) for each in stories[::-1][:10]
        ]
        assert [minute_of(each.published_at) for each in results if each.published_at] == [
            each.minute for each in stories[::-1][:10]
        ]
    # An index has none.
    assert found(server, "SPY") == ()


def test_every_day_of_a_window_of_two_days_has_news_of_some_stock(world: World) -> None:
    with SandboxServer(world, now=SANDBOX_OPENS_AT) as server:
        for after in range(0, 100, 18):
            server.now = SANDBOX_OPENS_AT + timedelta(days=after, hours=9)
            first, last = server.now - timedelta(days=3), server.now - timedelta(days=1)
            shown = [each for ticker in DEFAULT_TICKERS for each in found(server, ticker)]
            window = [each for each in shown if each.published_at and first <= each.published_at < last]
            assert any(outlook_of(each.title) for each in window)
            assert all(each.published_at and each.published_at <= server.now for each in shown)


def test_a_story_leads_to_a_page_that_says_when_it_was_published(server: SandboxServer) -> None:
    for result in found(server, "AAPL", 3):
        page = httpx.get(result.url, trust_env=False)
        assert page.status_code == 200
        assert result.published_at is not None
        assert f'content="{result.published_at:%Y-%m-%dT%H:%M}:00Z"' in page.text
        assert result.title in page.text


def test_a_page_is_not_there_before_it_is_published(world: World) -> None:
    story = stories_of(world.draws, "AAPL", SANDBOX_OPENS_AT.date(), SANDBOX_OPENS_AT.date() + timedelta(days=60))[0]
    published = datetime.fromtimestamp(story.minute * 60, UTC)
    for now, status in ((published - timedelta(minutes=1), 404), (published, 200)):
        with SandboxServer(world, now=now) as server:
            assert httpx.get(f"{server.search_url}/news/{story.slug}", trust_env=False).status_code == status


@pytest.mark.parametrize("slug", ["stock-AAPL-2026-02-30", "stock-aapl-2026-01-05", "stock-AAPL-0000-01-01", "stock--"])
def test_what_is_no_story_is_no_page(server: SandboxServer, slug: str) -> None:
    assert httpx.get(f"{server.search_url}/news/{slug}", trust_env=False).status_code == 404


@pytest.mark.parametrize("days", [-400, 0, 500])
def test_an_altered_future_changes_no_byte_of_any_answer(days: int) -> None:
    instant = SANDBOX_OPENS_AT + timedelta(days=days, minutes=13)
    worlds = World.from_seed(7, events=5), World.from_seed(7, events=5, altered_after=instant)
    for ticker in (*DEFAULT_TICKERS, "SPY", "ZZTOP"):
        query = {"q": [f"{ticker} stock news"], "format": ["json"]}
        one, other = (
            answer_search(NewsIndex(world), world, query, minute=minute_of(instant), base_url="http://x").body
            for world in worlds
        )
        assert one == other
        assert (b"/news/" in one) == (ticker != "SPY")
