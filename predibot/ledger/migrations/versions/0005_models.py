"""What verdicts rest on: which models were opened for a decision, and whose decisions a bot pools."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Remember the models of a decision and the members of a bot; of those before, nobody wrote them down."""
    op.add_column("decisions", sa.Column("models_json", sa.Text(), nullable=True))
    op.add_column("bots", sa.Column("members_json", sa.Text(), nullable=True))
