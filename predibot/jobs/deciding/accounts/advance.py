"""Advancing an account to a slot, or close by close: settled, valued, its pending orders filled or ended."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise

from sqlalchemy import Connection

from predibot.contracts import Venue
from predibot.domain.account import JournalRow, MarkState
from predibot.domain.clock import EPOCH
from predibot.domain.decision import BookedOrder
from predibot.domain.price import CorporateAction, Instrument, Price, split_factor
from predibot.domain.resolution import Resolution
from predibot.games.accounts import Journal, account_of, corporate_rows, settle
from predibot.games.fills import FillModel, explain_unfilled
from predibot.games.rebalance import rebalance
from predibot.ledger.write.accounts import (
    AccountValue,
    add_to_journal,
    add_valuations,
    has_valuation,
    last_prices,
    last_valued_at,
    read_account,
    read_journal,
)
from predibot.ledger.write.prices_and_resolutions import add_unseen_resolutions, resolutions_of
from predibot.ledger.write.turns import PendingOrder, accounts_played_at, end_orders, pending_orders, sides_of


@dataclass(frozen=True, slots=True)
class MarketSnapshot:
    """Everything known at an instant about the instruments that an account holds or has ordered."""

    at: datetime
    prices: Mapping[Instrument, Price] = field(default_factory=dict)
    closed: Collection[Instrument] = frozenset()
    """Instruments that trade no more, settled or not."""
    reported: Mapping[int, tuple[Resolution, ...]] = field(default_factory=dict)
    """The venue's revisions of resolutions by market row, oldest first."""
    actions: Mapping[Instrument, tuple[CorporateAction, ...]] = field(default_factory=dict)
    """The issuers' actions until then, oldest first."""


@dataclass(slots=True)
class AccountBooks:
    """An account within a transaction: its journal as far as it was read, and what is written to it."""

    connection: Connection
    id: int
    read: Journal | None = None

    def up_to_now(self) -> Journal:
        """Return the whole journal; only rows behind those read before are read."""
        self.read = read_account(self.connection, self.id, self.read)
        return self.read

    def add(self, rows: Sequence[JournalRow], *, decision_id: int | None = None) -> None:
        """Add rows to the journal that was read last."""
        add_to_journal(self.connection, self.id, rows, decision_id=decision_id, known=self.read)

    def earlier_prices(self, wanted: Collection[Instrument], known: MarketSnapshot) -> dict[Instrument, Price]:
        """Return the last prices of instruments without one now, per share of now, as far as there are any."""
        unpriced = [each for each in wanted if each not in known.prices]
        # Read only if needed: for an account that was valued for years it is much.
        last = last_prices(self.connection, self.id) if unpriced else {}
        # A split since then changes what a share is.
        return {
            each: replace(price, mid=price.mid / split_factor(known.actions.get(each, ()), price.at, known.at))
            for each in unpriced
            if (price := last.get(each)) is not None
        }

    def marks_of(
        self, wanted: Collection[Instrument], known: MarketSnapshot, settled: Collection[Instrument] = ()
    ) -> tuple[dict[Instrument, Price], dict[Instrument, MarkState]]:
        """Return the price at which each instrument is marked, and its state."""
        last = self.earlier_prices(wanted, known)
        marks = {each: price for each in wanted if (price := known.prices.get(each, last.get(each))) is not None}

        def state_of(each: Instrument) -> MarkState:
            if each in known.prices:
                return "quoted"
            if each in settled:
                return "settled"
            return "closed" if each in known.closed else "stale"

        return marks, {each: state_of(each) for each in marks}

    def fill_pending(self, pending: Sequence[PendingOrder], known: MarketSnapshot, fills: FillModel) -> None:
        """Fill pending orders at the prices of now and end them all; of weights only the last decision's count."""
        weights = [each for each in pending if each.order.unit == "weight"]
        if weights:
            last_id = max(each.decision_id for each in weights)
            late = [each for each in weights if each.decision_id != last_id]
            why = "a later decision replaced it"
            replaced = [(each, BookedOrder(each.order, status="replaced", note=why)) for each in late]
            end_orders(self.connection, replaced, at=known.at)
            self._rebalance([each for each in weights if each.decision_id == last_id], known, fills)
        for each in pending:
            if each.order.unit != "weight":
                self._fill_or_expire(each, known, fills)

    def _rebalance(self, pending: Sequence[PendingOrder], known: MarketSnapshot, fills: FillModel) -> None:
        account, decision_id = self.up_to_now().account, pending[0].decision_id
        frozen = {each: price.mid for each, price in self.earlier_prices(account.positions, known).items()}
        targets = {each.order.instrument: each.order.amount for each in pending}
        cause = f"decision {decision_id}"
        booking = rebalance(account, targets, known.prices, fills, at=known.at, follows_from=cause, frozen=frozen)
        booked = {each.order.instrument: each for each in booking.orders}
        ended = []
        for each in pending:
            instrument = each.order.instrument
            came_to = booked.get(instrument) or BookedOrder(each.order, status="filled")
            if instrument in known.closed and not came_to.fills:
                came_to = replace(came_to, status="expired", note="its market is closed")
            ended.append((each, came_to))
        end_orders(self.connection, ended, at=known.at)
        self.add(booking.journal, decision_id=decision_id)

    def _fill_or_expire(self, pending: PendingOrder, known: MarketSnapshot, fills: FillModel) -> None:
        order, account = pending.order, self.up_to_now().account
        shares = account.position(order.instrument).shares
        most = account.cash_usd if order.side == "buy" else shares
        price = known.prices.get(order.instrument)
        fill = None if price is None or most <= 0.0 else fills.fill(order, price)
        why = "the account has nothing for it"
        if price is None:
            why = "it has no price"
        elif most > 0.0:
            why = explain_unfilled(order, price, fills) if fill is None else "the account has not enough for it"
        if fill is None or -fill.shares > shares or fill.cash_usd - fill.fee_usd < -account.cash_usd:
            expired = BookedOrder(order, status="expired", note=why)
            end_orders(self.connection, [(pending, expired)], at=known.at)
            return
        end_orders(self.connection, [(pending, BookedOrder(order, (fill,)))], at=known.at)
        rows = [JournalRow("fill", known.at, fill.cash_usd, order.instrument, fill.shares)]
        if fill.fee_usd:
            rows.append(JournalRow("fee", known.at, -fill.fee_usd))
        self.add(rows, decision_id=pending.decision_id)


def bring_up_to_date(connection: Connection, account_id: int, known: MarketSnapshot, *, again: bool = True) -> None:
    """Settle an account by an instant, and value it then.

    Without `again` it is not valued if it was in the same interval, and nothing was settled since.
    """
    books = AccountBooks(connection, account_id)
    before = books.up_to_now()
    ordered = [each.order.instrument for each in pending_orders(connection, account_id)]
    # Everything it ever held, because a corrected resolution may pay it again.
    ever_held = [row.instrument for row in before.rows if row.instrument is not None]
    sides = sides_of(connection, [*dict.fromkeys([*ever_held, *ordered])])
    reported = dict(sorted(known.reported.items()))
    add_unseen_resolutions(connection, resolutions_of(connection, [*reported]), reported, seen_at=known.at)
    stored = resolutions_of(connection, sorted({side.market_row for side in sides.values()}))
    paid = {each: side.paid_by(stored[side.market_row]) for each, side in sides.items() if side.market_row in stored}
    for row in settle(before, paid, as_of=known.at):
        if row.instrument is not None and row.revision is not None:
            cause = (sides[row.instrument].market_row, row.revision)
            add_to_journal(connection, account_id, [row], resolution=cause)
    journal = books.up_to_now()
    is_same = len(journal.rows) == len(before.rows)
    if not again and is_same and has_valuation(connection, account_id, at=known.at):
        return
    positions = journal.account.positions
    settled = [
        each
        for each, side in sides.items()
        if any(revision.effective_at <= known.at for revision in stored.get(side.market_row, ()))
    ]
    marks, states = books.marks_of([*dict.fromkeys([*positions, *ordered])], known, settled)
    if positions.keys() <= marks.keys():
        add_valuations(connection, account_id, [AccountValue(known.at, journal, marks, states)])


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
