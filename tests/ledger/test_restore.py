"""Restoring: an export put back into a ledger, so that exporting it again gives the same bytes."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from predibot.domain.account_past import NewsItem
from predibot.domain.clock import format_instant
from predibot.domain.decision import Source
from predibot.domain.price import PricePoint
from predibot.domain.resolution import Resolution
from predibot.errors import RunConflict
from predibot.ledger.export_rows import ExportRow, RowError
from predibot.ledger.read.export import TABLES, export_rows
from predibot.ledger.restore import Restorer
from predibot.ledger.store import Store
from predibot.ledger.write.events import add_news, instruments
from predibot.ledger.write.prices_and_resolutions import add_observations, add_resolutions
from tests.ledger.by_hand import (
    DAY,
    NOW,
    a_run,
    abstained,
    claimant,
    decide,
    event_of,
    failed,
    finished_with,
    take,
    void,
)
from tests.ledger.read.test_export import canonical
from tests.soaks import ONE_DATABASE

ONE, TWO = event_of(1, 2), event_of(2)
FIRST = replace(
    finished_with(ONE, {"m1a": (0.5, 0.6), "m1b": (-0.25, 0.1)}),
    sources=(
        Source("search", "=rain\nin  Paris"),
        Source("page", "https://a.example", title="\x1b[2J", published_at=NOW),
    ),
    models=("a-model",),
    cost_usd=None,
    cost_known_usd=0.25,
    trace_sha256="0" * 64,
)

Rows = dict[str, list[dict[str, Any]]]


def filled(store: Store) -> Store:
    """Store a void run, one decision of each status, prices and a corrected resolution."""
    run = a_run(store, ONE, TWO, bots=("a",))
    decide(store, run, "a", FIRST)
    void(store, run.key, "a try")
    run = a_run(store, ONE, TWO, bots=("b", "a", "c"), created_at=NOW + DAY)
    decide(store, run, "a", FIRST)
    decide(store, run, "b", finished_with(TWO, {"m2a": (-1.0, 0.3)}))
    decide(store, run, "b", failed(ONE))
    decide(store, run, "a", abstained(TWO))
    # Somebody is at it: that is no row of an export.
    take(store, run, "c", ONE, claimant("another"))
    with store.write() as connection:
        yes = connection.execute(instruments.select().where(instruments.c.side == "YES")).first()
        assert yes is not None
        add_observations(connection, {yes.id: [PricePoint(NOW, 0.25), PricePoint(NOW + DAY, 0.5)]}, "history")
        add_observations(connection, {yes.id: [PricePoint(NOW, 0.3)]}, "quote")
        paid = [Resolution(paid, NOW + DAY, "venue", NOW + days * DAY) for paid, days in ((1.0, 1), (0.0, 2))]
        add_resolutions(connection, yes.market_row, paid, stored=0, seen_at=NOW)
        item = NewsItem("Rain ahead", "It may rain.", NOW - DAY, "https://n.example/rain")
        add_news(connection, run.id, "m1a", run.venue_name, "rain", [item])
    return store


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """Return the export of such a ledger, which nobody may change."""
    with Store.open(f"sqlite:///{tmp_path_factory.mktemp('exported')}/ledger.db") as store:
        return rows_of(filled(store))


def rows_of(store: Store) -> Rows:
    """Return all rows of a ledger."""
    with store.read() as connection:
        return {table: [dict(row) for row in export_rows(connection, table)] for table in TABLES}


def put_back(store: Store, rows: Rows) -> tuple[Mapping[str, int], list[str]]:
    """Put rows into a ledger; return how many are new, and what is noted."""
    with store.write() as connection:
        restorer = Restorer(connection)
        new = {
            table: restorer.put(table, (ExportRow(f"{table} {n}", row) for n, row in enumerate(rows[table], start=1)))
            for table in TABLES
        }
        restorer.finish()
        return new, restorer.notes


def test_what_is_put_back_is_exported_again_byte_for_byte(store: Store, other: Store, exported: Rows) -> None:
    assert rows_of(filled(store)) == exported
    new, notes = put_back(other, exported)
    assert new == {table: len(rows) for table, rows in exported.items()}
    assert canonical(other) == canonical(store)
    assert rows_of(other) == exported
    assert notes == []
    for each in (store, other):
        new, notes = put_back(each, exported)
        assert (set(new.values()), notes) == ({0}, [])
        assert rows_of(each) == exported


@ONE_DATABASE
def test_deadlines_and_addresses_come_back_and_an_export_of_before_there_were_any_is_taken(
    other: Store, exported: Rows
) -> None:
    (void, live), decided = exported["runs"], exported["decisions"]
    live, void = {**live, "deadline_at": format_instant(NOW - DAY)}, dict(void)
    del void["deadline_at"]
    news = [{name: cell for name, cell in row.items() if name != "url"} for row in exported["news"]]
    decisions = [{**row, "late": None} for row in decided]
    put_back(other, {**exported, "runs": [void, live], "decisions": decisions, "news": news})
    rows = rows_of(other)
    assert [row["url"] for row in exported["news"]] == [None, "https://n.example/rain"]
    assert [row["url"] for row in rows["news"]] == [None, None]
    assert [row["deadline_at"] for row in rows["runs"]] == [None, live["deadline_at"]]
    assert [row["late"] for row in rows["decisions"]] == [int(row["void"] == 0) for row in decided]


@ONE_DATABASE
def test_a_ledger_with_other_runs_keeps_them(other: Store, exported: Rows) -> None:
    run = a_run(other, ONE, bots=("a",), key="mine@2026-03-01T00:00Z")
    decide(other, run, "a", FIRST)
    put_back(other, exported)
    assert rows_of(other)["runs"][0]["run"] == "mine@2026-03-01T00:00Z"
    assert len(rows_of(other)["decisions"]) == 1 + len(exported["decisions"])


@ONE_DATABASE
def test_an_export_that_has_grown_brings_what_is_new(other: Store, exported: Rows) -> None:
    put_back(other, exported)
    recorded = next(row for row in exported["decisions"] if (row["bot"], row["void"]) == ("a", 0))
    refused = {**recorded, "bot": "c", "status": "refused", "unallocated_usd": None}
    new, _ = put_back(other, {**exported, "decisions": [*exported["decisions"], refused]})
    assert {table: n for table, n in new.items() if n} == {"decisions": 1}
    assert ("c", "refused") in {(row["bot"], row["status"]) for row in rows_of(other)["decisions"]}


@ONE_DATABASE
def test_another_run_of_the_same_key_is_a_conflict(other: Store, exported: Rows) -> None:
    a_run(other, TWO, bots=("a",))
    with pytest.raises(RunConflict, match="runs 2: this ledger has another run daily@2026-03-01T00:00Z"):
        put_back(other, exported)
    assert rows_of(other)["decisions"] == []


@ONE_DATABASE
def test_what_stands_otherwise_here_stays_and_is_noted(other: Store, exported: Rows) -> None:
    put_back(other, exported)
    void(other, reason="mine")
    retried = [{**row, "status": "refused"} if row["status"] == "failed" else row for row in exported["decisions"]]
    _, notes = put_back(other, {**exported, "decisions": retried})
    assert notes == [
        "run daily@2026-03-01T00:00Z is void here and counts in the export; it stays as it is here",
        "decisions 4: it is refused in the export and failed here, as it stays",
    ]


ABSENT = object()
WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("runs 1", {"recipe_json": ABSENT}, "it has no recipe_json; export again with this predibot"),
    ("runs 1", {"seed": 2**63}, "seed is 9223372036854775808: it must be a whole number of 64 bits"),
    ("runs 1", {"seed": True}, "seed is True"),
    ("runs 1", {"void": 0}, "void is 0, voided_at is 2026-03-01"),
    ("runs 1", {"slot_at": "soon"}, "slot_at is 'soon'"),
    ("runs 1", {"overrides_json": "[" * 10_000}, "overrides_json: "),
    ("runs 1", {"recipe_json": "[]"}, "recipe_json: Input should be an object"),
    ("events 1", {"event_id": "e\x00"}, "event_id is 'e\\x00': it holds a character"),
    ("markets 1", {"event_id": "e9"}, "there is no event 'e9' of 'polymarket' in the export"),
    ("markets 1", {"token_ids_json": '[1, "2"]'}, "token_ids_json: Input should be a valid string"),
    ("run_events 1", {"event_json": "{}"}, "event_json is no event: "),
    ("run_events 1", {"event_id": "e2"}, "event_json is of event 'e1', not of 'e2'"),
    ("bots 1", {"run": "x"}, "there is no run 'x' with void 1 in the export"),
    ("bots 1", {"knowledge_cutoff": "2025-13-01"}, "knowledge_cutoff is '2025-13-01'"),
    ("decisions 1", {"bot": "x"}, "there is no bot 'x' in its run"),
    ("decisions 1", {"status": "done"}, "the database refuses it: "),
    ("decisions 1", {"seconds": float("nan")}, "seconds is nan: it must be a finite number"),
    ("decisions 1", {"unallocated_usd": 0.75}, "its bets add up to 0.75 and 0.75 is left of 1 dollar"),
    ("forecasts 1", {"probability": 1.5}, "the database refuses it: "),
    ("forecasts 3", {"probability": None}, "probability is empty"),
    ("forecasts 1", {"subject_id": "e7"}, "there is no decision of 'a' on 'e7' in the export"),
    ("bets 1", {"price_yes": 1.0}, "price_yes is 1; a bet is booked between 0 and 1"),
    ("bets 1", {"booked_usd": 1e9}, "booked_usd is 1e+09, not asked_usd 0.5 times the scale 1"),
    ("bets 1", {"market_id": "m9"}, "there is no market 'm9' of 'polymarket' in the export"),
    ("quotes 1", {"bid": 2.0}, "bid is 2.0, a price of YES is in [0, 1]"),
    ("observations 1", {"price": -0.1}, "price is -0.1; one of this kind is in [0, 1]"),
    ("observations 1", {"source": "rumour"}, "source is 'rumour'; it is 'history' or 'quote'"),
    ("resolutions 1", {"payout_yes": 7.0}, "a share of YES pays between 0 and 1, not 7.0"),
    ("sources 1", {"results": -1}, "the database refuses it: "),
]


@ONE_DATABASE
def test_a_row_that_is_wrong_is_named_and_nothing_is_put_back(store: Store, exported: Rows) -> None:
    for place, cells, message in WRONG:
        table, number = place.split()
        wrong = [dict(row) for row in exported[table]]
        row = wrong[int(number) - 1]
        row.update(cells)
        for name in [name for name, cell in cells.items() if cell is ABSENT]:
            del row[name]
        with pytest.raises(RowError) as refused:
            put_back(store, {**exported, table: wrong})
        assert f"{place}: {message}" in str(refused.value)
    assert {len(rows) for rows in rows_of(store).values()} == {0}
