"""Ledgers as older versions of predibot had them, with the rows of a current one as far as they had a place."""

from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, MetaData, create_engine, insert, make_url, select, text

import predibot.ledger
from predibot.ledger.schema.packed_points import SOURCES, unpacked_points

KEPT = frozenset({"alembic_version", "changes", "run_packs", "memos"})
"""Made by the database, or from the other rows."""
FORMER = {
    "tasks": "SELECT t.*, kind AS subject_kind, subject_id FROM tasks t JOIN subjects s ON s.id = t.subject_row",
    "decisions": "SELECT d.*, kind AS subject_kind, subject_id, event_row"
    " FROM decisions d JOIN subjects s ON s.id = d.subject_row",
    "bets": "SELECT decision_id, market_row, price AS price_yes, price_source,"
    " CASE side_of WHEN 'NO' THEN -COALESCE(asked, amount) ELSE COALESCE(asked, amount) END AS asked_usd,"
    " CASE side_of WHEN 'NO' THEN -amount ELSE amount END AS booked_usd"
    " FROM (SELECT o.*, i.market_row, i.side AS side_of FROM orders o JOIN instruments i ON i.id = o.instrument_row) b",
    "fills": "SELECT f.*, instrument_row FROM fills f"
    " JOIN orders o ON o.decision_id = f.decision_id AND o.number = f.order_number",
}
"""What a former table had, of the tables that its rows are in now."""


def engine_of(address: str) -> Engine:
    """Return an engine that knows nothing of ledgers."""
    url = make_url(address)
    return create_engine(url.set(drivername="postgresql+psycopg") if url.host or "postgres" in address else url)


def make_tables(address: str, version: str) -> None:
    """Bring a database without tables to a version."""
    engine = engine_of(address)
    with engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(Path(predibot.ledger.__file__).parent / "migrations"))
        config.attributes["connection"] = connection
        command.upgrade(config, version)
    engine.dispose()


def write_older(current: str, older: str, version: str) -> None:
    """Write the rows of a current ledger into a new one of an older version."""
    make_tables(older, version)
    source, target = engine_of(current), engine_of(older)
    new, old = MetaData(), MetaData()
    with source.connect() as reading, target.begin() as writing:
        new.reflect(reading)
        old.reflect(writing)
        for table in old.sorted_tables:
            rows: list[dict[str, Any]] = []
            if table.name == "observations":
                rows = [*_observations(reading.execute(text("SELECT instrument_row, points FROM price_paths")))]
            elif table.name in FORMER and version < "0009":
                known = [column.name for column in table.c]
                found = reading.execute(text(FORMER[table.name])).mappings()
                rows = [{name: row[name] for name in known if name in row} for row in found]
            elif table.name in new.tables and table.name not in KEPT:
                there = new.tables[table.name]
                columns = [there.c[each.name] for each in table.c if each.name in there.c]
                rows = [dict(row) for row in reading.execute(select(*columns)).mappings()]
            if rows:
                writing.execute(insert(table), rows)
    source.dispose()
    target.dispose()


def _observations(paths: Any) -> Any:
    for row, blob in paths:
        points, _ = unpacked_points([bytes(blob)])
        for at, source, price in points.tolist():
            yield {"instrument_row": row, "at": at, "source": SOURCES[source], "price": price}
