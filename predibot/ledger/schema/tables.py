"""The tables. A row is only ever built from a domain object: a `table=True` class checks nothing itself.

The database refuses what it can: every rule below has a name.
"""

import re
from datetime import datetime, timedelta

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    MetaData,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import declared_attr
from sqlmodel import Field, SQLModel

from predibot.domain.account import JOURNAL_KINDS, MARK_STATES, MODES
from predibot.domain.decision import ORDER_SIDES, ORDER_STATUSES, ORDER_UNITS, REASON_KINDS
from predibot.domain.schedule import SLOT_STATUSES, SlotStatus
from predibot.ledger.schema.column_types import Instant, Prose, StoredText

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}


POINT_BYTES = 17
"""Size of a point of `pack_points`, repeated here to avoid loading numpy."""
CLUSTERED = {"sqlite_with_rowid": False}
"""Rows are stored in the order of their key, because they are read in it."""


class Row(SQLModel):
    """The base of all tables: one catalogue with named constraints."""

    # No validators are built, as nothing validates a row; they would take a sixth of the program's start.
    model_config = {"defer_build": True}
    metadata = MetaData(naming_convention=NAMING)

    @declared_attr.directive
    def __tablename__(cls) -> str:
        """Return the name of the table, after that of the class: `run_events` for `RunEventRow`."""
        return f"{re.sub('(?<!^)(?=[A-Z])', '_', cls.__name__.removesuffix('Row')).lower()}s"


def _instant(*, nullable: bool = False) -> datetime:
    return Field(sa_type=Instant, nullable=nullable)  # type: ignore[no-any-return]


def _text() -> str:
    return Field(sa_type=StoredText)  # type: ignore[no-any-return]


def _unit(column: str) -> CheckConstraint:
    return CheckConstraint(f"{column} >= 0 AND {column} <= 1", name=f"{column}_in_unit")


def _one_of(column: str, *words: str) -> CheckConstraint:
    listed = ", ".join(f"'{word}'" for word in words)
    return CheckConstraint(f"{column} IN ({listed})", name=f"{column}_known")


LIVE = text("voided_at IS NULL")
LIVE_KEY = Index("uq_runs_live_key", "key", unique=True, sqlite_where=LIVE)
"""`schema.versions` sets the same condition for a server; here it would load those drivers at every start."""


RECEIPTED = ("here", "imported", "older")
"""A run that got a receipt here, was imported, or is of a ledger before version 0018."""


class RunRow(Row, table=True):
    """One pass of a recipe; the key is free again once a run is void."""

    __table_args__ = (LIVE_KEY, _one_of("receipted", *RECEIPTED))
    id: int | None = Field(default=None, primary_key=True)
    key: str = _text()
    recipe: str = _text()
    slot_at: datetime = _instant()
    as_of: datetime = _instant()
    venue: str = _text()
    venue_name: str = _text()
    game: str = _text()
    seed: int = Field(sa_type=BigInteger)
    digest: str = _text()
    recipe_json: str = _text()
    overrides_json: str = _text()
    passed_over_json: str = _text()
    notes_json: str = _text()
    code_version: str = _text()
    created_at: datetime = _instant()
    voided_at: datetime | None = _instant(nullable=True)
    void_reason: str | None = Field(default=None, sa_type=Prose)
    deadline_at: datetime | None = _instant(nullable=True)
    """Later decisions are in no score; None for a run without a schedule."""
    receipted: str | None = Field(default=None, sa_type=StoredText)
    """One of `RECEIPTED`, which tells what receipt is expected; None until the run ended."""


class EventRow(Row, table=True):
    """An event of a venue, as it was first seen."""

    __table_args__ = (UniqueConstraint("venue", "event_id"),)
    id: int | None = Field(default=None, primary_key=True)
    venue: str = _text()
    event_id: str = _text()
    title: str = _text()


class RunEventRow(Row, table=True):
    """An event a run plays, frozen with the venue's payload."""

    __table_args__ = (UniqueConstraint("run_id", "event_row"),)
    run_id: int = Field(foreign_key="runs.id", primary_key=True)
    position: int = Field(primary_key=True)
    event_row: int = Field(foreign_key="events.id")
    event_json: str = _text()
    payload: str = _text()


class MarketRow(Row, table=True):
    """A market of an event, with all that a later request to the venue needs."""

    __table_args__ = (UniqueConstraint("venue", "market_id"),)
    id: int | None = Field(default=None, primary_key=True)
    venue: str = _text()
    market_id: str = _text()
    event_row: int = Field(foreign_key="events.id", index=True)
    condition_id: str | None = Field(default=None, sa_type=StoredText)
    token_ids_json: str = _text()
    question: str = _text()
    outcomes_json: str | None = Field(default=None, sa_type=StoredText)
    """Names of its outcomes; None for YES and NO."""


class InstrumentRow(Row, table=True):
    """One thing that has a price."""

    __table_args__ = (
        UniqueConstraint("venue", "kind", "instrument_id"),
        _one_of("side", "YES", "NO"),
        CheckConstraint("highest_price IS NULL OR highest_price > lowest_price", name="price_bound_whole"),
    )
    id: int | None = Field(default=None, primary_key=True)
    venue: str = _text()
    kind: str = _text()
    instrument_id: str = _text()
    market_row: int | None = Field(default=None, foreign_key="markets.id", index=True)
    side: str | None = Field(default=None, sa_type=StoredText)
    currency: str = Field(sa_type=StoredText, sa_column_kwargs={"server_default": "USD"})
    lowest_price: float = Field(sa_column_kwargs={"server_default": text("0")})
    """The least it can cost; bounds are stored here, so that tables of prices need none."""
    highest_price: float | None = None
    """None for no bound."""
    tracked_from: datetime | None = _instant(nullable=True)
    tracked_until: datetime | None = _instant(nullable=True)
    outcome: int | None = None
    """Index from 0 of one of more than two outcomes, which has no side."""


class BotRow(Row, table=True):
    """A contestant of a run."""

    __table_args__ = (UniqueConstraint("run_id", "name"),)
    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="runs.id")
    name: str = _text()
    strategy: str = _text()
    arguments_json: str = _text()
    source_sha256: str = _text()
    model: str | None = Field(default=None, sa_type=StoredText)
    knowledge_cutoff: str | None = Field(default=None, sa_type=StoredText)
    """Last day of the model's training data, as `2025-06-01`; None where unknown."""
    members_json: str | None = Field(default=None, sa_type=StoredText)
    """Names of the bots whose decisions it pools; None where an older predibot did not store them."""


class SubjectRow(Row, table=True):
    """What decisions on a venue are about, each once for all runs."""

    __table_args__ = (UniqueConstraint("venue", "kind", "subject_id"),)
    id: int | None = Field(default=None, primary_key=True)
    venue: str = _text()
    kind: str = _text()
    subject_id: str = _text()
    event_row: int | None = Field(default=None, foreign_key="events.id", index=True)


class TaskRow(Row, table=True):
    """A piece of work, its claim, and how it ended."""

    __table_args__ = (
        UniqueConstraint("run_id", "bot_id", "subject_row"),
        _one_of("status", "open", "claimed", "recorded", "refused", "failed", "abstained"),
        CheckConstraint("(status = 'claimed') = (token IS NOT NULL)", name="claimed_has_token"),
    )
    id: int | None = Field(default=None, primary_key=True)
    run_id: int = Field(foreign_key="runs.id")
    bot_id: int = Field(foreign_key="bots.id", index=True)
    subject_row: int = Field(foreign_key="subjects.id", index=True)
    status: str = _text()
    failures: int = 0
    token: str | None = Field(default=None, sa_type=StoredText)
    owner: str | None = Field(default=None, sa_type=StoredText)
    lease_until: datetime | None = _instant(nullable=True)
    next_try_at: datetime | None = _instant(nullable=True)
    """A failed task is not tried again unasked before; None for at once."""


class AttemptRow(Row, table=True):
    """One try at a task; `lost` when its owner vanished."""

    __table_args__ = (_one_of("outcome", "recorded", "refused", "failed", "abstained", "interrupted", "lost"),)
    task_id: int = Field(foreign_key="tasks.id", primary_key=True)
    number: int = Field(primary_key=True)
    started_at: datetime = _instant()
    ended_at: datetime | None = _instant(nullable=True)
    outcome: str | None = Field(default=None, sa_type=StoredText)
    message: str = Field(default="", sa_type=Prose)


class DecisionRow(Row, table=True):
    """A bot's answer about one subject, or why there is none."""

    __table_args__ = (
        UniqueConstraint("task_id"),
        _one_of("status", "recorded", "refused", "failed", "abstained"),
        CheckConstraint("unallocated_usd IS NULL OR unallocated_usd >= 0", name="unallocated_not_negative"),
        CheckConstraint("unallocated_usd IS NULL OR status = 'recorded'", name="recorded_is_booked"),
        CheckConstraint("cost_known_usd >= 0", name="cost_not_negative"),
        _one_of("reason_kind", *REASON_KINDS),
    )
    id: int | None = Field(default=None, primary_key=True)
    task_id: int = Field(foreign_key="tasks.id")
    run_id: int = Field(foreign_key="runs.id", index=True)
    bot_id: int = Field(foreign_key="bots.id", index=True)
    subject_row: int = Field(foreign_key="subjects.id", index=True)
    status: str = _text()
    decided_at: datetime = _instant()
    message: str = Field(sa_type=Prose)
    rationale: str = Field(sa_type=Prose)
    notes_json: str = _text()
    unallocated_usd: float | None = None
    stated_unallocated_usd: float | None = None
    scale: float = 1.0
    cost_usd: float | None = None
    cost_known_usd: float = 0.0
    seconds: float = 0.0
    trace_sha256: str | None = Field(default=None, sa_type=StoredText)
    models_json: str | None = Field(default=None, sa_type=StoredText)
    """Names of the models it opened; None where unknown."""
    reason_kind: str | None = Field(default=None, sa_type=StoredText)
    """Why it abstained, or `answer` where no answer of its model could be used; None for any other."""


class ForecastRow(Row, table=True):
    """A probability of YES, with the hash of the question at the time."""

    __table_args__ = (
        _unit("probability"),
        CheckConstraint("confidence IS NULL OR (confidence >= 0 AND confidence <= 10)", name="confidence_in_range"),
        CLUSTERED,
    )
    decision_id: int = Field(foreign_key="decisions.id", primary_key=True)
    market_row: int = Field(foreign_key="markets.id", primary_key=True, index=True)
    probability: float
    confidence: float | None = None
    rationale: str = Field(sa_type=Prose)
    question_sha256: str = _text()


class OrderRow(Row, table=True):
    """An order for an amount of an instrument, and what became of it; a bet of zero has a row too."""

    __table_args__ = (
        _one_of("side", *ORDER_SIDES),
        _one_of("unit", *ORDER_UNITS),
        _one_of("status", *ORDER_STATUSES),
        _one_of("price_source", "mid", "displayed", "last", "history"),
        CheckConstraint("price > 0", name="price_usable"),
        CheckConstraint("(price IS NULL) = (price_source IS NULL)", name="price_has_source"),
        CLUSTERED,
    )
    decision_id: int = Field(foreign_key="decisions.id", primary_key=True)
    number: int = Field(primary_key=True)
    instrument_row: int = Field(foreign_key="instruments.id", index=True)
    side: str = _text()
    unit: str = _text()
    asked: float | None = None
    """What the bot wanted; None where the order is the same."""
    amount: float
    status: str = _text()
    price: float | None = None
    """The booked price: of the instrument, for a bet on an event that of YES; None where there was none."""
    price_source: str | None = Field(default=None, sa_type=StoredText)
    note: str | None = Field(default=None, sa_type=Prose)
    ended_at: datetime | None = _instant(nullable=True)
    """When a pending order was filled, expired or replaced; None for any other."""


class FillRow(Row, table=True):
    """A fill of an order; shares and cash have opposite signs, sold shares are negative."""

    __table_args__ = (
        ForeignKeyConstraint(["decision_id", "order_number"], ["orders.decision_id", "orders.number"]),
        CheckConstraint("price >= 0", name="price_not_negative"),
        CheckConstraint("shares <> 0", name="shares_not_zero"),
        CheckConstraint("fee_usd >= 0", name="fee_not_negative"),
        CLUSTERED,
    )
    decision_id: int = Field(primary_key=True)
    number: int = Field(primary_key=True)
    order_number: int
    shares: float
    price: float
    fee_usd: float
    cash_usd: float
    model: str = _text()


class LabelRow(Row, table=True):
    """The class that a bot put something in."""

    __table_args__ = (CLUSTERED,)
    decision_id: int = Field(foreign_key="decisions.id", primary_key=True)
    number: int = Field(primary_key=True)
    item_id: str = _text()
    label: str = Field(sa_type=Prose)
    probabilities_json: str = _text()
    """Probability by class; an empty object where none was stated."""


class QuoteRow(Row, table=True):
    """A quote stored with a decision: the one shown to the bot, or the one it was booked at."""

    __table_args__ = (_one_of("role", "shown", "booked"), CLUSTERED)
    decision_id: int = Field(foreign_key="decisions.id", primary_key=True)
    market_row: int = Field(foreign_key="markets.id", primary_key=True, index=True)
    role: str = Field(primary_key=True, sa_type=StoredText)
    at: datetime = _instant()
    bid: float | None = None
    ask: float | None = None
    displayed: float | None = None
    last: float | None = None
    history: float | None = None
    depth_json: str | None = Field(default=None, sa_type=StoredText)
    """The order book of YES behind bid and ask, best first; None where the venue did not show it."""


class SourceRow(Row, table=True):
    """A search or a page read before a decision, in order."""

    __table_args__ = (
        _one_of("kind", "search", "page"),
        CheckConstraint("results IS NULL OR results >= 0", name="results_not_negative"),
        CLUSTERED,
    )
    decision_id: int = Field(foreign_key="decisions.id", primary_key=True)
    number: int = Field(primary_key=True)
    kind: str = _text()
    text: str = Field(sa_type=Prose)
    final_url: str | None = Field(default=None, sa_type=Prose)
    sha256: str | None = Field(default=None, sa_type=StoredText)
    title: str = Field(sa_type=Prose)
    published_at: datetime | None = _instant(nullable=True)
    results: int | None = None


class _Amounts(Row):
    """An amount in the whole small units of `agents.account.Exact`."""

    usd: int = Field(sa_type=BigInteger)
    tokens: int = Field(sa_type=BigInteger)
    steps: int = Field(sa_type=BigInteger)
    searches: int = Field(sa_type=BigInteger)
    seconds: int = Field(sa_type=BigInteger)


class SpendingRow(_Amounts, table=True):
    """The settled amount of an account; until version 0004 reservations were in it too."""

    __tablename__ = "spending"
    account: str = Field(primary_key=True, sa_type=StoredText)


class ReservationRow(_Amounts, table=True):
    """The amount that one process has reserved in an account; it counts as long as the process lives."""

    account: str = Field(primary_key=True, sa_type=StoredText)
    owner: str = Field(primary_key=True, sa_type=StoredText)
    kept: bool = Field(primary_key=True)
    lease_until: datetime = _instant()


class PaceRow(Row, table=True):
    """Request limits of a host, shared by all processes."""

    host: str = Field(primary_key=True, sa_type=StoredText)
    free_at: datetime = _instant()
    """When its next turn is; a burst may come earlier."""
    at_once: float | None = None
    """How many calls may be under way; None before the first."""
    lowered_at: datetime | None = _instant(nullable=True)


class PermitRow(Row, table=True):
    """How many calls at once one process may have at a host; it counts as long as the process lives."""

    host: str = Field(primary_key=True, sa_type=StoredText)
    owner: str = Field(primary_key=True, sa_type=StoredText)
    held: int
    wanted: int
    lease_until: datetime = _instant()


class PricePathRow(Row, table=True):
    """Prices of an instrument that `track` saw, as `pack_points` packs them: a row each would be millions."""

    __table_args__ = (CheckConstraint(f"length(points) % {POINT_BYTES} = 1", name="points_whole"),)
    instrument_row: int = Field(
        foreign_key="instruments.id", primary_key=True, sa_column_kwargs={"autoincrement": False}
    )
    points: bytes = Field(sa_type=LargeBinary)
    receipts: bytes | None = Field(default=None, sa_type=LargeBinary)
    """Number of each point's receipt of the ledger, four bytes, 0 for none; None where all are 0."""


class ResolutionRow(Row, table=True):
    """One revision of a market's payout."""

    __table_args__ = (_unit("payout_yes"), _one_of("settled_source", "venue", "first_sight"))
    market_row: int = Field(foreign_key="markets.id", primary_key=True)
    revision: int = Field(primary_key=True)
    payout_yes: float | None = None
    """None for a market voided without a payout: positions get their cost back."""
    settled_at: datetime = _instant()
    settled_source: str = _text()
    effective_at: datetime = _instant()
    seen_at: datetime = _instant()
    payouts_json: str | None = Field(default=None, sa_type=StoredText)
    """Payout of each of more than two outcomes; None for any other market, and without a payout."""


class AccountRow(Row, table=True):
    """One bot in one instance of a game, through all runs of a recipe; its journal says what it holds."""

    __table_args__ = (
        UniqueConstraint("recipe", "game", "mode", "methodology", "bot", "subject_row"),
        _one_of("mode", *MODES),
    )
    id: int | None = Field(default=None, primary_key=True)
    recipe: str = _text()
    game: str = _text()
    mode: str = _text()
    """The two never share an account."""
    methodology: str = Field(default="", sa_type=StoredText, sa_column_kwargs={"server_default": text("''")})
    """The version of the game's rules; empty where there is only one."""
    bot: str = _text()
    """A name, as a bot has another row in every run."""
    subject_row: int = Field(foreign_key="subjects.id", index=True)
    task_id: int | None = Field(default=None, foreign_key="tasks.id", index=True)
    """The claim that last wrote to it; no other claim may."""
    slot_at: datetime | None = _instant(nullable=True)
    """Slot of that claim's run; an earlier slot has missed its turn."""


class CohortRow(Row, table=True):
    """A weekly cohort as it was frozen when it started; its universe is what its run froze."""

    __table_args__ = (
        UniqueConstraint("recipe", "game", "mode", "venue", "name", "methodology"),
        _one_of("mode", *MODES),
        CheckConstraint("(archived_at IS NULL) = (archived_reason IS NULL)", name="archived_has_reason"),
    )
    id: int | None = Field(default=None, primary_key=True)
    recipe: str = _text()
    game: str = _text()
    mode: str = _text()
    venue: str = _text()
    name: str = _text()
    """Its Sunday, such as `2026-03-01`."""
    methodology: str = _text()
    run_id: int = Field(foreign_key="runs.id", index=True)
    started_at: datetime = _instant()
    line_up: str = _text()
    archived_at: datetime | None = _instant(nullable=True)
    """From then on it is in no score, and decides no more; None where it is not archived."""
    archived_reason: str | None = Field(default=None, sa_type=Prose)


class JournalEntryRow(Row, table=True):
    """One change of an account; rows are only ever added."""

    __tablename__ = "journal"
    __table_args__ = (
        _one_of("kind", *JOURNAL_KINDS),
        CheckConstraint("shares = 0 OR instrument_row IS NOT NULL", name="shares_are_of_something"),
        CheckConstraint("decision_id IS NULL OR market_row IS NULL", name="follows_from_one_thing"),
        ForeignKeyConstraint(["market_row", "revision"], ["resolutions.market_row", "resolutions.revision"]),
        Index("ix_journal_market_row_revision", "market_row", "revision"),
        CLUSTERED,
    )
    account_id: int = Field(foreign_key="accounts.id", primary_key=True)
    number: int = Field(primary_key=True)
    kind: str = _text()
    at: datetime = _instant()
    instrument_row: int | None = Field(default=None, foreign_key="instruments.id", index=True)
    shares: float
    cash_usd: float
    decision_id: int | None = Field(default=None, foreign_key="decisions.id", index=True)
    """The decision it follows from; else the next two name the revision of a resolution."""
    market_row: int | None = None
    revision: int | None = None


class ValuationRow(Row, table=True):
    """An account marked at prices; a correction is a further revision."""

    __table_args__ = (
        ForeignKeyConstraint(["account_id", "journal_number"], ["journal.account_id", "journal.number"]),
        CLUSTERED,
    )
    account_id: int = Field(foreign_key="accounts.id", primary_key=True)
    at: datetime = Field(sa_type=Instant, primary_key=True)
    """Floored to the game's interval."""
    revision: int = Field(primary_key=True)
    journal_number: int
    """The last journal row in it."""
    cash_usd: float
    value_usd: float


class MarkRow(Row, table=True):
    """The price at which a valuation marked a position."""

    __table_args__ = (
        ForeignKeyConstraint(
            ["account_id", "at", "revision"], ["valuations.account_id", "valuations.at", "valuations.revision"]
        ),
        CheckConstraint("price >= 0", name="price_not_negative"),
        _one_of("state", *MARK_STATES),
        CLUSTERED,
    )
    account_id: int = Field(primary_key=True)
    at: datetime = Field(sa_type=Instant, primary_key=True)
    revision: int = Field(primary_key=True)
    instrument_row: int = Field(foreign_key="instruments.id", primary_key=True, index=True)
    price: float
    priced_at: datetime = _instant()
    state: str = Field(default="quoted", sa_type=StoredText, sa_column_kwargs={"server_default": "quoted"})


class TurnRow(Row, table=True):
    """An account was brought to a slot: settled, valued, and its pending orders filled or ended, once."""

    __table_args__ = (
        ForeignKeyConstraint(["account_id", "journal_number"], ["journal.account_id", "journal.number"]),
        CLUSTERED,
    )
    account_id: int = Field(foreign_key="accounts.id", primary_key=True)
    slot_at: datetime = Field(sa_type=Instant, primary_key=True)
    run_id: int = Field(foreign_key="runs.id", index=True)
    at: datetime = _instant()
    """Instant of its prices; the slot's valuation has it floored."""
    journal_number: int
    """The last journal row after it; bookings of the slot's own decision come later."""


class NewsRow(Row, table=True):
    """News on a market that a run showed all its bots: number 0 is the search, the items follow."""

    __tablename__ = "news"
    __table_args__ = (
        CheckConstraint("(number = 0) = (published_at IS NULL)", name="items_are_dated"),
        CheckConstraint("failure IS NULL OR number = 0", name="searches_fail"),
        CLUSTERED,
    )
    run_id: int = Field(foreign_key="runs.id", primary_key=True)
    market_row: int = Field(foreign_key="markets.id", primary_key=True, index=True)
    number: int = Field(primary_key=True)
    title: str = Field(default="", sa_type=Prose)
    """Title of an item, or the words of the search."""
    snippet: str = Field(default="", sa_type=Prose)
    published_at: datetime | None = _instant(nullable=True)
    failure: str | None = Field(default=None, sa_type=Prose)
    url: str | None = Field(default=None, sa_type=Prose)
    """None of the search, and of items from before addresses were stored."""


class ReceiptRow(Row, table=True):
    """A run's decisions at the end of a call, as one hash; another row where a retry changed them."""

    run_id: int = Field(foreign_key="runs.id", primary_key=True)
    number: int = Field(primary_key=True)
    form: int
    root: str = _text()
    made_at: datetime = _instant()
    leaves_packed: bytes = Field(sa_type=LargeBinary)
    """Leaves under the root, as `pack_leaves` packs them."""


class LedgerReceiptRow(Row, table=True):
    """The rows written since the receipt before, as one hash that includes the root before."""

    number: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    form: int
    root: str = _text()
    made_at: datetime = _instant()
    rows_packed: bytes = Field(sa_type=LargeBinary)
    """The covered rows, as `pack_rows` packs them."""


class ArtefactRow(Row, table=True):
    """A trace or page that is no file, compressed by zlib; beside a SQLite file they are files."""

    sha256: str = Field(primary_key=True, sa_type=StoredText)
    content: bytes = Field(sa_type=LargeBinary)


class ChangeRow(Row, table=True):
    """Count of changes to what caches rest on; database triggers count, so nothing is missed."""

    scope: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    """The run whose bots, decisions and their parts are counted; 0 for everything else."""
    number: int = Field(sa_type=BigInteger)
    counted_by: int | None = Field(default=None, sa_type=BigInteger)
    """The last transaction that changed something, where the database numbers them: each counts once."""


class ScheduleRow(Row, table=True):
    """A recipe that a schedule runs."""

    recipe: str = Field(primary_key=True, sa_type=StoredText)
    argument: str = _text()
    since: datetime = _instant()
    """Only later slots are its own."""
    paused_at: datetime | None = _instant(nullable=True)
    tracked_at: datetime | None = _instant(nullable=True)
    evaluated_at: datetime | None = _instant(nullable=True)
    problem: str = Field(default="", sa_type=Prose)
    """What is wrong with the recipe now, while its last good version runs."""


class SlotRow(Row, table=True):
    """What became of a slot of a schedule; a missed one has a row too."""

    __table_args__ = (
        UniqueConstraint("recipe", "slot_at"),
        _one_of("status", *SLOT_STATUSES),
        CheckConstraint("(status = 'missed') = (started_at IS NULL)", name="missed_never_started"),
    )
    id: int | None = Field(default=None, primary_key=True)
    recipe: str = _text()
    slot_at: datetime = _instant()
    status: SlotStatus = Field(sa_type=StoredText)
    tries: int = 0
    started_at: datetime | None = _instant(nullable=True)
    """Start of the first try, which tells how late it was."""
    ended_at: datetime | None = _instant(nullable=True)
    next_try_at: datetime | None = _instant(nullable=True)
    run_key: str | None = Field(default=None, sa_type=StoredText)
    reason: str = Field(default="", sa_type=Prose)

    @property
    def late(self) -> timedelta | None:
        """Return how long after its instant it began; None where it was missed."""
        return None if self.started_at is None else self.started_at - self.slot_at


class ServiceRow(Row, table=True):
    """The process that runs this ledger's schedules, one at a time."""

    name: str = Field(primary_key=True, sa_type=StoredText)
    owner: str = _text()
    started_at: datetime = _instant()
    lease_until: datetime = _instant()
