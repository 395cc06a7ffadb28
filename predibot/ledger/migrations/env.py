"""What alembic runs: it migrates on the connection it is handed, inside that connection's transaction."""

import sqlmodel
from alembic import context

from predibot.ledger.schema.tables import Row

__all__ = ["sqlmodel"]

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Row.metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
