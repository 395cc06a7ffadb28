"""Decisions that failed because no answer of a model could be taken."""

from alembic import op

revision = "0016"
down_revision = "0015"

_NAME = op.f("ck_decisions_reason_kind_known")
_OLD, _NEW = "'bot', 'budget', 'members'", "'bot', 'budget', 'members', 'answer'"


def upgrade() -> None:
    """Allow one more kind of reason; no row changes.

    Source: SQLite's "Making Other Kinds Of Table Schema Changes" (lang_altertable): a rule that all stored rows keep
    may be changed where the table is described.
    """
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        op.drop_constraint(_NAME, "decisions")
        op.create_check_constraint(_NAME, "decisions", f"reason_kind IN ({_NEW})")
        return
    connection.exec_driver_sql("PRAGMA writable_schema=ON")
    connection.exec_driver_sql(
        "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE type = 'table' AND name = 'decisions'", (_OLD, _NEW)
    )
    connection.exec_driver_sql("PRAGMA writable_schema=RESET")
