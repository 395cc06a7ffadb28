"""Schedules, what became of each of their slots, who runs them, and until when a decision of a run counts."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

_STATUSES = "'running', 'done', 'partly', 'failed', 'missed'"


def upgrade() -> None:
    """Make the tables; runs that are there have no deadline."""
    op.add_column("runs", sa.Column("deadline_at", sa.BigInteger(), nullable=True))
    op.create_table(
        "schedules",
        sa.Column("recipe", sa.Text(), nullable=False),
        sa.Column("argument", sa.Text(), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.Column("paused_at", sa.BigInteger(), nullable=True),
        sa.Column("tracked_at", sa.BigInteger(), nullable=True),
        sa.Column("evaluated_at", sa.BigInteger(), nullable=True),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("recipe", name=op.f("pk_schedules")),
    )
    op.create_table(
        "slots",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("recipe", sa.Text(), nullable=False),
        sa.Column("slot_at", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.Column("next_try_at", sa.BigInteger(), nullable=True),
        sa.Column("run_key", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.CheckConstraint(f"status IN ({_STATUSES})", name=op.f("ck_slots_status_known")),
        sa.CheckConstraint("(status = 'missed') = (started_at IS NULL)", name=op.f("ck_slots_missed_never_started")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_slots")),
        sa.UniqueConstraint("recipe", "slot_at", name=op.f("uq_slots_recipe_slot_at")),
    )
    op.create_table(
        "services",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("lease_until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_services")),
    )
