"""Prices packed an instrument, decisions packed a run, and the count of changes by which a pack is known to be old."""

import struct
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_POINT = struct.Struct("<qBd")
_SOURCES = {"history": 0, "quote": 1}
_OF_DECISION = "(SELECT run_id FROM decisions WHERE id = {row}.decision_id)"
_SCOPES = {
    **dict.fromkeys(("runs", "events", "run_events", "markets", "instruments", "price_paths", "resolutions"), "0"),
    **dict.fromkeys(("bots", "decisions"), "{row}.run_id"),
    **dict.fromkeys(("forecasts", "bets", "quotes"), _OF_DECISION),
}
"""Where a change of each table is counted."""
_NEW_RUN = (
    "INSERT INTO changes (scope, number) SELECT NEW.id, 0"
    " WHERE NOT EXISTS (SELECT 1 FROM changes WHERE scope = NEW.id);"
)


def upgrade() -> None:
    """Make the tables, pack the prices there are, and have the database count every change from now on."""
    op.create_table(
        "price_paths",
        sa.Column("instrument_row", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("points", sa.LargeBinary(), nullable=False),
        sa.CheckConstraint(f"length(points) % {_POINT.size} = 1", name=op.f("ck_price_paths_points_whole")),
        sa.ForeignKeyConstraint(["instrument_row"], ["instruments.id"], name=op.f("fk_price_paths_instrument_row")),
        sa.PrimaryKeyConstraint("instrument_row", name=op.f("pk_price_paths")),
    )
    op.create_table(
        "changes",
        sa.Column("scope", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("counted_by", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("scope", name=op.f("pk_changes")),
    )
    op.create_table(
        "run_packs",
        sa.Column("run_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("change", sa.BigInteger(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_run_packs")),
    )
    op.create_table(
        "memos",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_memos")),
        sa.UniqueConstraint("key", name=op.f("uq_memos_key")),
    )
    connection = op.get_bind()
    _pack_prices(connection)
    op.drop_table("observations")
    op.execute("INSERT INTO changes (scope, number) SELECT 0, 0 UNION ALL SELECT id, 0 FROM runs")
    count = _count_on_a_server if connection.dialect.name == "postgresql" else _count_in_a_file
    for table, scope in _SCOPES.items():
        count(table, scope)


def _pack_prices(connection: sa.Connection) -> None:
    """Move all rows, one instrument after the other, so that no more than its prices are in memory."""
    rows = connection.execute(sa.text("SELECT DISTINCT instrument_row FROM observations")).scalars().all()
    seen = sa.text("SELECT at, source, price FROM observations WHERE instrument_row = :row ORDER BY at, source")
    put = sa.text("INSERT INTO price_paths (instrument_row, points) VALUES (:row, :points)")
    for row in rows:
        found: Any = connection.execute(seen, {"row": row})
        points = b"".join(_POINT.pack(at, _SOURCES[source], price) for at, source, price in found)
        connection.execute(put, {"row": row, "points": b"\x01" + points})


def _count_in_a_file(table: str, scope: str) -> None:
    # An update, which no OR REPLACE of the statement that fires this turns into something else.
    more = "UPDATE changes SET number = number + 1 WHERE scope = {scope};"
    rows = {"INSERT": ("NEW",), "UPDATE": ("OLD", "NEW"), "DELETE": ("OLD",)}
    for change, named in rows.items():
        counted = dict.fromkeys(more.format(scope=scope.format(row=row)) for row in named)
        first = _NEW_RUN if (table, change) == ("runs", "INSERT") else ""
        name = f"changes_of_{table}_{change.lower()}"
        op.execute(f"CREATE TRIGGER {name} AFTER {change} ON {table} BEGIN {first} {' '.join(counted)} END")


def _count_on_a_server(table: str, scope: str) -> None:
    """Count at the end of a transaction, so that none waits for the count and then for another that waits for it.

    A later migration that writes to a table and then alters it says SET CONSTRAINTS ALL IMMEDIATE in between.
    """
    more = (
        "INSERT INTO changes (scope, number, counted_by) VALUES (COALESCE({scope}, 0), 1, txid_current())"
        " ON CONFLICT (scope) DO UPDATE SET number = changes.number + 1, counted_by = txid_current()"
        " WHERE changes.counted_by IS DISTINCT FROM txid_current();"
    )
    new, old = (more.format(scope=scope.format(row=row)) for row in ("NEW", "OLD"))
    first = f"IF TG_OP = 'INSERT' THEN {_NEW_RUN} END IF;" if table == "runs" else ""
    op.execute(
        f"CREATE FUNCTION changes_of_{table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {first}"
        f" IF TG_OP <> 'DELETE' THEN {new} END IF; IF TG_OP <> 'INSERT' THEN {old} END IF; RETURN NULL; END $$"
    )
    op.execute(
        f"CREATE CONSTRAINT TRIGGER changes_of_{table} AFTER INSERT OR UPDATE OR DELETE ON {table}"
        f" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION changes_of_{table}()"
    )
    op.execute(
        f"CREATE FUNCTION changes_of_all_{table}() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN UPDATE changes SET number = number + 1; RETURN NULL; END $$"
    )
    op.execute(
        f"CREATE TRIGGER changes_of_all_{table} AFTER TRUNCATE ON {table}"
        f" FOR EACH STATEMENT EXECUTE FUNCTION changes_of_all_{table}()"
    )
