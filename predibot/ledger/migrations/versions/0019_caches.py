"""Evaluations are kept in a folder of their user's, no longer in the ledger."""

from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    """Drop what the next evaluation works out anew."""
    op.drop_table("run_packs")
    op.drop_table("memos")
