"""Restoring: new rows of an export are put back into a ledger, in one transaction.

An export names things and has no row numbers, so that its rows fit into a ledger with other runs. Anybody may have
edited it: each row is checked, and the first wrong one is refused with its place.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from itertools import compress, groupby
from operator import not_
from types import SimpleNamespace
from typing import Any, NamedTuple

from sqlalchemy import Connection, select, update
from sqlalchemy.exc import DataError, IntegrityError

from predibot.domain.account import ACCOUNT_SUBJECTS
from predibot.domain.event import Market
from predibot.domain.price import Instrument, PricePoint, Quote
from predibot.errors import RunConflict, UsageError
from predibot.games.accounts import account_of
from predibot.games.cohorts import Member, cohort_start
from predibot.ledger.export_rows import ExportRow, RowError, Values, check_row, first_line
from predibot.ledger.read.export import TABLES, export_table
from predibot.ledger.schema.natural_keys import REFERS_TO, NamedColumn, key_of
from predibot.ledger.schema.tables import Row
from predibot.ledger.schema.upsert import insert_rows
from predibot.ledger.schema.values import event_from_json
from predibot.ledger.write.accounts import journal, read_journal
from predibot.ledger.write.claims import tasks
from predibot.ledger.write.decisions import bet_as_order, orders
from predibot.ledger.write.events import instrument_values, instruments, market_ref, parse_outcomes, store_instruments
from predibot.ledger.write.prices_and_resolutions import ObservationSource, add_observations, resolution_of
from predibot.ledger.write.runs import runs
from predibot.plugins.games import load_stored_game
from predibot.rows import batches

_ROWS_AT_ONCE = 500
_POINTS_AT_ONCE = 5_000
_CHARACTERS_AT_ONCE = 2**20
_MONEY_TOLERANCE_USD = 1e-5
_SOURCES: tuple[ObservationSource, ...] = ("history", "quote")
_MISSING: Mapping[str, str] = {
    "runs": "there is no run {0!r} with void {1} in the export",
    "events": "there is no event {1!r} of {0!r} in the export",
    "markets": "there is no market {1!r} of {0!r} in the export",
    "bots": "there is no bot {2!r} in its run",
    "decisions": "there is no decision of {4!r} on {7!r} in the export",
    "accounts": "there is no account of {4!r} in the export",
}
"""Messages for a natural key without a row."""
_TABLES = Row.metadata.tables
Key = tuple[Any, ...]


class CheckedRow(NamedTuple):
    """A row of an export whose values have the right types; row numbers are added to them."""

    place: str
    values: Values


@dataclass(slots=True)
class _Money:
    place: str
    unallocated_usd: float
    scale: float
    staked_usd: float = 0.0
    spent_usd: float = 0.0
    """Cost of its fills, without fees."""

    def add_bet(self, place: str, values: Values) -> None:
        """Add a bet, after checking that it is the asked amount times the scale."""
        booked_usd = values["booked_usd"]
        if abs(values["asked_usd"] * self.scale - booked_usd) > _MONEY_TOLERANCE_USD:
            asked = f"{values['asked_usd']:.6g} times the scale {self.scale:.6g}"
            raise RowError(place, f"booked_usd is {booked_usd:.6g}, not asked_usd {asked}")
        self.staked_usd += abs(booked_usd)

    def add_fill(self, place: str, values: Values) -> None:
        """Add a fill, after checking that its shares and fee cost the cash paid."""
        spent_usd = values["shares"] * values["price"]
        if abs(spent_usd + values["fee_usd"] + values["cash_usd"]) > _MONEY_TOLERANCE_USD:
            paid = f"{values['shares']:.6g} shares at {values['price']:.6g} with a fee of {values['fee_usd']:.6g}"
            raise RowError(place, f"cash_usd is {values['cash_usd']:.6g}, not what is paid for {paid}")
        self.spent_usd += spent_usd


@dataclass(slots=True)
class Restorer:
    """Puts rows back, table by table in the order of `export.TABLES`; call `finish` at the end."""

    connection: Connection
    notes: list[str] = field(default_factory=list)
    """What differs in the ledger and stays as it is, for the user."""
    _rows: dict[str, dict[Key, int]] = field(default_factory=lambda: {name: {} for name in _TABLES})
    """Row numbers by table and natural key; 0 for a decision that this ledger has not finished."""
    _here: set[tuple[str, int]] = field(default_factory=set)
    """Rows that the ledger had before; parts of such decisions and accounts stay as they are."""
    _venues: dict[tuple[str, int], str] = field(default_factory=dict)
    _money: dict[int, _Money] = field(default_factory=dict)
    _outcome_of: dict[int, tuple[int | None, str | None]] = field(default_factory=dict)
    _outcomes: dict[tuple[int | None, str | None], int] = field(default_factory=dict)
    """Instrument row by market row and side; the oldest where it was listed before it had tokens."""
    _new_accounts: dict[int, str] = field(default_factory=dict)
    """Place in the export by row of a new account."""
    _orders: dict[int, int] = field(default_factory=dict)

    def put(self, table: str, rows: Iterable[ExportRow]) -> int:
        """Put back rows of one table, and return how many are new.

        Raises:
            RowError: If a row is malformed, or refers to a row that is not there.
            RunConflict: If the ledger has another run of the same key.
        """
        checked = (CheckedRow(row.place, check_row(table, row)) for row in rows)
        if table == "observations":
            return self._put_observations(checked)
        if table == "runs":
            return sum(map(self._put_run, checked))
        return sum(self._put(table, some) for some in _row_batches(checked))

    def finish(self) -> None:
        """Fold new journals, and add up each new decision to its dollar; raise `RowError` if one is impossible."""
        for money in self._money.values():
            staked_usd, left_usd, spent_usd = money.staked_usd, money.unallocated_usd, money.spent_usd
            bets = f"its bets add up to {staked_usd:.6g}"
            if abs(staked_usd + left_usd - 1.0) > _MONEY_TOLERANCE_USD:
                raise RowError(money.place, f"{bets} and {left_usd:.6g} is left of 1 dollar")
            if abs(spent_usd - staked_usd) > _MONEY_TOLERANCE_USD:
                raise RowError(money.place, f"{bets} dollars and its fills to {spent_usd:.6g}")
        for account_id, place in self._new_accounts.items():
            try:
                account_of(read_journal(self.connection, account_id))
            except ValueError as error:
                raise RowError(place, f"its journal is none: {error}") from None

    def _put(self, table: str, rows: Sequence[CheckedRow]) -> int:
        for row in rows:
            self._resolve(table, row)
        owner = "account" if "account_id" in export_table(table).references else "decision"
        is_here = [(f"{owner}s", row.values.get(f"{owner}_id")) in self._here for row in rows]
        for row in compress(rows, is_here) if table == "journal" else ():
            self._require_entry(row)
        kept = [*compress(rows, map(not_, is_here))]
        for row in kept if table in _CHECKS else ():
            _CHECKS[table](self, row)
        if table == "decisions":
            kept = self._make_tasks(kept)
        elif table == "fills":
            self._find_orders(kept)
        elif table == "bets":
            return len(self._insert("orders", [CheckedRow(row.place, self._bet_order(row)) for row in kept]))
        new = self._insert(table, kept)
        if _TABLES[table] in REFERS_TO.values():
            self._learn(table, rows, set(new))
        if table == "markets":
            self._learn_outcomes(rows)
        return len(new)

    def _put_run(self, row: CheckedRow) -> bool:
        values = row.values
        key, void = values["run"], values["void"]
        if (void == 0) != (values["voided_at"] is None):
            raise RowError(row.place, f"void is {void}, voided_at is {values['voided_at']}; one of them is wrong")
        same = ("recipe", "slot_at", "as_of", "venue", "venue_name", "game", "seed", "digest", "created_at")
        found = self.connection.execute(
            select(runs.c.id, runs.c.voided_at)
            .where(runs.c.key == key, *(runs.c[name] == values[name] for name in same))
            .where(runs.c.id.not_in(self._rows["runs"].values()))
            .order_by(runs.c.id)
        ).first()
        self._venues[key, void] = values["venue_name"]
        if found is not None:
            self._rows["runs"][key, void] = found.id
            if (found.voided_at is None) != (values["voided_at"] is None):
                states = ("is void here and counts in the export", "counts here and is void in the export")
                self.notes.append(f"run {key} {states[found.voided_at is None]}; it stays as it is here")
            return False
        live = select(runs.c.id).where(runs.c.key == key, runs.c.voided_at.is_(None))
        if void == 0 and self.connection.execute(live).first() is not None:
            raise RunConflict(
                f"{row.place}: this ledger has another run {key}. Import into another --ledger, or void the run here"
            )
        values["receipted"] = "imported"
        (self._rows["runs"][key, void],) = self._insert("runs", [row])
        return True

    def _put_observations(self, rows: Iterable[CheckedRow]) -> int:
        def instrument_of(row: CheckedRow) -> Instrument:
            return Instrument(row.values["venue"], row.values["instrument_kind"], row.values["instrument_id"])

        new = 0
        for instrument, of_one in groupby(rows, instrument_of):
            for some in _row_batches(of_one, _POINTS_AT_ONCE):
                self._resolve("observations", some[0])
                seen = [_price_point(row, instrument) for row in some]
                for source in _SOURCES:
                    points = {some[0].values["instrument_row"]: [point for of, point in seen if of == source]}
                    new += add_observations(self.connection, points, source)
        return new

    def _resolve(self, table: str, row: CheckedRow) -> None:
        values = row.values
        if values.get("run") is not None:
            self._row_of(row, "runs", (values["run"], values["void"]))
        for column, key in export_table(table).references.items():
            optional = [each.name for each in key if each.is_nullable and each.name]
            if optional and all(values[name] is None for name in optional):
                values[column] = None
            else:
                values[column] = self._row_of(row, REFERS_TO[column].name, self._key(values, key))

    def _key(self, values: Values, key: Iterable[NamedColumn]) -> Key:
        return tuple([values[each.name] if each.name else self._venues[values["run"], values["void"]] for each in key])

    def _row_of(self, row: CheckedRow, table: str, key: Key) -> int:
        """Return the row number of a natural key; make it for an instrument or subject, which no table exports."""
        if key not in self._rows[table]:
            if table not in ("subjects", "instruments"):
                raise RowError(row.place, _MISSING[table].format(*(str(each)[:120] for each in key)))
            self._rows[table][key] = self._make_row(row, table, key)
        return self._rows[table][key]

    def _make_row(self, row: CheckedRow, table: str, key: Key) -> int:
        venue, kind, name = key
        if table == "subjects":
            of_event = self._row_of(row, "events", (venue, name)) if kind == "event" else None
            values = {"venue": venue, "kind": kind, "subject_id": name, "event_row": of_event}
        else:
            # An instrument that its market no longer lists.
            market_id = None if "instrument_venue" in row.values else row.values["market_id"]
            market_row = None if market_id is None else self._row_of(row, "markets", (venue, market_id))
            side = None if market_id is None else row.values.get("outcome", row.values["side"])
            values = instrument_values(Instrument(*key), market_row=market_row, side=side)
        self._insert(table, [CheckedRow(row.place, values)])
        (found,) = self._find_rows(table, [values], *([] if table == "subjects" else ["market_row", "side"])).values()
        if table == "instruments":
            self._learn_instrument(found)
        return int(found.id)

    def _learn_instrument(self, instrument: Any) -> None:
        self._outcome_of[instrument.id] = outcome = (instrument.market_row, instrument.side)
        self._outcomes.setdefault(outcome, instrument.id)

    def _learn_outcomes(self, rows: Sequence[CheckedRow]) -> None:
        found = self._find_rows("markets", [row.values for row in rows], "event_row")
        listed = dict[str, list[Market]]()
        for place, values in rows:
            if found[values["venue"], values["market_id"]].event_row != values["event_row"]:
                raise RowError(place, f"market {values['market_id']} is one of another event in this ledger")
            market = SimpleNamespace(**values)
            known = Market(market_ref(market), market.question, parse_outcomes(market.outcomes_json))
            listed.setdefault(market.venue, []).append(known)
        for venue, of_venue in listed.items():
            store_instruments(self.connection, venue, of_venue)
        of_markets = instruments.c.market_row.in_([each.id for each in found.values()])
        for each in self.connection.execute(select(instruments).where(of_markets).order_by(instruments.c.id)):
            self._rows["instruments"][each.venue, each.kind, each.instrument_id] = each.id
            self._learn_instrument(each)

    def _learn(self, table: str, rows: Sequence[CheckedRow], new: Collection[int]) -> None:
        own = [_own_values(table, row.values) for row in rows]
        found = self._find_rows(table, own)
        for (place, values), stored in zip(rows, own, strict=True):
            row = found.get(tuple(stored[column.name] for column in key_of(_TABLES[table])))
            number = self._rows[table][self._key(values, export_table(table).key)] = 0 if row is None else row.id
            left_usd = values.get("unallocated_usd")
            if number not in new:
                self._here.add((table, number))
            elif table == "accounts":
                self._new_accounts[number] = place
            elif left_usd is not None and values["subject_kind"] not in ACCOUNT_SUBJECTS:
                self._money[number] = _Money(place, left_usd, values["scale"])

    def _make_tasks(self, rows: Sequence[CheckedRow]) -> list[CheckedRow]:
        """Return the new decisions, each with a task of one attempt: an export has no other attempts."""
        new = set(self._insert("tasks", rows))
        found = self._find_rows("tasks", [row.values for row in rows], "status")
        begun, tried, seen = [], [], set[Key]()
        for row in rows:
            place, values = row
            key = self._key(values, export_table("decisions").key)
            if key in seen or key in self._rows["decisions"]:
                raise RowError(place, f"{values['bot'][:80]!r} decided on {values['subject_id'][:60]!r} before")
            seen.add(key)
            task = found[tuple(values[column.name] for column in key_of(tasks))]
            if task.id in new:
                values["task_id"], at = task.id, values["decided_at"]
                began = at - timedelta(seconds=min(max(values["seconds"], 0.0), 86_400.0))
                ended = {"ended_at": at, "outcome": values["status"], "message": values["message"]}
                tried.append(CheckedRow(place, {"task_id": task.id, "number": 1, "started_at": began, **ended}))
                begun.append(row)
            elif task.status != values["status"]:
                self.notes.append(
                    f"{place}: it is {values['status']} in the export and {task.status} here, as it stays"
                )
        self._insert("attempts", tried)
        return begun

    def _check_run_event(self, row: CheckedRow) -> None:
        values = row.values
        try:
            event = event_from_json(values["event_json"], values["payload"])
        except ValueError as error:
            raise RowError(row.place, f"event_json is no event: {first_line(error)}") from None
        if event.id != (event_id := values["event_id"]):
            raise RowError(row.place, f"event_json is of event {event.id[:60]!r}, not of {event_id[:60]!r}")
        for market in event.markets:
            self._row_of(row, "markets", (self._venues[values["run"], values["void"]], market.id))

    def _count_money(self, row: CheckedRow) -> None:
        if row.values["subject_kind"] not in ACCOUNT_SUBJECTS or "booked_usd" in row.values:
            money = self._money.get(row.values["decision_id"])
            if money is None:
                raise RowError(row.place, "its decision is not recorded, so it has no bets and no fills")
            (money.add_bet if "booked_usd" in row.values else money.add_fill)(row.place, row.values)

    def _bet_order(self, bet: CheckedRow) -> Values:
        values, price = bet.values, bet.values["price_yes"]
        if not 0.0 < price < 1.0:
            raise RowError(bet.place, f"price_yes is {price:g}; a bet is booked between 0 and 1")
        number = self._orders[values["decision_id"]] = self._orders.get(values["decision_id"], 0) + 1
        side, order = bet_as_order(values["asked_usd"], values["booked_usd"], price, values["price_source"])
        if (values["market_row"], side) not in self._outcomes:
            raise RowError(bet.place, f"its market has no {side}")
        instrument_row = self._outcomes[values["market_row"], side]
        return {"decision_id": values["decision_id"], "number": number, "instrument_row": instrument_row, **order}

    def _find_orders(self, fills: Sequence[CheckedRow]) -> None:
        """Add to each fill the number of its order; a bet's order then gets the instrument that was bought."""
        placed = self.connection.execute(
            select(orders.c.decision_id, orders.c.number, orders.c.instrument_row).where(
                orders.c.decision_id.in_({row.values["decision_id"] for row in fills})
            )
        ).all()
        numbered = {(row.decision_id, row.number): row for row in placed}
        order_on = {(row.decision_id, *self._outcome_of[row.instrument_row]): row for row in placed}
        for place, values in fills:
            instrument_row, decision_id = values["instrument_row"], values["decision_id"]
            outcome = self._outcome_of[instrument_row]
            if values["order_number"] is not None and values["model"] is not None:
                order = numbered.get((decision_id, values["order_number"]))
                if order is None:
                    raise RowError(place, f"its decision has no order {values['order_number']}")
            else:
                order = order_on.get((decision_id, *outcome))
                if order is None:
                    raise RowError(place, "its decision has no bet on this side of its market")
                values.update(order_number=order.number, model="mid")
            if order.instrument_row != instrument_row and self._outcome_of[order.instrument_row] == outcome:
                same = (orders.c.decision_id == decision_id, orders.c.number == order.number)
                self.connection.execute(update(orders).where(*same).values(instrument_row=instrument_row))

    def _check_order(self, row: CheckedRow) -> None:
        if (kind := row.values["subject_kind"]) not in ACCOUNT_SUBJECTS:
            raise RowError(row.place, f"a {kind} has no account to order for")

    def _check_quote(self, row: CheckedRow) -> None:
        try:
            Quote(**{name: row.values[name] for name in Quote.__slots__ if name in row.values})
        except ValueError as error:
            raise RowError(row.place, str(error)) from None

    def _check_resolution(self, row: CheckedRow) -> None:
        try:
            resolution_of(SimpleNamespace(**row.values))
        except (ValueError, TypeError) as error:
            raise RowError(row.place, first_line(error)) from None

    def _check_cohort(self, row: CheckedRow) -> None:
        values, venue = row.values, self._venues[row.values["run"], row.values["void"]]
        if venue != values["venue"]:
            raise RowError(row.place, f"venue is {values['venue'][:60]!r}, its run is of {venue[:60]!r}")
        try:
            cohort_start(values["name"])
            load_stored_game(values["game"], "{}", values["methodology"])
            [Member(**member) for member in json.loads(values["line_up"])]
        except (UsageError, ValueError, TypeError) as error:
            raise RowError(row.place, f"it is no cohort: {first_line(error)}") from None

    def _check_account(self, row: CheckedRow) -> None:
        if (kind := row.values["subject_kind"]) not in ACCOUNT_SUBJECTS:
            raise RowError(row.place, f"a {kind[:40]!r} has no account")

    def _require_entry(self, row: CheckedRow) -> None:
        """Refuse a journal row of an account in this ledger, unless the ledger has an equal one."""
        names = ("account_id", "number", "kind", "at", "shares", "cash_usd")
        same = (journal.c[name] == row.values[name] for name in names)
        if self.connection.execute(select(journal.c.number).where(*same)).first() is None:
            why = "this ledger has the account, and it went on otherwise here. Import into another --ledger"
            raise RowError(row.place, why)

    def _find_rows(self, table: str, rows: Sequence[Values], *more: str) -> dict[Key, Any]:
        of, key = _TABLES[table], key_of(_TABLES[table])
        within = (column.in_({row[column.name] for row in rows}) for column in key)
        found = self.connection.execute(select(*key, of.c.id, *(of.c[name] for name in more)).where(*within))
        return {tuple(row[: len(key)]): row for row in found}

    def _insert(self, table: str, rows: Sequence[CheckedRow]) -> list[int]:
        """Insert new rows, and return the first number of each one's key."""
        try:
            with self.connection.begin_nested():
                return insert_rows(self.connection, _TABLES[table], [_own_values(table, row.values) for row in rows])
        except (IntegrityError, DataError) as error:
            # Insert one by one, to name the refused one.
            if len(rows) > 1:
                return [number for row in rows for number in self._insert(table, [row])]
            raise RowError(rows[0].place, f"the database refuses it: {first_line(error.orig or error)}") from None


_CHECKS: Mapping[str, Callable[[Restorer, CheckedRow], None]] = {
    "run_events": Restorer._check_run_event,
    "bets": Restorer._count_money,
    "fills": Restorer._count_money,
    "orders": Restorer._check_order,
    "quotes": Restorer._check_quote,
    "resolutions": Restorer._check_resolution,
    "cohorts": Restorer._check_cohort,
    "accounts": Restorer._check_account,
}
"""Checks of a table's rows beyond column types and constraints."""


def _own_values(table: str, values: Values) -> Values:
    return {column: values[name] for column, name in _own_names(table) if name in values}


@cache
def _own_names(table: str) -> tuple[tuple[str, str], ...]:
    own = (
        {}
        if table not in TABLES
        else {each.path[0].name: each.name for each in export_table(table).columns if len(each.path) == 1}
    )
    return tuple((column.name, own.get(column.name, column.name)) for column in _TABLES[table].columns)


def _row_batches(rows: Iterable[CheckedRow], size: int = _ROWS_AT_ONCE) -> Iterator[list[CheckedRow]]:
    return batches(rows, lambda row: row.values.values(), size, _CHARACTERS_AT_ONCE)


def _price_point(row: CheckedRow, instrument: Instrument) -> tuple[str, PricePoint]:
    price, source = row.values["price"], row.values["source"]
    lowest, highest = instrument.price_bound
    if not lowest <= price <= highest:
        raise RowError(row.place, f"price is {price:g}; one of this kind is in [{lowest:g}, {highest:g}]")
    if source not in _SOURCES:
        raise RowError(row.place, f"source is {source[:40]!r}; it is 'history' or 'quote'")
    return source, PricePoint(row.values["at"], price)
