"""Spending: accounts of runs and days, kept in the ledger, so that all processes together keep a limit.

Settled amounts are one row an account, reserved ones one row an account and process. A reservation counts while its
process lives, and is dropped once that is gone: at once on this machine, after its lease anywhere else. A process that
is only stopped here keeps it, because its calls go on; its claims end with their lease. Nothing is settled for a gone
process: nobody knows whether its calls were charged, so a warning names the amount.

A helper process reserves under a name that its owner made, and lives on in it. Whoever ends it, or finds it gone,
settles what it had under way at its worst case.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime, timedelta

from sqlalchemy import ColumnElement, Connection, delete, or_, select, update

from predibot.agents.budget.account import Exact, Standing
from predibot.domain.budget import LimitLevel, Limits, Spending
from predibot.ledger.schema.tables import ReservationRow, SpendingRow
from predibot.ledger.schema.upsert import insert_new, table_of
from predibot.ledger.store import Store
from predibot.ledger.write.process_identity import helper_owner, is_gone, is_of_this_machine, is_same_program, new_owner

_log = logging.getLogger(__name__)

spending, reservations = table_of(SpendingRow), table_of(ReservationRow)
_SETTLED = tuple(spending.c[each.name] for each in fields(Exact))
_SET_ASIDE = tuple(reservations.c[each.name] for each in fields(Exact))

_Reservation = tuple[str, bool]
"""An owner, and whether the amount is kept for later answers."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The owner of reservations, and how long they last without a sign of life."""

    owner: str = field(default_factory=new_owner)
    lease: timedelta = timedelta(minutes=1)
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)


def renew_reservations(connection: Connection, owner: str, *, lease: timedelta, now: datetime) -> None:
    """Renew the reservations of an owner and its helpers: their sign of life."""
    connection.execute(update(reservations).where(_is_of(owner)).values(lease_until=now + lease))


def book_reservations(connection: Connection, owner: str) -> float:
    """Settle at its worst case what a gone owner and its helpers had under way; return dollars of the largest account.

    Amounts kept for a later step are given back: that step never began.
    """
    # Always in the order of accounts, so that no two transactions wait for each other.
    query = select(reservations.c.account, reservations.c.kept, *_SET_ASIDE).where(_is_of(owner))
    booked: dict[str, Exact] = {}
    for account in sorted({row.account for row in connection.execute(query)}):
        settled = _lock_account(connection, account)
        rows = connection.execute(query.where(reservations.c.account == account))
        booked[account] = Exact()
        for _, kept, *amounts in rows:
            booked[account] = booked[account] if kept else booked[account].plus(Exact(*amounts))
        _settle(connection, account, settled.plus(booked[account]))
        connection.execute(delete(reservations).where(_is_of(owner), reservations.c.account == account))
    return max((amount.spending().usd for amount in booked.values()), default=0.0)


def _is_of(owner: str) -> ColumnElement[bool]:
    return or_(reservations.c.owner == owner, reservations.c.owner.startswith(helper_owner(owner, ""), autoescape=True))


def _lock_account(connection: Connection, account: str) -> Exact:
    insert_new(connection, SpendingRow, [{"account": account, **asdict(Exact())}])
    # SQLite has one writer at a time anyway; PostgreSQL locks the row.
    query = select(*_SETTLED).where(spending.c.account == account).with_for_update()
    return Exact(**connection.execute(query).mappings().one())


def _settle(connection: Connection, account: str, total: Exact) -> None:
    connection.execute(update(spending).where(spending.c.account == account).values(asdict(total)))


class LedgerAccount:
    """An account that threads, processes and machines share: one transaction adds and compares.

    An amount with a part that is below zero or no number raises `ValueError`.
    """

    is_shared = True

    def __init__(self, store: Store, key: str, level: LimitLevel, limits: Limits, holder: Holder | None = None) -> None:
        """Name it, such as `day 2026-03-01`; amounts under this key stay.

        `level` is its kind, for messages. New reservations are of `holder`, by default this process, for a minute each.
        """
        self._store = store
        self._key = key
        self.level: LimitLevel = level
        self.limits = limits
        self._holder = holder or Holder()

    def try_add(self, amount: Spending, *, kept: bool = False) -> bool:
        """Reserve an amount if the limits allow it, and return whether they do; else add nothing.

        Reservations of gone processes that are in the way are dropped first.
        """
        added = Exact.of(amount)

        def add(connection: Connection) -> bool:
            settled = _lock_account(connection, self._key)
            held = self._reservations(connection)
            if not self._has_room(settled, held, added):
                held = self._drop_gone(connection, held)
                if not self._has_room(settled, held, added):
                    return False
            mine = (self._holder.owner, kept)
            self._store_reservation(connection, mine, held.get(mine, Exact()).plus(added))
            return True

        return self._store.run_write(add, durable=True)

    def replace(self, added: Spending, by: Spending, *, kept: bool = False) -> None:
        """Take back the reservation `added` and settle the true amount `by` instead, whatever the limits say."""
        before, after = Exact.of(added), Exact.of(by)

        def settle(connection: Connection) -> None:
            settled = _lock_account(connection, self._key)
            mine = (self._holder.owner, kept)
            # It may have been dropped meanwhile, for example while this machine slept.
            self._store_reservation(connection, mine, self._reservations(connection).get(mine, Exact()).minus(before))
            _settle(connection, self._key, settled.plus(after))

        # After an unanswered commit this may settle a call twice, but never not at all.
        self._store.run_write(settle, durable=True)

    def move_kept(self, amount: Spending) -> None:
        """Move a kept amount to what is under way."""
        taken = Exact.of(amount)

        def take(connection: Connection) -> None:
            _lock_account(connection, self._key)
            held, owner = self._reservations(connection), self._holder.owner
            kept = held.get((owner, True), Exact())
            left = kept.minus(taken)
            self._store_reservation(connection, (owner, True), left)
            # No more than is there: it may have been dropped meanwhile, or taken without an answer.
            self._store_reservation(
                connection, (owner, False), held.get((owner, False), Exact()).plus(kept.minus(left))
            )

        self._store.run_write(take, durable=True)

    def standing(self) -> Standing:
        """Return what everybody together has settled, reserved and kept."""

        def look(connection: Connection) -> Standing:
            row = connection.execute(select(*_SETTLED).where(spending.c.account == self._key)).mappings().first()
            now = Standing(Exact(**row) if row else Exact())
            for (_, kept), amount in self._reservations(connection).items():
                now = now.adding(amount, kept=kept)
            return now

        return self._store.run_read(look)

    def spent(self) -> Spending:
        """Return what everybody together has settled and reserved."""
        return self.standing().total.spending()

    def _reservations(self, connection: Connection) -> Mapping[_Reservation, Exact]:
        query = select(reservations.c.owner, reservations.c.kept, *_SET_ASIDE).where(
            reservations.c.account == self._key
        )
        return {(owner, bool(kept)): Exact(*amounts) for owner, kept, *amounts in connection.execute(query)}

    def _has_room(self, settled: Exact, held: Mapping[_Reservation, Exact], added: Exact) -> bool:
        total = settled.plus(added)
        for amount in held.values():
            total = total.plus(amount)
        return total.within(self.limits)

    def _store_reservation(self, connection: Connection, mine: _Reservation, amount: Exact) -> None:
        owner, kept = mine
        key = {"account": self._key, "owner": owner, "kept": kept}
        where = [reservations.c[name] == value for name, value in key.items()]
        if amount == Exact():
            connection.execute(delete(reservations).where(*where))
            return
        values = {**asdict(amount), "lease_until": self._holder.clock() + self._holder.lease}
        if not insert_new(connection, ReservationRow, [{**key, **values}]):
            connection.execute(update(reservations).where(*where).values(values))

    def _drop_gone(self, connection: Connection, held: Mapping[_Reservation, Exact]) -> Mapping[_Reservation, Exact]:
        now = self._holder.clock()
        query = select(reservations.c.owner, reservations.c.lease_until).where(reservations.c.account == self._key)
        rows = connection.execute(query.order_by(reservations.c.lease_until))
        # An owner's later lease counts. Within a program, whoever started a process settles for it.
        owners = {owner: until for owner, until in rows if not is_same_program(owner, self._holder.owner)}
        gone = {
            owner for owner, until in owners.items() if (is_gone(owner) if is_of_this_machine(owner) else until <= now)
        }
        if not gone:
            return held
        connection.execute(
            delete(reservations).where(reservations.c.account == self._key, reservations.c.owner.in_(gone))
        )
        lost_usd = sum(amount.spending().usd for (owner, _), amount in held.items() if owner in gone)
        if lost_usd:
            _log.warning(
                "%s: $%.6f that a process had set aside is free again, because it runs no more, or has given no sign "
                "of life from another machine; its calls under way may have been charged",
                self._key,
                lost_usd,
            )
        return {mine: amount for mine, amount in held.items() if mine[0] not in gone}
