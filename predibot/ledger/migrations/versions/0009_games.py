"""What several games need: subjects, bounds of prices, orders in place of bets, labels, accounts and what they hold."""

import sqlalchemy as sa
from alembic import op

from predibot.ledger.schema.change_counts import OF_DECISION, OF_NO_RUN, OF_RUN, count_changes, count_for_all_runs

revision = "0009"
down_revision = "0008"

_COUNTED = {
    **dict.fromkeys(("runs", "events", "run_events", "markets"), OF_NO_RUN),
    **dict.fromkeys(("instruments", "price_paths", "resolutions"), OF_NO_RUN),
    **dict.fromkeys(("bots", "decisions"), OF_RUN),
    **dict.fromkeys(("forecasts", "orders", "quotes"), OF_DECISION),
}
"""Where a change of each table is counted; a file has to be told anew, as its triggers name tables that are remade."""
_OF_EVENTS = "e.venue = r.venue_name AND e.event_id = t.subject_id AND t.subject_kind = 'event'"
_SUBJECTS = f"""
    INSERT INTO subjects (venue, kind, subject_id, event_row)
    SELECT r.venue_name, t.subject_kind, t.subject_id, max(COALESCE(d.event_row, e.id))
    FROM tasks t JOIN runs r ON r.id = t.run_id
    LEFT JOIN decisions d ON d.task_id = t.id LEFT JOIN events e ON {_OF_EVENTS}
    GROUP BY r.venue_name, t.subject_kind, t.subject_id ORDER BY min(t.id)
"""
_SUBJECT_OF = """
    (SELECT s.id FROM subjects s JOIN runs r ON r.venue_name = s.venue
     WHERE r.id = {table}.run_id AND s.kind = {table}.subject_kind AND s.subject_id = {table}.subject_id)
"""
# A bet of nothing has no side; it is an order of YES. A bet with a fill is on what was bought: a market that was
# listed before it had tokens has several instruments a side.
_SIDE = "CASE WHEN b.booked_usd < 0 OR (b.booked_usd = 0 AND b.asked_usd < 0) THEN 'NO' ELSE 'YES' END"
_SIGN = "CASE WHEN b.booked_usd < 0 OR (b.booked_usd = 0 AND b.asked_usd < 0) THEN -1.0 ELSE 1.0 END"
_ORDERS = f"""
    INSERT INTO orders (decision_id, number, instrument_row, side, unit, asked, amount, status, price, price_source)
    SELECT b.decision_id, row_number() OVER (PARTITION BY b.decision_id ORDER BY b.market_row),
        COALESCE(
            (SELECT min(i.id) FROM former_fills f JOIN instruments i ON i.id = f.instrument_row
             WHERE f.decision_id = b.decision_id AND i.market_row = b.market_row AND i.side = {_SIDE}),
            (SELECT min(i.id) FROM instruments i WHERE i.market_row = b.market_row AND i.side = {_SIDE})),
        'buy', 'usd', CASE WHEN b.asked_usd <> b.booked_usd THEN {_SIGN} * b.asked_usd END, {_SIGN} * b.booked_usd,
        'filled', b.price_yes, b.price_source
    FROM bets b
"""
_FILLS = """
    INSERT INTO fills (decision_id, number, order_number, shares, price, fee_usd, cash_usd, model)
    SELECT f.decision_id, f.number, o.number, f.shares, f.price, f.fee_usd, f.cash_usd, 'mid' FROM former_fills f
    LEFT JOIN orders o ON o.decision_id = f.decision_id AND o.instrument_row = f.instrument_row
"""


def upgrade() -> None:
    """Make the tables, turn bets into orders and their fills into fills of these, and forget what was packed."""
    is_server = op.get_bind().dialect.name == "postgresql"
    if not is_server:
        _drop_triggers()
    _bound_prices()
    _make_subjects()
    (_refer_on_a_server if is_server else _refer_in_a_file)()
    _turn_bets_into_orders(is_server=is_server)
    _make_labels_and_accounts()
    for table in ("run_packs", "memos"):
        op.execute(f"DELETE FROM {table}")
    for table, scope in _COUNTED.items():
        if not is_server or table == "orders":
            count_changes(op.get_bind(), table, scope)
    count_for_all_runs(op.get_bind(), "instruments", "market_row", "side")
    count_for_all_runs(op.get_bind(), "subjects", "venue", "kind", "subject_id", "event_row")
    op.execute("UPDATE changes SET number = number + 1")


def _drop_triggers() -> None:
    """Take ours off a file: a table is not renamed while one of them names it."""
    names = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'changes\\_of\\_%' ESCAPE '\\'"
    for name in op.get_bind().exec_driver_sql(names).scalars().all():
        quoted = name.replace('"', '""')
        op.get_bind().exec_driver_sql(f'DROP TRIGGER "{quoted}"')


def _bound_prices() -> None:
    whole = sa.CheckConstraint(
        "highest_price IS NULL OR highest_price > lowest_price", name=op.f("ck_instruments_price_bound_whole")
    )
    op.add_column("instruments", sa.Column("currency", sa.Text(), nullable=False, server_default="USD"))
    op.add_column("instruments", sa.Column("lowest_price", sa.Float(), nullable=False, server_default=sa.text("0")))
    op.add_column("instruments", sa.Column("highest_price", sa.Float(), whole, nullable=True))
    op.execute("UPDATE instruments SET highest_price = 1 WHERE kind = 'binary_outcome'")


def _make_subjects() -> None:
    op.create_table(
        "subjects",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("venue", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject_id", sa.Text(), nullable=False),
        sa.Column("event_row", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["event_row"], ["events.id"], name=op.f("fk_subjects_event_row")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_subjects")),
        sa.UniqueConstraint("venue", "kind", "subject_id", name=op.f("uq_subjects_venue_kind_subject_id")),
    )
    op.create_index("ix_subjects_event_row", "subjects", ["event_row"])
    op.execute(_SUBJECTS)


def _refer_on_a_server() -> None:
    for table in ("tasks", "decisions"):
        op.add_column(table, sa.Column("subject_row", sa.Integer(), nullable=True))
        op.execute(f"UPDATE {table} SET subject_row = {_SUBJECT_OF.format(table=table)}")
    op.execute("SET CONSTRAINTS ALL IMMEDIATE")
    for table in ("tasks", "decisions"):
        op.alter_column(table, "subject_row", nullable=False)
        op.create_foreign_key(op.f(f"fk_{table}_subject_row"), table, "subjects", ["subject_row"], ["id"])
        op.create_index(f"ix_{table}_subject_row", table, ["subject_row"])
        op.drop_column(table, "subject_kind")
        op.drop_column(table, "subject_id")
    op.drop_column("tasks", "waits_for")
    op.drop_column("decisions", "event_row")
    op.create_unique_constraint(
        op.f("uq_tasks_run_id_bot_id_subject_row"), "tasks", ["run_id", "bot_id", "subject_row"]
    )
    op.drop_constraint(op.f("ck_decisions_recorded_is_booked"), "decisions")
    op.create_check_constraint(
        op.f("ck_decisions_recorded_is_booked"), "decisions", "unallocated_usd IS NULL OR status = 'recorded'"
    )


def _refer_in_a_file() -> None:
    """Make both tables anew, as SQLite lets go of no column that a rule names; other tables name them as before."""
    op.create_table(
        "new_tasks",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("subject_row", sa.Integer(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("token", sa.Text(), nullable=True),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("next_try_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("(status = 'claimed') = (token IS NOT NULL)", name=op.f("ck_tasks_claimed_has_token")),
        sa.CheckConstraint(
            "status IN ('open', 'claimed', 'recorded', 'refused', 'failed', 'abstained')",
            name=op.f("ck_tasks_status_known"),
        ),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_tasks_bot_id")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_tasks_run_id")),
        sa.ForeignKeyConstraint(["subject_row"], ["subjects.id"], name=op.f("fk_tasks_subject_row")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tasks")),
        sa.UniqueConstraint("run_id", "bot_id", "subject_row", name=op.f("uq_tasks_run_id_bot_id_subject_row")),
    )
    op.create_table(
        "new_decisions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("subject_row", sa.Integer(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("decided_at", sa.BigInteger(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("rationale", sa.Text(), nullable=False),
        sa.Column("notes_json", sa.Text(), nullable=False),
        sa.Column("unallocated_usd", sa.Float(), nullable=True),
        sa.Column("stated_unallocated_usd", sa.Float(), nullable=True),
        sa.Column("scale", sa.Float(), nullable=False),
        sa.Column("cost_usd", sa.Float(), nullable=True),
        sa.Column("cost_known_usd", sa.Float(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("trace_sha256", sa.Text(), nullable=True),
        sa.Column("models_json", sa.Text(), nullable=True),
        sa.Column("reason_kind", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "unallocated_usd IS NULL OR status = 'recorded'", name=op.f("ck_decisions_recorded_is_booked")
        ),
        sa.CheckConstraint(
            "status IN ('recorded', 'refused', 'failed', 'abstained')", name=op.f("ck_decisions_status_known")
        ),
        sa.CheckConstraint("cost_known_usd >= 0", name=op.f("ck_decisions_cost_not_negative")),
        sa.CheckConstraint(
            "unallocated_usd IS NULL OR unallocated_usd >= 0", name=op.f("ck_decisions_unallocated_not_negative")
        ),
        sa.CheckConstraint("reason_kind IN ('bot', 'budget', 'members')", name=op.f("ck_decisions_reason_kind_known")),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_decisions_bot_id")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_decisions_run_id")),
        sa.ForeignKeyConstraint(["subject_row"], ["subjects.id"], name=op.f("fk_decisions_subject_row")),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_decisions_task_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_decisions")),
        sa.UniqueConstraint("task_id", name=op.f("uq_decisions_task_id")),
    )
    kept = {
        "tasks": "id, run_id, bot_id, {subject}, status, failures, token, owner, lease_until, next_try_at",
        "decisions": "id, task_id, run_id, bot_id, {subject}, status, decided_at, message, rationale, notes_json,"
        " unallocated_usd, stated_unallocated_usd, scale, cost_usd, cost_known_usd, seconds, trace_sha256,"
        " models_json, reason_kind",
    }
    for table, columns in kept.items():
        old, new = columns.format(subject=_SUBJECT_OF.format(table=table)), columns.format(subject="subject_row")
        op.execute(f"INSERT INTO new_{table} ({new}) SELECT {old} FROM {table}")
    for table, indexed in {"decisions": ("bot_id", "run_id"), "tasks": ("bot_id",)}.items():
        op.drop_table(table)
        op.rename_table(f"new_{table}", table)
        for column in (*indexed, "subject_row"):
            op.create_index(f"ix_{table}_{column}", table, [column])


def _turn_bets_into_orders(*, is_server: bool) -> None:
    op.create_table(
        "orders",
        sa.Column("decision_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("instrument_row", sa.Integer(), nullable=False),
        sa.Column("side", sa.Text(), nullable=False),
        sa.Column("unit", sa.Text(), nullable=False),
        sa.Column("asked", sa.Float(), nullable=True),
        sa.Column("amount", sa.Float(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("price", sa.Float(), nullable=True),
        sa.Column("price_source", sa.Text(), nullable=True),
        sa.Column("note", sa.Text(), nullable=True),
        sa.CheckConstraint("side IN ('buy', 'sell')", name=op.f("ck_orders_side_known")),
        sa.CheckConstraint("unit IN ('usd', 'shares', 'weight')", name=op.f("ck_orders_unit_known")),
        sa.CheckConstraint(
            "status IN ('pending', 'filled', 'expired', 'replaced')", name=op.f("ck_orders_status_known")
        ),
        sa.CheckConstraint(
            "price_source IN ('mid', 'displayed', 'last', 'history')", name=op.f("ck_orders_price_source_known")
        ),
        sa.CheckConstraint("price > 0", name=op.f("ck_orders_price_usable")),
        sa.CheckConstraint("(price IS NULL) = (price_source IS NULL)", name=op.f("ck_orders_price_has_source")),
        sa.ForeignKeyConstraint(["decision_id"], ["decisions.id"], name=op.f("fk_orders_decision_id")),
        sa.ForeignKeyConstraint(["instrument_row"], ["instruments.id"], name=op.f("fk_orders_instrument_row")),
        sa.PrimaryKeyConstraint("decision_id", "number", name=op.f("pk_orders")),
        sqlite_with_rowid=False,
    )
    op.rename_table("fills", "former_fills")
    if is_server:
        # The names of rules are those of a table in a file, and of all tables on a server.
        op.execute("ALTER TABLE former_fills RENAME CONSTRAINT pk_fills TO pk_former_fills")
    op.create_table(
        "fills",
        sa.Column("decision_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("order_number", sa.Integer(), nullable=False),
        sa.Column("shares", sa.Float(), nullable=False),
        sa.Column("price", sa.Float(), nullable=False),
        sa.Column("fee_usd", sa.Float(), nullable=False),
        sa.Column("cash_usd", sa.Float(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.CheckConstraint("fee_usd >= 0", name=op.f("ck_fills_fee_not_negative")),
        sa.CheckConstraint("price >= 0", name=op.f("ck_fills_price_not_negative")),
        sa.CheckConstraint("shares <> 0", name=op.f("ck_fills_shares_not_zero")),
        sa.ForeignKeyConstraint(
            ["decision_id", "order_number"],
            ["orders.decision_id", "orders.number"],
            name=op.f("fk_fills_decision_id_order_number"),
        ),
        sa.PrimaryKeyConstraint("decision_id", "number", name=op.f("pk_fills")),
        sqlite_with_rowid=False,
    )
    op.execute(_ORDERS)
    op.execute(_FILLS)
    op.drop_table("former_fills")
    op.drop_table("bets")
    op.create_index("ix_orders_instrument_row", "orders", ["instrument_row"])
    if is_server:
        for function in ("changes_of_bets", "changes_of_all_bets"):
            op.execute(f"DROP FUNCTION {function}()")


def _make_labels_and_accounts() -> None:
    op.create_table(
        "labels",
        sa.Column("decision_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("probabilities_json", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["decision_id"], ["decisions.id"], name=op.f("fk_labels_decision_id")),
        sa.PrimaryKeyConstraint("decision_id", "number", name=op.f("pk_labels")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "accounts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("recipe", sa.Text(), nullable=False),
        sa.Column("game", sa.Text(), nullable=False),
        sa.Column("mode", sa.Text(), nullable=False),
        sa.Column("bot", sa.Text(), nullable=False),
        sa.Column("subject_row", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=True),
        sa.Column("slot_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("mode IN ('live', 'replay')", name=op.f("ck_accounts_mode_known")),
        sa.ForeignKeyConstraint(["subject_row"], ["subjects.id"], name=op.f("fk_accounts_subject_row")),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_accounts_task_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_accounts")),
        sa.UniqueConstraint(
            "recipe", "game", "mode", "bot", "subject_row", name=op.f("uq_accounts_recipe_game_mode_bot_subject_row")
        ),
    )
    for name in ("subject_row", "task_id"):
        op.create_index(f"ix_accounts_{name}", "accounts", [name])
    op.create_table(
        "journal",
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("instrument_row", sa.Integer(), nullable=True),
        sa.Column("shares", sa.Float(), nullable=False),
        sa.Column("cash_usd", sa.Float(), nullable=False),
        sa.Column("decision_id", sa.Integer(), nullable=True),
        sa.Column("market_row", sa.Integer(), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=True),
        sa.CheckConstraint(
            "kind IN ('deposit', 'fill', 'fee', 'settlement', 'reversal', 'refund', 'split', 'dividend', 'delisting')",
            name=op.f("ck_journal_kind_known"),
        ),
        sa.CheckConstraint("shares = 0 OR instrument_row IS NOT NULL", name=op.f("ck_journal_shares_are_of_something")),
        sa.CheckConstraint("decision_id IS NULL OR market_row IS NULL", name=op.f("ck_journal_follows_from_one_thing")),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_journal_account_id")),
        sa.ForeignKeyConstraint(["decision_id"], ["decisions.id"], name=op.f("fk_journal_decision_id")),
        sa.ForeignKeyConstraint(["instrument_row"], ["instruments.id"], name=op.f("fk_journal_instrument_row")),
        sa.ForeignKeyConstraint(
            ["market_row", "revision"],
            ["resolutions.market_row", "resolutions.revision"],
            name=op.f("fk_journal_market_row_revision"),
        ),
        sa.PrimaryKeyConstraint("account_id", "number", name=op.f("pk_journal")),
        sqlite_with_rowid=False,
    )
    for name in ("decision_id", "instrument_row"):
        op.create_index(f"ix_journal_{name}", "journal", [name])
    op.create_index("ix_journal_market_row_revision", "journal", ["market_row", "revision"])
    op.create_table(
        "valuations",
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("journal_number", sa.Integer(), nullable=False),
        sa.Column("cash_usd", sa.Float(), nullable=False),
        sa.Column("value_usd", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_valuations_account_id")),
        sa.ForeignKeyConstraint(
            ["account_id", "journal_number"],
            ["journal.account_id", "journal.number"],
            name=op.f("fk_valuations_account_id_journal_number"),
        ),
        sa.PrimaryKeyConstraint("account_id", "at", "revision", name=op.f("pk_valuations")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "marks",
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("instrument_row", sa.Integer(), nullable=False),
        sa.Column("price", sa.Float(), nullable=False),
        sa.Column("priced_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("price >= 0", name=op.f("ck_marks_price_not_negative")),
        sa.ForeignKeyConstraint(
            ["account_id", "at", "revision"],
            ["valuations.account_id", "valuations.at", "valuations.revision"],
            name=op.f("fk_marks_account_id_at_revision"),
        ),
        sa.ForeignKeyConstraint(["instrument_row"], ["instruments.id"], name=op.f("fk_marks_instrument_row")),
        sa.PrimaryKeyConstraint("account_id", "at", "revision", "instrument_row", name=op.f("pk_marks")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_marks_instrument_row", "marks", ["instrument_row"])
