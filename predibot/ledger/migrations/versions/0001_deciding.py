"""Runs, what they play, who decides, and what was decided."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables that deciding needs."""
    op.create_table(
        "events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("venue", sa.Text(), nullable=False),
        sa.Column("event_id", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
        sa.UniqueConstraint("venue", "event_id", name=op.f("uq_events_venue_event_id")),
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("recipe", sa.Text(), nullable=False),
        sa.Column("slot_at", sa.BigInteger(), nullable=False),
        sa.Column("as_of", sa.BigInteger(), nullable=False),
        sa.Column("venue", sa.Text(), nullable=False),
        sa.Column("venue_name", sa.Text(), nullable=False),
        sa.Column("game", sa.Text(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("recipe_json", sa.Text(), nullable=False),
        sa.Column("overrides_json", sa.Text(), nullable=False),
        sa.Column("passed_over_json", sa.Text(), nullable=False),
        sa.Column("notes_json", sa.Text(), nullable=False),
        sa.Column("code_version", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("voided_at", sa.BigInteger(), nullable=True),
        sa.Column("void_reason", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
    )
    op.create_index(
        "uq_runs_live_key",
        "runs",
        ["key"],
        unique=True,
        sqlite_where=sa.text("voided_at IS NULL"),
        postgresql_where=sa.text("voided_at IS NULL"),
    )

    op.create_table(
        "bots",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("strategy", sa.Text(), nullable=False),
        sa.Column("arguments_json", sa.Text(), nullable=False),
        sa.Column("source_sha256", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_bots_run_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bots")),
        sa.UniqueConstraint("run_id", "name", name=op.f("uq_bots_run_id_name")),
    )
    op.create_table(
        "markets",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("venue", sa.Text(), nullable=False),
        sa.Column("market_id", sa.Text(), nullable=False),
        sa.Column("event_row", sa.Integer(), nullable=False),
        sa.Column("condition_id", sa.Text(), nullable=True),
        sa.Column("token_ids_json", sa.Text(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["event_row"], ["events.id"], name=op.f("fk_markets_event_row")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_markets")),
        sa.UniqueConstraint("venue", "market_id", name=op.f("uq_markets_venue_market_id")),
    )
    op.create_index("ix_markets_event_row", "markets", ["event_row"])

    op.create_table(
        "run_events",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("event_row", sa.Integer(), nullable=False),
        sa.Column("event_json", sa.Text(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["event_row"], ["events.id"], name=op.f("fk_run_events_event_row")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_run_events_run_id")),
        sa.PrimaryKeyConstraint("run_id", "position", name=op.f("pk_run_events")),
        sa.UniqueConstraint("run_id", "event_row", name=op.f("uq_run_events_run_id_event_row")),
    )
    op.create_table(
        "instruments",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("venue", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("instrument_id", sa.Text(), nullable=False),
        sa.Column("market_row", sa.Integer(), nullable=True),
        sa.Column("side", sa.Text(), nullable=True),
        sa.CheckConstraint("side IN ('YES', 'NO')", name=op.f("ck_instruments_side_known")),
        sa.ForeignKeyConstraint(["market_row"], ["markets.id"], name=op.f("fk_instruments_market_row")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_instruments")),
        sa.UniqueConstraint("venue", "kind", "instrument_id", name=op.f("uq_instruments_venue_kind_instrument_id")),
    )
    op.create_index("ix_instruments_market_row", "instruments", ["market_row"])

    op.create_table(
        "tasks",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("subject_kind", sa.Text(), nullable=False),
        sa.Column("subject_id", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("token", sa.Text(), nullable=True),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("waits_for", sa.Integer(), nullable=True),
        sa.CheckConstraint("(status = 'claimed') = (token IS NOT NULL)", name=op.f("ck_tasks_claimed_has_token")),
        sa.CheckConstraint(
            "status IN ('open', 'claimed', 'recorded', 'refused', 'failed', 'abstained')",
            name=op.f("ck_tasks_status_known"),
        ),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_tasks_bot_id")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_tasks_run_id")),
        sa.ForeignKeyConstraint(["waits_for"], ["tasks.id"], name=op.f("fk_tasks_waits_for")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tasks")),
        sa.UniqueConstraint(
            "run_id",
            "bot_id",
            "subject_kind",
            "subject_id",
            name=op.f("uq_tasks_run_id_bot_id_subject_kind_subject_id"),
        ),
    )
    op.create_index("ix_tasks_bot_id", "tasks", ["bot_id"])
    op.create_index("ix_tasks_waits_for", "tasks", ["waits_for"])

    op.create_table(
        "attempts",
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("message", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "outcome IN ('recorded', 'refused', 'failed', 'abstained', 'interrupted', 'lost')",
            name=op.f("ck_attempts_outcome_known"),
        ),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_attempts_task_id")),
        sa.PrimaryKeyConstraint("task_id", "number", name=op.f("pk_attempts")),
    )
    op.create_table(
        "decisions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("subject_kind", sa.Text(), nullable=False),
        sa.Column("subject_id", sa.Text(), nullable=False),
        sa.Column("event_row", sa.Integer(), nullable=True),
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
        sa.CheckConstraint(
            "(status = 'recorded') = (unallocated_usd IS NOT NULL)", name=op.f("ck_decisions_recorded_is_booked")
        ),
        sa.CheckConstraint(
            "status IN ('recorded', 'refused', 'failed', 'abstained')", name=op.f("ck_decisions_status_known")
        ),
        sa.CheckConstraint("cost_known_usd >= 0", name=op.f("ck_decisions_cost_not_negative")),
        sa.CheckConstraint(
            "unallocated_usd IS NULL OR unallocated_usd >= 0", name=op.f("ck_decisions_unallocated_not_negative")
        ),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_decisions_bot_id")),
        sa.ForeignKeyConstraint(["event_row"], ["events.id"], name=op.f("fk_decisions_event_row")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_decisions_run_id")),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_decisions_task_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_decisions")),
        sa.UniqueConstraint("task_id", name=op.f("uq_decisions_task_id")),
    )
    op.create_index("ix_decisions_bot_id", "decisions", ["bot_id"])
    op.create_index("ix_decisions_event_row", "decisions", ["event_row"])
    op.create_index("ix_decisions_run_id", "decisions", ["run_id"])

    op.create_table(
        "bets",
        sa.Column("decision_id", sa.Integer(), nullable=False),
        sa.Column("market_row", sa.Integer(), nullable=False),
        sa.Column("asked_usd", sa.Float(), nullable=False),
        sa.Column("booked_usd", sa.Float(), nullable=False),
        sa.Column("price_yes", sa.Float(), nullable=False),
        sa.Column("price_source", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "price_source IN ('mid', 'displayed', 'last', 'history')", name=op.f("ck_bets_price_source_known")
        ),
        sa.CheckConstraint("price_yes > 0 AND price_yes < 1", name=op.f("ck_bets_price_usable")),
        sa.ForeignKeyConstraint(["decision_id"], ["decisions.id"], name=op.f("fk_bets_decision_id")),
        sa.ForeignKeyConstraint(["market_row"], ["markets.id"], name=op.f("fk_bets_market_row")),
        sa.PrimaryKeyConstraint("decision_id", "market_row", name=op.f("pk_bets")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_bets_market_row", "bets", ["market_row"])

    op.create_table(
        "fills",
        sa.Column("decision_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("instrument_row", sa.Integer(), nullable=False),
        sa.Column("shares", sa.Float(), nullable=False),
        sa.Column("price", sa.Float(), nullable=False),
        sa.Column("fee_usd", sa.Float(), nullable=False),
        sa.Column("cash_usd", sa.Float(), nullable=False),
        sa.CheckConstraint("fee_usd >= 0", name=op.f("ck_fills_fee_not_negative")),
        sa.CheckConstraint("price >= 0 AND price <= 1", name=op.f("ck_fills_price_in_unit")),
        sa.CheckConstraint("shares > 0", name=op.f("ck_fills_shares_positive")),
        sa.ForeignKeyConstraint(["decision_id"], ["decisions.id"], name=op.f("fk_fills_decision_id")),
        sa.ForeignKeyConstraint(["instrument_row"], ["instruments.id"], name=op.f("fk_fills_instrument_row")),
        sa.PrimaryKeyConstraint("decision_id", "number", name=op.f("pk_fills")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_fills_instrument_row", "fills", ["instrument_row"])

    op.create_table(
        "forecasts",
        sa.Column("decision_id", sa.Integer(), nullable=False),
        sa.Column("market_row", sa.Integer(), nullable=False),
        sa.Column("probability", sa.Float(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=True),
        sa.Column("rationale", sa.Text(), nullable=False),
        sa.Column("question_sha256", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "confidence IS NULL OR (confidence >= 0 AND confidence <= 10)",
            name=op.f("ck_forecasts_confidence_in_range"),
        ),
        sa.CheckConstraint("probability >= 0 AND probability <= 1", name=op.f("ck_forecasts_probability_in_unit")),
        sa.ForeignKeyConstraint(["decision_id"], ["decisions.id"], name=op.f("fk_forecasts_decision_id")),
        sa.ForeignKeyConstraint(["market_row"], ["markets.id"], name=op.f("fk_forecasts_market_row")),
        sa.PrimaryKeyConstraint("decision_id", "market_row", name=op.f("pk_forecasts")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_forecasts_market_row", "forecasts", ["market_row"])

    op.create_table(
        "quotes",
        sa.Column("decision_id", sa.Integer(), nullable=False),
        sa.Column("market_row", sa.Integer(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("bid", sa.Float(), nullable=True),
        sa.Column("ask", sa.Float(), nullable=True),
        sa.Column("displayed", sa.Float(), nullable=True),
        sa.Column("last", sa.Float(), nullable=True),
        sa.Column("history", sa.Float(), nullable=True),
        sa.CheckConstraint("role IN ('shown', 'booked')", name=op.f("ck_quotes_role_known")),
        sa.ForeignKeyConstraint(["decision_id"], ["decisions.id"], name=op.f("fk_quotes_decision_id")),
        sa.ForeignKeyConstraint(["market_row"], ["markets.id"], name=op.f("fk_quotes_market_row")),
        sa.PrimaryKeyConstraint("decision_id", "market_row", "role", name=op.f("pk_quotes")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_quotes_market_row", "quotes", ["market_row"])
