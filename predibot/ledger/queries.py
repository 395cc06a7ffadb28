"""What scoring reads from the ledger: plain arrays, as of an instant, straight from the cursor."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, and_, case, func, select

from predibot.domain.decision import STATUSES
from predibot.domain.price import Quote
from predibot.ledger.catalogue import instruments, markets
from predibot.ledger.decisions import bets, bots, decisions, forecasts, quotes
from predibot.ledger.instant import to_microseconds
from predibot.ledger.knowledge import IS_LIVE, OPENED_MODEL, Deciders, knowledge_of_decisions
from predibot.ledger.marks import observations, resolutions
from predibot.ledger.played import NO_CATEGORY, AskedMarkets, PlayedEvent, asked_markets, played_events
from predibot.ledger.runs import runs
from predibot.scoring.record import TrackRecord

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_MICROSECONDS = 1e6
_DAY_MICROSECONDS = 86_400 * 1_000_000
_UNKNOWN = -1.0
"""Stands for NULL on the way out of the cursor; nothing that is read here can be negative otherwise."""

_BET_WIDTH = 8


def track_record(
    connection: Connection,
    venue: str,
    as_of: datetime,
    *,
    recipe: str | None = None,
    bot_names: Sequence[str] = (),
) -> TrackRecord:
    """Return all decisions of a venue's runs that are not void, with what was known at the instant.

    Args:
        connection: A reading transaction.
        venue: Whose instruments, such as `polymarket`.
        as_of: Nothing that was decided, observed or settled later is read.
        recipe: Only runs of the recipe with this name.
        bot_names: Only these bots; empty for all.
    """
    at = to_microseconds(as_of)
    chosen = [runs.c.venue_name == venue, runs.c.voided_at.is_(None), decisions.c.decided_at <= as_of]
    if recipe is not None:
        chosen.append(runs.c.recipe == recipe)
    listed = _markets(connection, venue)
    market_rows = listed[:, 0]
    payout, settled_at = _settled(connection, venue, market_rows, as_of)
    # Also of bots that nobody asked for: another may pool them.
    head = _decisions(connection, chosen)
    knowledge = _knowledge(connection, head, listed[:, 1], settled_at)
    if bot_names:
        chosen.append(bots.c.name.in_(bot_names))
        rows = connection.execute(select(bots.c.id).where(bots.c.name.in_(bot_names))).scalars()
        asked = np.isin(head[:, 1], list(rows))
        head, knowledge = head[asked], knowledge[asked]
    names, bot_index = _bots(connection, head[:, 1])
    bet_decision, bet = _ordered(head, np.concatenate([_bets(connection, chosen), _unbet(connection, chosen)]))
    event = head[:, 5].astype(np.int64)
    observed = _observations(connection, venue, as_of)
    played = played_events(connection, venue, as_of)
    categories, category = _categories(event, played)
    fees = _fees(bet[:, 1].astype(np.int64), played)
    asked_of = asked_markets(connection, venue)
    asked_decision, asked_market = _asked(head, market_rows, asked_of)
    return TrackRecord(
        as_of=at / _MICROSECONDS,
        bots=names,
        decision_bot=bot_index,
        decision_status=head[:, 2].astype(np.int8),
        decided_at=head[:, 3] / _MICROSECONDS,
        decision_day=(head[:, 4] // _DAY_MICROSECONDS).astype(np.int64),
        decision_event=event,
        decision_cost_usd=_known(head[:, 6]),
        decision_cost_known_usd=head[:, 7],
        bet_decision=bet_decision,
        bet_market=np.searchsorted(market_rows, bet[:, 1]).astype(np.int64),
        bet_usd=bet[:, 2],
        bet_price_yes=bet[:, 3],
        bet_probability=_known(bet[:, 4]),
        payout_yes=payout,
        settled_at=settled_at,
        observation_market=np.searchsorted(market_rows, observed[:, 0]).astype(np.int64),
        observation_at=observed[:, 1] / _MICROSECONDS,
        observation_price_yes=observed[:, 2],
        event_settled=~np.isin(event, listed[np.isnan(payout), 1]),
        decision_knowledge=knowledge,
        decision_slot=head[:, 4] / _MICROSECONDS,
        decision_category=category,
        categories=categories,
        event_names={row: each.title for row, each in played.items()},
        bet_confidence=_known(bet[:, 5]),
        bet_bid_yes=_known(bet[:, 6]),
        bet_ask_yes=_known(bet[:, 7]),
        bet_fee_rate=fees[:, 0],
        bet_fee_exponent=fees[:, 1],
        asked_decision=asked_decision,
        asked_market=asked_market,
        market_exclusive=_exclusive(market_rows, asked_of),
    )


def _decisions(connection: Connection, chosen: Sequence[Any]) -> Floats:
    """Return id, bot row, status, decided, slot, event row, cost, known cost, opened a model, live, run; one row each.

    In the order of their names, never of their numbers: those depend on who was
    quicker, and the last digit of a sum on its order.
    """
    statement = (
        select(
            decisions.c.id,
            decisions.c.bot_id,
            case({status: index for index, status in enumerate(STATUSES)}, value=decisions.c.status),
            decisions.c.decided_at,
            runs.c.slot_at,
            # What is about no event is a cluster of its own.
            func.coalesce(decisions.c.event_row, -decisions.c.id),
            func.coalesce(decisions.c.cost_usd, _UNKNOWN),
            decisions.c.cost_known_usd,
            OPENED_MODEL,
            IS_LIVE,
            runs.c.id,
        )
        .join(runs, runs.c.id == decisions.c.run_id)
        .join(bots, bots.c.id == decisions.c.bot_id)
        .where(*chosen)
        .order_by(runs.c.slot_at, runs.c.key, bots.c.name, decisions.c.subject_kind, decisions.c.subject_id)
    )
    return _rows(connection, statement, 11)


def _bots(connection: Connection, bot_rows: Floats) -> tuple[tuple[str, ...], Ints]:
    """Return the names that decided, in order of entry, and the index of each decision's."""
    present = np.unique(bot_rows)
    named = {row: name for row, name in connection.execute(select(bots.c.id, bots.c.name))}
    names = tuple(dict.fromkeys(named[int(row)] for row in present))
    index = np.array([names.index(named[int(row)]) for row in present], dtype=np.int64)
    return names, index[np.searchsorted(present, bot_rows)] if present.size else np.zeros(0, dtype=np.int64)


def _bets(connection: Connection, chosen: Sequence[Any]) -> Floats:
    """Return decision id, market row, dollars, p0, probability, confidence, bid, ask; one row a bet, by decision."""
    statement = (
        select(
            bets.c.decision_id,
            bets.c.market_row,
            bets.c.booked_usd,
            bets.c.price_yes,
            func.coalesce(forecasts.c.probability, _UNKNOWN),
            func.coalesce(forecasts.c.confidence, _UNKNOWN),
            func.coalesce(quotes.c.bid, _UNKNOWN),
            func.coalesce(quotes.c.ask, _UNKNOWN),
        )
        .join(decisions, decisions.c.id == bets.c.decision_id)
        .join(runs, runs.c.id == decisions.c.run_id)
        .join(bots, bots.c.id == decisions.c.bot_id)
        .outerjoin(
            forecasts,
            and_(forecasts.c.decision_id == bets.c.decision_id, forecasts.c.market_row == bets.c.market_row),
        )
        .outerjoin(
            quotes,
            and_(
                quotes.c.decision_id == bets.c.decision_id,
                quotes.c.market_row == bets.c.market_row,
                quotes.c.role == "booked",
            ),
        )
        .where(*chosen)
        .order_by(bets.c.decision_id, bets.c.market_row)
    )
    return _rows(connection, statement, _BET_WIDTH)


def _unbet(connection: Connection, chosen: Sequence[Any]) -> Floats:
    """Return the markets that decisions which abstained were shown, as bets of nothing at the price shown."""
    statement = (
        select(quotes)
        .join(decisions, decisions.c.id == quotes.c.decision_id)
        .join(runs, runs.c.id == decisions.c.run_id)
        .join(bots, bots.c.id == decisions.c.bot_id)
        .where(*chosen, decisions.c.status == "abstained", quotes.c.role == "shown")
        .order_by(quotes.c.decision_id, quotes.c.market_row)
    )
    shown = [
        (row["decision_id"], row["market_row"], 0.0, price.yes, *[_UNKNOWN] * 4)
        for row in connection.execute(statement).mappings()
        if (price := Quote(**{name: row[name] for name in Quote.__slots__}).price) is not None and price.usable
    ]
    return np.array(shown, dtype=np.float64).reshape(-1, _BET_WIDTH)


def _ordered(head: Floats, bet: Floats) -> tuple[Ints, Floats]:
    """Return the row of each bet's decision, and the bets, in the order of the decisions and then of the markets."""
    by_id = np.argsort(head[:, 0], kind="stable")
    decision = by_id[np.searchsorted(head[by_id, 0], bet[:, 0])] if len(bet) else np.zeros(0, dtype=np.int64)
    order = np.lexsort((bet[:, 1], decision))
    return decision[order].astype(np.int64), bet[order]


def _markets(connection: Connection, venue: str) -> Ints:
    """Return market row and event row, (n, 2), by market row."""
    statement = select(markets.c.id, markets.c.event_row).where(markets.c.venue == venue).order_by(markets.c.id)
    return _rows(connection, statement, 2).astype(np.int64)


def _settled(connection: Connection, venue: str, market_rows: Ints, as_of: datetime) -> tuple[Floats, Floats]:
    """Return payout and settlement of each market as of the instant, NaN where it was not settled."""
    statement = (
        select(resolutions.c.market_row, resolutions.c.payout_yes, resolutions.c.settled_at)
        .join(markets, markets.c.id == resolutions.c.market_row)
        .where(markets.c.venue == venue, resolutions.c.effective_at <= as_of, resolutions.c.settled_at <= as_of)
        .order_by(resolutions.c.market_row, resolutions.c.effective_at, resolutions.c.revision)
    )
    found = _rows(connection, statement, 3)
    payout, settled_at = np.full(market_rows.size, np.nan), np.full(market_rows.size, np.nan)
    where = np.searchsorted(market_rows, found[:, 0])
    # Of several revisions the last one is assigned last.
    payout[where] = found[:, 1]
    settled_at[where] = found[:, 2] / _MICROSECONDS
    return payout, settled_at


def _ended_at(event: Ints, event_of_market: Ints, settled_at: Floats) -> Floats:
    """Return when the last market of each decision's event settled, infinite where one has not or there is none."""
    rows, index = np.unique(event_of_market, return_inverse=True)
    last = np.full(rows.size + 1, -np.inf)
    np.maximum.at(last, index, np.where(np.isnan(settled_at), np.inf, settled_at))
    last[-1] = np.inf
    where = np.searchsorted(rows, event)
    where[~np.isin(event, rows)] = rows.size
    return last[where]


def _knowledge(connection: Connection, head: Floats, event_of_market: Ints, settled_at: Floats) -> NDArray[np.int8]:
    """Return what the models behind each decision can have known, as indices into `KNOWLEDGE`."""
    event = head[:, 5].astype(np.int64)
    made = Deciders(
        bot_row=head[:, 1].astype(np.int64),
        event=event,
        opened_model=head[:, 8] == 1.0,
        is_live=head[:, 9] == 1.0,
        decided_at=head[:, 3] / _MICROSECONDS,
        event_settled_at=_ended_at(event, event_of_market, settled_at),
    )
    return knowledge_of_decisions(connection, made)


def _categories(event: Ints, played: Mapping[int, PlayedEvent]) -> tuple[tuple[str, ...], Ints]:
    """Return the categories there are, by name, and which each decision's event is in, (n_d,)."""
    named = {row: each.category or NO_CATEGORY for row, each in played.items()}
    names = tuple(sorted({*named.values(), NO_CATEGORY}))
    rows, index = np.unique(event, return_inverse=True)
    of_event = np.array([names.index(named.get(int(row), NO_CATEGORY)) for row in rows], dtype=np.int64)
    return names, of_event[index] if rows.size else np.zeros(0, dtype=np.int64)


def _asked(head: Floats, market_rows: Ints, asked_of: AskedMarkets) -> tuple[Ints, Ints]:
    """Return the decision and the market of every question asked, (n_a,) each, by decision and then by market."""
    run, event = head[:, 10].astype(np.int64), head[:, 5].astype(np.int64)
    cells, cell = np.unique(np.stack([run, event]), axis=1, return_inverse=True)
    # What is about no event was asked about no market.
    lists = [sorted(asked_of.of_event.get((run_id, row), ())) for run_id, row in cells.T.tolist()]
    sizes = np.array([len(rows) for rows in lists], dtype=np.int64)
    starts = (np.cumsum(sizes) - sizes)[cell]
    of_decision = sizes[cell]
    decision = np.repeat(np.arange(len(head), dtype=np.int64), of_decision)
    within = np.arange(decision.size) - np.repeat(np.cumsum(of_decision) - of_decision, of_decision)
    rows = np.fromiter(chain.from_iterable(lists), dtype=np.int64)
    market = rows[np.repeat(starts, of_decision) + within]
    return decision, np.searchsorted(market_rows, market).astype(np.int64)


def _exclusive(market_rows: Ints, asked_of: AskedMarkets) -> Ints:
    """Return the number of the group in which each market excludes the others, (n_m,), -1 for none."""
    groups = [asked_of.groups.get(row) for row in market_rows.tolist()]
    number = {group: index for index, group in enumerate(dict.fromkeys(groups)) if group is not None}
    return np.array([-1 if group is None else number[group] for group in groups], dtype=np.int64)


def _fees(market_rows: Ints, played: Mapping[int, PlayedEvent]) -> Floats:
    """Return the rate and the exponent of each bet's taker fee, (n_b, 2), NaN where the venue states none."""
    stated = {row: fees for each in played.values() for row, fees in each.fees.items()}
    rows, index = np.unique(market_rows, return_inverse=True)
    found = [stated.get(int(row)) for row in rows]
    table = [(np.nan, np.nan) if fees is None else (fees.rate, fees.exponent) for fees in found]
    return np.array(table, dtype=np.float64).reshape(-1, 2)[index]


def _observations(connection: Connection, venue: str, as_of: datetime) -> Floats:
    """Return market row, instant, price of YES; of equal instants track's own quote comes last."""
    priced = _rows(
        connection,
        select(instruments.c.id, instruments.c.market_row)
        .where(instruments.c.venue == venue, instruments.c.side == "YES")
        .order_by(instruments.c.id),
        2,
    )
    # Alone, the table is read in the order in which it lies, and nothing is sorted.
    statement = (
        select(observations.c.instrument_row, observations.c.at, observations.c.price)
        .where(observations.c.at <= as_of)
        .order_by(observations.c.instrument_row, observations.c.at, observations.c.source)
    )
    found = _rows(connection, statement, 3)
    if not len(priced):
        return found[:0]
    place = np.minimum(np.searchsorted(priced[:, 0], found[:, 0]), len(priced) - 1)
    of_venue = priced[place, 0] == found[:, 0]
    found[:, 0] = priced[place, 1]
    return found if of_venue.all() else found[of_venue]


def _known(values: Floats) -> Floats:
    return np.where(values == _UNKNOWN, np.nan, values)


def _rows(connection: Connection, statement: Select[Any], width: int) -> Floats:
    """Return the rows of a statement as numbers, (n, width), without making an object of each.

    Raw rows skip the conversion of instants, so they arrive as microseconds,
    which a float64 holds exactly for the next two centuries. They are taken one
    by one: millions at once would fill the memory, and the collector with work.
    """
    cursor = connection.execute(statement).cursor
    rows: Any = () if cursor is None else cursor
    return np.fromiter(chain.from_iterable(rows), dtype=np.float64).reshape(-1, width)
