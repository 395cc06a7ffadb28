"""The search engine: SearXNG's JSON, the right pages for a question, and none from later."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from predibot.tools.web_search import SearchPolicy, make_web_search

from predibot.sandbox.server.hosts.searxng import NewsIndex, answer_search
from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT, minute_of
from predibot.sandbox.world.world import World
from tests.sandbox.venues import open_numbers, search_of


def question(world: World, place: int = 3) -> str:
    return world.plan(open_numbers(world)[place]).wording.questions[0]


def search(server: SandboxServer, **query: str) -> httpx.Response:
    return httpx.get(f"{server.search_url}/search", params={"format": "json", **query}, trust_env=False, timeout=120)


def rows(server: SandboxServer, **query: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = search(server, **query).json()["results"]
    return found


def test_a_question_finds_the_pages_of_its_event_first(server: SandboxServer, world: World) -> None:
    for place in (0, 5, 9):
        number = open_numbers(world)[place]
        first = rows(server, q=question(world, place))[0]
        assert f"/news/{world.names.event_id(number)}-" in first["url"]


def test_an_answer_has_searxngs_fields_and_its_pages_follow_each_other_without_overlap(
    server: SandboxServer, world: World
) -> None:
    content = search(server, q=question(world)).json()
    assert content["query"] == question(world)
    assert {"results", "answers", "corrections", "infoboxes", "suggestions", "unresponsive_engines"} <= content.keys()
    first = content["results"]
    assert {"url", "title", "content", "publishedDate", "engine", "score"} <= first[0].keys()
    second = rows(server, q=question(world), pageno="2")
    assert len(first) == 10
    assert not {row["url"] for row in first} & {row["url"] for row in second}
    # Snippets never state a number of a page, and what matches nothing finds nothing.
    assert all("percent" not in row["content"] for row in first)
    assert rows(server, q="zzyzx quantum herring") == []


def test_every_dated_result_is_from_before_the_servers_clock_and_leads_to_a_page(
    server: SandboxServer, world: World
) -> None:
    found = rows(server, q=question(world))
    dates = [datetime.fromisoformat(row["publishedDate"]) for row in found if row["publishedDate"]]
    assert dates
    assert max(dates) <= SANDBOX_OPENS_AT
    news = [row["url"] for row in found if "/news/" in row["url"]]
    assert all(httpx.get(url, trust_env=False).status_code == 200 for url in news)


@pytest.mark.parametrize(
    ("query", "status"),
    [({"q": "x", "format": "html"}, 403), ({"q": ""}, 400), ({"q": "x", "pageno": "0"}, 400), ({}, 400)],
)
def test_a_request_searxng_would_refuse_is_refused(server: SandboxServer, query: dict[str, str], status: int) -> None:
    assert search(server, **query).status_code == status


@pytest.mark.parametrize("days", [-20, 0, 40])
def test_an_altered_future_changes_no_byte_of_any_answer(days: int) -> None:
    instant = SANDBOX_OPENS_AT + timedelta(days=days, minutes=13)
    worlds = World.from_seed(7, events=16), World.from_seed(7, events=16, altered_after=instant)
    indexes = [NewsIndex(world) for world in worlds]
    minute = minute_of(instant)
    for number in worlds[0].maybe_open_numbers(minute):
        query = {"q": [worlds[0].plan(number).wording.title], "format": ["json"]}
        one, other = (
            answer_search(index, world, query, minute=minute, base_url="http://x").body
            for index, world in zip(indexes, worlds, strict=True)
        )
        assert one == other
        assert b"/news/" in one


def test_the_real_tool_over_the_sandbox_shows_news_and_not_the_market(server: SandboxServer, world: World) -> None:
    text = make_web_search([search_of(server)], SearchPolicy())(question(world)).text
    assert text.startswith("8 results")
    assert "1 on a blocked site" in text
    assert "polymarket" not in text


def test_a_replay_over_a_server_that_knows_more_shows_nothing_later(world: World) -> None:
    before = SANDBOX_OPENS_AT - timedelta(days=1)
    with SandboxServer(world, now=SANDBOX_OPENS_AT) as server:
        policy = SearchPolicy(before=before, count=20)
        texts = [make_web_search([search_of(server)], policy)(question(world, place)).text for place in range(12)]
    dates = [
        datetime.strptime(line.split()[1], "%Y-%m-%dT%H:%MZ").replace(tzinfo=UTC)
        for line in "\n".join(texts).splitlines()
        if line.startswith("   published: ")
    ]
    assert dates
    assert max(dates) <= before
    assert "later than the replay's instant" in "\n".join(texts)
    assert "without a provable date" in "\n".join(texts)
