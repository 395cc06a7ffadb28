"""The page of news: what was shown, with links that cannot harm, and the prices around it."""

import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from predibot.domain.account_past import NewsItem
from predibot.domain.decision import Source
from predibot.domain.price import PricePoint
from predibot.ledger.read.details.events import count_shown, list_shown, list_shown_markets
from predibot.ledger.store import Store
from predibot.ledger.write.events import add_news, catalogue
from predibot.ledger.write.prices_and_resolutions import add_observations
from predibot.ledger.write.runs import void_run
from predibot.web.rendering import outside
from predibot.web.site import SiteOptions, write_site
from tests.jobs.tiny import nobody
from tests.ledger.by_hand import DAY, NOW, a_run, decide, event_of, finished_with
from tests.ledger.databases import address, other, postgres, store
from tests.soaks import ONE_DATABASE
from tests.web.conftest import client_of
from tests.web.test_pages import Links

__all__ = ["address", "other", "postgres", "store"]
HOSTILE = "<script>alert(1)</script>\u202e"
READ = Source("page", "https://pages.example/asked", "https://pages.example/found", title="Read", published_at=NOW)


@pytest.fixture
def shown(store: Store) -> Store:
    """Return a ledger with headlines of two markets, a page that two bots read, and a void run with both."""
    one, two = event_of(1), event_of(2, 2)
    for key, is_void in (("v@2026-02-28T00:00Z", True), ("daily@2026-03-01T00:00Z", False)):
        run = a_run(store, one, two, bots=("a", "b"), key=key)
        for bot in ("a", "b"):
            decide(store, run, bot, replace(finished_with(two, {"m2a": (0.5, 0.7)}), sources=(READ,)))
        hostile = NewsItem(HOSTILE, "told so", NOW - timedelta(hours=2), "javascript:alert(1)")
        plain = NewsItem("A headline", "", NOW - timedelta(hours=1), 'https://n.example/?a=1&b="2"')
        with store.write() as connection:
            add_news(connection, run.id, "m1a", "polymarket", "one", [plain, hostile])
            add_news(connection, run.id, "m2a", "polymarket", "two", [replace(plain, url=None)])
            if is_void:
                void_run(connection, key, reason="a try", at=NOW)
    with store.write() as connection:
        yes = catalogue(connection, run.id).instrument_rows[one.markets[0].ref.instrument("polymarket", "YES")]
        points = [PricePoint(NOW - timedelta(hours=3), 0.25), PricePoint(NOW + timedelta(hours=22), 0.5)]
        add_observations(connection, {yes: points}, "history")
    return store


def test_headlines_are_of_a_market_and_pages_of_their_event_and_void_runs_have_none(shown: Store) -> None:
    with shown.read() as connection:
        rows = list_shown(connection)
        assert [(each.asset, each.market_id, each.bot, each.name) for each in rows] == [
            ("Event 2", None, "a", "Read"),
            ("Event 2", None, "b", "Read"),
            ("m1a?", "m1a", "", "A headline"),
            ("m1a?", "m1a", "", HOSTILE),
            ("m2a?", "m2a", "", "A headline"),
        ]
        assert [each.url for each in rows] == [
            "https://pages.example/found", "https://pages.example/found",
            'https://n.example/?a=1&b="2"', "javascript:alert(1)", "",
        ]  # fmt: skip
        assert count_shown(connection) == 5
        assert [(each.market_id, each.shown) for each in list_shown_markets(connection)] == [("m1a", 2), ("m2a", 1)]


def test_a_list_is_cut_by_market_day_and_place(shown: Store) -> None:
    midnight = NOW.replace(hour=0)
    with shown.read() as connection:
        assert count_shown(connection, "m1a") == 2
        assert count_shown(connection, since=midnight) == 5
        assert count_shown(connection, until=midnight) == count_shown(connection, "m1a", midnight + DAY) == 0
        assert [each.name for each in list_shown(connection, first=2, most=2)] == ["A headline", HOSTILE]


def test_the_page_links_only_to_plain_addresses_and_shows_prices_around_the_news(shown: Store) -> None:
    text = client_of(shown).get("/news", params={"market": "m1a"}).text
    links = Links(text)
    assert links.outside == ['https://n.example/?a=1&b="2"']
    assert links.scripts == ["/static/page.js"]
    assert "javascript:" not in "".join(links.found)
    assert re.findall(r'<td class="number" data-h="[^"]*">(.*?)</td>', text) == ["0.25", "–", "0.25", "0.50"]


@ONE_DATABASE
def test_a_page_that_several_bots_read_has_one_row_with_all_of_them(shown: Store) -> None:
    one, two = event_of(1), event_of(2, 2)
    run = a_run(shown, one, two, key="other@2026-03-01T00:00Z", recipe="other")
    headline = NewsItem("A headline", "In other words", NOW - timedelta(hours=1), 'https://n.example/?a=1&b="2"')
    with shown.write() as connection:
        add_news(connection, run.id, "m1a", "polymarket", "one", [headline])
        add_news(connection, run.id, "m2b", "polymarket", "two", [headline])
    text = client_of(shown).get("/news").text
    rows = re.findall(r"<tr>.*?</tr>", text, re.DOTALL)
    read = [each for each in rows if ">Read</a>" in each]
    assert [re.findall(r"/bot\?name=(\w)", each) for each in read] == [["a", "b"]]
    # What two recipes were shown stays apart: each has its market, its words and its recipe.
    headlines = [each for each in rows if "A headline" in each]
    found = [re.findall(r"market=(\w+)|(In other words)|all bots of (\w+)", each) for each in headlines]
    assert sorted(tuple(max(each) for each in row) for row in found) == [
        ("m1a", "In other words", "other"), ("m1a", "daily"), ("m2a", "daily"), ("m2b", "In other words", "other"),
    ]  # fmt: skip
    assert "<caption>6 pieces of news</caption>" in text


@ONE_DATABASE
def test_the_site_has_a_page_of_news_and_one_for_each_market(shown: Store, tmp_path: Path) -> None:
    write_site(shown, tmp_path / "site", SiteOptions(NOW - DAY, "", "", False, ""), lambda: NOW + 2 * DAY, nobody)
    pages = [tmp_path / "site" / "news.html", *(tmp_path / "site" / "news").iterdir()]
    assert len(pages) == 3
    outer = [link for page in pages for link in Links(page.read_text()).outside]
    assert sorted(set(outer)) == ['https://n.example/?a=1&b="2"', "https://pages.example/found"]


@pytest.mark.parametrize(
    "text",
    [
        "javascript:alert(1)",
        "JAVASCRIPT://news.example/%0aalert(1)",
        "data:text/html,x",
        "//news.example/a",
        "https://",
        "https://user:word@news.example/",
        "https://news.example/a b",
        "https://news.example/\u202e",
        "https://news.example/\n",
        "http://[::1",
        "https://news.example/" + "a" * 2_000,
        "",
    ],
)
def test_an_address_that_is_not_plain_http_is_no_link(text: str) -> None:
    assert outside(text) == ""
