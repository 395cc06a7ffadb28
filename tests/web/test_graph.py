"""The graph on the pages: who moves with whom, and what is no page leads nowhere."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs predibot[web]")

from fastapi.testclient import TestClient

from predibot.ledger.store import Store
from predibot.web.app import create_app
from tests.jobs.relatedness.related_world import AS_OF, play, write_related
from tests.web.conftest import BASE


@pytest.fixture(scope="module")
def related(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Return the app of a ledger of twelve events in four groups."""
    folder: Path = tmp_path_factory.mktemp("related")
    with Store.open(f"sqlite:///{folder}/predibot.db") as store:
        play(store, write_related(folder / "archive"))
    with Store.open_to_read(f"sqlite:///{folder}/predibot.db") as store:
        yield _client(store)


def test_an_event_says_what_else_moves(related: TestClient) -> None:
    page = unescape(related.get("/event?id=5").text)
    moving = page.partition("What else moves")[2].partition("<h2>")[0]
    # The filters leave out town 4, where least was traded.
    assert "The rates, town 6" in moving and "town 4" not in moving
    assert "storm" not in moving and 'href="/event?id=6"' in moving and 'href="/graph"' in moving


def test_the_graph_leads_to_its_events(related: TestClient) -> None:
    page = related.get("/graph").text
    assert page.count("<circle") == page.count('href="/event?id=') == 8
    assert "8 of 8 events in 4 groups" in page and "<style" not in page
    assert related.get("/graph.csv?table=1").text.startswith("events,ids,chain")


def test_a_bot_says_how_much_of_its_stakes_moves_together(related: TestClient) -> None:
    page = related.get("/bot?name=market_price").text
    assert "Exposure to events that move together" in page and "100% of the stakes are on events" in page


def test_without_a_run_the_menu_leads_to_no_empty_page_and_each_page_is_there_all_the_same(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/empty.db"):
        pass
    with Store.open_to_read(f"sqlite:///{tmp_path}/empty.db") as store:
        page = _client(store).get("/graph").text
        assert "Nothing was played yet" in page
        assert re.findall(r'<a href="(/[a-z]*)"', page) == ["/", "/", "/methods"]


def _client(store: Store) -> TestClient:
    return TestClient(create_app(store, lambda: AS_OF), base_url=BASE, follow_redirects=False)
