"""Receipts: the Merkle root of a run's decisions, and the leaves that say which one differs."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Make the table; a run that was decided before has no receipt until somebody decides its slot again."""
    op.create_table(
        "receipts",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("form", sa.Integer(), nullable=False),
        sa.Column("root", sa.Text(), nullable=False),
        sa.Column("made_at", sa.BigInteger(), nullable=False),
        sa.Column("leaves_packed", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_receipts_run_id")),
        sa.PrimaryKeyConstraint("run_id", "number", name=op.f("pk_receipts")),
    )
