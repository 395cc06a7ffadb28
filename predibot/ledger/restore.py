"""Restoring: the rows of an export put back into a ledger, those that are not there yet, in one transaction.

An export names things and knows no row numbers, so that its rows fit into a
ledger that holds other runs. It may have been edited by anybody: each row is
checked, and the first that is wrong is refused with its place.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache, partial
from itertools import chain, groupby
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeVar

from pydantic import ValidationError
from sqlalchemy import BigInteger, Connection, Float, Integer, insert, select, update
from sqlalchemy.exc import DataError, IntegrityError
from sqlmodel import SQLModel

from predibot.domain.account import ACCOUNT_SUBJECTS
from predibot.domain.clock import parse_instant
from predibot.domain.decision import Subject
from predibot.domain.event import Market, MarketRef
from predibot.domain.price import BINARY_OUTCOME, EQUITY, Instrument, PricePoint, Quote
from predibot.domain.untrusted_text import has_too_many_values
from predibot.errors import RunConflict, UsageError
from predibot.games.accounts import account_of
from predibot.games.weekly_cohort.cohorts import Member, cohort_start
from predibot.games.weekly_cohort.methodology import methodology_of
from predibot.ledger.read.export import export_types
from predibot.ledger.schema.column_types import UNSTORABLE, Instant, Prose
from predibot.ledger.schema.tables import (
    AccountRow,
    BotRow,
    CohortRow,
    DecisionRow,
    EventRow,
    FillRow,
    ForecastRow,
    InstrumentRow,
    JournalEntryRow,
    LabelRow,
    MarketRow,
    MarkRow,
    NewsRow,
    OrderRow,
    QuoteRow,
    ResolutionRow,
    RunEventRow,
    RunRow,
    SourceRow,
    SubjectRow,
    TaskRow,
    TurnRow,
    ValuationRow,
)
from predibot.ledger.schema.upsert import insert_new, table_of
from predibot.ledger.schema.values import (
    FIRST_INSTANT,
    LAST_INSTANT,
    event_from_json,
    json_columns,
    largest,
)
from predibot.ledger.write.accounts import accounts, journal, stored_journal
from predibot.ledger.write.claims import attempts, subject_row, subjects, tasks
from predibot.ledger.write.decisions import bet_as_order, decisions, orders
from predibot.ledger.write.events import (
    events,
    instrument_values,
    instruments,
    markets,
    named_outcomes,
    remember_instruments,
)
from predibot.ledger.write.prices_and_resolutions import ObservationSource, add_observations, resolution_of
from predibot.ledger.write.runs import bots, runs

_ROWS_AT_ONCE = 500
_POINTS_AT_ONCE = 5_000
_CHARACTERS_AT_ONCE = 2**20
_MONEY_TOLERANCE_USD = 1e-5
MAX_ROW_VALUES = 1_000_000
"""Of JSON in a row, or cells of CSV; the payload of an event has two for each field of each of its markets."""
MAX_EVENT_VALUES = 250_000
"""Of a frozen event, which has some fifty a market; of each that is wrong a complaint is made."""
_SOURCES: tuple[ObservationSource, ...] = ("history", "quote")
_WHOLE = re.compile(r"-?[0-9]{1,19}")
_MODELS: Mapping[str, type[SQLModel]] = {
    "runs": RunRow,
    "events": EventRow,
    "markets": MarketRow,
    "run_events": RunEventRow,
    "bots": BotRow,
    "decisions": DecisionRow,
    "forecasts": ForecastRow,
    "fills": FillRow,
    "quotes": QuoteRow,
    "sources": SourceRow,
    "resolutions": ResolutionRow,
    "orders": OrderRow,
    "cohorts": CohortRow,
    "accounts": AccountRow,
    "journal": JournalEntryRow,
    "valuations": ValuationRow,
    "marks": MarkRow,
    "turns": TurnRow,
    "news": NewsRow,
    "labels": LabelRow,
}
_NULLABLE = {("decisions", "next_try_at"), ("fills", "market_id"), ("fills", "side")}
_NULLABLE |= {("observations", "market_id"), ("observations", "side")}
_NULLABLE |= {("orders", "market_id"), ("orders", "outcome"), ("fills", "order_number"), ("fills", "model")}
_NULLABLE |= {("journal", name) for name in ("instrument_venue", "instrument_kind", "instrument_id", "run", "void")}
_NULLABLE |= {("journal", name) for name in ("market_venue", "market_id")}
"""Columns of joined tables that may hold nothing."""

T = TypeVar("T")
Values = dict[str, Any]
DecisionKey = tuple[int, str, str, str]
"""The row of a run, a bot, and a subject's kind and id."""


class RowRefused(ValueError):
    """A row cannot be put back; says where it stands and what is wrong."""

    def __init__(self, place: str, reason: str) -> None:
        """Make a sentence of place and reason."""
        super().__init__(f"{place}: {reason}")


class Placed(NamedTuple):
    """A row of an export and where it stands."""

    place: str
    cells: Mapping[str, Any]
    """As JSON or Parquet hold them, or as texts."""
    is_text: bool = False
    """Whether all of them are texts, of which an empty one stands for nothing too."""


class Checked(NamedTuple):
    """The same with values of the right kinds, in whose place come those of our tables."""

    place: str
    values: Values


@dataclass(slots=True)
class _Money:
    """What a new decision says of its dollar."""

    place: str
    unallocated_usd: float
    scale: float
    staked_usd: float = 0.0
    spent_usd: float = 0.0
    """By its fills, without fees."""

    def add_bet(self, place: str, values: Values) -> None:
        """Count a bet, which is what was asked for, scaled."""
        booked_usd = values["booked_usd"]
        if abs(values["asked_usd"] * self.scale - booked_usd) > _MONEY_TOLERANCE_USD:
            asked = f"{values['asked_usd']:.6g} times the scale {self.scale:.6g}"
            raise RowRefused(place, f"booked_usd is {booked_usd:.6g}, not asked_usd {asked}")
        self.staked_usd += abs(booked_usd)

    def add_fill(self, place: str, values: Values) -> None:
        """Count a fill, whose shares cost what was paid."""
        spent_usd = values["shares"] * values["price"]
        if abs(spent_usd + values["fee_usd"] + values["cash_usd"]) > _MONEY_TOLERANCE_USD:
            paid = f"{values['shares']:.6g} shares at {values['price']:.6g} with a fee of {values['fee_usd']:.6g}"
            raise RowRefused(place, f"cash_usd is {values['cash_usd']:.6g}, not what is paid for {paid}")
        self.spent_usd += spent_usd


@dataclass(slots=True)
class Restorer:
    """Puts rows back, table by table in the order of `export.TABLES`; call `finish` at the end."""

    connection: Connection
    notes: list[str] = field(default_factory=list)
    """What a reader should know: what is otherwise here and stays so."""
    _runs: dict[tuple[str, int], tuple[int, str]] = field(default_factory=dict)
    _bots: dict[tuple[int, str], int] = field(default_factory=dict)
    _events: dict[tuple[str, str], int] = field(default_factory=dict)
    _markets: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    _instruments: dict[Instrument, int] = field(default_factory=dict)
    _tasks: dict[int, dict[tuple[int, str, str], str]] = field(default_factory=dict)
    """By run: the status of each piece of work that was there."""
    _new: dict[DecisionKey, int] = field(default_factory=dict)
    _known: set[DecisionKey] = field(default_factory=set)
    _money: dict[int, _Money] = field(default_factory=dict)
    _subjects: dict[tuple[str, str, str], int] = field(default_factory=dict)
    _outcome_of: dict[int, tuple[int | None, str | None]] = field(default_factory=dict)
    """The market row and the side of each instrument row."""
    _outcomes: dict[tuple[int | None, str | None], int] = field(default_factory=dict)
    """The instrument row of each side of a market, the oldest where it was listed before it had tokens."""
    _accounts: dict["_AccountKey", int] = field(default_factory=dict)
    _new_accounts: dict[int, str] = field(default_factory=dict)
    """Where each account stands in the export that was not here."""
    _orders: dict[int, int] = field(default_factory=dict)
    """How many orders a new decision has."""

    def __post_init__(self) -> None:
        """Read what the ledger knows of venues."""
        for row in self.connection.execute(select(events.c.venue, events.c.event_id, events.c.id)):
            self._events[row.venue, row.event_id] = row.id
        for row in self.connection.execute(select(markets)):
            self._markets[row.venue, row.market_id] = (row.id, row.event_row)
        self._read_instruments()

    def put(self, table: str, rows: Iterable[Placed]) -> int:
        """Put back rows of one table, and return how many are new.

        Raises:
            RowRefused: If a row is not as it should be, or names what is not there.
            RunConflict: If the ledger has another run of the same key.
        """
        put_back: Mapping[str, Callable[[Sequence[Checked]], int]] = {
            "runs": lambda some: sum(map(self._put_run, some)),
            "events": self._put_events,
            "markets": self._put_markets,
            "run_events": self._put_run_events,
            "bots": self._put_bots,
            "decisions": self._put_decisions,
            "quotes": self._put_quotes,
            "resolutions": self._put_resolutions,
            "orders": self._put_orders,
            "cohorts": self._put_cohorts,
            "accounts": self._put_accounts,
            "journal": self._put_journal,
            "valuations": lambda some: self._put_of_account(ValuationRow, some),
            "marks": lambda some: self._put_of_account(MarkRow, some),
            "turns": lambda some: self._put_of_account(TurnRow, some),
            "news": self._put_news,
        }
        checked = (Checked(row.place, _checked(table, row)) for row in rows)
        if table == "observations":
            return self._put_observations(checked)
        put = put_back.get(table) or partial(self._put_parts, table)
        return sum(put(some) for some in _batches(checked))

    def finish(self) -> None:
        """Check that of each new decision the bets and what is left add up to its dollar, and its fills to its bets.

        And that each new account can have done what its journal says.

        Raises:
            RowRefused: If they do not.
        """
        for money in self._money.values():
            staked_usd, left_usd, spent_usd = money.staked_usd, money.unallocated_usd, money.spent_usd
            bets = f"its bets add up to {staked_usd:.6g}"
            if abs(staked_usd + left_usd - 1.0) > _MONEY_TOLERANCE_USD:
                raise RowRefused(money.place, f"{bets} and {left_usd:.6g} is left of 1 dollar")
            if abs(spent_usd - staked_usd) > _MONEY_TOLERANCE_USD:
                raise RowRefused(money.place, f"{bets} dollars and its fills to {spent_usd:.6g}")
        for account_id, place in self._new_accounts.items():
            try:
                account_of(stored_journal(self.connection, account_id))
            except ValueError as error:
                raise RowRefused(place, f"its journal is none: {error}") from None

    def _put_run(self, row: Checked) -> bool:
        values = row.values
        key, void = values.pop("run"), values.pop("void")
        if (void == 0) != (values["voided_at"] is None):
            raise RowRefused(row.place, f"void is {void}, voided_at is {values['voided_at']}; one of them is wrong")
        same = ("recipe", "slot_at", "as_of", "venue", "venue_name", "game", "seed", "digest", "created_at")
        taken = [run_id for run_id, _ in self._runs.values()]
        found = self.connection.execute(
            select(runs.c.id, runs.c.voided_at)
            .where(runs.c.key == key, *(runs.c[name] == values[name] for name in same), runs.c.id.not_in(taken))
            .order_by(runs.c.id)
        ).first()
        if found is not None:
            self._runs[key, void] = (found.id, values["venue_name"])
            if (found.voided_at is None) != (values["voided_at"] is None):
                states = ("is void here and counts in the export", "counts here and is void in the export")
                self.notes.append(f"run {key} {states[found.voided_at is None]}; it stays as it is here")
            return False
        live = select(runs.c.id).where(runs.c.key == key, runs.c.voided_at.is_(None))
        if void == 0 and self.connection.execute(live).first() is not None:
            raise RunConflict(
                f"{row.place}: this ledger has another run {key}. Import into another --ledger, or void the run here"
            )
        values |= {"key": key, "receipted": "imported"}
        new = self._returned(RunRow, [row], runs.c.id)
        self._runs[key, void] = (new[0].id, values["venue_name"])
        return True

    def _put_events(self, rows: Sequence[Checked]) -> int:
        new = self._insert(EventRow, rows)
        wanted = {(row.values["venue"], row.values["event_id"]) for row in rows}
        for row in self.connection.execute(select(events).where(events.c.event_id.in_([name for _, name in wanted]))):
            self._events[row.venue, row.event_id] = row.id
        return new

    def _put_markets(self, rows: Sequence[Checked]) -> int:
        for place, values in rows:
            values["event_row"] = self._event(place, values["venue"], values.pop("event_id"))
            held = self._markets.get((values["venue"], values["market_id"]))
            if held is not None and held[1] != values["event_row"]:
                raise RowRefused(place, f"market {values['market_id']} is one of another event in this ledger")
        new = self._insert(MarketRow, rows)
        names = [row.values["market_id"] for row in rows]
        for stored in self.connection.execute(select(markets).where(markets.c.market_id.in_(names))):
            self._markets[stored.venue, stored.market_id] = (stored.id, stored.event_row)
        for venue, of_venue in groupby(
            sorted(rows, key=lambda row: row.values["venue"]), lambda row: row.values["venue"]
        ):
            listed = (row.values for row in of_venue)
            known = [
                Market(
                    MarketRef(
                        e["market_id"],
                        e["condition_id"],
                        tuple(json.loads(e["token_ids_json"])),
                        EQUITY if len(named_outcomes(e["outcomes_json"])) == 1 else BINARY_OUTCOME,
                    ),
                    e["question"],
                    named_outcomes(e["outcomes_json"]),
                )
                for e in listed
            ]
            remember_instruments(self.connection, venue, known)
        self._read_instruments()
        return new

    def _put_run_events(self, rows: Sequence[Checked]) -> int:
        for place, values in rows:
            values["run_id"], venue = self._run(place, values)
            event_id = values.pop("event_id")
            try:
                event = event_from_json(values["event_json"], values["payload"])
            except ValueError as error:
                raise RowRefused(place, f"event_json is no event: {_first(error)}") from None
            if event.id != event_id:
                raise RowRefused(place, f"event_json is of event {event.id[:60]!r}, not of {event_id[:60]!r}")
            for market in event.markets:
                self._market(place, venue, market.id)
            values["event_row"] = self._event(place, venue, event_id)
        return self._insert(RunEventRow, rows)

    def _put_bots(self, rows: Sequence[Checked]) -> int:
        for place, values in rows:
            values["run_id"], _ = self._run(place, values)
            values["name"] = values.pop("bot")
        new = self._insert(BotRow, rows)
        named = select(bots.c.run_id, bots.c.name, bots.c.id)
        run_ids = {row.values["run_id"] for row in rows}
        for run_id, name, bot_id in self.connection.execute(named.where(bots.c.run_id.in_(run_ids))):
            self._bots[run_id, name] = bot_id
        return new

    def _put_decisions(self, rows: Sequence[Checked]) -> int:
        wanted: dict[DecisionKey, Checked] = {}
        for row in rows:
            values = row.values
            key, venue = self._decision_key(row.place, values)
            run_id, bot, kind, subject = key
            bot_id = self._bots.get((run_id, bot))
            if bot_id is None:
                raise RowRefused(row.place, f"there is no bot {bot[:80]!r} in its run")
            held = self._tasks_of(run_id).get((bot_id, kind, subject))
            if held is not None or key in self._new:
                self._known.add(key)
                if held not in (None, values["status"]):
                    self.notes.append(
                        f"{row.place}: it is {values['status']} in the export and {held} here, as it stays"
                    )
                continue
            if key in wanted:
                raise RowRefused(row.place, f"{bot[:80]!r} decided on {subject[:60]!r} before")
            if kind == "event":
                self._event(row.place, venue, subject)
            subject_row = self._subject(run_id, venue, Subject(kind, subject))
            values.update(run_id=run_id, bot_id=bot_id, subject_row=subject_row)
            wanted[key] = row
        if wanted:
            self._store_decisions(wanted)
        return len(wanted)

    def _store_decisions(self, wanted: Mapping[DecisionKey, Checked]) -> None:
        """Store new decisions as work that is done, each with one attempt: the export knows the last only."""
        named = ("run_id", "bot_id", "subject_row")
        work = [
            Checked(row.place, {name: row.values[name] for name in (*named, "status", "failures", "next_try_at")})
            for row in wanted.values()
        ]
        made = self._returned(TaskRow, work, tasks.c.id, *(tasks.c[name] for name in named))
        task_ids = {tuple(task)[1:]: task.id for task in made}
        tried = []
        for _, values in wanted.values():
            del values["failures"], values["next_try_at"]
            task_id = values["task_id"] = task_ids[tuple(values[name] for name in named)]
            at = values["decided_at"]
            began = at - timedelta(seconds=min(max(values["seconds"], 0.0), 86_400.0))
            ended = {"ended_at": at, "outcome": values["status"], "message": values["message"]}
            tried.append({"task_id": task_id, "number": 1, "started_at": began, **ended})
        self.connection.execute(insert(attempts), tried)
        new = self._returned(DecisionRow, list(wanted.values()), decisions.c.id, decisions.c.task_id)
        stored = {row.task_id: row.id for row in new}
        for key, (place, values) in wanted.items():
            decision_id = self._new[key] = stored[values["task_id"]]
            if values["unallocated_usd"] is not None and key[2] not in ACCOUNT_SUBJECTS:
                self._money[decision_id] = _Money(place, values["unallocated_usd"], values["scale"])

    def _put_parts(self, table: str, rows: Sequence[Checked]) -> int:
        """Put back what belongs to decisions: forecasts, bets, fills, sources and labels."""
        found = []
        for row in rows:
            values = row.values
            key, venue = self._decision_key(row.place, values)
            decision_id = self._decision(row.place, key)
            if decision_id is None:
                continue
            if table == "fills":
                instrument = Instrument(values.pop("venue"), values.pop("instrument_kind"), values.pop("instrument_id"))
                side, market_id = values.pop("side"), values.pop("market_id")
                values["instrument_row"] = self._instrument(row.place, instrument, market_id, side)
            elif table not in ("sources", "labels"):
                values["market_row"] = self._market(row.place, venue, values.pop("market_id"))
                values.pop("title")
                values.pop("question")
            if table == "bets" or (table == "fills" and key[2] not in ACCOUNT_SUBJECTS):
                if decision_id not in self._money:
                    raise RowRefused(row.place, "its decision is not recorded, so it has no bets and no fills")
                money = self._money[decision_id]
                (money.add_bet if table == "bets" else money.add_fill)(row.place, values)
            values["decision_id"] = decision_id
            found.append(row)
        if table == "bets":
            return self._insert(OrderRow, [Checked(row.place, self._order(row)) for row in found])
        if table == "fills":
            self._find_orders(found)
        return self._insert(_MODELS[table], found)

    def _order(self, bet: Checked) -> Values:
        """Return a bet as an order."""
        values, price = bet.values, bet.values["price_yes"]
        if not 0.0 < price < 1.0:
            raise RowRefused(bet.place, f"price_yes is {price:g}; a bet is booked between 0 and 1")
        number = self._orders[values["decision_id"]] = self._orders.get(values["decision_id"], 0) + 1
        side, order = bet_as_order(values["asked_usd"], values["booked_usd"], price, values["price_source"])
        instrument_row = self._outcomes[values["market_row"], side]
        return {"decision_id": values["decision_id"], "number": number, "instrument_row": instrument_row, **order}

    def _find_orders(self, fills: Sequence[Checked]) -> None:
        """Find the order of each fill, which is then on the very instrument that was bought."""
        placed = self.connection.execute(
            select(orders.c.decision_id, orders.c.number, orders.c.instrument_row).where(
                orders.c.decision_id.in_({row.values["decision_id"] for row in fills})
            )
        ).all()
        numbered = {(row.decision_id, row.number) for row in placed}
        order_on = {(row.decision_id, *self._outcome_of[row.instrument_row]): row for row in placed}
        for place, values in fills:
            instrument_row, decision_id = values.pop("instrument_row"), values["decision_id"]
            order = order_on.get((decision_id, *self._outcome_of[instrument_row]))
            if values["order_number"] is not None and values["model"] is not None:
                if (decision_id, values["order_number"]) not in numbered:
                    raise RowRefused(place, f"its decision has no order {values['order_number']}")
                continue
            if order is None:
                raise RowRefused(place, "its decision has no bet on this side of its market")
            if order.instrument_row != instrument_row:
                same = (orders.c.decision_id == decision_id, orders.c.number == order.number)
                self.connection.execute(update(orders).where(*same).values(instrument_row=instrument_row))
            values.update(order_number=order.number, model="mid")

    def _put_orders(self, rows: Sequence[Checked]) -> int:
        found = []
        for row in rows:
            place, values = row
            key, _ = self._decision_key(place, values)
            decision_id = self._decision(place, key)
            instrument = Instrument(values.pop("venue"), values.pop("instrument_kind"), values.pop("instrument_id"))
            market_id, outcome = values.pop("market_id"), values.pop("outcome")
            if decision_id is None:
                continue
            if key[2] not in ACCOUNT_SUBJECTS:
                raise RowRefused(place, f"a {key[2]} has no account to order for")
            values["decision_id"] = decision_id
            values["instrument_row"] = self._instrument(place, instrument, market_id, outcome)
            found.append(row)
        return self._insert(OrderRow, found)

    def _put_cohorts(self, rows: Sequence[Checked]) -> int:
        """Put back cohorts; one that is here stays as it is."""
        for place, values in rows:
            values["run_id"], venue = self._run(place, values)
            if venue != values["venue"]:
                raise RowRefused(place, f"venue is {values['venue'][:60]!r}, its run is of {venue[:60]!r}")
            try:
                cohort_start(values["name"])
                methodology_of(values["methodology"])
                [Member(**member) for member in json.loads(values["line_up"])]
            except (UsageError, ValueError, TypeError) as error:
                raise RowRefused(place, f"it is no cohort: {_first(error)}") from None
        return self._insert(CohortRow, rows)

    def _put_accounts(self, rows: Sequence[Checked]) -> int:
        new = 0
        for place, values in rows:
            key = _account_key(values)
            recipe, game, mode, methodology, bot, venue, kind, subject_id = key
            if kind not in ACCOUNT_SUBJECTS:
                raise RowRefused(place, f"a {kind[:40]!r} has no account")
            subject = {"venue": venue, "kind": kind, "subject_id": subject_id, "event_row": None}
            insert_new(self.connection, SubjectRow, [subject])
            same = (subjects.c.venue == venue, subjects.c.kind == kind, subjects.c.subject_id == subject_id)
            subject_row = self.connection.execute(select(subjects.c.id).where(*same)).scalar_one()
            named = {"recipe": recipe, "game": game, "mode": mode, "methodology": methodology}
            named |= {"bot": bot, "subject_row": subject_row}
            account_id = self._account_row(named)
            if account_id is None:
                account_id = int(self._returned(AccountRow, [Checked(place, {**named, **values})], accounts.c.id)[0].id)
                self._new_accounts[account_id] = place
                new += 1
            self._accounts[key] = account_id
        return new

    def _account_row(self, named: Values) -> int | None:
        same = select(accounts.c.id).where(*(accounts.c[name] == value for name, value in named.items()))
        return self.connection.execute(same).scalar()

    def _account(self, row: Checked) -> int:
        """Return the row of the account that a row is of, and take out its name."""
        key = _account_key(row.values)
        if key not in self._accounts:
            raise RowRefused(row.place, f"there is no account of {key[4][:80]!r} in the export")
        return self._accounts[key]

    def _put_journal(self, rows: Sequence[Checked]) -> int:
        found = []
        for row in rows:
            place, values = row
            bot, kind, subject_id = values["bot"], values["subject_kind"], values["subject_id"]
            account_id = values["account_id"] = self._account(row)
            named = tuple(values.pop(f"instrument_{name}") for name in ("venue", "kind", "id"))
            values["instrument_row"] = None if named[0] is None else self._instruments.get(Instrument(*named))
            if named[0] is not None and values["instrument_row"] is None:
                values["instrument_row"] = self._instrument(place, Instrument(*named), None, None)
            run, void = values.pop("run"), values.pop("void")
            venue, market_id = values.pop("market_venue"), values.pop("market_id")
            values["market_row"] = None if market_id is None else self._market(place, venue or "", market_id)
            values["decision_id"] = None
            if run is not None and (run, void) not in self._runs:
                raise RowRefused(place, f"there is no run {run[:120]!r} with void {void} in the export")
            if account_id in self._new_accounts:
                if run is not None:
                    values["decision_id"] = self._decision_of(place, (self._runs[run, void][0], bot, kind, subject_id))
                found.append(row)
            elif not self._has_entry(account_id, values):
                raise RowRefused(
                    place,
                    "this ledger has the account, and it went on otherwise here. Import into another --ledger",
                )
        return self._insert(JournalEntryRow, found)

    def _decision_of(self, place: str, key: DecisionKey) -> int:
        """Return the row of a decision of the export, whether it is new here or not."""
        if key in self._new:
            return self._new[key]
        run_id, bot, kind, subject_id = key
        statement = (
            select(decisions.c.id)
            .join(bots, bots.c.id == decisions.c.bot_id)
            .join(subjects, subjects.c.id == decisions.c.subject_row)
            .where(decisions.c.run_id == run_id, bots.c.name == bot)
            .where(subjects.c.kind == kind, subjects.c.subject_id == subject_id)
        )
        found = self.connection.execute(statement).scalar()
        if found is None:
            raise RowRefused(place, f"there is no decision of {bot[:80]!r} that it follows from in the export")
        return int(found)

    def _has_entry(self, account_id: int, values: Values) -> bool:
        """Return whether the journal of an account here has a row that says the same."""
        same = [journal.c.account_id == account_id]
        same += [journal.c[name] == values[name] for name in ("number", "kind", "at", "shares", "cash_usd")]
        return self.connection.execute(select(journal.c.number).where(*same)).first() is not None

    def _put_of_account(self, model: type[SQLModel], rows: Sequence[Checked]) -> int:
        """Put back valuations, marks or turns; those of an account that was here stay as they are."""
        found = []
        for row in rows:
            place, values = row
            account_id = values["account_id"] = self._account(row)
            if model is TurnRow:
                values["run_id"], _ = self._run(place, values)
            if model is MarkRow:
                named = Instrument(*(values.pop(f"instrument_{name}") for name in ("venue", "kind", "id")))
                values["instrument_row"] = self._instrument(place, named, None, None)
            if account_id in self._new_accounts:
                found.append(row)
        return self._insert(model, found)

    def _put_news(self, rows: Sequence[Checked]) -> int:
        for place, values in rows:
            values["run_id"], venue = self._run(place, values)
            values["market_row"] = self._market(place, venue, values.pop("market_id"))
        return self._insert(NewsRow, rows)

    def _subject(self, run_id: int, venue: str, subject: Subject) -> int:
        named = (venue, subject.kind, subject.id)
        if named not in self._subjects:
            self._subjects[named] = subject_row(self.connection, run_id, subject)
        return self._subjects[named]

    def _put_quotes(self, rows: Sequence[Checked]) -> int:
        found = []
        for row in rows:
            place, values = row
            key, venue = self._decision_key(place, values)
            values["decision_id"] = self._decision(place, key)
            values["market_row"] = self._market(place, venue, values.pop("market_id"))
            _require(Quote, row)
            if values["decision_id"] is not None:
                found.append(row)
        return self._insert(QuoteRow, found)

    def _put_observations(self, rows: Iterable[Checked]) -> int:
        def instrument_of(row: Checked) -> Instrument:
            return Instrument(row.values["venue"], row.values["instrument_kind"], row.values["instrument_id"])

        new = 0
        for instrument, of_one in groupby(rows, instrument_of):
            for some in _batches(of_one, _POINTS_AT_ONCE):
                first = some[0]
                at = self._instrument(first.place, instrument, first.values["market_id"], first.values["side"])
                seen = [_point(row, instrument) for row in some]
                for source in _SOURCES:
                    points = [point for of, point in seen if of == source]
                    new += add_observations(self.connection, {at: points}, source)
        return new

    def _put_resolutions(self, rows: Sequence[Checked]) -> int:
        for row in rows:
            values = row.values
            values["market_row"] = self._market(row.place, values.pop("venue"), values.pop("market_id"))
            try:
                resolution_of(SimpleNamespace(**values))
            except (ValueError, TypeError) as error:
                raise RowRefused(row.place, _first(error)) from None
        return self._insert(ResolutionRow, rows)

    def _run(self, place: str, values: Values) -> tuple[int, str]:
        """Return the row of the run that a row is about and the venue of its instruments, and take out its name."""
        key, void = values.pop("run"), values.pop("void")
        if (key, void) not in self._runs:
            raise RowRefused(place, f"there is no run {key[:120]!r} with void {void} in the export")
        return self._runs[key, void]

    def _decision_key(self, place: str, values: Values) -> tuple[DecisionKey, str]:
        run_id, venue = self._run(place, values)
        return (run_id, values.pop("bot"), values.pop("subject_kind"), values.pop("subject_id")), venue

    def _decision(self, place: str, key: DecisionKey) -> int | None:
        """Return the row of a new decision, None for one that was there with all its parts."""
        if key in self._known:
            return None
        if key not in self._new:
            raise RowRefused(place, f"there is no decision of {key[1][:80]!r} on {key[3][:60]!r} in the export")
        return self._new[key]

    def _event(self, place: str, venue: str, event_id: str) -> int:
        if (venue, event_id) not in self._events:
            raise RowRefused(place, f"there is no event {event_id[:60]!r} of {venue[:60]!r} in the export")
        return self._events[venue, event_id]

    def _market(self, place: str, venue: str, market_id: str) -> int:
        if (venue, market_id) not in self._markets:
            raise RowRefused(place, f"there is no market {market_id[:60]!r} of {venue[:60]!r} in the export")
        return self._markets[venue, market_id][0]

    def _instrument(self, place: str, instrument: Instrument, market_id: str | None, side: str | None) -> int:
        """Return the row of an instrument; one that its market is not known by any more is stored."""
        if instrument not in self._instruments:
            market_row = None if market_id is None else self._market(place, instrument.venue, market_id)
            row = Checked(place, instrument_values(instrument, market_row=market_row, side=side))
            self._know(instrument, self._returned(InstrumentRow, [row], instruments.c.id)[0].id, market_row, side)
        return self._instruments[instrument]

    def _know(self, instrument: Instrument, row: int, market_row: int | None, side: str | None) -> None:
        self._instruments[instrument] = row
        self._outcome_of[row] = (market_row, side)
        self._outcomes.setdefault((market_row, side), row)

    def _read_instruments(self) -> None:
        for row in self.connection.execute(select(instruments).order_by(instruments.c.id)):
            self._know(Instrument(row.venue, row.kind, row.instrument_id), row.id, row.market_row, row.side)

    def _tasks_of(self, run_id: int) -> Mapping[tuple[int, str, str], str]:
        if run_id not in self._tasks:
            columns = (tasks.c.bot_id, subjects.c.kind, subjects.c.subject_id, tasks.c.status)
            named = select(*columns).join(subjects, subjects.c.id == tasks.c.subject_row)
            rows = self.connection.execute(named.where(tasks.c.run_id == run_id))
            self._tasks[run_id] = {(bot_id, kind, subject): status for bot_id, kind, subject, status in rows}
        return self._tasks[run_id]

    def _insert(self, model: type[SQLModel], rows: Sequence[Checked]) -> int:
        """Insert those rows that are not there, and return how many they were."""
        return self._each(rows, lambda values: insert_new(self.connection, model, values), lambda counts: sum(counts))

    def _returned(self, model: type[SQLModel], rows: Sequence[Checked], *columns: Any) -> list[Any]:
        """Insert rows that are not there, and return what the database says of each."""
        statement = insert(table_of(model)).returning(*columns)
        return self._each(
            rows,
            lambda values: list(self.connection.execute(statement, values)),
            lambda lists: list(chain.from_iterable(lists)),
        )

    def _each(self, rows: Sequence[Checked], store: Callable[[list[Values]], T], joined: Callable[[list[T]], T]) -> T:
        """Store rows at once; where the database refuses one, find out which."""
        try:
            with self.connection.begin_nested():
                return store([row.values for row in rows])
        except (IntegrityError, DataError) as error:
            if len(rows) > 1:
                return joined([self._each([row], store, joined) for row in rows])
            raise RowRefused(rows[0].place, f"the database refuses it: {_first(error.orig or error)}") from None


_AccountKey = tuple[str, str, str, str, str, str, str, str]


def _account_key(values: Values) -> _AccountKey:
    """Return what an account is known by, and take it out of a row."""
    recipe, game, mode, bot = (values.pop(name) for name in ("recipe", "game", "mode", "bot"))
    venue, kind, subject_id = (values.pop(name) for name in ("account_venue", "subject_kind", "subject_id"))
    return (recipe, game, mode, values.pop("methodology") or "", bot, venue, kind, subject_id)


def _batches(rows: Iterable[Checked], size: int = _ROWS_AT_ONCE) -> Iterator[list[Checked]]:
    some: list[Checked] = []
    characters = 0
    for row in rows:
        some.append(row)
        characters += sum([len(value) for value in row.values.values() if isinstance(value, str)])
        if len(some) == size or characters > _CHARACTERS_AT_ONCE:
            yield some
            some, characters = [], 0
    if some:
        yield some


def _require(cls: type[Quote], row: Checked) -> None:
    """Refuse values of which no quote can be made."""
    try:
        cls(**{name: row.values[name] for name in cls.__slots__ if name in row.values})
    except ValueError as error:
        raise RowRefused(row.place, str(error)) from None


def _point(row: Checked, instrument: Instrument) -> tuple[str, PricePoint]:
    """Return where a price was seen, and what and when."""
    price, source = row.values["price"], row.values["source"]
    lowest, highest = instrument.price_bound
    if not lowest <= price <= highest:
        raise RowRefused(row.place, f"price is {price:g}; one of this kind is in [{lowest:g}, {highest:g}]")
    if source not in _SOURCES:
        raise RowRefused(row.place, f"source is {source[:40]!r}; it is 'history' or 'quote'")
    return source, PricePoint(row.values["at"], price)


def _first(error: BaseException) -> str:
    """Return the first line of what an error says."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]


class _Column(NamedTuple):
    """What a column of an export holds."""

    name: str
    kind: type
    nullable: bool
    prose: bool


_COMPUTED = ("decisions", "late")
"""Follows from the other columns."""
_ADDED = {("runs", "deadline_at"), ("fills", "order_number"), ("fills", "model"), ("quotes", "depth_json")}
_ADDED |= {("news", "url")}
_ADDED |= {(table, "methodology") for table in ("accounts", "journal", "valuations", "marks", "turns")}
"""Absent from older exports, which have none of it."""


@cache
def _columns(table: str) -> tuple[_Column, ...]:
    own = dict(table_of(_MODELS[table]).columns) if table in _MODELS else {}
    found = []
    for name, type_ in export_types(table).items():
        if (table, name) == _COMPUTED:
            continue
        nullable = (table, name) in _NULLABLE or (name in own and bool(own[name].nullable))
        kind: type = str
        if isinstance(type_, Instant):
            kind = Instant
        elif isinstance(type_, Integer | BigInteger):
            kind = int
        elif isinstance(type_, Float):
            kind = float
        found.append(_Column(name, kind, nullable, isinstance(type_, Prose)))
    return tuple(found)


def _checked(table: str, row: Placed) -> Values:
    """Return the values of a row.

    Raises:
        RowRefused: If one is missing or not of its kind.
    """
    values: Values = {}
    for column in _columns(table):
        if column.name not in row.cells:
            if (table, column.name) in _ADDED:
                values[column.name] = None
                continue
            raise RowRefused(row.place, f"it has no {column.name}; export again with this predibot, not --canonical")
        cell = row.cells[column.name]
        if cell is None or (row.is_text and cell == "" and (column.nullable or column.kind is not str)):
            if not column.nullable:
                raise RowRefused(row.place, f"{column.name} is empty")
            values[column.name] = None
            continue
        try:
            values[column.name] = _value(column, cell)
        except ValidationError as error:
            raise RowRefused(row.place, f"{column.name}: {error.errors(include_url=False)[0]['msg']}") from None
        except (ValueError, OverflowError) as error:
            is_long = isinstance(cell, int) and cell.bit_length() > 256
            shown = "a very large number" if is_long else repr(cell)[:60]
            raise RowRefused(row.place, f"{column.name} is {shown}: {_first(error)}") from None
    return values


def _value(column: _Column, cell: Any) -> Any:
    """Return what a cell holds as its column's kind."""
    if column.kind is int:
        return _whole(cell)
    if column.kind is float:
        number = _number(cell)
        if abs(number) > (most := largest(column.name)):
            raise ValueError(f"it must be at most {most:,.0f}")
        return number
    if not isinstance(cell, str):
        raise ValueError("it must be a text")
    if column.kind is Instant:
        instant = parse_instant(cell)
        # A page may be older than computers.
        if column.name != "published_at" and not FIRST_INSTANT <= instant < LAST_INSTANT:
            raise ValueError("it must be in the years 1970 to 2999")
        return instant
    if not column.prose and UNSTORABLE.search(cell):
        raise ValueError("it holds a character that cannot be stored")
    most = MAX_EVENT_VALUES if column.name == "event_json" else MAX_ROW_VALUES
    if column.name.endswith("_json") and has_too_many_values(cell, most):
        raise ValueError(f"it holds more than {most:,} values")
    if column.name in json_columns():
        json_columns()[column.name].validate_json(cell)
    if column.name == "knowledge_cutoff":
        date.fromisoformat(cell)
    return cell


def _whole(cell: Any) -> int:
    if isinstance(cell, str) and _WHOLE.fullmatch(cell):
        cell = int(cell)
    if isinstance(cell, bool) or not isinstance(cell, int) or not -(2**63) <= cell < 2**63:
        raise ValueError("it must be a whole number of 64 bits")
    return cell


def _number(cell: Any) -> float:
    is_text = isinstance(cell, str) and cell.isascii() and "_" not in cell
    if not is_text and (isinstance(cell, bool) or not isinstance(cell, int | float)):
        raise ValueError("it must be a number")
    number = float(cell)
    if not math.isfinite(number):
        raise ValueError("it must be a finite number")
    return number
