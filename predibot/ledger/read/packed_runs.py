"""Packs: what a run's bots decided as arrays, so that a million rows are read once and not at every evaluation."""

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, and_, case, delete, func, select

from predibot.domain.decision import STATUSES
from predibot.domain.price import QUOTE_PRICES, Quote
from predibot.ledger.schema.tables import ChangeRow, RunPackRow
from predibot.ledger.schema.upsert import insert_new, table_of
from predibot.ledger.seal import HEAD_BYTES, seal_of
from predibot.ledger.store import HELD
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import OPENED_MODEL, bets, bots, decisions, forecasts, quotes
from predibot.ledger.write.runs import runs

Floats = NDArray[np.float64]

changes, run_packs = table_of(ChangeRow), table_of(RunPackRow)

UNKNOWN = -1.0
"""Stands for NULL on the way out of the cursor; nothing that is read here can be negative otherwise."""
RUNS_AT_ONCE = 50
"""Whose rows are in memory together, and packed in one transaction."""
MOST_HELD_BYTES = 500_000_000
"""Of larger ledgers nothing is held: that is for a machine that evaluates, and packs them."""

_HEAD = struct.Struct("<BIII")
"""Version, number of decisions, number of bets, and the checksum of what follows."""
_VERSION = 1
_DECISION_WIDTH = _BET_WIDTH = 8


@dataclass(frozen=True, slots=True, eq=False)
class Decided:
    """What the bots of a run decided, in the order of their names and subjects.

    Never in the order of row numbers: those depend on who was quicker, and the last digit of a sum on its order.
    """

    decisions: Floats
    """Id, bot row, status, decided at, event row, cost, known cost, whether a model was opened; (n, 8)."""
    bets: Floats
    """Row of the decision, market row, dollars, p0, probability, confidence, bid, ask; (m, 8), by decision and market.

    Markets that decisions which abstained were shown are bets of nothing at the price shown.
    """


def decided_in(connection: Connection, run_ids: Sequence[int]) -> Iterator[Decided]:
    """Yield what was decided in each of some runs: of their packs, or of the rows where there is none or an old one.

    A ledger that is open to be read stores no packs, so its connections hold what was read for the next time.
    """
    held = connection.get_execution_options().get(HELD)
    packs: dict[int, tuple[int, Decided]] = {} if held is None else held.setdefault("packs", {})
    numbers = {} if held is None else {row.scope: row.number for row in connection.execute(select(changes))}
    found = {row: decided for row, (change, decided) in packs.copy().items() if numbers.get(row) == change}
    found |= _packed_before(connection, [row for row in run_ids if row not in found])
    missing = [row for row in run_ids if row not in found]
    for start in range(0, len(missing), RUNS_AT_ONCE):
        found |= _of_rows(connection, missing[start : start + RUNS_AT_ONCE])
    if held is not None and sum(each.decisions.nbytes + each.bets.nbytes for each in found.values()) < MOST_HELD_BYTES:
        packs |= {row: (numbers[row], decided) for row, decided in found.items() if row in numbers}
    return (found[row] for row in run_ids)


def _packed_before(connection: Connection, run_ids: Sequence[int]) -> Iterator[tuple[int, Decided]]:
    """Yield what this user packed of some runs that have not changed since."""
    wanted, seal = set(run_ids), seal_of(connection)
    if seal is None:
        return
    for row, change, blob in connection.execute(_current(run_packs.c.content)):
        content = seal.opened(_name(row, change), blob) if row in wanted else None
        if content is not None and (decided := _unpacked(content)) is not None:
            yield row, decided


def runs_to_pack(connection: Connection, venue: str) -> tuple[int, ...]:
    """Return the runs of a venue that are not void and were changed since this user packed them, if ever.

    None are where nothing that is packed would be believed.
    """
    seal = seal_of(connection)
    if seal is None:
        return ()
    heads = connection.execute(_current(func.substr(run_packs.c.content, 1, HEAD_BYTES)))
    packed = {row for row, change, head in heads if seal.is_own(_name(row, change), head)}
    live = (runs.c.venue_name == venue, runs.c.voided_at.is_(None))
    rows = connection.execute(select(runs.c.id).where(*live).order_by(runs.c.id)).scalars()
    return tuple(row for row in rows if row not in packed)


def pack_runs(connection: Connection, run_ids: Sequence[int]) -> None:
    """Store the packs of some runs in place of older ones, where they can be sealed."""
    seal = seal_of(connection)
    if seal is None:
        return
    # First the counts: what is changed after they are read makes a pack that is never used, not one that is wrong.
    counts = {row.scope: row.number for row in connection.execute(select(changes).where(changes.c.scope.in_(run_ids)))}
    made = _of_rows(connection, run_ids)
    connection.execute(delete(run_packs).where(run_packs.c.run_id.in_(run_ids)))
    insert_new(
        connection,
        RunPackRow,
        [
            {"run_id": row, "change": counts[row], "content": seal.sealed(_name(row, counts[row]), _packed(decided))}
            for row, decided in made.items()
            if row in counts
        ],
    )


def _current(what: Any) -> Select[Any]:
    """Return the runs whose packs are of their last change, that change, and something of each pack."""
    is_current = and_(changes.c.scope == run_packs.c.run_id, changes.c.number == run_packs.c.change)
    return select(run_packs.c.run_id, run_packs.c.change, what).join(changes, is_current)


def packs_unlike_rows(connection: Connection) -> Iterator[tuple[str, bool]]:
    """Yield the key of each run whose pack would be read, and whether its rows say the same, number for number."""
    keys = {row: key for row, key in connection.execute(select(runs.c.id, runs.c.key))}
    for row, found in _packed_before(connection, sorted(keys)):
        yield keys[row], _packed(found) == _packed(_of_rows(connection, [row])[row])


def _name(run_id: int, change: int) -> str:
    """Return the name that the pack of a run is sealed under."""
    return f"pack {run_id} {change}"


def _packed(decided: Decided) -> bytes:
    content = decided.decisions.astype("<f8").tobytes() + decided.bets.astype("<f8").tobytes()
    return _HEAD.pack(_VERSION, len(decided.decisions), len(decided.bets), crc32(content)) + content


def _unpacked(blob: bytes) -> Decided | None:
    """Return what was packed; None where that is not what is here, so that the rows are read."""
    # A database may hold anything in a column, whatever it is declared as.
    if not isinstance(blob, bytes) or len(blob) < _HEAD.size:
        return None
    version, made, bought, checksum = _HEAD.unpack_from(blob)
    content = memoryview(blob)[_HEAD.size :]
    size = 8 * (_DECISION_WIDTH * made + _BET_WIDTH * bought)
    if version != _VERSION or len(content) != size or crc32(content) != checksum:
        return None
    numbers = np.frombuffer(content, dtype="<f8")
    split = _DECISION_WIDTH * made
    found = Decided(numbers[:split].reshape(-1, _DECISION_WIDTH), numbers[split:].reshape(-1, _BET_WIDTH))
    rows = found.bets[:, 0]
    return found if ((rows >= 0) & (rows < made)).all() else None


def _of_rows(connection: Connection, run_ids: Sequence[int]) -> Mapping[int, Decided]:
    """Return what was decided in some runs, read row by row."""
    run, head = _decisions(connection, run_ids)
    by_id = np.argsort(head[:, 0], kind="stable")
    bet = np.concatenate([_bets(connection, run_ids), _unbet(connection, run_ids)])
    if bet.size:
        bet[:, 0] = by_id[np.searchsorted(head[by_id, 0], bet[:, 0])]
        # What an account orders is no bet on an event.
        bet = bet[head[bet[:, 0].astype(np.int64), 4] > 0.0]
    bet = bet[np.lexsort((bet[:, 1], bet[:, 0]))]
    found = {}
    for row in run_ids:
        first, end = np.searchsorted(run, (row, row + 1))
        own = slice(*np.searchsorted(bet[:, 0], (first, end)))
        found[row] = Decided(head[first:end], bet[own] - np.eye(1, _BET_WIDTH) * first)
    return found


def _decisions(connection: Connection, run_ids: Sequence[int]) -> tuple[Floats, Floats]:
    """Return the run of each decision, and the decisions."""
    collation = collation_of(connection)
    names = (bots.c.name, subjects.c.kind, subjects.c.subject_id)
    statement = (
        select(
            decisions.c.run_id,
            decisions.c.id,
            decisions.c.bot_id,
            case({status: index for index, status in enumerate(STATUSES)}, value=decisions.c.status),
            decisions.c.decided_at,
            # What is about no event is a cluster of its own.
            func.coalesce(subjects.c.event_row, -decisions.c.id),
            func.coalesce(decisions.c.cost_usd, UNKNOWN),
            decisions.c.cost_known_usd,
            OPENED_MODEL,
        )
        .join(bots, bots.c.id == decisions.c.bot_id)
        .join(subjects, subjects.c.id == decisions.c.subject_row)
        .where(decisions.c.run_id.in_(run_ids))
        .order_by(decisions.c.run_id, *(name.collate(collation) for name in names))
    )
    found = numbers_of(connection, statement, 1 + _DECISION_WIDTH)
    return found[:, 0], found[:, 1:]


def _bets(connection: Connection, run_ids: Sequence[int]) -> Floats:
    """Return the bets, by the id of their decision, in no order."""

    def same(table: Any) -> Any:
        return and_(table.c.decision_id == bets.c.decision_id, table.c.market_row == bets.c.market_row)

    statement = (
        select(
            bets.c.decision_id,
            # None is on no market, which is nobody's row either.
            func.coalesce(bets.c.market_row, 0),
            # With its sign apart, as a database makes a number of any text that it negates.
            bets.c.amount,
            bets.c.price_yes,
            func.coalesce(forecasts.c.probability, UNKNOWN),
            func.coalesce(forecasts.c.confidence, UNKNOWN),
            func.coalesce(quotes.c.bid, UNKNOWN),
            func.coalesce(quotes.c.ask, UNKNOWN),
            bets.c.sign,
        )
        .join(decisions, decisions.c.id == bets.c.decision_id)
        .join(subjects, subjects.c.id == decisions.c.subject_row)
        .outerjoin(forecasts, same(forecasts))
        .outerjoin(quotes, and_(same(quotes), quotes.c.role == "booked"))
        # What an account orders is no bet on an event.
        .where(decisions.c.run_id.in_(run_ids), subjects.c.event_row.is_not(None))
    )
    found = numbers_of(connection, statement, _BET_WIDTH + 1)
    found[:, 2] *= found[:, -1]
    return found[:, :-1]


def _unbet(connection: Connection, run_ids: Sequence[int]) -> Floats:
    statement = (
        select(quotes)
        .join(decisions, decisions.c.id == quotes.c.decision_id)
        .where(decisions.c.run_id.in_(run_ids), decisions.c.status == "abstained", quotes.c.role == "shown")
    )
    shown = [
        (row["decision_id"], row["market_row"], 0.0, price.yes, *[UNKNOWN] * 4)
        for row in connection.execute(statement).mappings()
        if (price := Quote(**{name: row[name] for name in ("at", *QUOTE_PRICES)}).price) is not None and price.usable
    ]
    return np.array(shown, dtype=np.float64).reshape(-1, _BET_WIDTH)


def collation_of(connection: Connection) -> str:
    """Return the order of texts that is the same in every database: of their characters' numbers."""
    return "C" if connection.dialect.name == "postgresql" else "BINARY"


def numbers_of(connection: Connection, statement: Select[Any], width: int) -> Floats:
    """Return the rows of a statement as numbers, (n, width), without making an object of each.

    Raw rows skip the conversion of instants, so they arrive as microseconds,
    which a float64 holds exactly for the next two centuries. They are taken one
    by one: millions at once would fill the memory, and the collector with work.

    Raises:
        ValueError: If something is no finite number: a database may hold anything in a column.
    """
    cursor = connection.execute(statement).cursor
    rows: Any = () if cursor is None else cursor
    found = np.fromiter(chain.from_iterable(rows), dtype=np.float64).reshape(-1, width)
    if not np.isfinite(found).all():
        raise ValueError("a number of a row is none")
    return found
