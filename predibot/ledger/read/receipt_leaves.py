"""Leaves of a run's receipt: canonical JSON of everything that a decision's scores rest on.

Leaves have names in place of row numbers, so that upgrades, copies and imports keep them. They have nothing that is
found out later, so that prices, resolutions and scores change none.
"""

import hashlib
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from operator import itemgetter
from typing import Any

import rfc8785
from sqlalchemy import Connection, Select, and_, bindparam, case, select

from predibot.domain.clock import format_instant
from predibot.domain.decision import ITEM_SUBJECTS
from predibot.ledger.merkle_tree import leaf_hash
from predibot.ledger.schema.packed_receipts import Leaf
from predibot.ledger.write.accounts import journal
from predibot.ledger.write.decisions import (
    ORDER_OF_FILL,
    bots,
    decisions,
    fills,
    forecasts,
    labels,
    markets,
    orders,
    quotes,
    sources,
)
from predibot.ledger.write.events import events as known_events
from predibot.ledger.write.events import instruments, run_events
from predibot.ledger.write.runs import runs, subjects, with_decisions
from predibot.rows import grouped

FORMS = (1, 2)
"""The known forms of leaves; what a form covers never changes."""
FORM = FORMS[-1]
"""The current one."""

_RUN = ("key", "recipe", "slot_at", "as_of", "deadline_at", "venue_name", "game", "seed", "digest", "overrides_json")
_RUN_2 = (*_RUN, "venue", "created_at", "code_version")
_LONG_2 = ("recipe_json", "passed_over_json", "notes_json")
"""In form 2 by their hash: recipe and events passed over may be long, and each leaf has them."""
_BOT = ("name", "strategy", "arguments_json", "source_sha256", "model", "knowledge_cutoff", "members_json")
_DECISION = (
    *("status", "decided_at", "message", "rationale", "notes_json", "reason_kind"),
    *("unallocated_usd", "stated_unallocated_usd", "scale"),
    *("cost_usd", "cost_known_usd", "seconds", "models_json", "trace_sha256"),
)
_UNLESS_OF_MARKET = case((instruments.c.market_row.is_(None), instruments.c.instrument_id)).label("instrument_id")
"""A market listed before it had tokens has several instruments a side, and a bet of nothing names any."""


def _instrument_columns(*more: Any) -> tuple[Any, ...]:
    return (markets.c.market_id, instruments.c.venue, instruments.c.kind, *more, instruments.c.side.label("outcome"))


def _with_instruments(statement: Select[Any], row: Any) -> Select[Any]:
    known = statement.outerjoin(instruments, instruments.c.id == row)
    return known.outerjoin(markets, markets.c.id == instruments.c.market_row)


def _select_part(table: Any, *columns: Any) -> Select[Any]:
    return select(table.c.decision_id, *columns).join(decisions, decisions.c.id == table.c.decision_id)


def _select_with_market(table: Any, *names: str) -> Select[Any]:
    statement = _select_part(table, markets.c.market_id, *table.c[names])
    return statement.join(markets, markets.c.id == table.c.market_row)


_ENDED_LATER = orders.c.ended_at.is_not(None)
"""A pending order was filled, expired or replaced later, at another slot."""


def _orders() -> Select[Any]:
    status = case((_ENDED_LATER, "pending"), else_=orders.c.status).label("status")
    note = case((and_(_ENDED_LATER, orders.c.unit == "weight"), None), else_=orders.c.note).label("note")
    columns = (*orders.c["side", "unit", "asked", "amount"], status, *orders.c["price", "price_source"], note)
    return _with_instruments(
        _select_part(orders, orders.c.number, *_instrument_columns(_UNLESS_OF_MARKET), *columns),
        orders.c.instrument_row,
    )


def _fills(*more: str) -> Select[Any]:
    columns = fills.c["shares", "price", "fee_usd", "cash_usd", "model", *more]
    statement = _select_part(fills, fills.c.number, *_instrument_columns(instruments.c.instrument_id), *columns)
    return _with_instruments(
        statement.outerjoin(orders, ORDER_OF_FILL).where(orders.c.ended_at.is_(None)), orders.c.instrument_row
    )


def _journal() -> Select[Any]:
    columns = journal.c["kind", "at", "shares", "cash_usd"]
    statement = _select_part(journal, journal.c.number, *_instrument_columns(instruments.c.instrument_id), *columns)
    of_pending = select(orders.c.decision_id).where(orders.c.decision_id == journal.c.decision_id, _ENDED_LATER)
    return _with_instruments(statement.where(~of_pending.exists()), journal.c.instrument_row)


_QUOTE = ("role", "at", "bid", "ask", "displayed", "last", "history")
_PARTS: Mapping[str, tuple[Callable[[], Select[Any]], int]] = {
    "forecasts": (
        lambda: _select_with_market(forecasts, "probability", "confidence", "rationale", "question_sha256"),
        1,
    ),
    "orders": (_orders, 1),
    "fills": (_fills, 1),
    "labels": (lambda: _select_part(labels, *labels.c["number", "item_id", "label", "probabilities_json"]), 1),
    "quotes": (lambda: _select_with_market(quotes, *_QUOTE), 2),
    "sources": (
        lambda: _select_part(
            sources,
            *sources.c["number", "kind", "text", "final_url", "sha256", "title", "published_at", "results"],
        ),
        1,
    ),
    "journal": (_journal, 1),
}
_PARTS_2 = {
    **_PARTS,
    "fills": (lambda: _fills("order_number"), 1),
    "quotes": (lambda: _select_with_market(quotes, *_QUOTE, "depth_json"), 2),
}
"""The parts of a decision, and how many first columns order their rows; in form 1 a `number` only orders."""


def leaves_of(connection: Connection, run_id: int, form: int = FORM) -> tuple[Leaf, ...]:
    """Return the leaves of a run as it is, in the order of their tree: by bot, then by subject."""
    return tuple(leaf for leaf, _ in leaves_with_content(connection, run_id, form))


def leaves_with_content(connection: Connection, run_id: int, form: int = FORM) -> Iterator[tuple[Leaf, bytes]]:
    """Yield the leaves of a run, each with its canonical JSON."""
    # Two leaves share most fields. No field is a boolean, whose key would equal a number's.
    written: dict[Any, tuple[bytes, str]] = {}
    for (bot, kind, subject), fields in leaf_fields(connection, run_id, form):
        encoded = []
        for field in sorted(fields.items()):
            if field not in written:
                written[field] = _encode_field(*field)
            encoded.append(written[field])
        content = b"{" + b",".join([text for text, _ in encoded]) + b"}"
        checks = "".join([check for _, check in encoded])
        is_final = fields["decision.status"] in ("recorded", "refused") or fields["decision.reason_kind"] == "bot"
        yield Leaf(bot, kind, subject, leaf_hash(content).hex(), checks, is_final), content


def field_names(connection: Connection, run_id: int, form: int) -> tuple[str, ...]:
    """Return the names of the fields of a run's leaves, in the order of their checks."""
    return next((tuple(sorted(fields)) for _, fields in leaf_fields(connection, run_id, form)), ())


def _encode_field(name: str, value: Any) -> tuple[bytes, str]:
    text = rfc8785.dumps(value)
    return rfc8785.dumps(name) + b":" + text, f"{zlib.crc32(text) & 0xFFFF:04x}"


def leaf_fields(
    connection: Connection, run_id: int, form: int
) -> Iterator[tuple[tuple[str, str, str], Mapping[str, Any]]]:
    """Yield bot, kind and id of the subject of each decision of a run, and the fields of its leaf.

    A field of a part, such as `forecasts.probability`, is a tuple with a value for each row.
    """
    short, long, made = (_RUN, (), _PARTS) if form == 1 else (_RUN_2, _LONG_2, _PARTS_2)
    run = connection.execute(select(*runs.c[(*short, *long)]).where(runs.c.id == run_id)).one()
    of_run = {f"run.{name}": _canonical(value) for name, value in zip(short, run, strict=False)}
    of_run |= {f"run.{name}": _sha256(text) for name, text in zip(long, run[len(short) :], strict=True)}
    # Some readers of JSON do not take integers of 64 bits.
    of_run["run.seed"] = str(of_run["run.seed"])
    events = _event_hashes(connection, run_id, form)
    named = (subjects.c.kind, subjects.c.subject_id, *bots.c[_BOT], *decisions.c[_DECISION])
    names = [*(f"bot.{name}" for name in _BOT), *(f"decision.{name}" for name in _DECISION)]
    rows = connection.execute(with_decisions(decisions.c.id, *named).where(decisions.c.run_id == run_id)).all()
    # Parts are read after the decisions: a server shows later commits, and a final decision then has all its parts.
    # A journal's numbers are the account's, which the ledger's own receipts cover.
    numbered = () if form == 1 else (*made.keys() - {"journal"},)
    parts = {
        name: _part_rows(connection, run_id, name, *part, has_numbers=name in numbered) for name, part in made.items()
    }
    of_one, of_all = {"event", *ITEM_SUBJECTS}, sorted(events)
    # In the order of code points, whatever the database sorts by.
    for decision_id, kind, subject_id, *values in sorted(map(tuple, rows), key=itemgetter(3, 1, 2)):
        about = [subject_id] if kind in of_one else of_all
        fields = {**of_run, "subject": (kind, subject_id)}
        fields["events"] = tuple((each, *events.get(each, (None,))) for each in about)
        fields |= {name: _canonical(value) for name, value in zip(names, values, strict=True)}
        for columns, of_decision in parts.values():
            held = of_decision.get(decision_id, ())
            fields |= {name: tuple([row[place] for row in held]) for place, name in columns}
        yield (values[0], kind, subject_id), fields


def _event_hashes(connection: Connection, run_id: int, form: int) -> Mapping[str, tuple[str | int, ...]]:
    """Return the hash of each frozen event of a run by id; in form 2 those of payload and position too."""
    more = () if form == 1 else (run_events.c.payload, run_events.c.position)
    statement = select(known_events.c.event_id, run_events.c.event_json, *more).join(
        known_events, known_events.c.id == run_events.c.event_row
    )
    rows = connection.execute(statement.where(run_events.c.run_id == run_id))
    return {name: tuple(_sha256(each) if isinstance(each, str) else each for each in values) for name, *values in rows}


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


_Column = tuple[int, str]
"""Index in a row, and name with that of its part."""


def _part_rows(
    connection: Connection, run_id: int, part: str, made: Callable[[], Select[Any]], keys: int, *, has_numbers: bool
) -> tuple[Sequence[_Column], Mapping[int, Sequence[Any]]]:
    """Return the columns of a part, and its rows in order by the row of their decision."""
    statement = _select_of_run(made)
    found = grouped(
        (decision_id, tuple(map(_canonical, values)))
        for decision_id, *values in connection.execute(statement, {"its_run": run_id})
    )
    for rows in found.values():
        rows.sort(key=itemgetter(*range(keys)))
    names = [column.name for column in statement.selected_columns][1:]
    left_out = "" if has_numbers else "number"
    return [(place, f"{part}.{name}") for place, name in enumerate(names) if name != left_out], found


@cache
def _select_of_run(made: Callable[[], Select[Any]]) -> Select[Any]:
    """Return the statement that reads a part, made once: that takes longer than to read the part of a run."""
    return made().where(decisions.c.run_id == bindparam("its_run"))


def _canonical(value: Any) -> Any:
    return format_instant(value) if isinstance(value, datetime) else value
