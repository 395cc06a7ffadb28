"""What accounts need as they walk from slot to slot: turns, news, depth, states of marks, refunds, ends of orders."""

import sqlalchemy as sa
from alembic import op

from predibot.ledger.schema.change_counts import OF_NO_RUN, count_changes

revision = "0013"
down_revision = "0012"

_RESOLUTIONS = "market_row, revision, payout_yes, settled_at, settled_source, effective_at, seen_at"


def upgrade() -> None:
    """Make the tables and columns, and let a resolution pay nothing."""
    op.add_column("orders", sa.Column("ended_at", sa.BigInteger(), nullable=True))
    op.add_column("quotes", sa.Column("depth_json", sa.Text(), nullable=True))
    known = sa.CheckConstraint("state IN ('quoted', 'stale', 'closed', 'settled')", name=op.f("ck_marks_state_known"))
    op.add_column("marks", sa.Column("state", sa.Text(), known, nullable=False, server_default="quoted"))
    _make_turns_and_news()
    if op.get_bind().dialect.name == "postgresql":
        op.alter_column("resolutions", "payout_yes", nullable=True)
    else:
        _remake_resolutions()
    for table in ("journal", "valuations", "turns"):
        count_changes(op.get_bind(), table, OF_NO_RUN)


def _make_turns_and_news() -> None:
    op.create_table(
        "turns",
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("slot_at", sa.BigInteger(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("journal_number", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_turns_account_id")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_turns_run_id")),
        sa.ForeignKeyConstraint(
            ["account_id", "journal_number"],
            ["journal.account_id", "journal.number"],
            name=op.f("fk_turns_account_id_journal_number"),
        ),
        sa.PrimaryKeyConstraint("account_id", "slot_at", name=op.f("pk_turns")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_turns_run_id", "turns", ["run_id"])
    op.create_table(
        "news",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("market_row", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("snippet", sa.Text(), nullable=False),
        sa.Column("published_at", sa.BigInteger(), nullable=True),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.CheckConstraint("(number = 0) = (published_at IS NULL)", name=op.f("ck_news_items_are_dated")),
        sa.CheckConstraint("failure IS NULL OR number = 0", name=op.f("ck_news_searches_fail")),
        sa.ForeignKeyConstraint(["market_row"], ["markets.id"], name=op.f("fk_news_market_row")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_news_run_id")),
        sa.PrimaryKeyConstraint("run_id", "market_row", "number", name=op.f("pk_news")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_news_market_row", "news", ["market_row"])


def _remake_resolutions() -> None:
    """Make the table anew, as SQLite lets no column become empty; with it go the triggers that count its changes."""
    op.create_table(
        "new_resolutions",
        sa.Column("market_row", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("payout_yes", sa.Float(), nullable=True),
        sa.Column("settled_at", sa.BigInteger(), nullable=False),
        sa.Column("settled_source", sa.Text(), nullable=False),
        sa.Column("effective_at", sa.BigInteger(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("payout_yes >= 0 AND payout_yes <= 1", name=op.f("ck_resolutions_payout_yes_in_unit")),
        sa.CheckConstraint(
            "settled_source IN ('venue', 'first_sight')", name=op.f("ck_resolutions_settled_source_known")
        ),
        sa.ForeignKeyConstraint(["market_row"], ["markets.id"], name=op.f("fk_resolutions_market_row")),
        sa.PrimaryKeyConstraint("market_row", "revision", name=op.f("pk_resolutions")),
    )
    op.execute(f"INSERT INTO new_resolutions ({_RESOLUTIONS}) SELECT {_RESOLUTIONS} FROM resolutions")
    op.drop_table("resolutions")
    op.rename_table("new_resolutions", "resolutions")
    count_changes(op.get_bind(), "resolutions", OF_NO_RUN)
