"""Advancing an account to a slot: settled, valued, and its pending orders filled or ended, in one transaction."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from sqlalchemy import Connection

from predibot.domain.account import JournalRow, MarkState
from predibot.domain.decision import BookedOrder
from predibot.domain.price import CorporateAction, Instrument, Price, split_factor
from predibot.domain.resolution import Resolution
from predibot.games.accounts import Journal
from predibot.games.fills import FillModel, explain_unfilled
from predibot.games.rebalance import rebalance
from predibot.games.settlement import settle
from predibot.ledger.write.accounts import (
    VALUED_EVERY,
    AccountValue,
    add_to_journal,
    add_valuations,
    has_valuation,
    last_prices,
    read_account,
)
from predibot.ledger.write.prices_and_resolutions import add_unseen_resolutions, resolutions_of
from predibot.ledger.write.turns import (
    MarketSide,
    PendingOrder,
    end_orders,
    pending_orders,
    sides_of,
)


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

    def earlier_prices(
        self, connection: Connection, account_id: int, wanted: Collection[Instrument]
    ) -> dict[Instrument, Price]:
        """Return an account's last prices of instruments without one now, per share of now, as far as there are any."""
        unpriced = [each for each in wanted if each not in self.prices]
        # Read only if needed: for an account that was valued for years it is much.
        last = last_prices(connection, account_id) if unpriced else {}
        found = {each: last[each] for each in unpriced if each in last}
        # A split since then changes what a share is.
        factors = {each: split_factor(self.actions.get(each, ()), price.at, self.at) for each, price in found.items()}
        return {each: replace(price, mid=price.mid / factors[each]) for each, price in found.items()}


def bring_up_to_date(connection: Connection, account_id: int, known: MarketSnapshot, *, again: bool = True) -> None:
    """Settle an account by an instant, and value it then.

    Without `again` it is not valued if it was in the same interval, and nothing was settled since.
    """
    before = read_account(connection, account_id)
    ordered = [each.order.instrument for each in pending_orders(connection, account_id)]
    # Everything it ever held, because a corrected resolution may pay it again.
    ever_held = [row.instrument for row in before.rows if row.instrument is not None]
    sides = sides_of(connection, [*dict.fromkeys([*ever_held, *ordered])])
    _keep_resolutions(connection, known)
    stored = resolutions_of(connection, sorted({side.market_row for side in sides.values()}))
    _settle(connection, account_id, before, sides, stored, at=known.at)
    journal = read_account(connection, account_id, before)
    is_same = len(journal.rows) == len(before.rows)
    if not again and is_same and has_valuation(connection, account_id, at=known.at, interval=VALUED_EVERY):
        return
    positions = journal.account.positions
    wanted = [*dict.fromkeys([*positions, *ordered])]
    marks, states = marks_of(connection, account_id, wanted, sides, stored, known)
    if positions.keys() <= marks.keys():
        add_valuations(connection, account_id, [AccountValue(known.at, journal, marks, states)], interval=VALUED_EVERY)


def _keep_resolutions(connection: Connection, known: MarketSnapshot) -> None:
    stored = resolutions_of(connection, sorted(known.reported))
    add_unseen_resolutions(connection, stored, dict(sorted(known.reported.items())), seen_at=known.at)


def _settle(
    connection: Connection,
    account_id: int,
    journal: Journal,
    sides: Mapping[Instrument, MarketSide],
    stored: Mapping[int, Sequence[Resolution]],
    *,
    at: datetime,
) -> None:
    revisions = {
        instrument: [
            (number, paid)
            for number, revision in enumerate(stored[side.market_row], start=1)
            if (paid := revision.of_outcome(side.number)) is not None
        ]
        for instrument, side in sides.items()
        if side.market_row in stored
    }
    for settled in settle(journal, revisions, as_of=at):
        if settled.instrument is not None and settled.revision is not None:
            resolution = (sides[settled.instrument].market_row, settled.revision)
            add_to_journal(connection, account_id, [settled], resolution=resolution)


def marks_of(
    connection: Connection,
    account_id: int,
    wanted: Sequence[Instrument],
    sides: Mapping[Instrument, MarketSide],
    stored: Mapping[int, Sequence[Resolution]],
    known: MarketSnapshot,
) -> tuple[dict[Instrument, Price], dict[Instrument, MarkState]]:
    """Return the price at which each instrument is marked, and its state."""
    last = known.earlier_prices(connection, account_id, wanted)
    marks: dict[Instrument, Price] = {}
    states: dict[Instrument, MarkState] = {}
    for instrument in wanted:
        market_row = sides[instrument].market_row if instrument in sides else None
        is_settled = any(revision.effective_at <= known.at for revision in stored.get(market_row or -1, ()))
        price = known.prices.get(instrument)
        if price is not None:
            marks[instrument], states[instrument] = price, "quoted"
        elif instrument in last:
            marks[instrument] = last[instrument]
            is_closed = instrument in known.closed
            states[instrument] = "settled" if is_settled else "closed" if is_closed else "stale"
    return marks, states


def fill_pending(
    connection: Connection,
    account_id: int,
    pending: Sequence[PendingOrder],
    known: MarketSnapshot,
    fills: FillModel,
    *,
    read: Journal | None = None,
) -> None:
    """Fill pending orders at the prices of now and end them all; of weights only the last decision's count."""
    journal = read_account(connection, account_id, read)
    weights = [each for each in pending if each.order.unit == "weight"]
    amounts = [each for each in pending if each.order.unit != "weight"]
    if weights:
        last_id = max(each.decision_id for each in weights)
        late = [each for each in weights if each.decision_id != last_id]
        end_orders(
            connection,
            [(each, BookedOrder(each.order, status="replaced", note="a later decision replaced it")) for each in late],
            at=known.at,
        )
        last = [each for each in weights if each.decision_id == last_id]
        _rebalance(connection, account_id, journal, last, known, fills)
    for each in amounts:
        journal = read_account(connection, account_id, journal)
        _fill_or_expire(connection, account_id, journal, each, known, fills)


def _rebalance(
    connection: Connection,
    account_id: int,
    journal: Journal,
    pending: Sequence[PendingOrder],
    known: MarketSnapshot,
    fills: FillModel,
) -> None:
    account = journal.account
    last = known.earlier_prices(connection, account_id, account.positions)
    frozen = {each: price.mid for each, price in last.items()}
    targets = {each.order.instrument: each.order.amount for each in pending}
    decision_id = pending[0].decision_id
    booking = rebalance(
        account, targets, known.prices, fills, at=known.at, follows_from=f"decision {decision_id}", frozen=frozen
    )
    booked = {each.order.instrument: each for each in booking.orders}
    ended = []
    for each in pending:
        instrument = each.order.instrument
        came_to = booked.get(instrument) or BookedOrder(each.order, status="filled")
        if instrument in known.closed and not came_to.fills:
            came_to = replace(came_to, status="expired", note="its market is closed")
        ended.append((each, came_to))
    end_orders(connection, ended, at=known.at)
    add_to_journal(connection, account_id, booking.journal, decision_id=decision_id, known=journal)


def _fill_or_expire(
    connection: Connection,
    account_id: int,
    journal: Journal,
    pending: PendingOrder,
    known: MarketSnapshot,
    fills: FillModel,
) -> None:
    order, account = pending.order, journal.account
    most = account.cash_usd if order.side == "buy" else account.position(order.instrument).shares
    price = known.prices.get(order.instrument)
    fill = None if price is None or most <= 0.0 else fills.fill(order, price)
    why = "the account has nothing for it"
    if price is None:
        why = "it has no price"
    elif most > 0.0:
        why = explain_unfilled(order, price, fills) if fill is None else "the account has not enough for it"
    if fill is not None and (
        -fill.shares > account.position(order.instrument).shares or fill.cash_usd - fill.fee_usd < -account.cash_usd
    ):
        fill = None
    if fill is None:
        booked = BookedOrder(order, status="expired", note=why)
        end_orders(connection, [(pending, booked)], at=known.at)
        return
    end_orders(connection, [(pending, BookedOrder(order, (fill,)))], at=known.at)
    rows = [JournalRow("fill", known.at, fill.cash_usd, order.instrument, fill.shares)]
    if fill.fee_usd:
        rows.append(JournalRow("fee", known.at, -fill.fee_usd))
    add_to_journal(connection, account_id, rows, decision_id=pending.decision_id, known=journal)
