"""Decisions of runs and their bets as arrays."""

from collections.abc import Sequence

import numpy as np
from sqlalchemy import Connection, and_, case, func, select

from predibot.domain.decision import STATUSES
from predibot.domain.price import QUOTE_PRICES, Quote
from predibot.ledger.cache import cache_of
from predibot.ledger.read.columns import Columns, read_columns
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import OPENED_MODEL, bets, bots, decisions, forecasts, of_same_market, quotes

_RUNS_AT_ONCE = 50


def _numbers(names: str) -> np.dtype[np.void]:
    return np.dtype([(name, np.float64) for name in names.split()])


DECISION = _numbers("run id bot_id status decided_at event_row cost_usd cost_known_usd opened")
BET = _numbers("decision market_row bet_usd price_yes probability confidence bid ask")


def read_decision_arrays(connection: Connection, run_ids: Sequence[int]) -> tuple[Columns, Columns]:
    """Return the decisions of some runs, by run and then by names of bots and subjects, and their bets.

    Row numbers order nothing: they depend on which worker was faster, and the last digit of a sum on its order.

    Returns:
        Decisions as `DECISION`, where `run` is an index into `run_ids`, and bets as `BET`, by decision and market,
        where `decision` is an index into those. An abstention has bets of nothing at the prices it was shown.
    """
    cache, question = cache_of(connection), ("decided", *run_ids)
    kept = None if cache is None else cache.arrays(question, (DECISION, BET))
    if kept is not None:
        head, bet = kept
        return head, bet
    found = [_read_batch(connection, run_ids, start) for start in range(0, len(run_ids), _RUNS_AT_ONCE)]
    head = np.concatenate([np.zeros(0, DECISION), *(each for each, _ in found)])
    bet = np.concatenate([np.zeros(0, BET), *(each for _, each in found)])
    sizes = [len(each) for each, _ in found]
    bet["decision"] += np.repeat(np.cumsum(sizes) - sizes, [len(each) for _, each in found])
    if cache is not None:
        cache.keep_arrays(question, (head, bet))
    return head, bet


def _read_batch(connection: Connection, run_ids: Sequence[int], start: int) -> tuple[Columns, Columns]:
    chosen = run_ids[start : start + _RUNS_AT_ONCE]
    head = _read_decisions(connection, chosen)
    by_row = np.argsort(chosen)
    head["run"] = start + by_row[np.searchsorted(np.array(chosen)[by_row], head["run"])]
    head = head[np.argsort(head["run"], kind="stable")]
    by_id = np.argsort(head["id"])
    bet = np.concatenate([_read_bets(connection, chosen), _abstained_bets(connection, chosen)])
    place = by_id[np.searchsorted(head["id"][by_id], bet["decision"])] if bet.size else np.zeros(0, np.int64)
    bet["decision"] = place
    # An account's orders are no bets on events.
    bet = bet[head["event_row"][place] > 0.0]
    return head, bet[np.lexsort((bet["market_row"], bet["decision"]))]


def _read_decisions(connection: Connection, run_ids: Sequence[int]) -> Columns:
    collation = collation_of(connection)
    names = (bots.c.name, subjects.c.kind, subjects.c.subject_id)
    statement = (
        select(
            decisions.c.run_id.label("run"),
            *decisions.c["id", "bot_id"],
            case({status: index for index, status in enumerate(STATUSES)}, value=decisions.c.status).label("status"),
            decisions.c.decided_at,
            # A decision on no event is a cluster of its own.
            func.coalesce(subjects.c.event_row, -decisions.c.id).label("event_row"),
            *decisions.c["cost_usd", "cost_known_usd"],
            OPENED_MODEL.label("opened"),
        )
        .join(bots, bots.c.id == decisions.c.bot_id)
        .join(subjects, subjects.c.id == decisions.c.subject_row)
        .where(decisions.c.run_id.in_(run_ids))
        .order_by(decisions.c.run_id, *(name.collate(collation) for name in names))
    )
    return read_columns(connection, statement, nullable="cost_usd")


def _read_bets(connection: Connection, run_ids: Sequence[int]) -> Columns:
    statement = (
        select(
            bets.c.decision_id.label("decision"),
            # No market has row 0.
            func.coalesce(bets.c.market_row, 0).label("market_row"),
            # Its sign is apart, because a database makes a number of any text that it negates.
            bets.c.amount.label("bet_usd"),
            bets.c.price_yes,
            *forecasts.c["probability", "confidence"],
            *quotes.c["bid", "ask"],
            bets.c.sign,
        )
        .join(decisions, decisions.c.id == bets.c.decision_id)
        .join(subjects, subjects.c.id == decisions.c.subject_row)
        .outerjoin(forecasts, of_same_market(forecasts, bets))
        .outerjoin(quotes, and_(of_same_market(quotes, bets), quotes.c.role == "booked"))
        # An account's orders are no bets on events.
        .where(decisions.c.run_id.in_(run_ids), subjects.c.event_row.is_not(None))
    )
    found = read_columns(connection, statement, nullable="probability confidence bid ask")
    found["bet_usd"] *= found["sign"]
    return np.array(found[list(BET.names or ())], dtype=BET)


def _abstained_bets(connection: Connection, run_ids: Sequence[int]) -> Columns:
    statement = (
        select(quotes)
        .join(decisions, decisions.c.id == quotes.c.decision_id)
        .where(decisions.c.run_id.in_(run_ids), decisions.c.status == "abstained", quotes.c.role == "shown")
    )
    shown = [
        (row["decision_id"], row["market_row"], 0.0, price.yes, *[np.nan] * 4)
        for row in connection.execute(statement).mappings()
        if (price := Quote(**{name: row[name] for name in ("at", *QUOTE_PRICES)}).price) is not None and price.usable
    ]
    return np.array(shown, dtype=BET)


def collation_of(connection: Connection) -> str:
    """Return the collation by code points, which is the same in every database."""
    return "C" if connection.dialect.name == "postgresql" else "BINARY"
