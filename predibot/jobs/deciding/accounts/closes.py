"""Accounts of shares: brought from close to close, in the order of trading days, whenever somebody comes by."""

from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy import Connection

from predibot.contracts import SessionVenue
from predibot.domain.clock import EPOCH
from predibot.domain.price import CorporateAction, Instrument
from predibot.games.accounts import account_of
from predibot.games.corporate_actions import corporate_rows
from predibot.games.fills import FillModel
from predibot.jobs.deciding.accounts.advance import Known, fill_pending, marks_of
from predibot.ledger.write.accounts import (
    VALUED_EVERY,
    add_to_journal,
    add_valuation,
    last_valued_at,
    stored_journal,
)
from predibot.ledger.write.turns import add_turn, pending_orders, turn_at


def turn_at_close(
    connection: Connection,
    account_id: int,
    venue: SessionVenue,
    fills: FillModel,
    *,
    slot_at: datetime,
    run_id: int,
    at: datetime,
) -> None:
    """Bring an account to a slot, once: through every close that became known since; the first values its deposit.

    Args:
        connection: A writing transaction that has the account for itself.
        account_id: The account.
        venue: Whose closes these are.
        fills: Sets the prices of what is traded.
        slot_at: The slot.
        run_id: The run that plays it.
        at: The slot's instant.
    """
    if turn_at(connection, account_id, slot_at) is not None:
        return
    go_through_closes(connection, account_id, venue, fills, until=at)
    if last_valued_at(connection, account_id) is None:
        add_valuation(connection, account_id, {}, at=at, interval=VALUED_EVERY)
    add_turn(connection, account_id, slot_at, run_id, at=at)


def go_through_closes(
    connection: Connection, account_id: int, venue: SessionVenue, fills: FillModel, *, until: datetime
) -> None:
    """Do what each close does to an account, each once: issuers' actions, a valuation, and what was ordered before it.

    It is the same whether it is done day by day or for a week at once. A close that was gone through stands: what a
    file says of it later changes nothing.
    """
    valued_at = last_valued_at(connection, account_id)
    if valued_at is None:
        return
    for close_at in venue.closes(start=valued_at, until=until):
        _close(connection, account_id, venue, fills, since=valued_at, at=close_at)
        valued_at = close_at


def actions_of(
    venue: SessionVenue, wanted: Collection[Instrument], at: datetime
) -> Mapping[Instrument, tuple[CorporateAction, ...]]:
    """Return what issuers did to instruments by an instant; those to which they did nothing are left out."""
    found = {each: venue.actions(each, start=EPOCH, until=at) for each in wanted}
    return {each: actions for each, actions in found.items() if actions}


def _close(
    connection: Connection, account_id: int, venue: SessionVenue, fills: FillModel, *, since: datetime, at: datetime
) -> None:
    account = account_of(stored_journal(connection, account_id))
    # An order that was given after a close waits for the next.
    pending = [each for each in pending_orders(connection, account_id) if each.decided_at < at]
    wanted = [*dict.fromkeys([*account.positions, *(each.order.instrument for each in pending)])]
    actions = actions_of(venue, wanted, at)
    closed = [each for each, own in actions.items() if any(one.kind == "delisting" for one in own)]
    known = Known(at, venue.last_closes(wanted, at), frozenset(closed), actions=actions)
    new = {each: [one for one in own if one.effective_at > since] for each, own in actions.items()}
    if rows := corporate_rows(account, new):
        add_to_journal(connection, account_id, rows)
        account = account_of(stored_journal(connection, account_id))
    marks, states = marks_of(connection, account_id, wanted, {}, {}, known)
    if account.positions.keys() <= marks.keys():
        marks = {each: price for each, price in marks.items() if each in account.positions or each in known.prices}
        add_valuation(connection, account_id, marks, at=at, interval=VALUED_EVERY, states=states)
    if pending:
        fill_pending(connection, account_id, pending, known, fills)
