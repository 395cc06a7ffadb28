"""What `track` brings home: price observations and resolutions."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the tables that tracking needs, and remember how far each price path was read."""
    op.add_column("instruments", sa.Column("tracked_from", sa.BigInteger(), nullable=True))
    op.add_column("instruments", sa.Column("tracked_until", sa.BigInteger(), nullable=True))
    op.create_table(
        "resolutions",
        sa.Column("market_row", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("payout_yes", sa.Float(), nullable=False),
        sa.Column("settled_at", sa.BigInteger(), nullable=False),
        sa.Column("settled_source", sa.Text(), nullable=False),
        sa.Column("effective_at", sa.BigInteger(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "settled_source IN ('venue', 'first_sight')", name=op.f("ck_resolutions_settled_source_known")
        ),
        sa.CheckConstraint("payout_yes >= 0 AND payout_yes <= 1", name=op.f("ck_resolutions_payout_yes_in_unit")),
        sa.ForeignKeyConstraint(["market_row"], ["markets.id"], name=op.f("fk_resolutions_market_row")),
        sa.PrimaryKeyConstraint("market_row", "revision", name=op.f("pk_resolutions")),
    )
    op.create_table(
        "observations",
        sa.Column("instrument_row", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("price", sa.Float(), nullable=False),
        sa.CheckConstraint("source IN ('history', 'quote')", name=op.f("ck_observations_source_known")),
        sa.CheckConstraint("price >= 0 AND price <= 1", name=op.f("ck_observations_price_in_unit")),
        sa.ForeignKeyConstraint(["instrument_row"], ["instruments.id"], name=op.f("fk_observations_instrument_row")),
        sa.PrimaryKeyConstraint("instrument_row", "at", "source", name=op.f("pk_observations")),
        sqlite_with_rowid=False,
    )
