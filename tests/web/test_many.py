"""Pages over a small part of the ledger that the benchmarks measure, and a trace of megabytes: small and whole."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="needs predibot[web]")

from fastapi.testclient import TestClient

from predibot.ledger.files.traces import Traces
from predibot.ledger.store import Store
from predibot.web import chart
from tests.benchmarks.ledgers import Size, fill
from tests.soaks import one_in
from tests.web.conftest import client_of

FEWER = Size(50, 4, 4, 40, 3, 20)
PAGE_BYTES = 200_000
HERE = {"run": "big@0", "bot": "=bot", "subject": "0"}


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Return a browser in front of 800 decisions."""
    address = f"sqlite:///{tmp_path_factory.mktemp('many')}/many.db"
    with Store.open(address) as store:
        fill(store, FEWER, np.random.default_rng(1))
    with Store.open_to_read(address) as store:
        yield client_of(store)


@pytest.fixture
def traced(tmp_path: Path) -> Iterator[TestClient]:
    """Return a browser in front of a decision with a hostile name, a trace of 12 MB, and a step of one text."""
    steps = [{"step": n, "kind": "tool", "result": f"<b>{n}</b> " + '"&<\u202e' * 6_000} for n in range(1, 301)]
    steps[149]["result"] = "a needle"
    with Store.open(f"sqlite:///{tmp_path}/traced.db") as store:
        fill(store, Size(1, 1, 1, 1, 1, 2, days=2), np.random.default_rng(1))
        rows = [json.dumps(each, ensure_ascii=False) for each in steps]
        rows[200] = '{"kind": "no end'
        digest = Traces(store).files.keep("".join(f"{row}\n" for row in rows).encode())
        with store.write() as connection:
            connection.exec_driver_sql("UPDATE decisions SET trace_sha256 = ?, rationale = '@SUM(A1)'", (digest,))
            connection.exec_driver_sql("UPDATE bots SET name = '=bot'")
        yield client_of(store)


@pytest.mark.parametrize(
    "path",
    one_in(
        2,
        [
            "/",
            "/?category=Politics&since=2025-02-01&bots=bot_1,bot_2",
            "/decisions",
            "/decisions?page_=16",
            "/decisions?sort=about&status=recorded&mode=live",
            "/events",
            "/event?id=5",
            "/bot?name=bot_1",
            "/runs",
        ],
    ),
)
def test_a_page_of_many_is_small(many: TestClient, path: str) -> None:
    answer = many.get(path)
    assert answer.status_code == 200
    assert len(answer.content) < PAGE_BYTES


def test_an_event_of_many_markets_is_a_page_of_bounded_length_and_cancelled_ones_gave_stakes_back(
    tmp_path: Path,
) -> None:
    with Store.open(f"sqlite:///{tmp_path}/wide.db") as store:
        fill(store, Size(1, 2, 1, 1, 70, 2, days=2), np.random.default_rng(1))
        with store.write() as connection:
            connection.exec_driver_sql("UPDATE resolutions SET payout_yes = NULL")
            connection.exec_driver_sql("DELETE FROM price_paths")
        browser = client_of(store)
        event, decision = browser.get("/event?id=0").text, browser.get("/decision?run=big@0&bot=bot_1&subject=0").text
        bot = browser.get("/bot?name=bot_1").text
        cancelled = store.run_read(lambda read: read.exec_driver_sql("SELECT count(*) FROM resolutions").scalar())
    assert event.count("<caption>Last forecasts") == 10 and "60, by volume" in event
    assert event.count("Cancelled: stakes were given back.") + event.count(">cancelled<") == cancelled
    assert decision.count(">stakes back<") == cancelled
    # A sum of prices that are missing is missing.
    assert "not priced since" in bot and "+$0.000 by" not in bot


def test_the_leaderboard_names_a_band_only_where_one_is_drawn(
    many: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, said = "/?bots=bot_1,bot_2", "the band is the 95&nbsp;% interval of bot_"
    page = many.get(path).text
    assert page.count(said) == page.count('<polygon class="lead"') == 1
    monkeypatch.setattr(chart, "_interval", lambda _: ())
    page = many.get(path).text
    assert "<polygon points" in page and said not in page


def test_charts_are_of_the_markets_with_most_volume_and_the_page_says_of_how_many(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/eight.db") as store:
        fill(store, Size(2, 1, 1, 1, 8, 2, days=2), np.random.default_rng(1))
        with store.write() as connection:
            last = """'"ref":{"id":"7"}', '"ref":{"id":"7"},"volume_usd":9.0'"""
            connection.exec_driver_sql("UPDATE markets SET question = 'Will it be ' || market_id || '?'")
            connection.exec_driver_sql(f"UPDATE run_events SET event_json = replace(event_json, {last})")
        event = client_of(store).get("/event?id=0").text
    assert [
        event.count(each) for each in ('class="chart"', "<caption>Last forecast", "Charts are drawn of the first 5.")
    ] == [5, 8, 1]
    assert event.index("<h2>Will it be 7?") < event.index("<h2>Will it be 0?")


def test_the_file_of_a_list_has_each_of_its_rows_once(many: TestClient) -> None:
    rows = list(csv.DictReader(io.StringIO(many.get("/decisions.csv?bot=bot_3&sort=bot").text)))
    assert len(rows) == 200 == len({(row["run"], row["subject_id"]) for row in rows})
    assert {row["bot"] for row in rows} == {"bot_3"}
    assert len(list(csv.DictReader(io.StringIO(many.get("/decisions.csv").text)))) == 800
    assert len(many.get("/runs.csv").text.splitlines()) == 51
    for path in ("/events.csv?q=event+7", "/leaderboard.csv?bots=bot_1", "/tables/pairs.csv?until=2025-06-01"):
        answer = many.get(path)
        assert answer.headers["content-type"].startswith("text/csv")
        assert "attachment" in answer.headers["content-disposition"]
        assert len(answer.text.splitlines()) > 1


def test_the_leaderboard_of_some_bots_names_them_alone(many: TestClient) -> None:
    rows = many.get("/api/v1/leaderboard?bots=bot_1,bot_2&since=2025-03-01").json()["rankings"]["clean"]
    assert {row["bot"] for row in rows} == {"bot_1", "bot_2"}
    page = many.get("/?bots=bot_1,bot_2&since=2025-03-01").text
    assert 'value="2025-03-01"' in page and "/tables/pairs?since=2025-03-01" in page


def test_a_long_trace_is_shown_a_part_at_a_time(traced: TestClient) -> None:
    for more, shown in (
        ({}, 20),
        ({"step": 291}, 10),
        ({"only": 7}, 1),
        ({"find": "needle"}, 1),
        ({"step": 191}, 20),
        ({"turn": 280}, 20),
    ):
        answer = traced.get("/decision", params={**HERE, **more})
        assert answer.status_code == 200
        assert len(answer.content) < PAGE_BYTES
        assert answer.text.count("<details") - answer.text.count("<summary>Orders") == shown
        assert "<b>" not in answer.text and "\u202e" not in answer.text
    assert "150. tool" in traced.get("/decision", params={**HERE, "find": "a NEEDLE"}).text
    assert "has this text" in traced.get("/decision", params={**HERE, "find": "nowhere"}).text
    assert "no step that predibot wrote" in traced.get("/decision", params={**HERE, "step": 201}).text


def test_a_trace_is_given_as_it_is_stored(traced: TestClient) -> None:
    answer = traced.get("/trace.jsonl", params=HERE)
    assert len(answer.content.splitlines()) == 300
    assert json.loads(answer.content.split(b"\n")[149])["result"] == "a needle"


def test_nothing_in_a_file_is_a_formula(traced: TestClient) -> None:
    (row,) = csv.DictReader(io.StringIO(traced.get("/decisions.csv").text))
    assert (row["bot"], row["rationale"]) == ("'=bot", "'@SUM(A1)")
    (row,) = csv.DictReader(io.StringIO(traced.get("/event.csv", params={"id": "0"}).text))
    assert row["bot"] == "'=bot"
