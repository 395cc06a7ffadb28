"""Markets of more than two outcomes: their names, which instrument is which, and what each paid."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Add what markets of two outcomes have none of: all that is stored stays as it is."""
    op.add_column("markets", sa.Column("outcomes_json", sa.Text(), nullable=True))
    op.add_column("instruments", sa.Column("outcome", sa.Integer(), nullable=True))
    op.add_column("resolutions", sa.Column("payouts_json", sa.Text(), nullable=True))
