"""The tables, which check nothing themselves: a row is only ever built from a domain object.

What the database can refuse by itself, it refuses: every rule below has a name.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    UniqueConstraint,
    text,
)

from predibot.domain.account import JOURNAL_KINDS, MARK_STATES, MODES
from predibot.domain.decision import ORDER_SIDES, ORDER_STATUSES, ORDER_UNITS, REASON_KINDS
from predibot.domain.schedule import SLOT_STATUSES
from predibot.ledger.schema.column_types import Instant, Prose, Words

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}


POINT_BYTES = 17
"""Of one point of `packed_points`; said here it loads no numpy where nobody computes."""
CLUSTERED: Mapping[str, Any] = {"sqlite_with_rowid": False}
"""Rows lie in the order of their key, which is the order they are read in."""
METADATA = MetaData(naming_convention=NAMING)


def _column(type_: Any, name: str, *refers_to: ForeignKey, **options: Any) -> Column[Any]:
    return Column(name, type_, *refers_to, **{"nullable": False, **options})


_words, _prose, _instant = partial(_column, Words), partial(_column, Prose), partial(_column, Instant)
_whole, _large, _number = partial(_column, Integer), partial(_column, BigInteger), partial(_column, Float)
_blob = partial(_column, LargeBinary)


def _id() -> Column[Any]:
    return _whole("id", primary_key=True)


def _row(name: str, of: str, **options: Any) -> Column[Any]:
    """Return a column that refers to a row of another table."""
    return _whole(name, ForeignKey(of), **options)


def _unit(column: str) -> CheckConstraint:
    return CheckConstraint(f"{column} >= 0 AND {column} <= 1", name=f"{column}_in_unit")


def _one_of(column: str, *words: str) -> CheckConstraint:
    listed = ", ".join(f"'{word}'" for word in words)
    return CheckConstraint(f"{column} IN ({listed})", name=f"{column}_known")


LIVE = text("voided_at IS NULL")
LIVE_KEY = Index("uq_runs_live_key", "key", unique=True, sqlite_where=LIVE)
"""Where tables are made on a server it says the same: said here it would load those drivers at every start."""


RECEIPTED = ("here", "imported", "older")
"""A run that got a receipt here, came from an export or somebody's files, or is of a ledger before version 0018."""

runs = Table(
    "runs",
    METADATA,
    _id(),
    _words("key"),
    _words("recipe"),
    _instant("slot_at"),
    _instant("as_of"),
    _words("venue"),
    _words("venue_name"),
    _words("game"),
    _large("seed"),
    _words("digest"),
    _words("recipe_json"),
    _words("overrides_json"),
    _words("passed_over_json"),
    _words("notes_json"),
    _words("code_version"),
    _instant("created_at"),
    _instant("voided_at", nullable=True),
    _prose("void_reason", nullable=True),
    # A decision made later is in no score; None where no schedule made the run.
    _instant("deadline_at", nullable=True),
    # Of which kind of run a receipt is expected, as `RECEIPTED` has them; None until it came to its end.
    _words("receipted", nullable=True),
    LIVE_KEY,
    _one_of("receipted", *RECEIPTED),
)
"""One pass of a recipe; the key is free again once a run is void."""

events = Table(
    "events",
    METADATA,
    _id(),
    _words("venue"),
    _words("event_id"),
    _words("title"),
    UniqueConstraint("venue", "event_id"),
)
"""An event of a venue, as it was first seen."""

run_events = Table(
    "run_events",
    METADATA,
    _row("run_id", "runs.id", primary_key=True),
    _whole("position", primary_key=True),
    _row("event_row", "events.id"),
    _words("event_json"),
    _words("payload"),
    UniqueConstraint("run_id", "event_row"),
)
"""An event a run plays, frozen with the venue's payload it was chosen from."""

markets = Table(
    "markets",
    METADATA,
    _id(),
    _words("venue"),
    _words("market_id"),
    _row("event_row", "events.id", index=True),
    _words("condition_id", nullable=True),
    _words("token_ids_json"),
    _words("question"),
    # The names of its outcomes where it has more than two; None of any other.
    _words("outcomes_json", nullable=True),
    UniqueConstraint("venue", "market_id"),
)
"""A market of an event, with all that is needed to ask for it later."""

instruments = Table(
    "instruments",
    METADATA,
    _id(),
    _words("venue"),
    _words("kind"),
    _words("instrument_id"),
    _row("market_row", "markets.id", nullable=True, index=True),
    _words("side", nullable=True),
    _words("currency", server_default="USD"),
    # The least that one can cost; the bound belongs to its kind, so that no table of prices has one.
    _number("lowest_price", server_default=text("0")),
    # None where there is no most.
    _number("highest_price", nullable=True),
    _instant("tracked_from", nullable=True),
    _instant("tracked_until", nullable=True),
    # Which of more than two outcomes it is, counted from 0; it then has no side.
    _whole("outcome", nullable=True),
    UniqueConstraint("venue", "kind", "instrument_id"),
    _one_of("side", "YES", "NO"),
    CheckConstraint("highest_price IS NULL OR highest_price > lowest_price", name="price_bound_whole"),
)
"""One thing that has a price."""

bots = Table(
    "bots",
    METADATA,
    _id(),
    _row("run_id", "runs.id"),
    _words("name"),
    _words("strategy"),
    _words("arguments_json"),
    _words("source_sha256"),
    # None for a bot without a model.
    _words("model", nullable=True),
    # The day up to which the model was trained, as `2025-06-01`; None where it is not known.
    _words("knowledge_cutoff", nullable=True),
    # The names of the bots whose decisions it pools; None where an older predibot did not write them down.
    _words("members_json", nullable=True),
    UniqueConstraint("run_id", "name"),
)
"""A contestant of a run."""

subjects = Table(
    "subjects",
    METADATA,
    _id(),
    _words("venue"),
    _words("kind"),
    _words("subject_id"),
    # The event itself; None where it is none.
    _row("event_row", "events.id", nullable=True, index=True),
    UniqueConstraint("venue", "kind", "subject_id"),
)
"""What decisions on a venue are about, each once, whichever runs play it."""

tasks = Table(
    "tasks",
    METADATA,
    _id(),
    _row("run_id", "runs.id"),
    _row("bot_id", "bots.id", index=True),
    _row("subject_row", "subjects.id", index=True),
    _words("status"),
    _whole("failures", default=0),
    _words("token", nullable=True),
    _words("owner", nullable=True),
    _instant("lease_until", nullable=True),
    # Before this a failed task is not tried again unasked; None for at once.
    _instant("next_try_at", nullable=True),
    UniqueConstraint("run_id", "bot_id", "subject_row"),
    _one_of("status", "open", "claimed", "recorded", "refused", "failed", "abstained"),
    CheckConstraint("(status = 'claimed') = (token IS NOT NULL)", name="claimed_has_token"),
)
"""A claim: who does which piece of work, and how it ended."""

attempts = Table(
    "attempts",
    METADATA,
    _row("task_id", "tasks.id", primary_key=True),
    _whole("number", primary_key=True),
    _instant("started_at"),
    _instant("ended_at", nullable=True),
    _words("outcome", nullable=True),
    _prose("message", default=""),
    _one_of("outcome", "recorded", "refused", "failed", "abstained", "interrupted", "lost"),
)
"""One try at a task; `lost` when its owner vanished."""

decisions = Table(
    "decisions",
    METADATA,
    _id(),
    _row("task_id", "tasks.id"),
    _row("run_id", "runs.id", index=True),
    _row("bot_id", "bots.id", index=True),
    _row("subject_row", "subjects.id", index=True),
    _words("status"),
    _instant("decided_at"),
    _prose("message"),
    _prose("rationale"),
    _words("notes_json"),
    _number("unallocated_usd", nullable=True),
    _number("stated_unallocated_usd", nullable=True),
    _number("scale", default=1.0),
    _number("cost_usd", nullable=True),
    _number("cost_known_usd", default=0.0),
    _number("seconds", default=0.0),
    _words("trace_sha256", nullable=True),
    # The names of the models that were opened for it; None where nobody wrote them down.
    _words("models_json", nullable=True),
    # What made it abstain, or `answer` where no answer of its model could be taken; None for any other.
    _words("reason_kind", nullable=True),
    UniqueConstraint("task_id"),
    _one_of("status", "recorded", "refused", "failed", "abstained"),
    CheckConstraint("unallocated_usd IS NULL OR unallocated_usd >= 0", name="unallocated_not_negative"),
    CheckConstraint("unallocated_usd IS NULL OR status = 'recorded'", name="recorded_is_booked"),
    CheckConstraint("cost_known_usd >= 0", name="cost_not_negative"),
    _one_of("reason_kind", *REASON_KINDS),
)
"""What one bot said about one subject, or why it did not."""

forecasts = Table(
    "forecasts",
    METADATA,
    _row("decision_id", "decisions.id", primary_key=True),
    _row("market_row", "markets.id", primary_key=True, index=True),
    _number("probability"),
    _number("confidence", nullable=True),
    _prose("rationale"),
    _words("question_sha256"),
    _unit("probability"),
    CheckConstraint("confidence IS NULL OR (confidence >= 0 AND confidence <= 10)", name="confidence_in_range"),
    **CLUSTERED,
)
"""A probability of YES, with the hash of the question as it read then."""

orders = Table(
    "orders",
    METADATA,
    _row("decision_id", "decisions.id", primary_key=True),
    _whole("number", primary_key=True),
    _row("instrument_row", "instruments.id", index=True),
    _words("side"),
    _words("unit"),
    # What the bot said; None where it was carried out as it was said.
    _number("asked", nullable=True),
    _number("amount"),
    _words("status"),
    # What it was booked by: its instrument's own, of a bet on an event that of YES; None where there was none.
    _number("price", nullable=True),
    _words("price_source", nullable=True),
    # Why it, or a part of it, was not filled.
    _prose("note", nullable=True),
    # When one that was pending was filled, expired or replaced; None of one that never was, or still is.
    _instant("ended_at", nullable=True),
    _one_of("side", *ORDER_SIDES),
    _one_of("unit", *ORDER_UNITS),
    _one_of("status", *ORDER_STATUSES),
    _one_of("price_source", "mid", "displayed", "last", "history"),
    CheckConstraint("price > 0", name="price_usable"),
    CheckConstraint("(price IS NULL) = (price_source IS NULL)", name="price_has_source"),
    **CLUSTERED,
)
"""What was asked for and carried out: so much of an instrument; one row also for a bet of zero."""

fills = Table(
    "fills",
    METADATA,
    _whole("decision_id", primary_key=True),
    _whole("number", primary_key=True),
    _whole("order_number"),
    _number("shares"),
    _number("price"),
    _number("fee_usd"),
    _number("cash_usd"),
    # The fill model that set the price.
    _words("model"),
    ForeignKeyConstraint(["decision_id", "order_number"], ["orders.decision_id", "orders.number"]),
    CheckConstraint("price >= 0", name="price_not_negative"),
    CheckConstraint("shares <> 0", name="shares_not_zero"),
    CheckConstraint("fee_usd >= 0", name="fee_not_negative"),
    **CLUSTERED,
)
"""What an order came to, or a part of it; shares and cash are of opposite signs, sold shares negative."""

labels = Table(
    "labels",
    METADATA,
    _row("decision_id", "decisions.id", primary_key=True),
    _whole("number", primary_key=True),
    _words("item_id"),
    _prose("label"),
    # Of each class it might be; an empty object where none was stated.
    _words("probabilities_json"),
    **CLUSTERED,
)
"""The class a bot put something in."""

quotes = Table(
    "quotes",
    METADATA,
    _row("decision_id", "decisions.id", primary_key=True),
    _row("market_row", "markets.id", primary_key=True, index=True),
    _words("role", primary_key=True),
    _instant("at"),
    _number("bid", nullable=True),
    _number("ask", nullable=True),
    _number("displayed", nullable=True),
    _number("last", nullable=True),
    _number("history", nullable=True),
    # The book of YES beside the best bid and ask, best first; None where the venue did not show it.
    _words("depth_json", nullable=True),
    _one_of("role", "shown", "booked"),
    **CLUSTERED,
)
"""A quote stored with a decision: the one the bot was shown, or the one it was booked at."""

sources = Table(
    "sources",
    METADATA,
    _row("decision_id", "decisions.id", primary_key=True),
    _whole("number", primary_key=True),
    _words("kind"),
    _prose("text"),
    _prose("final_url", nullable=True),
    _words("sha256", nullable=True),
    _prose("title"),
    _instant("published_at", nullable=True),
    _whole("results", nullable=True),
    _one_of("kind", "search", "page"),
    CheckConstraint("results IS NULL OR results >= 0", name="results_not_negative"),
    **CLUSTERED,
)
"""A search that was made or a page that was read before a decision, in their order."""

spending = Table(
    "spending",
    METADATA,
    _large("usd"),
    _large("tokens"),
    _large("steps"),
    _large("searches"),
    _large("seconds"),
    _words("account", primary_key=True),
)
"""What is settled of one account; until version 0004 what was set aside was in it too."""

reservations = Table(
    "reservations",
    METADATA,
    _large("usd"),
    _large("tokens"),
    _large("steps"),
    _large("searches"),
    _large("seconds"),
    _words("account", primary_key=True),
    _words("owner", primary_key=True),
    # Whether it is kept for answers that will be asked for.
    Column("kept", Boolean, primary_key=True),
    _instant("lease_until"),
)
"""What one process has set aside of one account; it counts as long as the process lives."""

paces = Table(
    "paces",
    METADATA,
    _words("host", primary_key=True),
    # When its next turn is, if nothing may come before; bursts come earlier.
    _instant("free_at"),
    # How many calls may be under way; None where nobody has asked yet.
    _number("at_once", nullable=True),
    _instant("lowered_at", nullable=True),
)
"""What all processes share of a host that bears only so much."""

permits = Table(
    "permits",
    METADATA,
    _words("host", primary_key=True),
    _words("owner", primary_key=True),
    _whole("held"),
    _whole("wanted"),
    _instant("lease_until"),
)
"""How many calls at once one process may have of that; it counts as long as the process lives."""

price_paths = Table(
    "price_paths",
    METADATA,
    _row("instrument_row", "instruments.id", primary_key=True, autoincrement=False),
    _blob("points"),
    # For each point the number of the ledger's receipt that it is in, four bytes, 0 for none; None where all are 0.
    _blob("receipts", nullable=True),
    CheckConstraint(f"length(points) % {POINT_BYTES} = 1", name="points_whole"),
)
"""The prices that `track` saw of an instrument, as `points` packs them: a row each would be millions."""

resolutions = Table(
    "resolutions",
    METADATA,
    _row("market_row", "markets.id", primary_key=True),
    _whole("revision", primary_key=True),
    # None of a market that was voided without a payout: what a position cost is paid back.
    _number("payout_yes", nullable=True),
    _instant("settled_at"),
    _words("settled_source"),
    _instant("effective_at"),
    _instant("seen_at"),
    # What a share of each of more than two outcomes paid; None of any other, and of one without a payout.
    _words("payouts_json", nullable=True),
    _unit("payout_yes"),
    _one_of("settled_source", "venue", "first_sight"),
)
"""One revision of what a market paid."""

accounts = Table(
    "accounts",
    METADATA,
    _id(),
    _words("recipe"),
    _words("game"),
    # Whether its runs are live or replays; the two never share one.
    _words("mode"),
    # The version of the game's rules; empty of a game that has only one.
    _words("methodology", default="", server_default=text("''")),
    # Its name: a bot has another row in every run.
    _words("bot"),
    _row("subject_row", "subjects.id", index=True),
    # The claim under which it was last written to; who has another one may not.
    _row("task_id", "tasks.id", nullable=True, index=True),
    # Of that claim's run; an earlier slot has missed its turn.
    _instant("slot_at", nullable=True),
    UniqueConstraint("recipe", "game", "mode", "methodology", "bot", "subject_row"),
    _one_of("mode", *MODES),
)
"""One bot in one instance of a game, through all runs of a recipe; what it holds follows from its journal."""

cohorts = Table(
    "cohorts",
    METADATA,
    _id(),
    _words("recipe"),
    _words("game"),
    _words("mode"),
    _words("venue"),
    # Its Sunday, such as `2026-03-01`.
    _words("name"),
    _words("methodology"),
    # The run that started it.
    _row("run_id", "runs.id", index=True),
    _instant("started_at"),
    # A JSON list of its members.
    _words("line_up"),
    # Since when it is in no score, and decides no more; None where it is not archived.
    _instant("archived_at", nullable=True),
    _prose("archived_reason", nullable=True),
    UniqueConstraint("recipe", "game", "mode", "venue", "name", "methodology"),
    _one_of("mode", *MODES),
    CheckConstraint("(archived_at IS NULL) = (archived_reason IS NULL)", name="archived_has_reason"),
)
"""A cohort of weekly cohorts as it was frozen when it started; its universe is what its run froze."""

journal = Table(
    "journal",
    METADATA,
    _row("account_id", "accounts.id", primary_key=True),
    _whole("number", primary_key=True),
    _words("kind"),
    _instant("at"),
    _row("instrument_row", "instruments.id", nullable=True, index=True),
    _number("shares"),
    _number("cash_usd"),
    # The decision it follows from, or with the next two the revision of a resolution.
    _row("decision_id", "decisions.id", nullable=True, index=True),
    _whole("market_row", nullable=True),
    _whole("revision", nullable=True),
    _one_of("kind", *JOURNAL_KINDS),
    CheckConstraint("shares = 0 OR instrument_row IS NOT NULL", name="shares_are_of_something"),
    CheckConstraint("decision_id IS NULL OR market_row IS NULL", name="follows_from_one_thing"),
    ForeignKeyConstraint(["market_row", "revision"], ["resolutions.market_row", "resolutions.revision"]),
    Index("ix_journal_market_row_revision", "market_row", "revision"),
    **CLUSTERED,
)
"""One thing that happened to an account; rows are only ever added."""

valuations = Table(
    "valuations",
    METADATA,
    _row("account_id", "accounts.id", primary_key=True),
    # Floored to the interval of the game.
    _instant("at", primary_key=True),
    _whole("revision", primary_key=True),
    # The last row of the journal that is in it.
    _whole("journal_number"),
    _number("cash_usd"),
    _number("value_usd"),
    ForeignKeyConstraint(["account_id", "journal_number"], ["journal.account_id", "journal.number"]),
    **CLUSTERED,
)
"""An account marked at prices; written once, corrected by a further revision."""

marks = Table(
    "marks",
    METADATA,
    _whole("account_id", primary_key=True),
    _instant("at", primary_key=True),
    _whole("revision", primary_key=True),
    _row("instrument_row", "instruments.id", primary_key=True, index=True),
    _number("price"),
    # When that was the price; it may be long before the valuation.
    _instant("priced_at"),
    # What was known of the instrument then.
    _words("state", default="quoted", server_default="quoted"),
    ForeignKeyConstraint(
        ["account_id", "at", "revision"], ["valuations.account_id", "valuations.at", "valuations.revision"]
    ),
    CheckConstraint("price >= 0", name="price_not_negative"),
    _one_of("state", *MARK_STATES),
    **CLUSTERED,
)
"""The price that a valuation marked a position at."""

turns = Table(
    "turns",
    METADATA,
    _row("account_id", "accounts.id", primary_key=True),
    _instant("slot_at", primary_key=True),
    # The run that plays the slot.
    _row("run_id", "runs.id", index=True),
    # The instant of its prices; the slot's valuation is that instant floored.
    _instant("at"),
    # The last row of the journal after it; what the slot's own decision books at once stands behind.
    _whole("journal_number"),
    ForeignKeyConstraint(["account_id", "journal_number"], ["journal.account_id", "journal.number"]),
    **CLUSTERED,
)
"""That an account was brought to a slot: settled, valued, and its pending orders filled or ended, once."""

news = Table(
    "news",
    METADATA,
    _row("run_id", "runs.id", primary_key=True),
    _row("market_row", "markets.id", primary_key=True, index=True),
    _whole("number", primary_key=True),
    # Of an item; of the search what was searched for.
    _prose("title", default=""),
    _prose("snippet", default=""),
    _instant("published_at", nullable=True),
    # Why the news were unavailable.
    _prose("failure", nullable=True),
    # Of an item; None of those that were found before addresses were kept.
    _prose("url", nullable=True),
    CheckConstraint("(number = 0) = (published_at IS NULL)", name="items_are_dated"),
    CheckConstraint("failure IS NULL OR number = 0", name="searches_fail"),
    **CLUSTERED,
)
"""What a run showed all its bots as news on a market: number 0 is the search, the items follow."""

receipts = Table(
    "receipts",
    METADATA,
    _row("run_id", "runs.id", primary_key=True),
    _whole("number", primary_key=True),
    # Which fields a leaf has.
    _whole("form"),
    _words("root"),
    _instant("made_at"),
    # The hash of each leaf, as `packed_leaves` packs them: what the root is made of.
    _blob("leaves_packed"),
)
"""What a run's decisions came to at the end of a call, as one hash; one more where a retry changed them."""

ledger_receipts = Table(
    "ledger_receipts",
    METADATA,
    _whole("number", primary_key=True, autoincrement=False),
    # Which columns a leaf has.
    _whole("form"),
    _words("root"),
    _instant("made_at"),
    # Which rows it is over, as `packed_rows` packs them.
    _blob("rows_packed"),
)
"""What was written since the receipt before, as one hash that has the root before in it."""

artefacts = Table(
    "artefacts",
    METADATA,
    # Of the content before it was compressed.
    _words("sha256", primary_key=True),
    _blob("content"),
)
"""A trace or page of a ledger that is no file, compressed by zlib; beside a file they are files."""

changes = Table(
    "changes",
    METADATA,
    # The run whose bots, decisions and what belongs to them are counted; 0 for everything else.
    _whole("scope", primary_key=True, autoincrement=False),
    _large("number"),
    # The last one that changed something, where the database numbers them: each counts once.
    _large("counted_by", nullable=True),
)
"""How often what caches are made of was changed; triggers of the database count, so nothing gets past them."""

schedules = Table(
    "schedules",
    METADATA,
    _words("recipe", primary_key=True),
    # Where it is read anew: its file or name.
    _words("argument"),
    # Its slots are those after this.
    _instant("since"),
    _instant("paused_at", nullable=True),
    _instant("tracked_at", nullable=True),
    _instant("evaluated_at", nullable=True),
    # What is wrong with the recipe as it reads now, while the last good one is run.
    _prose("problem", default=""),
)
"""A recipe that is run by its schedule."""

slots = Table(
    "slots",
    METADATA,
    _id(),
    _words("recipe"),
    _instant("slot_at"),
    _words("status"),
    _whole("tries", default=0),
    # Of the first try: how late it was.
    _instant("started_at", nullable=True),
    _instant("ended_at", nullable=True),
    # When what failed is tried again; None for never.
    _instant("next_try_at", nullable=True),
    _words("run_key", nullable=True),
    _prose("reason", default=""),
    UniqueConstraint("recipe", "slot_at"),
    _one_of("status", *SLOT_STATUSES),
    CheckConstraint("(status = 'missed') = (started_at IS NULL)", name="missed_never_started"),
)
"""What became of a slot of a schedule; one that nobody was there for has a row too."""

services = Table(
    "services",
    METADATA,
    _words("name", primary_key=True),
    _words("owner"),
    _instant("started_at"),
    _instant("lease_until"),
)
"""Who runs the schedules of this ledger: one process at a time."""
