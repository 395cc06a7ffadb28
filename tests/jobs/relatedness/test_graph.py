"""The graph of a ledger and of an archive: as of an instant, with the dated news that touch its events."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from predibot.api.relate import beliefs_in_ledger, news_in_ledger
from predibot.domain.account_past import NewsItem
from predibot.domain.decision import Source
from predibot.errors import UsageError
from predibot.jobs.relatedness.graph import LabelledGraph, find_graph
from predibot.ledger.store import Store
from predibot.ledger.write.events import add_news
from predibot.related.graph import BeliefGraph
from predibot.reports.terminal.closeups.related import graph_document, graph_grids
from predibot.scoring.records.part import Part
from tests.jobs.relatedness.related_world import AS_OF, DAY, GROUP, related
from tests.jobs.relatedness.test_beliefs import in_archive
from tests.ledger.by_hand import NOW as MADE_AT
from tests.ledger.by_hand import a_run, decide, event_of, finished_with
from tests.soaks import ONE_DATABASE
from tests.worlds import Worlds


def in_ledger(
    store: Store, as_of: datetime = AS_OF, *, at_least: float = 0.6, ends: tuple[str, str] | None = None
) -> LabelledGraph:
    known = beliefs_in_ledger(store, Part(as_of=as_of), clock=lambda: as_of)
    return find_graph(known, filters=None, at_least=at_least, ends=ends, news=news_in_ledger(store, known))


@ONE_DATABASE
def test_events_whose_prices_jump_together_are_one_group(played: Store) -> None:
    found = in_ledger(played, ends=("1", "3"))
    for group in found.graph.groups:
        assert len({GROUP[int(event) - 1] for event in group.events}) == 1
    assert [len(group.events) for group in found.graph.groups] == [3, 3, 3, 3]
    assert (found.chain[0], found.chain[-1]) == ("1", "3")
    chain, groups, edges = graph_grids(found)
    assert [row[0] for row in chain.rows] == list(found.chain) and len(groups.rows) == 4 and edges.rows


@ONE_DATABASE
def test_what_comes_later_changes_no_graph(played: Store, worlds: Worlds, bent: Path) -> None:
    folders = [folder / "archive" for folder in (worlds(related), bent)]
    archives = [find_graph(in_archive(each), filters=None, at_least=0.6).graph for each in folders]
    assert archives[0] == archives[1]
    early = in_ledger(played).graph
    assert isinstance(early, BeliefGraph) and early.edges
    with Store.open_to_read(f"sqlite:///{bent}/ledger.db") as later:
        assert in_ledger(later).graph == early


def test_dated_news_touch_what_they_were_read_for_and_nothing_published_later_does(store: Store) -> None:
    one, two = event_of(1), event_of(2)
    run = a_run(store, one, two)
    pages = (
        Source("page", "https://a.example", title="Now", published_at=MADE_AT),
        Source("page", "https://b.example", title="Old", published_at=MADE_AT - 3 * DAY),
        Source("page", "https://c.example", title="Undated"),
        Source("page", "https://d.example", title="Of tomorrow", published_at=MADE_AT + DAY),
        Source("search", "a search"),
    )
    decide(store, run, "a", replace(finished_with(one, {"m1a": (0.5, 0.7)}), sources=pages))
    decide(store, run, "a", replace(finished_with(two, {"m2a": (0.5, 0.7)}), sources=pages[1:2]))
    # The same page was a headline of the run too, and one is from before addresses were kept.
    headlines = (
        NewsItem("Now", "", MADE_AT, "https://a.example"),
        NewsItem("Headline", "", MADE_AT - 4 * DAY, "https://n.example/h"),
        NewsItem("Without", "", MADE_AT - 5 * DAY),
    )
    market = two.markets[0]
    store.run_write(lambda connection: add_news(connection, run.id, market.id, run.venue_name, "asked", headlines))
    found = in_ledger(store, MADE_AT)
    assert [(each.news.title, each.news.url, each.news.event_ids) for each in found.news] == [
        ("Now", "https://a.example", ("e1", "e2")),
        ("Old", "https://b.example", ("e1", "e2")),
        ("Headline", "https://n.example/h", ("e2",)),
        ("Without", "", ("e2",)),
    ]
    assert [one.event_id for one in found.news[2].touched] == ["e2"]
    (*_, news) = graph_grids(found)
    assert news.title == "Dated news" and news.rows[2] == ("2026-02-25", "Headline", "n.example", "Event 2")
    assert news.rows[3][2] == "–"
    assert in_ledger(store, MADE_AT - 2 * DAY).news == ()
    said = graph_document(found)["news"][2]
    assert (said["url"], said["touches"]) == (
        "https://n.example/h",
        [{"event_id": "e2", "score": None, "jumped_on": None}],
    )


@ONE_DATABASE
def test_what_cannot_be_drawn_is_refused(played: Store) -> None:
    with pytest.raises(UsageError, match=r"no market of an event '13' is known at that instant. Did you mean"):
        in_ledger(played, ends=("1", "13"))
    with pytest.raises(UsageError, match="--at-least is 0"):
        in_ledger(played, at_least=0.0)
