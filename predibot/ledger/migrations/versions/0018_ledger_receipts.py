"""Receipts over what is written after a run's decisions, and of which runs a receipt is expected."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """Make table and columns; a run without a receipt is of an older ledger, and none is expected of it."""
    op.create_table(
        "ledger_receipts",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("form", sa.Integer(), nullable=False),
        sa.Column("root", sa.Text(), nullable=False),
        sa.Column("made_at", sa.BigInteger(), nullable=False),
        sa.Column("rows_packed", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_ledger_receipts")),
    )
    op.add_column("price_paths", sa.Column("receipts", sa.LargeBinary(), nullable=True))
    op.execute(
        "ALTER TABLE runs ADD COLUMN receipted TEXT"
        " CONSTRAINT ck_runs_receipted_known CHECK (receipted IN ('here', 'imported', 'older'))"
    )
    op.execute(
        "UPDATE runs SET receipted = CASE WHEN EXISTS (SELECT 1 FROM receipts WHERE run_id = runs.id)"
        " THEN 'here' ELSE 'older' END"
    )
