"""What all processes of a ledger share of a host: when it may be asked again, and how often at once."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Make the tables of paces and permits."""
    op.create_table(
        "paces",
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("free_at", sa.BigInteger(), nullable=False),
        sa.Column("at_once", sa.Float(), nullable=True),
        sa.Column("lowered_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("host", name=op.f("pk_paces")),
    )
    op.create_table(
        "permits",
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("held", sa.Integer(), nullable=False),
        sa.Column("wanted", sa.Integer(), nullable=False),
        sa.Column("lease_until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("host", "owner", name=op.f("pk_permits")),
    )
