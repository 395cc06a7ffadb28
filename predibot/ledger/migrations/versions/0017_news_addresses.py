"""Where each piece of news was found."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Add the address, which news found before this have none of."""
    op.add_column("news", sa.Column("url", sa.Text(), nullable=True))
