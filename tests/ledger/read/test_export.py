"""The export: rows by the names things have, and a form in which equal ledgers are equal to the byte."""

import json
from datetime import timedelta

from predibot.domain.price import PricePoint
from predibot.ledger.read.export import CANONICAL_TABLES, TABLES, export_rows
from predibot.ledger.store import Store
from predibot.ledger.write.claims import release_claims
from predibot.ledger.write.events import instruments
from predibot.ledger.write.prices_and_resolutions import add_observations
from tests.ledger.by_hand import DAY, NOW, a_run, claimant, decide, event_of, failed, finished_with, take, void
from tests.soaks import ONE_DATABASE

ONE, TWO = event_of(1, 2), event_of(2)
FIRST = finished_with(ONE, {"m1a": (0.5, 0.6), "m1b": (-0.25, 0.1)})
SECOND = finished_with(TWO, {"m2a": (-1.0, 0.3)})


def canonical(store: Store) -> str:
    """Return the canonical export."""
    with store.read() as connection:
        return json.dumps({name: list(export_rows(connection, name, canonical=True)) for name in CANONICAL_TABLES})


def fill(store: Store) -> None:
    """Decide in the order of the run."""
    run = a_run(store, ONE, TWO, bots=("a", "b"))
    for bot in ("a", "b"):
        decide(store, run, bot, FIRST)
        decide(store, run, bot, SECOND)


@ONE_DATABASE
def test_the_order_and_the_interruptions_of_deciding_leave_no_trace(store: Store, other: Store) -> None:
    fill(store)
    run = a_run(other, ONE, TWO, bots=("b", "a"))
    take(other, run, "a", ONE, claimant("gone"))
    with other.write() as connection:
        release_claims(connection, "gone", now=NOW)
    decide(other, run, "b", SECOND)
    decide(other, run, "b", failed(ONE, at=NOW - DAY))
    decide(other, run, "a", SECOND)
    decide(other, run, "a", FIRST)
    decide(other, run, "b", FIRST)
    assert canonical(other) == canonical(store)


@ONE_DATABASE
def test_what_differs_shows(store: Store, other: Store) -> None:
    fill(store)
    run = a_run(other, ONE, TWO, bots=("a", "b"))
    for bot in ("a", "b"):
        decide(other, run, bot, FIRST)
    decide(other, run, "a", SECOND)
    assert canonical(other) != canonical(store)
    decide(other, run, "b", finished_with(TWO, {"m2a": (-1.0, 0.3000001)}))
    assert canonical(other) != canonical(store)


def test_costs_and_the_hours_of_the_clock_are_left_out(store: Store, other: Store) -> None:
    from dataclasses import replace

    for each, cost in ((store, 0.0), (other, 0.7)):
        run = a_run(each, TWO, created_at=NOW + timedelta(hours=cost), code_version=str(cost), venue=f"archive:/{cost}")
        decide(each, run, "a", replace(SECOND, cost_usd=cost, cost_known_usd=cost, seconds=cost))
    assert canonical(other) == canonical(store)


def test_a_void_run_is_told_from_the_one_that_took_its_place(store: Store) -> None:
    for number in range(3):
        run = a_run(store, ONE, TWO)
        decide(store, run, "a", SECOND)
        if number < 2:
            void(store, run.key)
    with store.read() as connection:
        rows = list(export_rows(connection, "decisions", canonical=True))
    assert sorted(row["void"] for row in rows) == [0, 1, 2]


def test_rows_carry_names_and_no_numbers_of_ours(store: Store) -> None:
    fill(store)
    with store.write() as connection:
        row = connection.execute(instruments.select()).first()
        assert row is not None
        add_observations(connection, {row.id: [PricePoint(NOW, 0.5)]}, "history")
    with store.read() as connection:
        tables = {name: list(export_rows(connection, name)) for name in TABLES}
    for name, rows in tables.items():
        assert not any(
            key == "id" or (key.endswith(("_id", "_row")) and isinstance(value, int))
            for row in rows
            for key, value in row.items()
        ), name
    assert tables["bets"][0]["market_id"] == "m1a"
    assert tables["observations"][0]["at"] == "2026-03-01T12:00Z"
    assert tables["fills"][0]["instrument_id"] == "100"
