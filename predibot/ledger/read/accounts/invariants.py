"""Invariants of orders and accounts: fills belong to orders, accounts are their journals, cohorts keep the rules."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import accumulate, groupby
from typing import Any

from sqlalchemy import Connection, Select, and_, func, select

from predibot.contracts import Game
from predibot.domain.account import Account, JournalRow
from predibot.domain.clock import EPOCH, format_instant
from predibot.domain.decision import Order
from predibot.domain.price import BINARY_OUTCOME, Depth, Instrument, Price
from predibot.errors import UsageError
from predibot.games.accounts import accounts_of, value_usd
from predibot.games.cohorts import COHORT, Cohort, cohort_name, cohort_start
from predibot.games.fills import FillModel
from predibot.ledger.read.accounts.cohorts import StoredCohort, read_cohorts
from predibot.ledger.read.invariants import Checked, Violation
from predibot.ledger.schema.values import LAST_INSTANT
from predibot.ledger.write.accounts import VALUED_EVERY, accounts, journal, marks, read_journal, valuations
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import ORDER_OF_FILL, bots, decisions, depth_from_json, fills, orders, quotes
from predibot.ledger.write.events import NAME_OF_INSTRUMENT, instruments
from predibot.ledger.write.prices_and_resolutions import CAUSE_OF_BOOKING, paid_by, resolutions
from predibot.ledger.write.runs import runs, with_decisions
from predibot.ledger.write.turns import pending_orders, turns
from predibot.plugins.games import load_stored_game
from predibot.rows import grouped

_TOLERANCE = 1e-9
"""For sums and products of floats, for each dollar or share."""

_FIT, _RULES = "cohorts and accounts fit", "bets of cohorts keep rules"
_OF_ISSUERS = ("split", "dividend", "delisting")
"""Corporate actions, which happen without a decision."""


def checks_of_accounts(connection: Connection, checked: Checked) -> Iterator[Iterator[Violation]]:
    """Yield a check of each account with journal and valuations, and one of all cohorts."""
    columns = (*accounts.c["recipe", "mode", "bot"], subjects.c.subject_id)
    named = select(accounts.c.id, accounts.c.game, *columns).join(subjects, subjects.c.id == accounts.c.subject_row)
    for account_id, game, *parts in connection.execute(named.order_by(accounts.c.id)).all():
        yield _check_account(connection, checked, account_id, game, "/".join(parts))
    yield _check_cohorts(connection, checked)


def check_orders(connection: Connection, checked: Checked) -> Iterator[Violation]:
    """Yield what is wrong with orders and their fills, order by order."""
    check = "fills belong to orders"
    same_market = (quotes.c.decision_id == orders.c.decision_id, quotes.c.market_row == instruments.c.market_row)
    is_booked_at = and_(*same_market, quotes.c.role == "booked")
    traded = instruments.c["instrument_id", "market_row", "lowest_price", "highest_price"]
    statement = (
        with_decisions(orders, runs.c.key, bots.c.name, *subjects.c["subject_id", "event_row"], *traded)
        .add_columns(instruments.c.side.label("outcome"), fills.c.price.label("paid"))
        .add_columns(*fills.c["shares", "cash_usd", "model"], *quotes.c["bid", "ask", "depth_json"])
        .join(orders, orders.c.decision_id == decisions.c.id)
        .join(instruments, instruments.c.id == orders.c.instrument_row)
        .outerjoin(fills, ORDER_OF_FILL)
        .outerjoin(quotes, is_booked_at)
        .order_by(orders.c.decision_id, orders.c.number, fills.c.number)
    )
    rows = connection.execute(statement.execution_options(yield_per=1_000))
    for _, of_order in groupby(rows, lambda row: (row.decision_id, row.number)):
        order, *more = of_order
        filled = [row for row in (order, *more) if row.shares is not None]
        checked[check] += 1
        name = f"{order.key}/{order.name}/{order.subject_id}"
        for seen in (*_check_order(order, filled), *(text for row in filled for text in _check_fill(row))):
            yield Violation(check, name, f"{order.instrument_id}: {seen}")


def _check_order(order: Any, filled: list[Any]) -> Iterator[str]:
    if filled and order.price is None and order.ended_at is None:
        yield "it was filled, and has no price that it was booked by"
    if order.status == "filled" and order.amount and not filled and order.unit != "weight":
        yield f"its order of {order.amount:g} {order.unit} is filled, and has no fill"
    of_unit = {"usd": [row.cash_usd for row in filled], "shares": [row.shares for row in filled]}
    total = abs(math.fsum(of_unit.get(order.unit, ())))
    if not total <= order.amount + _slack(order.amount):
        yield f"its fills come to {total:g} {order.unit}, the order is of {order.amount:g}"
    # An order that expires at once has no later end.
    if order.status == "replaced" and order.ended_at is None:
        yield "it is replaced, and nobody knows since when"
    if order.status == "pending" and (filled or order.ended_at is not None):
        yield "it is pending, and something became of it"
    if filled and order.status != "filled" and total >= order.amount - _slack(order.amount):
        yield f"its order of {order.amount:g} {order.unit} is {order.status}, and its fills come to all of it"


def _check_fill(row: Any) -> Iterator[str]:
    # A weight is reached by buying or selling.
    if row.unit != "weight" and (row.shares > 0.0) != (row.side == "buy"):
        yield f"its order is to {row.side}, and {row.shares:g} shares were filled"
    highest = math.inf if row.highest_price is None else row.highest_price
    if not row.lowest_price <= row.paid <= highest:
        yield f"filled at {row.paid:g}, which is outside [{row.lowest_price:g}, {highest:g}]"
    is_bet_on_no = row.event_row is not None and row.outcome == "NO"
    mid = None if row.price is None else 1.0 - row.price if is_bet_on_no else row.price
    # A pending order is filled at the prices of another slot.
    at_once = row.ended_at is None
    if at_once and row.model == "mid" and mid is not None and not abs(row.paid - mid) <= _slack(mid):
        yield f"filled at {row.paid!r}, its mid was {mid!r}"
    if at_once and row.model == "quote" and row.market_row is not None and not _is_offered(row):
        yield f"filled at {row.paid!r} by its quote, which did not offer that"
    if at_once and row.model == "book" and row.market_row is not None and not _is_in_book(row):
        yield f"filled at {row.paid!r} for {row.shares:g} shares, which its book did not offer"
    if row.event_row is None and not abs(row.cash_usd + row.shares * row.paid) <= _slack(row.cash_usd):
        yield f"{row.shares:g} shares at {row.paid:g} are not ${-row.cash_usd!r}"


def _is_offered(row: Any) -> bool:
    """Return whether the booked quote of YES offers the price: a buyer of NO takes the bid, a seller the ask."""
    is_no = row.outcome == "NO"
    offered = row.ask if (row.side == "buy") != is_no else row.bid
    return offered is not None and abs(row.paid - (1.0 - offered if is_no else offered)) <= _TOLERANCE


def _is_in_book(row: Any) -> bool:
    """Return whether the booked depth offers the shares at that price, from the best level on."""
    try:
        book = depth_from_json(row.depth_json) or Depth()
    except ValueError:
        return False
    book = book.for_no if row.outcome == "NO" else book
    instrument = Instrument("", BINARY_OUTCOME, row.instrument_id)
    order = Order(instrument, abs(row.shares), "shares", "buy" if row.shares > 0.0 else "sell")
    found = FillModel("book").fill(order, Price(EPOCH, row.paid, bids=book.bids, asks=book.asks))
    return (
        found is not None
        and abs(found.shares - row.shares) <= _slack(row.shares)
        and abs(found.price - row.paid) <= _slack(row.paid)
    )


def _check_account(
    connection: Connection, checked: Checked, account_id: int, game: str, name: str
) -> Iterator[Violation]:
    check = "accounts are their journals"
    rows = read_journal(connection, account_id)
    checked[check] += len(rows)
    numbers = select(func.max(journal.c.number)).where(journal.c.account_id == account_id)
    if connection.execute(numbers).scalar() not in (None, len(rows)):
        yield Violation(check, name, "a row of its journal is missing")
    played = _game_of(connection, account_id, game)
    yield from _violations(check, name, _check_causes(rows, played))
    try:
        after = [Account(), *accounts_of(rows)]
    except ValueError as error:
        yield Violation(check, name, str(error))
        return
    if not all(map(_is_conserved, after)):
        yield Violation(check, name, "cash and cost are not what was paid in, realised and paid out")
    yield from _violations(check, name, _check_debts(rows, after))
    yield from _violations(check, name, _check_fills_booked(connection, account_id))
    yield from _violations("valuations are folds", name, _check_valuations(connection, checked, account_id, after))
    at_closes = played is not None and played.trades_at_closes
    yield from _violations("turns are whole", name, _check_turns(connection, checked, account_id, rows, at_closes))
    yield from _violations("journals follow resolutions", name, _check_settlements(connection, checked, account_id))


def _violations(check: str, row: str, all_seen: Iterable[str]) -> Iterator[Violation]:
    return (Violation(check, row, seen) for seen in all_seen)


def _game_of(connection: Connection, account_id: int, game: str) -> Game | None:
    """Return the game of an account with its last recipe's settings; the plain game where none fit."""
    last = select(runs.c.recipe_json).join(turns, turns.c.run_id == runs.c.id).where(turns.c.account_id == account_id)
    stored = connection.execute(last.order_by(turns.c.slot_at.desc()).limit(1)).scalar()
    return load_stored_game(game, stored or "{}")


def _check_causes(rows: Sequence[JournalRow], game: Game | None) -> Iterator[str]:
    """Yield rows without a cause: a journal begins with the game's deposit, and the rest follows from something."""
    for number, row in enumerate(rows, start=1):
        is_first = (number, row.kind) == (1, "deposit")
        if not (is_first or row.follows_from or row.kind in _OF_ISSUERS):
            yield f"row {number}, a {row.kind} of ${row.cash_usd:g}, follows from no decision and no resolution"
        if is_first and game is not None and row.cash_usd != game.stake_usd:
            yield f"it began with ${row.cash_usd:g}, game {game.name} gives ${game.stake_usd:g}"


def _check_debts(rows: Sequence[JournalRow], after: Sequence[Account]) -> Iterator[str]:
    """Yield rows that spent too much: only a reversal leaves a debt, and an account in debt only sells."""
    for number, (row, before, now) in enumerate(zip(rows, after, after[1:], strict=False), start=1):
        if now.owing and not before.owing and row.kind != "reversal":
            yield f"row {number}, a {row.kind}, leaves ${now.cash_usd:g}; money is never borrowed"
        if before.owing and row.kind == "fill" and row.shares > 0.0:
            yield f"row {number} buys while the account owes ${-before.cash_usd:g}"


def _is_conserved(account: Account) -> bool:
    cost_usd = math.fsum(position.cost_usd for position in account.positions.values())
    made_usd = account.paid_in_usd + account.realised_usd + account.dividends_usd - account.fees_usd
    return abs(account.cash_usd + cost_usd - made_usd) <= _slack(abs(made_usd) + abs(account.cash_usd))


def _check_fills_booked(connection: Connection, account_id: int) -> Iterator[str]:
    own = select(journal.c.decision_id).where(journal.c.account_id == account_id, journal.c.kind == "fill")
    booked = select(*journal.c["decision_id", "instrument_row", "shares", "cash_usd"]).where(
        journal.c.account_id == account_id, journal.c.kind == "fill"
    )
    done = (
        select(fills.c.decision_id, orders.c.instrument_row, fills.c.shares, fills.c.cash_usd)
        .join(orders, ORDER_OF_FILL)
        .where(fills.c.decision_id.in_(own))
    )
    totals: dict[tuple[int | None, int], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for sign, statement in ((1.0, booked), (-1.0, done)):
        for decision_id, instrument_row, shares, cash_usd in connection.execute(statement):
            total = totals[decision_id, instrument_row]
            total[0] += sign * shares
            total[1] += sign * cash_usd
    for (decision_id, _), total in totals.items():
        if any(abs(each) > 1e-6 for each in total):
            yield f"the journal of decision {decision_id} and its fills differ by {total[0]:g} shares, ${total[1]:g}"


def _check_turns(
    connection: Connection, checked: Checked, account_id: int, rows: Sequence[JournalRow], at_closes: bool
) -> Iterator[str]:
    """Yield what is wrong with the turns: each has its valuation, and no order is left pending.

    Shares are valued, and their orders filled, at closes alone: a turn on a Sunday has the valuation of Friday.
    """
    statement = select(turns).where(turns.c.account_id == account_id).order_by(turns.c.slot_at)
    last_at, last_number = None, 0
    valued = select(valuations.c.at).where(valuations.c.account_id == account_id)
    instants = set(connection.execute(valued).scalars())
    latest = list(accumulate((entry.at for entry in rows), max))
    for row in connection.execute(statement).all():
        checked["turns are whole"] += 1
        seen = f"the turn of {row.slot_at.isoformat()}"
        floored = row.at - (row.at - EPOCH) % VALUED_EVERY
        if floored not in instants and not (at_closes and any(at < floored for at in instants)):
            yield f"{seen} has no valuation"
        if last_at is not None and (row.at < last_at or row.journal_number < last_number):
            yield f"{seen} comes before the one of an earlier run"
        last_at, last_number = row.at, row.journal_number
        number = min(row.journal_number, len(rows))
        if number > 0 and latest[number - 1] > row.at:
            yield f"{seen} has something in its journal that happened later"
    for pending in pending_orders(connection, account_id):
        later = select(turns.c.slot_at).join(decisions, decisions.c.id == pending.decision_id)
        later = later.where(turns.c.account_id == account_id, turns.c.at > decisions.c.decided_at)
        went_on = any(at > pending.decided_at for at in instants) if at_closes else connection.execute(later).first()
        if went_on:
            yield f"order {pending.number} of decision {pending.decision_id} is still pending, and the account went on"


def _check_settlements(connection: Connection, checked: Checked, account_id: int) -> Iterator[str]:
    """Yield settlements that are not what their resolution pays, or come before it was known."""
    columns = journal.c["number", "kind", "at", "shares", "cash_usd"]
    statement = (
        select(*columns, resolutions, instruments.c.side, instruments.c.outcome)
        .join(resolutions, CAUSE_OF_BOOKING)
        .join(instruments, instruments.c.id == journal.c.instrument_row)
        .where(journal.c.account_id == account_id)
        .order_by(journal.c.number)
    )
    for row in connection.execute(statement):
        checked["journals follow resolutions"] += 1
        if row.effective_at > row.at:
            yield f"row {row.number}, a {row.kind}, follows from what was known later"
        if row.kind == "settlement":
            paid = paid_by(row)
            if paid is None or abs(row.cash_usd + row.shares * paid) > _slack(row.cash_usd):
                yield f"row {row.number} pays ${row.cash_usd:g} for {-row.shares:g} shares, of which each paid {paid!r}"


def _check_valuations(
    connection: Connection, checked: Checked, account_id: int, after: Sequence[Account]
) -> Iterator[str]:
    """Yield valuations that are not the journal's value at their own marks."""
    marked = _read_marks(connection, account_id)
    statement = select(valuations).where(valuations.c.account_id == account_id)
    for row in connection.execute(statement.order_by(valuations.c.at, valuations.c.revision)).all():
        checked["valuations are folds"] += 1
        account = after[min(row.journal_number, len(after) - 1)]
        seen = f"the valuation of {row.at.isoformat()}, revision {row.revision},"
        if abs(account.cash_usd - row.cash_usd) > _slack(account.cash_usd):
            yield f"{seen} has ${row.cash_usd!r}, the journal comes to ${account.cash_usd!r}"
        try:
            own = marked.get((row.at, row.revision), [])
            worth_usd = value_usd(account, {Instrument(*name): Price(*price) for *price, name in own})
        except ValueError as error:
            yield f"{seen} cannot be computed: {error}"
            continue
        if abs(worth_usd - row.value_usd) > _slack(worth_usd):
            yield f"{seen} says ${row.value_usd!r}, positions and cash are worth ${worth_usd!r}"


def _read_marks(connection: Connection, account_id: int) -> dict[tuple[datetime, int], list[Any]]:
    """Return instants, prices and names of instruments by instant and revision of the valuation."""
    statement: Select[Any] = select(*marks.c["at", "revision", "priced_at", "price"], *NAME_OF_INSTRUMENT)
    statement = statement.join(instruments, instruments.c.id == marks.c.instrument_row)
    found = connection.execute(statement.where(marks.c.account_id == account_id))
    return grouped(((at, revision), (priced_at, price, name)) for at, revision, priced_at, price, *name in found)


def _check_cohorts(connection: Connection, checked: Checked) -> Iterator[Violation]:
    kept = read_cohorts(connection, LAST_INSTANT)
    statement = select(*runs.c["id", "recipe", "game", "venue_name"])
    played = {row.id: row for row in connection.execute(statement)}
    for each in kept:
        checked[_FIT] += 1
        name = f"{each.recipe}/{each.mode}/{each.name}"
        yield from _violations(_FIT, name, _check_cohort(each, played[each.run_id]))
    by_key = {(*each.group, each.venue, each.name): each for each in kept}
    columns = accounts.c["recipe", "game", "mode", "methodology"]
    named = (
        select(*columns, subjects.c.venue, subjects.c.subject_id, accounts.c.bot, accounts.c.id)
        .join(subjects, subjects.c.id == accounts.c.subject_row)
        .where(subjects.c.kind == COHORT)
        .order_by(accounts.c.id)
    )
    for *key, bot, account_id in connection.execute(named).all():
        checked[_FIT] += 1
        cohort = by_key.get(tuple(key))
        name = "/".join((key[0], key[2], bot, key[5]))
        if cohort is None:
            yield Violation(_FIT, name, "there is no cohort that it is of")
            continue
        if bot not in {member.bot_id for member in cohort.members}:
            yield Violation(_FIT, name, f"{bot!r} is not in the line-up of its cohort")
        newer = [each.start for each in kept if each.group == cohort.group and each.start > cohort.start]
        yield from _violations(_RULES, name, _check_member(connection, checked, account_id, cohort, newer))


def _check_cohort(cohort: StoredCohort, run: Any) -> Iterator[str]:
    try:
        cohort_start(cohort.name)
        load_stored_game(cohort.game, "{}", cohort.methodology)
    except UsageError as error:
        yield str(error)
        return
    if cohort_name(cohort.started_at) != cohort.name:
        yield f"it was started at {format_instant(cohort.started_at)}, in the week of another cohort"
    if (run.recipe, run.game, run.venue_name) != (cohort.recipe, cohort.game, cohort.venue):
        yield f"the run that started it is of {run.game} of {run.recipe} at {run.venue_name}"
    ids = [member.bot_id for member in cohort.members]
    if not ids or len(set(ids)) < len(ids):
        yield "its line-up has nobody, or somebody twice"


def _check_member(
    connection: Connection, checked: Checked, account_id: int, cohort: StoredCohort, newer: Sequence[datetime]
) -> Iterator[str]:
    rows, game = read_journal(connection, account_id), cohort.played
    ends_at = cohort.rules.window_end(cohort.to_cohort(), [Cohort(start) for start in newer])
    for number, paid_at in connection.execute(_paid_before(account_id)):
        yield f"row {number} trades a market that has paid since {format_instant(paid_at)}"
    for number, row in enumerate(rows, start=1):
        if row.kind != "fill":
            continue
        if row.shares > 0.0:
            checked[_RULES] += 1
        if ends_at is not None and row.at >= ends_at:
            yield f"row {number} trades, and its cohort decides only until {format_instant(ends_at)}"
    deposits = sum(row.cash_usd for row in rows if row.kind == "deposit")
    if rows and game is not None and deposits != game.stake_usd:
        yield f"${deposits:,.2f} were paid in, a cohort begins with ${game.stake_usd:,.2f}"
    if game is not None:
        yield from game.misplayed(rows, _orders_of(connection, account_id))


def _paid_before(account_id: int) -> Any:
    """Return the statement of an account's trades in markets that had paid, and since when."""
    return (
        select(journal.c.number, func.min(resolutions.c.effective_at))
        .join(instruments, instruments.c.id == journal.c.instrument_row)
        .join(resolutions, resolutions.c.market_row == instruments.c.market_row)
        .where(journal.c.account_id == account_id, journal.c.kind == "fill")
        .where(resolutions.c.effective_at <= journal.c.at)
        .group_by(journal.c.number)
        .order_by(journal.c.number)
    )


def _orders_of(connection: Connection, account_id: int) -> Mapping[str, Sequence[Any]]:
    booked = select(journal.c.decision_id).where(journal.c.account_id == account_id, journal.c.kind == "fill")
    statement = (
        select(*orders.c["decision_id", "side", "amount", "status"])
        .join(decisions, and_(decisions.c.id == orders.c.decision_id, decisions.c.status == "recorded"))
        .where(orders.c.decision_id.in_(booked))
        .order_by(orders.c.decision_id, orders.c.number)
    )
    return grouped((f"decision {row.decision_id}", row) for row in connection.execute(statement))


def _slack(amount: float) -> float:
    return _TOLERANCE * max(1.0, abs(amount))
