"""Traces and pages of a ledger that has no folder beside it, by the hash of their content."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Make the table; what was kept in files so far is read from there."""
    op.create_table(
        "artefacts",
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("sha256", name=op.f("pk_artefacts")),
    )
