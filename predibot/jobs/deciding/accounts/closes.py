"""Accounts of shares: advanced from close to close, in the order of trading days."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from itertools import pairwise

from sqlalchemy import Connection

from predibot.contracts import Venue
from predibot.domain.clock import EPOCH
from predibot.domain.price import CorporateAction, Instrument
from predibot.games.accounts import account_of
from predibot.games.corporate_actions import corporate_rows
from predibot.games.fills import FillModel
from predibot.jobs.deciding.accounts.advance import AccountBooks, MarketSnapshot
from predibot.ledger.write.accounts import AccountValue, add_valuations, last_valued_at, read_journal
from predibot.ledger.write.turns import PendingOrder, accounts_played_at, pending_orders

_NAMED_BOTS = 3


def go_through_closes(books: AccountBooks, venue: Venue, fills: FillModel, *, until: datetime) -> None:
    """Book what each close does to an account, each once: issuers' actions, a valuation, and orders placed before it.

    The result is the same day by day or for a week at once. A close that was booked stands, whatever its file says
    later.
    """
    valued_at = last_valued_at(books.connection, books.id)
    closes = () if valued_at is None else venue.closes(start=valued_at, until=until)
    if valued_at is None or not closes:
        return
    worths: list[AccountValue] = []
    books.up_to_now()
    ordered = pending_orders(books.connection, books.id)
    for since, at in pairwise((valued_at, *closes)):
        # An order placed after a close waits for the next.
        pending = [each for each in ordered if each.decided_at < at]
        if _book_close(books, venue, fills, pending, worths, since=since, at=at):
            books.up_to_now()
            ordered = pending_orders(books.connection, books.id)
    add_valuations(books.connection, books.id, worths)


def late_actions(connection: Connection, venue: Venue, spec: str, *, until: datetime) -> tuple[str, ...]:
    """Return a sentence on each action that came too late for accounts that held the stock.

    `venue` is the source of the actions as of now, `spec` the venue of the accounts' runs.
    """
    late: dict[tuple[datetime, str, str], list[str]] = {}
    for account_id, bot in accounts_played_at(connection, spec).items():
        valued_at = last_valued_at(connection, account_id)
        if valued_at is None:
            continue
        journal = read_journal(connection, account_id)
        booked = {(row.instrument, row.kind, row.at) for row in journal}
        for instrument in dict.fromkeys(row.instrument for row in journal if row.instrument is not None):
            for each in venue.actions(instrument, start=journal[0].at, until=min(valued_at, until)):
                nothing = {"split": 1.0, "dividend": 0.0}.get(each.kind)
                if each.value in (None, nothing) or (instrument, each.kind, each.effective_at) in booked:
                    continue
                before = account_of(row for row in journal if row.at < each.effective_at)
                if before.position(instrument).shares:
                    late.setdefault((each.effective_at, instrument.id, each.kind), []).append(bot)
    return tuple(
        f"the {kind} of {ticker} of {at:%Y-%m-%d} was stated after {', '.join(sorted(bots)[:_NAMED_BOTS])}"
        f"{f' and {len(bots) - _NAMED_BOTS} more' if len(bots) > _NAMED_BOTS else ''} went through its close; it is "
        "not booked. Replay into another ledger to have it"
        for (at, ticker, kind), bots in sorted(late.items())
    )


def actions_of(
    venue: Venue, wanted: Collection[Instrument], at: datetime
) -> Mapping[Instrument, tuple[CorporateAction, ...]]:
    """Return the issuers' actions on instruments by an instant, without instruments that had none."""
    found = {each: venue.actions(each, start=EPOCH, until=at) for each in wanted}
    return {each: actions for each, actions in found.items() if actions}


def _book_close(
    books: AccountBooks,
    venue: Venue,
    fills: FillModel,
    pending: Sequence[PendingOrder],
    worths: list[AccountValue],
    *,
    since: datetime,
    at: datetime,
) -> bool:
    """Book one close; return whether anything was booked, and add the account's worth to `worths`."""
    journal = books.read or books.up_to_now()
    wanted = [*dict.fromkeys([*journal.account.positions, *(each.order.instrument for each in pending)])]
    actions = actions_of(venue, wanted, at)
    closed = [each for each, own in actions.items() if any(one.kind == "delisting" for one in own)]
    known = MarketSnapshot(at, venue.last_closes(wanted, at), frozenset(closed), actions=actions)
    new = {each: [one for one in own if one.effective_at > since] for each, own in actions.items()}
    rows = corporate_rows(journal.account, new)
    if not all(each in known.prices for each in wanted):
        # Stored first: the last price of an unpriced instrument may be among them.
        add_valuations(books.connection, books.id, worths)
        worths.clear()
    if rows:
        books.add(rows)
        journal = books.up_to_now()
    positions = journal.account.positions
    marks, states = books.marks_of(wanted, known)
    if positions.keys() <= marks.keys():
        marks = {each: price for each, price in marks.items() if each in positions or each in known.prices}
        worths.append(AccountValue(at, journal, marks, states))
    if pending:
        books.fill_pending(pending, known, fills)
    return bool(rows or pending)
