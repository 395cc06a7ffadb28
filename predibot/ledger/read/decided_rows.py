"""Decided rows: what the bots of some runs decided, as arrays."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, and_, case, func, select

from predibot.domain.decision import STATUSES
from predibot.domain.price import QUOTE_PRICES, Quote
from predibot.ledger.cache import cache_of
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import OPENED_MODEL, bets, bots, decisions, forecasts, quotes

Floats = NDArray[np.float64]

UNKNOWN = -1.0
"""Stands for NULL on the way out of the cursor; nothing that is read here can be negative otherwise."""
_RUNS_AT_ONCE = 50
"""Whose rows one statement asks for."""
_DECISION_WIDTH, _BET_WIDTH = 9, 8


def decided_in(connection: Connection, run_ids: Sequence[int]) -> tuple[Floats, Floats]:
    """Return the decisions of some runs, by run and then in the order of the names of bots and subjects, and the bets.

    Never in the order of row numbers: those depend on who was quicker, and the last digit of a sum on its order.

    Returns:
        Of each decision the place of its run in `run_ids`, id, bot row, status, decided at, event row, cost, known
        cost, whether a model was opened, (n, 9). Of each bet the place of its decision, market row, dollars, p0,
        probability, confidence, bid, ask, (m, 8), by decision and market. Markets that decisions which abstained were
        shown are bets of nothing at the price shown.
    """
    cache, asked = cache_of(connection), ("decided", *run_ids)
    kept = None if cache is None else cache.arrays(asked, (_DECISION_WIDTH, _BET_WIDTH))
    if kept is not None:
        head, bet = kept
        return head, bet
    found = [_of_rows(connection, run_ids, start) for start in range(0, len(run_ids), _RUNS_AT_ONCE)]
    head = np.concatenate([np.zeros((0, _DECISION_WIDTH)), *(each for each, _ in found)])
    bet = np.concatenate([np.zeros((0, _BET_WIDTH)), *(each for _, each in found)])
    sizes = [len(each) for each, _ in found]
    bet[:, 0] += np.repeat(np.cumsum(sizes) - sizes, [len(each) for _, each in found])
    if cache is not None:
        cache.keep_arrays(asked, (head, bet))
    return head, bet


def _of_rows(connection: Connection, run_ids: Sequence[int], start: int) -> tuple[Floats, Floats]:
    """Return what was decided in some of the runs, those from a place on."""
    chosen = run_ids[start : start + _RUNS_AT_ONCE]
    head = _decisions(connection, chosen)
    by_row = np.argsort(chosen)
    head[:, 0] = start + by_row[np.searchsorted(np.array(chosen)[by_row], head[:, 0])]
    head = head[np.argsort(head[:, 0], kind="stable")]
    by_id = np.argsort(head[:, 1])
    bet = np.concatenate([_bets(connection, chosen), _unbet(connection, chosen)])
    bet[:, 0] = by_id[np.searchsorted(head[by_id, 1], bet[:, 0])] if bet.size else 0.0
    # What an account orders is no bet on an event.
    bet = bet[head[bet[:, 0].astype(np.int64), 5] > 0.0]
    return head, bet[np.lexsort((bet[:, 1], bet[:, 0]))]


def _decisions(connection: Connection, run_ids: Sequence[int]) -> Floats:
    """Return the run of each decision, and the decision."""
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
    return numbers_of(connection, statement, _DECISION_WIDTH)


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
