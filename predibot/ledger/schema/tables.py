"""The tables. A row is only ever built from a domain object, as these classes check nothing.

The database refuses what it can: every rule below has a name.
"""

from datetime import datetime, timedelta
from inspect import get_annotations
from types import NoneType
from typing import Any, ClassVar, get_args

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
from sqlalchemy.types import NullType, TypeEngine

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
"""Rows lie in the order of their key, in which they are read."""


class Row:
    """The base of all tables: a field and its type become a column of `__table__`, over which statements are written.

    Nothing is mapped or validated, which would take a third of the program's start: few rows are ever one of these.
    """

    metadata: ClassVar = MetaData(naming_convention=NAMING)
    __tablename__: ClassVar[str]
    __table_args__: ClassVar[tuple[Any, ...]] = ()
    __table__: ClassVar[Table]

    def __init__(self, **values: Any) -> None:
        """Hold a row as it is stored, or with defaults where a column has one."""
        vars(self).update(values)

    def __init_subclass__(cls) -> None:
        """Make its table, and leave of each field the default alone."""
        columns = []
        for name, kind in get_annotations(cls).items():
            given = vars(cls).get(name)
            column = given if isinstance(given, Column) else Column(default=given)
            kinds = get_args(kind) or (kind,)
            column.name = column.key = name
            column.nullable = NoneType in kinds and not column.primary_key
            if isinstance(column.type, NullType):
                column.type = _TYPES[kinds[0]]()
            columns.append(column)
            if NoneType in kinds or column.default is not None:
                setattr(cls, name, getattr(column.default, "arg", None))
            elif given is not None:
                delattr(cls, name)
        *rules, options = *cls.__table_args__, {}
        if rules and isinstance(rules[-1], dict):
            options = rules.pop()
        cls.__table__ = Table(cls.__tablename__, cls.metadata, *columns, *rules, **options)


_TYPES: dict[type, type[TypeEngine[Any]]] = {int: Integer, float: Float, bool: Boolean, bytes: LargeBinary}
"""Column types of those fields that name none."""


def _column(kind: type[TypeEngine[Any]] | None = None, *, foreign_key: str | None = None, **options: Any) -> Any:
    refers = () if foreign_key is None else (ForeignKey(foreign_key),)
    return Column(kind, *refers, **options)


def _instant() -> Any:
    return _column(Instant)


def _text() -> Any:
    return _column(StoredText)


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


class RunRow(Row):
    """One pass of a recipe; the key is free again once a run is void."""

    __tablename__ = "runs"
    __table_args__ = (LIVE_KEY, _one_of("receipted", *RECEIPTED))
    id: int | None = _column(primary_key=True)
    key: str = _text()
    recipe: str = _text()
    slot_at: datetime = _instant()
    as_of: datetime = _instant()
    venue: str = _text()
    venue_name: str = _text()
    game: str = _text()
    seed: int = _column(BigInteger)
    digest: str = _text()
    recipe_json: str = _text()
    overrides_json: str = _text()
    passed_over_json: str = _text()
    notes_json: str = _text()
    code_version: str = _text()
    created_at: datetime = _instant()
    voided_at: datetime | None = _instant()
    void_reason: str | None = _column(Prose)
    deadline_at: datetime | None = _instant()
    """Later decisions are in no score; None for a run without a schedule."""
    receipted: str | None = _column(StoredText)
    """One of `RECEIPTED`, which tells what receipt is expected; None until the run ended."""


class EventRow(Row):
    """An event of a venue, as it was first seen."""

    __tablename__ = "events"
    __table_args__ = (UniqueConstraint("venue", "event_id"),)
    id: int | None = _column(primary_key=True)
    venue: str = _text()
    event_id: str = _text()
    title: str = _text()


class RunEventRow(Row):
    """An event a run plays, frozen with the venue's payload."""

    __tablename__ = "run_events"
    __table_args__ = (UniqueConstraint("run_id", "event_row"),)
    run_id: int = _column(foreign_key="runs.id", primary_key=True)
    position: int = _column(primary_key=True)
    event_row: int = _column(foreign_key="events.id")
    event_json: str = _text()
    payload: str = _text()


class MarketRow(Row):
    """A market of an event, with all that a later request to the venue needs."""

    __tablename__ = "markets"
    __table_args__ = (UniqueConstraint("venue", "market_id"),)
    id: int | None = _column(primary_key=True)
    venue: str = _text()
    market_id: str = _text()
    event_row: int = _column(foreign_key="events.id", index=True)
    condition_id: str | None = _column(StoredText)
    token_ids_json: str = _text()
    question: str = _text()
    outcomes_json: str | None = _column(StoredText)
    """Names of its outcomes; None for YES and NO."""


class InstrumentRow(Row):
    """One thing that has a price."""

    __tablename__ = "instruments"
    __table_args__ = (
        UniqueConstraint("venue", "kind", "instrument_id"),
        _one_of("side", "YES", "NO"),
        CheckConstraint("highest_price IS NULL OR highest_price > lowest_price", name="price_bound_whole"),
    )
    id: int | None = _column(primary_key=True)
    venue: str = _text()
    kind: str = _text()
    instrument_id: str = _text()
    market_row: int | None = _column(foreign_key="markets.id", index=True)
    side: str | None = _column(StoredText)
    currency: str = _column(StoredText, server_default="USD")
    lowest_price: float = _column(server_default=text("0"))
    """The least it can cost; bounds are stored here, so that tables of prices need none."""
    highest_price: float | None = None
    """None for no bound."""
    tracked_from: datetime | None = _instant()
    tracked_until: datetime | None = _instant()
    outcome: int | None = None
    """Index from 0 of one of more than two outcomes, which has no side."""


class BotRow(Row):
    """A contestant of a run."""

    __tablename__ = "bots"
    __table_args__ = (UniqueConstraint("run_id", "name"),)
    id: int | None = _column(primary_key=True)
    run_id: int = _column(foreign_key="runs.id")
    name: str = _text()
    strategy: str = _text()
    arguments_json: str = _text()
    source_sha256: str = _text()
    model: str | None = _column(StoredText)
    knowledge_cutoff: str | None = _column(StoredText)
    """Last day of the model's training data, as `2025-06-01`; None where unknown."""
    members_json: str | None = _column(StoredText)
    """Names of the bots whose decisions it pools; None where an older predibot did not store them."""


class SubjectRow(Row):
    """What decisions on a venue are about, each once for all runs."""

    __tablename__ = "subjects"
    __table_args__ = (UniqueConstraint("venue", "kind", "subject_id"),)
    id: int | None = _column(primary_key=True)
    venue: str = _text()
    kind: str = _text()
    subject_id: str = _text()
    event_row: int | None = _column(foreign_key="events.id", index=True)


class TaskRow(Row):
    """A piece of work, its claim, and how it ended."""

    __tablename__ = "tasks"
    __table_args__ = (
        UniqueConstraint("run_id", "bot_id", "subject_row"),
        _one_of("status", "open", "claimed", "recorded", "refused", "failed", "abstained"),
        CheckConstraint("(status = 'claimed') = (token IS NOT NULL)", name="claimed_has_token"),
    )
    id: int | None = _column(primary_key=True)
    run_id: int = _column(foreign_key="runs.id")
    bot_id: int = _column(foreign_key="bots.id", index=True)
    subject_row: int = _column(foreign_key="subjects.id", index=True)
    status: str = _text()
    failures: int = 0
    token: str | None = _column(StoredText)
    owner: str | None = _column(StoredText)
    lease_until: datetime | None = _instant()
    next_try_at: datetime | None = _instant()
    """A failed task is not tried again unasked before; None for at once."""


class AttemptRow(Row):
    """One try at a task; `lost` when its owner vanished."""

    __tablename__ = "attempts"
    __table_args__ = (_one_of("outcome", "recorded", "refused", "failed", "abstained", "interrupted", "lost"),)
    task_id: int = _column(foreign_key="tasks.id", primary_key=True)
    number: int = _column(primary_key=True)
    started_at: datetime = _instant()
    ended_at: datetime | None = _instant()
    outcome: str | None = _column(StoredText)
    message: str = _column(Prose, default="")


class DecisionRow(Row):
    """A bot's answer about one subject, or why there is none."""

    __tablename__ = "decisions"
    __table_args__ = (
        UniqueConstraint("task_id"),
        _one_of("status", "recorded", "refused", "failed", "abstained"),
        CheckConstraint("unallocated_usd IS NULL OR unallocated_usd >= 0", name="unallocated_not_negative"),
        CheckConstraint("unallocated_usd IS NULL OR status = 'recorded'", name="recorded_is_booked"),
        CheckConstraint("cost_known_usd >= 0", name="cost_not_negative"),
        _one_of("reason_kind", *REASON_KINDS),
    )
    id: int | None = _column(primary_key=True)
    task_id: int = _column(foreign_key="tasks.id")
    run_id: int = _column(foreign_key="runs.id", index=True)
    bot_id: int = _column(foreign_key="bots.id", index=True)
    subject_row: int = _column(foreign_key="subjects.id", index=True)
    status: str = _text()
    decided_at: datetime = _instant()
    message: str = _column(Prose)
    rationale: str = _column(Prose)
    notes_json: str = _text()
    unallocated_usd: float | None = None
    stated_unallocated_usd: float | None = None
    scale: float = 1.0
    cost_usd: float | None = None
    cost_known_usd: float = 0.0
    seconds: float = 0.0
    trace_sha256: str | None = _column(StoredText)
    models_json: str | None = _column(StoredText)
    """Names of the models it opened; None where unknown."""
    reason_kind: str | None = _column(StoredText)
    """Why it abstained, or `answer` where no answer of its model could be used; None for any other."""


class ForecastRow(Row):
    """A probability of YES, with the hash of the question at the time."""

    __tablename__ = "forecasts"
    __table_args__ = (
        _unit("probability"),
        CheckConstraint("confidence IS NULL OR (confidence >= 0 AND confidence <= 10)", name="confidence_in_range"),
        CLUSTERED,
    )
    decision_id: int = _column(foreign_key="decisions.id", primary_key=True)
    market_row: int = _column(foreign_key="markets.id", primary_key=True, index=True)
    probability: float
    confidence: float | None = None
    rationale: str = _column(Prose)
    question_sha256: str = _text()


class OrderRow(Row):
    """An order for an amount of an instrument, and what became of it; a bet of zero has a row too."""

    __tablename__ = "orders"
    __table_args__ = (
        _one_of("side", *ORDER_SIDES),
        _one_of("unit", *ORDER_UNITS),
        _one_of("status", *ORDER_STATUSES),
        _one_of("price_source", "mid", "displayed", "last", "history"),
        CheckConstraint("price > 0", name="price_usable"),
        CheckConstraint("(price IS NULL) = (price_source IS NULL)", name="price_has_source"),
        CLUSTERED,
    )
    decision_id: int = _column(foreign_key="decisions.id", primary_key=True)
    number: int = _column(primary_key=True)
    instrument_row: int = _column(foreign_key="instruments.id", index=True)
    side: str = _text()
    unit: str = _text()
    asked: float | None = None
    """What the bot wanted; None where the order is the same."""
    amount: float
    status: str = _text()
    price: float | None = None
    """The booked price: of the instrument, for a bet on an event that of YES; None where there was none."""
    price_source: str | None = _column(StoredText)
    note: str | None = _column(Prose)
    ended_at: datetime | None = _instant()
    """When a pending order was filled, expired or replaced; None for any other."""


class FillRow(Row):
    """A fill of an order; shares and cash have opposite signs, sold shares are negative."""

    __tablename__ = "fills"
    __table_args__ = (
        ForeignKeyConstraint(["decision_id", "order_number"], ["orders.decision_id", "orders.number"]),
        CheckConstraint("price >= 0", name="price_not_negative"),
        CheckConstraint("shares <> 0", name="shares_not_zero"),
        CheckConstraint("fee_usd >= 0", name="fee_not_negative"),
        CLUSTERED,
    )
    decision_id: int = _column(primary_key=True)
    number: int = _column(primary_key=True)
    order_number: int
    shares: float
    price: float
    fee_usd: float
    cash_usd: float
    model: str = _text()


class LabelRow(Row):
    """The class that a bot put something in."""

    __tablename__ = "labels"
    __table_args__ = (CLUSTERED,)
    decision_id: int = _column(foreign_key="decisions.id", primary_key=True)
    number: int = _column(primary_key=True)
    item_id: str = _text()
    label: str = _column(Prose)
    probabilities_json: str = _text()
    """Probability by class; an empty object where none was stated."""


class QuoteRow(Row):
    """A quote stored with a decision: the one shown to the bot, or the one it was booked at."""

    __tablename__ = "quotes"
    __table_args__ = (_one_of("role", "shown", "booked"), CLUSTERED)
    decision_id: int = _column(foreign_key="decisions.id", primary_key=True)
    market_row: int = _column(foreign_key="markets.id", primary_key=True, index=True)
    role: str = _column(StoredText, primary_key=True)
    at: datetime = _instant()
    bid: float | None = None
    ask: float | None = None
    displayed: float | None = None
    last: float | None = None
    history: float | None = None
    depth_json: str | None = _column(StoredText)
    """The order book of YES behind bid and ask, best first; None where the venue did not show it."""


class SourceRow(Row):
    """A search or a page read before a decision, in order."""

    __tablename__ = "sources"
    __table_args__ = (
        _one_of("kind", "search", "page"),
        CheckConstraint("results IS NULL OR results >= 0", name="results_not_negative"),
        CLUSTERED,
    )
    decision_id: int = _column(foreign_key="decisions.id", primary_key=True)
    number: int = _column(primary_key=True)
    kind: str = _text()
    text: str = _column(Prose)
    final_url: str | None = _column(Prose)
    sha256: str | None = _column(StoredText)
    title: str = _column(Prose)
    published_at: datetime | None = _instant()
    results: int | None = None


class SpendingRow(Row):
    """The settled amount of an account in units of `agents.account.Exact`; before version 0004 also of reservations."""

    __tablename__ = "spending"
    usd: int = _column(BigInteger)
    tokens: int = _column(BigInteger)
    steps: int = _column(BigInteger)
    searches: int = _column(BigInteger)
    seconds: int = _column(BigInteger)
    account: str = _column(StoredText, primary_key=True)


class ReservationRow(Row):
    """The amount that one process has reserved in an account; it counts as long as the process lives."""

    __tablename__ = "reservations"
    usd: int = _column(BigInteger)
    tokens: int = _column(BigInteger)
    steps: int = _column(BigInteger)
    searches: int = _column(BigInteger)
    seconds: int = _column(BigInteger)
    account: str = _column(StoredText, primary_key=True)
    owner: str = _column(StoredText, primary_key=True)
    kept: bool = _column(primary_key=True)
    """Whether it is kept for later answers."""
    lease_until: datetime = _instant()


class PaceRow(Row):
    """Request limits of a host, shared by all processes."""

    __tablename__ = "paces"
    host: str = _column(StoredText, primary_key=True)
    free_at: datetime = _instant()
    """When its next turn is; a burst may come earlier."""
    at_once: float | None = None
    """How many calls may be under way; None before the first."""
    lowered_at: datetime | None = _instant()


class PermitRow(Row):
    """How many calls at once one process may have at a host; it counts as long as the process lives."""

    __tablename__ = "permits"
    host: str = _column(StoredText, primary_key=True)
    owner: str = _column(StoredText, primary_key=True)
    held: int
    wanted: int
    lease_until: datetime = _instant()


class PricePathRow(Row):
    """Prices of an instrument that `track` saw, as `pack_points` packs them: a row each would be millions."""

    __tablename__ = "price_paths"
    __table_args__ = (CheckConstraint(f"length(points) % {POINT_BYTES} = 1", name="points_whole"),)
    instrument_row: int = _column(foreign_key="instruments.id", primary_key=True, autoincrement=False)
    points: bytes = _column()
    receipts: bytes | None = _column()
    """Number of each point's receipt of the ledger, four bytes, 0 for none; None where all are 0."""


class ResolutionRow(Row):
    """One revision of a market's payout."""

    __tablename__ = "resolutions"
    __table_args__ = (_unit("payout_yes"), _one_of("settled_source", "venue", "first_sight"))
    market_row: int = _column(foreign_key="markets.id", primary_key=True)
    revision: int = _column(primary_key=True)
    payout_yes: float | None = None
    """None for a market voided without a payout: positions get their cost back."""
    settled_at: datetime = _instant()
    settled_source: str = _text()
    effective_at: datetime = _instant()
    seen_at: datetime = _instant()
    payouts_json: str | None = _column(StoredText)
    """Payout of each of more than two outcomes; None for any other market, and without a payout."""


class AccountRow(Row):
    """One bot in one instance of a game, through all runs of a recipe; its journal says what it holds."""

    __tablename__ = "accounts"
    __table_args__ = (
        UniqueConstraint("recipe", "game", "mode", "methodology", "bot", "subject_row"),
        _one_of("mode", *MODES),
    )
    id: int | None = _column(primary_key=True)
    recipe: str = _text()
    game: str = _text()
    mode: str = _text()
    """The two never share an account."""
    methodology: str = _column(StoredText, default="", server_default=text("''"))
    """The version of the game's rules; empty where there is only one."""
    bot: str = _text()
    """A name, as a bot has another row in every run."""
    subject_row: int = _column(foreign_key="subjects.id", index=True)
    task_id: int | None = _column(foreign_key="tasks.id", index=True)
    """The claim that last wrote to it; no other claim may."""
    slot_at: datetime | None = _instant()
    """Slot of that claim's run; an earlier slot has missed its turn."""


class CohortRow(Row):
    """A weekly cohort as it was frozen when it started; its universe is what its run froze."""

    __tablename__ = "cohorts"
    __table_args__ = (
        UniqueConstraint("recipe", "game", "mode", "venue", "name", "methodology"),
        _one_of("mode", *MODES),
        CheckConstraint("(archived_at IS NULL) = (archived_reason IS NULL)", name="archived_has_reason"),
    )
    id: int | None = _column(primary_key=True)
    recipe: str = _text()
    game: str = _text()
    mode: str = _text()
    venue: str = _text()
    name: str = _text()
    """Its Sunday, such as `2026-03-01`."""
    methodology: str = _text()
    run_id: int = _column(foreign_key="runs.id", index=True)
    started_at: datetime = _instant()
    line_up: str = _text()
    archived_at: datetime | None = _instant()
    """From then on it is in no score, and decides no more; None where it is not archived."""
    archived_reason: str | None = _column(Prose)


class JournalEntryRow(Row):
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
    account_id: int = _column(foreign_key="accounts.id", primary_key=True)
    number: int = _column(primary_key=True)
    kind: str = _text()
    at: datetime = _instant()
    instrument_row: int | None = _column(foreign_key="instruments.id", index=True)
    shares: float
    cash_usd: float
    decision_id: int | None = _column(foreign_key="decisions.id", index=True)
    """The decision it follows from; else the next two name the revision of a resolution."""
    market_row: int | None = None
    revision: int | None = None


class ValuationRow(Row):
    """An account marked at prices; a correction is a further revision."""

    __tablename__ = "valuations"
    __table_args__ = (
        ForeignKeyConstraint(["account_id", "journal_number"], ["journal.account_id", "journal.number"]),
        CLUSTERED,
    )
    account_id: int = _column(foreign_key="accounts.id", primary_key=True)
    at: datetime = _column(Instant, primary_key=True)
    """Floored to the game's interval."""
    revision: int = _column(primary_key=True)
    journal_number: int
    """The last journal row in it."""
    cash_usd: float
    value_usd: float


class MarkRow(Row):
    """The price at which a valuation marked a position."""

    __tablename__ = "marks"
    __table_args__ = (
        ForeignKeyConstraint(
            ["account_id", "at", "revision"], ["valuations.account_id", "valuations.at", "valuations.revision"]
        ),
        CheckConstraint("price >= 0", name="price_not_negative"),
        _one_of("state", *MARK_STATES),
        CLUSTERED,
    )
    account_id: int = _column(primary_key=True)
    at: datetime = _column(Instant, primary_key=True)
    revision: int = _column(primary_key=True)
    instrument_row: int = _column(foreign_key="instruments.id", primary_key=True, index=True)
    price: float
    priced_at: datetime = _instant()
    state: str = _column(StoredText, default="quoted", server_default="quoted")


class TurnRow(Row):
    """An account was brought to a slot: settled, valued, and its pending orders filled or ended, once."""

    __tablename__ = "turns"
    __table_args__ = (
        ForeignKeyConstraint(["account_id", "journal_number"], ["journal.account_id", "journal.number"]),
        CLUSTERED,
    )
    account_id: int = _column(foreign_key="accounts.id", primary_key=True)
    slot_at: datetime = _column(Instant, primary_key=True)
    run_id: int = _column(foreign_key="runs.id", index=True)
    at: datetime = _instant()
    """Instant of its prices; the slot's valuation has it floored."""
    journal_number: int
    """The last journal row after it; bookings of the slot's own decision come later."""


class NewsRow(Row):
    """News on a market that a run showed all its bots: number 0 is the search, the items follow."""

    __tablename__ = "news"
    __table_args__ = (
        CheckConstraint("(number = 0) = (published_at IS NULL)", name="items_are_dated"),
        CheckConstraint("failure IS NULL OR number = 0", name="searches_fail"),
        CLUSTERED,
    )
    run_id: int = _column(foreign_key="runs.id", primary_key=True)
    market_row: int = _column(foreign_key="markets.id", primary_key=True, index=True)
    number: int = _column(primary_key=True)
    title: str = _column(Prose, default="")
    """Title of an item, or the words of the search."""
    snippet: str = _column(Prose, default="")
    published_at: datetime | None = _instant()
    failure: str | None = _column(Prose)
    url: str | None = _column(Prose)
    """None of the search, and of items from before addresses were stored."""


class ReceiptRow(Row):
    """A run's decisions at the end of a call, as one hash; another row where a retry changed them."""

    __tablename__ = "receipts"
    run_id: int = _column(foreign_key="runs.id", primary_key=True)
    number: int = _column(primary_key=True)
    form: int
    root: str = _text()
    made_at: datetime = _instant()
    leaves_packed: bytes = _column()
    """Leaves under the root, as `pack_leaves` packs them."""


class LedgerReceiptRow(Row):
    """The rows written since the receipt before, as one hash that includes the root before."""

    __tablename__ = "ledger_receipts"
    number: int = _column(primary_key=True, autoincrement=False)
    form: int
    root: str = _text()
    made_at: datetime = _instant()
    rows_packed: bytes = _column()
    """The covered rows, as `pack_rows` packs them."""


class ArtefactRow(Row):
    """A trace or page that is no file, compressed by zlib; beside a SQLite file they are files."""

    __tablename__ = "artefacts"
    sha256: str = _column(StoredText, primary_key=True)
    content: bytes = _column()


class ChangeRow(Row):
    """Count of changes to what caches rest on; database triggers count, so nothing is missed."""

    __tablename__ = "changes"
    scope: int = _column(primary_key=True, autoincrement=False)
    """The run whose bots, decisions and their parts are counted; 0 for everything else."""
    number: int = _column(BigInteger)
    counted_by: int | None = _column(BigInteger)
    """The last transaction that changed something, where the database numbers them: each counts once."""


class ScheduleRow(Row):
    """A recipe that a schedule runs."""

    __tablename__ = "schedules"
    recipe: str = _column(StoredText, primary_key=True)
    argument: str = _text()
    since: datetime = _instant()
    """Only later slots are its own."""
    paused_at: datetime | None = _instant()
    tracked_at: datetime | None = _instant()
    evaluated_at: datetime | None = _instant()
    problem: str = _column(Prose, default="")
    """What is wrong with the recipe now, while its last good version runs."""


class SlotRow(Row):
    """What became of a slot of a schedule; a missed one has a row too."""

    __tablename__ = "slots"
    __table_args__ = (
        UniqueConstraint("recipe", "slot_at"),
        _one_of("status", *SLOT_STATUSES),
        CheckConstraint("(status = 'missed') = (started_at IS NULL)", name="missed_never_started"),
    )
    id: int | None = _column(primary_key=True)
    recipe: str = _text()
    slot_at: datetime = _instant()
    status: SlotStatus = _column(StoredText)
    tries: int = 0
    started_at: datetime | None = _instant()
    """Start of the first try, which tells how late it was."""
    ended_at: datetime | None = _instant()
    next_try_at: datetime | None = _instant()
    run_key: str | None = _column(StoredText)
    reason: str = _column(Prose, default="")

    @property
    def late(self) -> timedelta | None:
        """Return how long after its instant it began; None where it was missed."""
        return None if self.started_at is None else self.started_at - self.slot_at


class ServiceRow(Row):
    """The process that runs this ledger's schedules, one at a time."""

    __tablename__ = "services"
    name: str = _column(StoredText, primary_key=True)
    owner: str = _text()
    started_at: datetime = _instant()
    lease_until: datetime = _instant()
