"""What a receipt covers: every decision of a run as a leaf, canonical JSON of all that its scores rest on.

By the names things have and not by our row numbers, so that an upgraded, copied, or exported and imported ledger has
the same leaves; and nothing that is found out later, so that prices, resolutions and scores change none.
"""

import hashlib
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any

import rfc8785
from sqlalchemy import Connection, Select, and_, case, select

from predibot.domain.clock import format_instant
from predibot.domain.decision import ITEM_SUBJECTS
from predibot.ledger.merkle_tree import leaf_hash
from predibot.ledger.schema.packed_leaves import Leaf
from predibot.ledger.write.accounts import journal
from predibot.ledger.write.decisions import (
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

FORMS = (1, 2)
"""The forms of leaves that are known; what a form covers never changes, another form is another number."""
FORM = FORMS[-1]
"""The one that is written today."""

_RUN = ("key", "recipe", "slot_at", "as_of", "deadline_at", "venue_name", "game", "seed", "digest", "overrides_json")
_RUN_2 = (*_RUN, "venue", "created_at", "code_version")
_LONG_2 = ("recipe_json", "passed_over_json", "notes_json")
"""Of form 2, by their hash: the recipe and what of a list was passed over may be long, and each leaf has them."""
_BOT = ("name", "strategy", "arguments_json", "source_sha256", "model", "knowledge_cutoff", "members_json")
_DECISION = (
    *("status", "decided_at", "message", "rationale", "notes_json", "reason_kind"),
    *("unallocated_usd", "stated_unallocated_usd", "scale"),
    *("cost_usd", "cost_known_usd", "seconds", "models_json", "trace_sha256"),
)
_UNLESS_OF_MARKET = case((instruments.c.market_row.is_(None), instruments.c.instrument_id)).label("instrument_id")
"""A market listed before it had tokens has several instruments a side; which one a bet of nothing names is chance."""


def _named(table: Any, *names: str) -> tuple[Any, ...]:
    return tuple(table.c[name] for name in names)


def _instrument(*more: Any) -> tuple[Any, ...]:
    return (markets.c.market_id, instruments.c.venue, instruments.c.kind, *more, instruments.c.side.label("outcome"))


def _with_instruments(statement: Select[Any], row: Any) -> Select[Any]:
    known = statement.outerjoin(instruments, instruments.c.id == row)
    return known.outerjoin(markets, markets.c.id == instruments.c.market_row)


def _part(table: Any, *columns: Any) -> Select[Any]:
    return select(table.c.decision_id, *columns).join(decisions, decisions.c.id == table.c.decision_id)


def _of_market(table: Any, *names: str) -> Select[Any]:
    statement = _part(table, markets.c.market_id, *_named(table, *names))
    return statement.join(markets, markets.c.id == table.c.market_row)


_ENDED_LATER = orders.c.ended_at.is_not(None)
"""Of an order that was pending: what became of it is found out later, at another slot."""


def _orders() -> Select[Any]:
    status = case((_ENDED_LATER, "pending"), else_=orders.c.status).label("status")
    note = case((and_(_ENDED_LATER, orders.c.unit == "weight"), None), else_=orders.c.note).label("note")
    said = (*_named(orders, "side", "unit", "asked", "amount"), status, *_named(orders, "price", "price_source"), note)
    return _with_instruments(
        _part(orders, orders.c.number, *_instrument(_UNLESS_OF_MARKET), *said), orders.c.instrument_row
    )


def _fills(*more: str) -> Select[Any]:
    said = _named(fills, "shares", "price", "fee_usd", "cash_usd", "model", *more)
    statement = _part(fills, fills.c.number, *_instrument(instruments.c.instrument_id), *said)
    of = and_(orders.c.decision_id == fills.c.decision_id, orders.c.number == fills.c.order_number)
    return _with_instruments(
        statement.outerjoin(orders, of).where(orders.c.ended_at.is_(None)), orders.c.instrument_row
    )


def _journal() -> Select[Any]:
    said = _named(journal, "kind", "at", "shares", "cash_usd")
    statement = _part(journal, journal.c.number, *_instrument(instruments.c.instrument_id), *said)
    of_pending = select(orders.c.decision_id).where(orders.c.decision_id == journal.c.decision_id, _ENDED_LATER)
    return _with_instruments(statement.where(~of_pending.exists()), journal.c.instrument_row)


_QUOTE = ("role", "at", "bid", "ask", "displayed", "last", "history")
_PARTS: Mapping[str, tuple[Callable[[], Select[Any]], int]] = {
    "forecasts": (lambda: _of_market(forecasts, "probability", "confidence", "rationale", "question_sha256"), 1),
    "orders": (_orders, 1),
    "fills": (_fills, 1),
    "labels": (lambda: _part(labels, *_named(labels, "number", "item_id", "label", "probabilities_json")), 1),
    "quotes": (lambda: _of_market(quotes, *_QUOTE), 2),
    "sources": (
        lambda: _part(
            sources,
            *_named(sources, "number", "kind", "text", "final_url", "sha256", "title", "published_at", "results"),
        ),
        1,
    ),
    "journal": (_journal, 1),
}
_PARTS_2 = {
    **_PARTS,
    "fills": (lambda: _fills("order_number"), 1),
    "quotes": (lambda: _of_market(quotes, *_QUOTE, "depth_json"), 2),
}
"""What belongs to a decision, and by how many of its first columns its rows are ordered.

In form 1 a `number` does only that.
"""


def leaves_of(connection: Connection, run_id: int, form: int = FORM) -> tuple[Leaf, ...]:
    """Return the leaves of a run as it stands, in the order of their tree: by bot, then by subject."""
    return tuple(leaf for leaf, _ in leaves_with_content(connection, run_id, form))


def leaves_with_content(connection: Connection, run_id: int, form: int = FORM) -> Iterator[tuple[Leaf, bytes]]:
    """Yield the same, each with the canonical JSON that it is the hash of."""
    # Most of what two leaves hold is the same; there is no boolean, which would be taken for a number.
    written: dict[Any, tuple[bytes, str]] = {}
    for (bot, kind, subject), fields in leaf_fields(connection, run_id, form):
        said = []
        for field in sorted(fields.items()):
            if field not in written:
                written[field] = _written(*field)
            said.append(written[field])
        content = b"{" + b",".join([text for text, _ in said]) + b"}"
        checks = "".join([check for _, check in said])
        is_final = fields["decision.status"] in ("recorded", "refused") or fields["decision.reason_kind"] == "bot"
        yield Leaf(bot, kind, subject, leaf_hash(content).hex(), checks, is_final), content


def field_names(connection: Connection, run_id: int, form: int) -> tuple[str, ...]:
    """Return the names of the fields of a run's leaves, in the order of their checks."""
    return next((tuple(sorted(fields)) for _, fields in leaf_fields(connection, run_id, form)), ())


def _written(name: str, value: Any) -> tuple[bytes, str]:
    """Return a field as canonical JSON has it, and its check."""
    text = rfc8785.dumps(value)
    return rfc8785.dumps(name) + b":" + text, f"{zlib.crc32(text) & 0xFFFF:04x}"


def leaf_fields(
    connection: Connection, run_id: int, form: int
) -> Iterator[tuple[tuple[str, str, str], Mapping[str, Any]]]:
    """Yield the bot, and kind and id of the subject, of each decision of a run, and the fields of its leaf by name.

    A field of a part, such as `forecasts.probability`, is a tuple with a value for each row.
    """
    short, long, made = (_RUN, (), _PARTS) if form == 1 else (_RUN_2, _LONG_2, _PARTS_2)
    run = connection.execute(select(*_named(runs, *short, *long)).where(runs.c.id == run_id)).one()
    of_run = {f"run.{name}": _canonical(value) for name, value in zip(short, run, strict=False)}
    of_run |= {f"run.{name}": _sha256(text) for name, text in zip(long, run[len(short) :], strict=True)}
    # A whole number of 64 bits is more than what every reader of JSON takes.
    of_run["run.seed"] = str(of_run["run.seed"])
    events = _event_hashes(connection, run_id, form)
    named = (subjects.c.kind, subjects.c.subject_id, *_named(bots, *_BOT), *_named(decisions, *_DECISION))
    names = [*(f"bot.{name}" for name in _BOT), *(f"decision.{name}" for name in _DECISION)]
    rows = connection.execute(with_decisions(decisions.c.id, *named).where(decisions.c.run_id == run_id)).all()
    # After them: on a server, what is committed meanwhile is seen, and a final decision comes with all its parts.
    # Of a journal it is that of the account, which is in the ledger's own receipts.
    numbered = () if form == 1 else (*made.keys() - {"journal"},)
    parts = {
        name: _rows_of(connection, run_id, name, *part, has_numbers=name in numbered) for name, part in made.items()
    }
    of_one, of_all = {"event", *ITEM_SUBJECTS}, sorted(events)
    # By the order of code points, whatever the database sorts by.
    for decision_id, kind, subject_id, *said in sorted(map(tuple, rows), key=itemgetter(3, 1, 2)):
        about = [subject_id] if kind in of_one else of_all
        fields = {**of_run, "subject": (kind, subject_id)}
        fields["events"] = tuple((each, *events.get(each, (None,))) for each in about)
        fields |= {name: _canonical(value) for name, value in zip(names, said, strict=True)}
        for columns, of_decision in parts.values():
            held = of_decision.get(decision_id, ())
            fields |= {name: tuple([row[place] for row in held]) for place, name in columns}
        yield (said[0], kind, subject_id), fields


def _event_hashes(connection: Connection, run_id: int, form: int) -> Mapping[str, tuple[str | int, ...]]:
    """Return by its id the hash of each event of a run as it was frozen; of form 2 its payload's and place too."""
    more = () if form == 1 else (run_events.c.payload, run_events.c.position)
    statement = select(known_events.c.event_id, run_events.c.event_json, *more).join(
        known_events, known_events.c.id == run_events.c.event_row
    )
    rows = connection.execute(statement.where(run_events.c.run_id == run_id))
    return {name: tuple(_sha256(each) if isinstance(each, str) else each for each in said) for name, *said in rows}


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


_Column = tuple[int, str]
"""Its place in a row, and its name with that of its part."""


def _rows_of(
    connection: Connection, run_id: int, part: str, made: Callable[[], Select[Any]], keys: int, *, has_numbers: bool
) -> tuple[Sequence[_Column], Mapping[int, Sequence[Any]]]:
    """Return the columns of a part, and by the row of a decision what it has of it, in its order."""
    statement = made().where(decisions.c.run_id == run_id)
    found: dict[int, list[tuple[Any, ...]]] = {}
    for decision_id, *values in connection.execute(statement):
        found.setdefault(decision_id, []).append(tuple(map(_canonical, values)))
    for rows in found.values():
        rows.sort(key=itemgetter(*range(keys)))
    names = [column.name for column in statement.selected_columns][1:]
    left_out = "" if has_numbers else "number"
    return [(place, f"{part}.{name}") for place, name in enumerate(names) if name != left_out], found


def _canonical(value: Any) -> Any:
    """Return a value as JSON has it: an instant as its text."""
    return format_instant(value) if isinstance(value, datetime) else value
