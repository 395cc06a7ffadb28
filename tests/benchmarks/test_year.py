"""Measures a ledger of a year, 25 bots on 10 events a day: bytes of each thing, and what its commands cost.

One day is decided, with agents, tracked, and then repeated as rows; prints and never judges.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Table, func, select, text

from predibot.ledger.care.ledger_stats import ledger_stats
from predibot.ledger.schema.column_types import Instant
from predibot.ledger.schema.packed_points import pack_points, unpack_points
from predibot.ledger.schema.tables import Row
from predibot.ledger.store import Store
from tests.benchmarks.memory import used_by

pytestmark = pytest.mark.benchmark

DAYS = 365
DAY = 86_400_000_000
AGENTS, DRAWING = 5, 20
EVENTS = 10
NAMED = {"runs": "key", "events": "event_id", "markets": "market_id", "instruments": "instrument_id"}
NAMED |= {"subjects": "subject_id"}
"""What no two rows have in common but the row's number."""
OTHERS = ("artefacts", "changes", "spending", "reservations")
OTHERS += ("accounts", "journal", "valuations", "marks", "paces", "permits")
BY_HAND = ("run_events", "price_paths")


def recipe(agents: int, drawing: int) -> str:
    """Return a recipe of so many bots."""
    bots = [f'[[bots]]\nname = "t{n}"\nstrategy = "tool_agent"\nmodel = "sandbox/sharp"\n' for n in range(agents)]
    bots += [f'[[bots]]\nname = "r{number}"\nstrategy = "random_bet"\n' for number in range(drawing)]
    return f'game = "dollar_per_event"\nvenue = "sandbox:events=40"\nevery = "1d"\n{"".join(bots)}'


def repeat_first_day(connection: Connection, days: int) -> None:
    """Add days that are like the first one, with runs, events and markets of their own."""
    tables = [each for each in Row.metadata.sorted_tables if each.name not in OTHERS]
    stride = {
        each.name: connection.execute(select(func.coalesce(func.max(each.c.id), 0))).scalar_one()
        for each in tables
        if "id" in each.c
    }
    connection.execute(
        text(
            "CREATE TEMP TABLE day AS WITH RECURSIVE d(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM d"
            " WHERE n < :days - 1) SELECT n FROM d"
        ),
        {"days": days},
    )
    for table in tables:
        if table.name not in BY_HAND:
            _repeat(connection, table, stride)
    _repeat_frozen(connection, days, stride)
    _repeat_prices(connection, days, stride)


def _repeat(connection: Connection, table: Table, stride: Mapping[str, int]) -> None:
    values = []
    for column in table.columns:
        of = next((key.column.table.name for key in column.foreign_keys if key.column.name == "id"), None)
        if of is None and column.name == "decision_id":
            of = "decisions"
        if column.name == "id":
            values.append(f"{column.name} + n * {stride[table.name]}")
        elif of is not None:
            values.append(f"{column.name} + n * {stride[of]}")
        elif isinstance(column.type, Instant):
            values.append(f'"{column.name}" + n * {DAY}')
        elif NAMED.get(table.name) == column.name:
            values.append(f"{column.name} || '-' || n")
        else:
            values.append(f'"{column.name}"')
    names = ", ".join(f'"{each.name}"' for each in table.columns)
    connection.execute(text(f"INSERT INTO {table.name} ({names}) SELECT {', '.join(values)} FROM {table.name}, day"))


def _repeat_frozen(connection: Connection, days: int, stride: Mapping[str, int]) -> None:
    markets = connection.execute(text("SELECT market_id FROM markets WHERE id <= :n"), {"n": stride["markets"]})
    ids = [*markets.scalars()]
    rows = connection.execute(text("SELECT * FROM run_events")).mappings().all()
    more: list[dict[str, Any]] = []
    for n in range(1, days):
        for row in rows:
            frozen = row["event_json"]
            for each in ids:
                frozen = frozen.replace(f'"{each}"', f'"{each}-{n}"')
            moved = {"run_id": row["run_id"] + n * stride["runs"], "event_row": row["event_row"] + n * stride["events"]}
            more.append({**row, **moved, "event_json": frozen})
    connection.execute(Row.metadata.tables["run_events"].insert(), more)


def _repeat_prices(connection: Connection, days: int, stride: Mapping[str, int]) -> None:
    paths = Row.metadata.tables["price_paths"]
    rows = connection.execute(select(paths)).all()
    for n in range(1, days):
        more = []
        for row in rows:
            points = unpack_points([row.points])[0].copy()
            points["at"] += n * DAY
            more.append(
                {"instrument_row": row.instrument_row + n * stride["instruments"], "points": pack_points(points)}
            )
        connection.execute(paths.insert(), more)


def test_a_year_of_25_bots_on_10_events_a_day(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "day.toml").write_text(recipe(AGENTS, DRAWING))
    (tmp_path / "next.toml").write_text(recipe(0, AGENTS + DRAWING))
    address = f"sqlite:///{tmp_path}/year.db"

    def used(*command: str) -> str:
        return str(used_by(*command, "--ledger", address, folder=tmp_path, said=tmp_path / "said"))

    asked = ("--events", str(EVENTS), "--min-volume-24h", "0")
    first = used("decide", "day.toml", *asked, "--as-of", "2026-01-05")
    used("track", "--as-of", "2026-03-01")
    with Store.open(address) as store:
        with store.write() as connection:
            repeat_first_day(connection, DAYS)
        stats = ledger_stats(store)
    (tmp_path / "empty").mkdir()
    fresh = used_by(
        "decide",
        "next.toml",
        *asked,
        "--ledger",
        f"sqlite:///{tmp_path}/empty/0.db",
        folder=tmp_path,
        said=tmp_path / "said",
    )
    decided = used("decide", "next.toml", *asked)
    again = used("decide", "next.toml", *asked)
    evaluate = ("evaluate", "--no-track", "--as-of", "2027-03-01")
    cold, kept = used(*evaluate), used(*evaluate)
    status = used("status")
    backup = used("ledger", "backup", "backup.db")
    with capsys.disabled():
        print(f"\na year of {AGENTS + DRAWING} bots on {EVENTS} events a day; load {os.getloadavg()[0]:.1f}")
        for each in stats.held:
            size = "?" if each.bytes_each is None else f"{each.bytes_each:,.0f}"
            print(f"  {each.rows:>9,} {each.name:16} {size:>9} bytes each")
        print(f"  the database: {stats.database_bytes / 1e6:,.0f} MB")
        print(f"  the first day, with {AGENTS} agents: {first}")
        print(f"  decide, 25 bots that ask no model, on an empty ledger: {fresh}; on a year: {decided} (aim 5 s)")
        print(f"  decide again, with nothing left to do: {again}")
        print(f"  evaluate, after that day: {cold}; again: {kept} (aim 5 s)")
        print(f"  status: {status} (aim 1 s)")
        print(f"  backup, rows of the year and traces and pages of a day: {backup}")
