"""When a failed decision is tried again, and why a bot abstained."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Keep the pause before the next try with its task, and the kind of reason with an abstention."""
    op.add_column("tasks", sa.Column("next_try_at", sa.BigInteger(), nullable=True))
    kinds = sa.CheckConstraint(
        "reason_kind IN ('bot', 'budget', 'members')", name=op.f("ck_decisions_reason_kind_known")
    )
    # SQLite takes a new column with its rule, but no new rule on a table.
    op.add_column("decisions", sa.Column("reason_kind", sa.Text(), kinds, nullable=True))
