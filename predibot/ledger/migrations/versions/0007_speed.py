"""Prices packed an instrument, decisions packed a run, and the count of changes by which a pack is known to be old."""

import struct
from typing import Any

import sqlalchemy as sa
from alembic import op

from predibot.ledger.schema.change_counts import OF_DECISION, OF_NO_RUN, OF_RUN, count_changes

revision = "0007"
down_revision = "0006"

_POINT = struct.Struct("<qBd")
_SOURCES = {"history": 0, "quote": 1}
_SCOPES = {
    **dict.fromkeys(("runs", "events", "run_events", "markets"), OF_NO_RUN),
    **dict.fromkeys(("instruments", "price_paths", "resolutions"), OF_NO_RUN),
    **dict.fromkeys(("bots", "decisions"), OF_RUN),
    **dict.fromkeys(("forecasts", "bets", "quotes"), OF_DECISION),
}
"""Where a change of each table is counted."""


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
    for table, scope in _SCOPES.items():
        count_changes(op.get_bind(), table, scope)


def _pack_prices(connection: sa.Connection) -> None:
    """Move all rows, one instrument after the other, so that no more than its prices are in memory."""
    rows = connection.execute(sa.text("SELECT DISTINCT instrument_row FROM observations")).scalars().all()
    seen = sa.text("SELECT at, source, price FROM observations WHERE instrument_row = :row ORDER BY at, source")
    put = sa.text("INSERT INTO price_paths (instrument_row, points) VALUES (:row, :points)")
    for row in rows:
        found: Any = connection.execute(seen, {"row": row})
        points = b"".join(_POINT.pack(at, _SOURCES[source], price) for at, source, price in found)
        connection.execute(put, {"row": row, "points": b"\x01" + points})
