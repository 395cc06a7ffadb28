"""News of a run: of their window, the first dated ones, looked for once, and a failed search is on record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from predibot.tools.web_search import SearchPolicy, find_news

from predibot.domain.account_past import NewsItem
from predibot.domain.clock import parse_instant
from predibot.games.portfolio_weights.rules import PortfolioWeights
from predibot.jobs.deciding.worker import NewsBoard
from predibot.ledger.files.traces import Traces
from predibot.ledger.store import Store
from predibot.ledger.write.events import news_failures
from predibot.ledger.write.runs import find_run, frozen_events
from predibot.research.search.provider import SearchFailed
from tests.jobs.deciding.accounts.walks import replay_days, request_with, rows
from tests.jobs.replay.hand_made_stocks import at, play, write_stocks
from tests.jobs.replay.hand_made_stocks import recipe_of as stocks_of
from tests.jobs.tiny import decide_on, recipe_of, request_of
from tests.tools.test_web_search import ScriptedProvider, result
from tests.venues.payloads import NOW

DAY = timedelta(days=1)
LAZY = 'strategy = "one_shot"\nname = "{}"\nmodel = "sandbox/lazy"'


@dataclass
class Source:
    """Finds one item about everything, or fails, and keeps what it was asked."""

    fails: bool = False
    asked: list[tuple[str, datetime, datetime, int]] = field(default_factory=list)

    def news(self, query: str, *, after: datetime, before: datetime, count: int) -> tuple[NewsItem, ...]:
        self.asked.append((query, after, before, count))
        if self.fails:
            raise SearchFailed("the provider is away")
        return (NewsItem("A title", "A snippet.", before - timedelta(hours=1), "https://n.example/a"),)


def found(store: Store, *sources: Source, key: str) -> Sequence[Mapping[str, tuple[NewsItem, ...] | None]]:
    """Return what boards, each of a process of its own, have of a run's markets; each is asked twice."""
    with store.read() as connection:
        run = find_run(connection, key)
        assert run is not None
        markets = [market for event in frozen_events(connection, run.id) for market in event.markets]
    boards = [NewsBoard(store, run, source, PortfolioWeights.news_window) for source in sources]
    return [board.of(markets) for board in boards for _ in range(2)]


def test_only_dated_results_of_the_window_are_news() -> None:
    now = NOW
    policy = SearchPolicy(before=now - DAY, after=now - 3 * DAY, count=10)
    base = result().published_at
    assert base is not None
    shift = (now - base) / DAY - 1.0
    provider = ScriptedProvider(
        [
            result("https://news.example/undated", None),
            result("https://news.example/late", shift - 0.5),
            result("https://news.example/early", shift - 3.5),
            result("https://news.example/in", shift - 2.0, "In the window"),
        ]
    )
    (item,) = find_news([provider], "it", policy)
    assert (item.title, item.url) == ("In the window", "https://news.example/in")
    with pytest.raises(SearchFailed, match="away"):
        find_news([ScriptedProvider(failure=SearchFailed("away"))], "it", policy)


def test_news_are_looked_for_once_a_market_for_all_bots_and_processes(store: Store, archive: Path) -> None:
    run = decide_on(store, archive, request_of(recipe_of("all_cash", game="portfolio_weights"))).run
    first, second = Source(), Source(fails=True)
    seen = found(store, first, second, key=run.key)
    assert seen[0] and all(each == seen[0] for each in seen)
    assert {item.url for items in seen[0].values() for item in items or ()} == {"https://n.example/a"}
    assert len(first.asked) == len(seen[0]) and second.asked == []
    assert {asked[1:] for asked in first.asked} == {(NOW - 3 * DAY, NOW - DAY, 3)}


def test_news_of_a_stock_are_asked_for_by_its_ticker_and_its_company(ledger: Store, tmp_path: Path) -> None:
    folder = write_stocks(tmp_path / "stocks")
    (folder / "sectors.csv").write_text("ticker,sector,name\nAAA,Energy,Aardvark Oil\n")
    play(ledger, folder, stocks_of("all_cash"), first=at(5), last=at(5))
    source = Source()
    found(ledger, source, key="tiny@2026-01-05T00:00Z")
    assert [query for query, *_ in source.asked] == ["AAA stock news OR Aardvark Oil", "BBB stock news"]


def test_a_failed_search_is_a_row_and_is_not_tried_again(store: Store, archive: Path) -> None:
    run = decide_on(store, archive, request_of(recipe_of("all_cash", game="portfolio_weights"))).run
    away, back = Source(fails=True), Source()
    seen = found(store, away, back, key=run.key)
    assert seen[0] and all(set(each.values()) == {None} for each in seen)
    assert back.asked == []
    failed = store.run_read(lambda connection: news_failures(connection, run.id))
    assert failed == ("the provider is away",) * len(seen[0])


def test_a_replay_shows_its_bots_the_same_news_of_the_days_before(ledger: Store) -> None:
    replay_days(ledger, request_with("", LAZY.format("a"), LAZY.format("b")), 2)
    kept = rows(ledger, "news")
    dated = [row for row in kept if row["number"] > 0]
    assert dated and max(row["number"] for row in dated) <= 3
    at = {row["run"]: parse_instant(row["as_of"]) for row in rows(ledger, "runs")}
    for row in dated:
        assert at[row["run"]] - 3 * DAY <= parse_instant(row["published_at"]) <= at[row["run"]] - DAY
    title, url = dated[0]["title"], dated[0]["url"]
    assert all(row["url"].startswith("http://127.0.0.1:") for row in dated)
    first = [row for row in rows(ledger, "decisions") if row["run"] == dated[0]["run"]]
    assert len(first) == 2
    for row in first:
        shown = str(Traces(ledger).read(row["trace_sha256"]).steps)
        assert title in shown and f"address: {url}" in shown


def test_news_that_nobody_may_look_for_are_shown_as_unavailable(ledger: Store) -> None:
    request = request_with("[limits.run]\nsearches = 0", LAZY.format("a"))
    replay_days(ledger, request, 1)
    heads = rows(ledger, "news", number=0)
    assert heads and all(row["failure"] for row in heads)
    (decision,) = rows(ledger, "decisions")
    assert "news unavailable" in str(Traces(ledger).read(decision["trace_sha256"]).steps)
