"""What weekly cohorts need: the cohorts themselves, and accounts that are of one methodology."""

import sqlalchemy as sa
from alembic import op

from predibot.ledger.schema.change_counts import OF_NO_RUN, count_changes

revision = "0014"
down_revision = "0013"

_ACCOUNTS = "id, recipe, game, mode, bot, subject_row, task_id, slot_at"
_KEY = ("recipe", "game", "mode", "methodology", "bot", "subject_row")


def upgrade() -> None:
    """Make the table of cohorts, and give accounts their methodology, which is none of other games."""
    op.create_table(
        "cohorts",
        sa.Column("id", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("recipe", "game", "mode", "venue", "name")),
        sa.Column("methodology", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("line_up", sa.Text(), nullable=False),
        sa.Column("archived_at", sa.BigInteger(), nullable=True),
        sa.Column("archived_reason", sa.Text(), nullable=True),
        sa.CheckConstraint("mode IN ('live', 'replay')", name=op.f("ck_cohorts_mode_known")),
        sa.CheckConstraint(
            "(archived_at IS NULL) = (archived_reason IS NULL)", name=op.f("ck_cohorts_archived_has_reason")
        ),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_cohorts_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cohorts")),
        sa.UniqueConstraint(
            *("recipe", "game", "mode", "venue", "name", "methodology"),
            name=op.f("uq_cohorts_recipe_game_mode_venue_name_methodology"),
        ),
    )
    op.create_index("ix_cohorts_run_id", "cohorts", ["run_id"])
    if op.get_bind().dialect.name == "postgresql":
        op.drop_constraint("uq_accounts_recipe_game_mode_bot_subject_row", "accounts", type_="unique")
        op.add_column("accounts", sa.Column("methodology", sa.Text(), nullable=False, server_default=sa.text("''")))
        op.create_unique_constraint(f"uq_accounts_{'_'.join(_KEY)}", "accounts", list(_KEY))
    else:
        _remake_accounts()
    count_changes(op.get_bind(), "cohorts", OF_NO_RUN)


def _remake_accounts() -> None:
    """Make the table anew, as SQLite lets no constraint change."""
    op.create_table(
        "new_accounts",
        sa.Column("id", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("recipe", "game", "mode")),
        sa.Column("methodology", sa.Text(), nullable=False, server_default=sa.text("''")),
        sa.Column("bot", sa.Text(), nullable=False),
        sa.Column("subject_row", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=True),
        sa.Column("slot_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("mode IN ('live', 'replay')", name=op.f("ck_accounts_mode_known")),
        sa.ForeignKeyConstraint(["subject_row"], ["subjects.id"], name=op.f("fk_accounts_subject_row")),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_accounts_task_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_accounts")),
        sa.UniqueConstraint(*_KEY, name=op.f(f"uq_accounts_{'_'.join(_KEY)}")),
    )
    op.execute(f"INSERT INTO new_accounts ({_ACCOUNTS}) SELECT {_ACCOUNTS} FROM accounts")
    op.drop_table("accounts")
    op.rename_table("new_accounts", "accounts")
    for name in ("subject_row", "task_id"):
        op.create_index(f"ix_accounts_{name}", "accounts", [name])
