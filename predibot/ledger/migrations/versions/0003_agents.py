"""What agents leave behind: their models, what they searched and read, and what they spent."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make the tables that agents need, and remember the model behind a bot."""
    op.add_column("bots", sa.Column("model", sa.Text(), nullable=True))
    op.add_column("bots", sa.Column("knowledge_cutoff", sa.Text(), nullable=True))
    op.create_table(
        "sources",
        sa.Column("decision_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("final_url", sa.Text(), nullable=True),
        sa.Column("sha256", sa.Text(), nullable=True),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("published_at", sa.BigInteger(), nullable=True),
        sa.Column("results", sa.Integer(), nullable=True),
        sa.CheckConstraint("kind IN ('search', 'page')", name=op.f("ck_sources_kind_known")),
        sa.CheckConstraint("results IS NULL OR results >= 0", name=op.f("ck_sources_results_not_negative")),
        sa.ForeignKeyConstraint(["decision_id"], ["decisions.id"], name=op.f("fk_sources_decision_id")),
        sa.PrimaryKeyConstraint("decision_id", "number", name=op.f("pk_sources")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "spending",
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("usd", sa.BigInteger(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.Column("steps", sa.BigInteger(), nullable=False),
        sa.Column("searches", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("account", name=op.f("pk_spending")),
    )
