"""Arrays of decisions, bets, prices and outcomes for scoring, as of an instant."""

import json
from collections.abc import Mapping
from datetime import datetime

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from predibot.domain.decision import STATUSES
from predibot.errors import UsageError
from predibot.games.normalisation import said_before
from predibot.ledger.read.columns import Columns, read_columns
from predibot.ledger.read.decided_rows import collation_of, read_decision_arrays
from predibot.ledger.read.event_facts import (
    NO_CATEGORY,
    TERMS,
    PlayedEvent,
    RunMarkets,
    find_played_events,
    read_run_markets,
)
from predibot.ledger.read.model_knowledge import knowledge_of_decisions, run_is_live
from predibot.ledger.read.row_filter import is_bot, run_conditions
from predibot.ledger.schema.column_types import MICROSECONDS, to_microseconds
from predibot.ledger.schema.packed_points import LAST_MICROSECOND, unpack_points
from predibot.ledger.write.decisions import bots, decisions
from predibot.ledger.write.events import events, instruments, markets
from predibot.ledger.write.prices_and_resolutions import read_yes_paths, resolutions
from predibot.ledger.write.runs import runs
from predibot.scoring.records.part import EVERYTHING, Part
from predibot.scoring.records.replicates import join_replicates
from predibot.scoring.records.track_record import TrackRecord
from predibot.scoring.standing import BASELINES

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_DAY_MICROSECONDS = 86_400 * 1_000_000
_MOST_USD = 1e9
_MONEY_TOLERANCE_USD = 1e-5


def track_record(
    connection: Connection,
    venue: str,
    as_of: datetime,
    part: Part = EVERYTHING,
    *,
    join: Mapping[str, str] | None = None,
) -> TrackRecord:
    """Return all decisions on events of a venue's runs that are not void, as known at the instant.

    Decisions after the deadline of their run are left out; a bot's replicates are joined. `join` has the cluster of
    each event by the venue's id; any other event is a cluster of its own.

    Raises:
        UsageError: If no event is of the part's category.
        LedgerUnusable: If the prices are malformed.
        ValueError, TypeError, LookupError, ArithmeticError: If anything else is malformed, as in anybody's ledger.
    """
    in_order = select(markets.c.id, markets.c.event_row).where(markets.c.venue == venue).order_by(markets.c.id)
    listed = read_columns(connection, in_order)
    market_rows = listed["id"].astype(np.int64)
    payout, settled_at, _ = read_settlements(connection, venue, market_rows, as_of)
    # All bots are read, because one may pool another.
    made_in, head, bet = _read_decided(connection, venue, as_of, part)
    _check_numbers(made_in, head, bet, market_rows, payout, settled_at)
    event = head["event_row"].astype(np.int64)
    ended_at = _ended_at(event, listed["event_row"].astype(np.int64), settled_at)
    is_live = made_in["live"][head["run"].astype(np.int64)] == 1.0
    # It adds to `head` the costs of the decisions that others pool.
    knowledge = knowledge_of_decisions(connection, head, event, ended_at, is_live=is_live)
    played = find_played_events(connection, venue, as_of, part)
    kept = _is_of_category(head["event_row"], played, part.category)
    event_rows = _event_rows(connection, venue, head["event_row"][kept])
    observed = read_observations(connection, venue, market_rows, as_of)
    asked_of = read_run_markets(connection, venue, part)
    if part.bots:
        rows = connection.execute(select(bots.c.id).where(is_bot(bots.c.name, part.bots))).scalars()
        kept &= np.isin(head["bot_id"], list(rows))
    if not kept.all():
        (head, bet), knowledge = _select(kept, head, bet), knowledge[kept]
    names, bot_index, baselines = _bots(connection, head["bot_id"])
    event, decision = head["event_row"].astype(np.int64), bet["decision"].astype(np.int64)
    categories, category = _categories(event, played)
    slot, run_id = (made_in[name][head["run"].astype(np.int64)] for name in ("slot_at", "id"))
    run = run_id.astype(np.int64)
    fee_rate, fee_exponent, least_shares = _bet_terms(run[decision], bet["market_row"], asked_of.rows)
    asked_decision, asked_market = _questions(run, event, market_rows, asked_of.rows)
    places = _index_of(event_rows, event)
    record = TrackRecord(
        as_of=to_microseconds(as_of) / MICROSECONDS,
        bots=names,
        decision_bot=bot_index,
        decision_status=head["status"].astype(np.int8),
        decided_at=head["decided_at"] / MICROSECONDS,
        decision_day=(slot // _DAY_MICROSECONDS).astype(np.int64),
        decision_event=places,
        decision_cost_usd=head["cost_usd"].copy(),
        decision_cost_known_usd=head["cost_known_usd"].copy(),
        bet_decision=decision,
        bet_market=np.searchsorted(market_rows, bet["market_row"]).astype(np.int64),
        # Copied, because a view would keep all eight columns in memory.
        bet_usd=bet["bet_usd"].copy(),
        bet_price_yes=bet["price_yes"].copy(),
        bet_probability=bet["probability"].copy(),
        payout_yes=payout,
        settled_at=settled_at,
        observation_market=observed[0],
        observation_at=observed[1],
        observation_price_yes=observed[2],
        decision_knowledge=knowledge,
        decision_slot=slot / MICROSECONDS,
        decision_run=run,
        decision_category=category,
        categories=categories,
        baselines=baselines,
        event_names={number: played[row].title for number, row in enumerate(event_rows.tolist()) if row in played},
        bet_confidence=bet["confidence"].copy(),
        # A bid of 0 and an ask of 1 say that nobody offers anything: some venues list an empty side of a book so.
        bet_bid_yes=np.where(bet["bid"] > 0.0, bet["bid"], np.nan),
        bet_ask_yes=np.where(bet["ask"] < 1.0, bet["ask"], np.nan),
        bet_fee_rate=fee_rate,
        bet_fee_exponent=fee_exponent,
        bet_least_shares=least_shares,
        asked_decision=asked_decision,
        asked_market=asked_market,
        market_exclusive=_exclusive(market_rows, asked_of),
        bet_said=_stated_probabilities(connection, venue, head, bet),
        decision_cluster=None if join is None else _clusters(connection, event_rows, join)[places],
    )
    return join_replicates(record)


def _check_numbers(
    made_in: Columns, head: Columns, bet: Columns, market_rows: Ints, payout: Floats, settled_at: Floats
) -> None:
    """Refuse numbers that break our tables' constraints, which a foreign file may lack."""
    last = float(LAST_MICROSECOND)
    for what, values, low, high in (
        ("a status", head["status"], 0.0, len(STATUSES) - 1.0),
        ("the instant of a decision", head["decided_at"], 0.0, last),
        ("the time of a run", made_in["slot_at"], 0.0, last),
        ("a cost in dollars", head["cost_usd"], 0.0, _MOST_USD),
        ("a known cost in dollars", head["cost_known_usd"], 0.0, _MOST_USD),
        ("a bet in dollars", bet["bet_usd"], -1.0 - _MONEY_TOLERANCE_USD, 1.0 + _MONEY_TOLERANCE_USD),
        ("a price", bet["price_yes"], 0.0, 1.0),
        ("a probability", bet["probability"], 0.0, 1.0),
        ("a confidence", bet["confidence"], 0.0, 10.0),
        ("a bid", bet["bid"], 0.0, 1.0),
        ("an ask", bet["ask"], 0.0, 1.0),
        ("a payout", payout, 0.0, 1.0),
        ("the instant of a settlement", settled_at, 0.0, last / MICROSECONDS),
    ):
        # NaN, a missing value, passes.
        if ((values < low) | (values > high)).any():
            raise ValueError(f"{what} is not from {low:g} to {high:g}")
    if not np.isin(bet["market_row"], market_rows).all():
        raise ValueError("a bet is on a market that is not there")


def _read_decided(connection: Connection, venue: str, as_of: datetime, part: Part) -> tuple[Columns, Columns, Columns]:
    """Return runs, and decisions and bets as in `read_decision_arrays`, by slot and then by names."""
    statement = (
        select(*runs.c["id", "slot_at", "deadline_at"], run_is_live(connection).label("live"))
        .where(
            runs.c.venue_name == venue,
            runs.c.voided_at.is_(None),
            *([] if part.recipe is None else [runs.c.recipe == part.recipe]),
            *run_conditions(connection, part),
        )
        .order_by(runs.c.slot_at, runs.c.key.collate(collation_of(connection)))
    )
    made_in = read_columns(connection, statement, nullable="deadline_at")
    head, bet = read_decision_arrays(connection, made_in["id"].astype(np.int64).tolist())
    # Scores of bets and forecasts need an event, and a decision before its deadline.
    late = head["decided_at"] > made_in["deadline_at"][head["run"].astype(np.int64)]
    known = (head["event_row"] > 0.0) & ~late & (head["decided_at"] <= to_microseconds(as_of))
    return made_in, *((head, bet) if known.all() else _select(known, head, bet))


def _select(kept: NDArray[np.bool_], head: Columns, bet: Columns) -> tuple[Columns, Columns]:
    decision = bet["decision"].astype(np.int64)
    bet = bet[kept[decision]]
    bet["decision"] = (np.cumsum(kept) - 1)[decision[kept[decision]]]
    return head[kept], bet


def _bots(connection: Connection, bot_rows: Floats) -> tuple[tuple[str, ...], Ints, frozenset[str]]:
    """Return the bots' names in order of entry, the index of each decision's bot, and the baselines' names."""
    present = np.unique(bot_rows)
    named = {row: (name, how) for row, name, how in connection.execute(select(*bots.c["id", "name", "strategy"]))}
    whose = [named[int(row)] for row in present]
    names = tuple(dict.fromkeys(name for name, _ in whose))
    baselines = frozenset(names) - {name for name, strategy in whose if strategy not in BASELINES}
    index = np.array([names.index(name) for name, _ in whose], dtype=np.int64)
    of_decision = index[np.searchsorted(present, bot_rows)] if present.size else np.zeros(0, dtype=np.int64)
    return names, of_decision, baselines


def _event_rows(connection: Connection, venue: str, decided_on: Floats) -> Ints:
    """Return the rows of events decided on, in the order of the venue's ids, which every ledger shares."""
    in_order = events.c.event_id.collate(collation_of(connection))
    statement = select(events.c.id).where(events.c.venue == venue).order_by(in_order)
    rows = read_columns(connection, statement)["id"].astype(np.int64)
    if not np.isin(decided_on, rows).all():
        raise ValueError("a decision is on an event that is not there")
    return rows[np.isin(rows, decided_on)]


def _index_of(labels: Ints, values: Ints) -> Ints:
    order = np.argsort(labels)
    return order[np.searchsorted(labels[order], values)]


def read_settlements(
    connection: Connection, venue: str, market_rows: Ints, as_of: datetime
) -> tuple[Floats, Floats, Floats]:
    """Return each market's payout as of the instant, when it settled, and since when that payout has been known.

    NaN where a market was not settled. A payout that was corrected has been known since its correction.
    """
    statement = (
        select(*resolutions.c["market_row", "payout_yes", "settled_at", "effective_at"])
        .join(markets, markets.c.id == resolutions.c.market_row)
        .where(markets.c.venue == venue, resolutions.c.effective_at <= as_of, resolutions.c.settled_at <= as_of)
        .order_by(*resolutions.c["market_row", "effective_at", "revision"])
    )
    found = read_columns(connection, statement, nullable="payout_yes")
    payout, settled_at, known_at = (np.full(market_rows.size, np.nan) for _ in range(3))
    where = np.searchsorted(market_rows, found["market_row"])
    # The last revision is assigned last.
    payout[where] = found["payout_yes"]
    settled_at[where] = found["settled_at"] / MICROSECONDS
    known_at[where] = found["effective_at"] / MICROSECONDS
    # A market voided without a payout has no outcome.
    settled_at[np.isnan(payout)] = np.nan
    return payout, settled_at, np.fmax(settled_at, known_at)


def _ended_at(event: Ints, event_of_market: Ints, settled_at: Floats) -> Floats:
    """Return when the last market of each decision's event settled, infinite where one is open or there is none."""
    rows, index = np.unique(event_of_market, return_inverse=True)
    last = np.full(rows.size + 1, -np.inf)
    np.maximum.at(last, index, np.where(np.isnan(settled_at), np.inf, settled_at))
    last[-1] = np.inf
    where = np.searchsorted(rows, event)
    where[~np.isin(event, rows)] = rows.size
    return last[where]


def _categories(event: Ints, played: Mapping[int, PlayedEvent]) -> tuple[tuple[str, ...], Ints]:
    """Return the category names, and the index of each decision's, (n_d,)."""
    named = {row: each.category for row, each in played.items()}
    names = tuple(sorted({*named.values(), NO_CATEGORY}))
    rows, index = np.unique(event, return_inverse=True)
    of_event = np.array([names.index(named.get(int(row), NO_CATEGORY)) for row in rows], dtype=np.int64)
    return names, of_event[index] if rows.size else np.zeros(0, dtype=np.int64)


def _is_of_category(decided_on: Floats, played: Mapping[int, PlayedEvent], category: str | None) -> NDArray[np.bool_]:
    """Return which decisions are on an event of a category, of any if None; refuse a category without events."""
    if category is None:
        return np.ones(decided_on.size, np.bool_)
    rows = [row for row, each in played.items() if each.category == category]
    if not rows:
        known = ", ".join(sorted({each.category for each in played.values()})) or "none, because nothing was played"
        raise UsageError(f"no event is of category {category[:60]!r}; there are: {known[:600]}")
    return np.isin(decided_on, rows)


def _questions(run: Ints, event: Ints, market_rows: Ints, asked: Columns) -> tuple[Ints, Ints]:
    """Return the decision and the market of every question asked, (n_a,) each, by decision and then by market."""
    span = max(asked["event"].max(initial=0.0), event.max(initial=0)) + 1.0
    cell = asked["run"] * span + asked["event"]
    order = np.lexsort((asked["market"], cell))
    # A decision on no event has no questions.
    first, last = (np.searchsorted(cell[order], run * span + event, side) for side in ("left", "right"))
    sizes = last - first
    decision = np.repeat(np.arange(run.size), sizes)
    row = np.arange(decision.size) + np.repeat(first - np.cumsum(sizes) + sizes, sizes)
    return decision, np.searchsorted(market_rows, asked["market"][order][row]).astype(np.int64)


def _clusters(connection: Connection, event_rows: Ints, join: Mapping[str, str]) -> Ints:
    named = {row: name for row, name in connection.execute(select(events.c.id, events.c.event_id))}
    names = [named[row] for row in event_rows.tolist()]
    # A cluster's first event may be one without decisions.
    _, cluster = np.unique(np.array([join.get(name, name) for name in names], dtype=np.str_), return_inverse=True)
    return cluster.astype(np.int64)


def _exclusive(market_rows: Ints, asked_of: RunMarkets) -> Ints:
    """Return the number of each market's exclusive group, (n_m,), -1 for none."""
    groups = [asked_of.groups.get(row) for row in market_rows.tolist()]
    number = {group: index for index, group in enumerate(dict.fromkeys(groups)) if group is not None}
    return np.array([-1 if group is None else number[group] for group in groups], dtype=np.int64)


def _stated_probabilities(connection: Connection, venue: str, head: Columns, bet: Columns) -> Floats | None:
    """Return the probability that a bot stated for each bet before it was normalised, (n_b,), else NaN; or None."""
    normalising = select(bots.c.id).where(bots.c.arguments_json.contains('"normalise": '))
    rows = np.flatnonzero(np.isin(head["bot_id"], list(connection.execute(normalising).scalars())))
    if not rows.size:
        return None
    place_of = {int(head["id"][row]): int(row) for row in rows}
    noted = select(decisions.c.id, decisions.c.notes_json).where(decisions.c.bot_id.in_(normalising))
    said = {
        place_of[decision]: said_before(json.loads(notes))
        for decision, notes in connection.execute(noted)
        if decision in place_of
    }
    listed = select(markets.c.id, markets.c.market_id).where(markets.c.venue == venue)
    name_of: dict[int, str] = dict(map(tuple, connection.execute(listed)))
    found = np.full(bet.size, np.nan)
    for place in np.flatnonzero(np.isin(bet["decision"], list(said))).tolist():
        of_market = said[int(bet["decision"][place])]
        found[place] = of_market.get(name_of.get(int(bet["market_row"][place]), ""), np.nan)
    return found


def _bet_terms(run: Ints, market: Floats, asked: Columns) -> list[Floats]:
    """Return fee rate, fee exponent and least order of each bet, as its run froze them, (n_b,) each."""
    span = max(asked["market"].max(initial=0.0), market.max(initial=0.0)) + 1.0
    code, of_bet = asked["run"] * span + asked["market"], run * span + market
    order = np.argsort(code, kind="stable")
    # The last place stands for markets that state nothing.
    codes = np.append(code[order], np.inf)
    place = np.searchsorted(codes, of_bet)
    place[codes[place] != of_bet] = order.size
    return [np.append(asked[name][order], np.nan)[place] for name in TERMS]


def read_observations(
    connection: Connection, venue: str, market_rows: Ints, as_of: datetime
) -> tuple[Ints, Floats, Floats]:
    """Return market, instant and price of YES; of equal instants track's own quote comes last."""
    paths = read_yes_paths(connection, instruments.c.venue == venue)
    if not np.isin([path.market_row for path in paths], market_rows).all():
        raise ValueError("prices are of a market that is not there")
    points, sizes = unpack_points([path.points for path in paths])
    market = np.repeat(np.searchsorted(market_rows, [path.market_row for path in paths]), sizes)
    at, price = points["at"] / MICROSECONDS, points["price"].copy()
    known = points["at"] <= to_microseconds(as_of)
    return (market, at, price) if known.all() else (market[known], at[known], price[known])
