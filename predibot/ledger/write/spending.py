"""Spending: the accounts of runs and days, kept in the ledger, so that all processes together hold to a limit.

What is settled is one row an account. What is set aside is one row an account
and process: it counts while the process lives, and is given up once the process
is gone, at once where it ran on this machine, after its lease anywhere else. One
that lives here and is only stopped keeps it, for its calls go on without it; its
claims end with their lease all the same. Nothing is settled for it then: nobody knows whether its calls
were charged, so a warning names the amount.

A process that works for another sets aside under a name that the other made for
it, and lives on in it: who ends it, or finds it gone, settles what it had under
way at its worst case.
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

_Mine = tuple[str, bool]
"""An owner, and whether it is kept."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Whose reservations these are, and for how long without a sign of life."""

    owner: str = field(default_factory=new_owner)
    lease: timedelta = timedelta(minutes=1)
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)


def renew_reservations(connection: Connection, owner: str, *, lease: timedelta, now: datetime) -> None:
    """Give every reservation of an owner, and of those that work for it, a new lease: its sign of life."""
    connection.execute(update(reservations).where(_is_of(owner)).values(lease_until=now + lease))


def book_reservations(connection: Connection, owner: str) -> float:
    """Settle at its worst case what an owner that is no longer at work, and those that worked for it, had under way.

    What was kept for a later step is given back: that step was never begun.

    Returns:
        Dollars that were settled, in the account that has the most of them.
    """
    # In the order of accounts, as everybody locks who locks several.
    query = select(reservations.c.account, reservations.c.kept, *_SET_ASIDE).where(_is_of(owner))
    booked: dict[str, Exact] = {}
    for account in sorted({row.account for row in connection.execute(query)}):
        settled = _locked(connection, account)
        rows = connection.execute(query.where(reservations.c.account == account))
        booked[account] = Exact()
        for _, kept, *amounts in rows:
            booked[account] = booked[account] if kept else booked[account].plus(Exact(*amounts))
        _settle(connection, account, settled.plus(booked[account]))
        connection.execute(delete(reservations).where(_is_of(owner), reservations.c.account == account))
    return max((amount.spending().usd for amount in booked.values()), default=0.0)


def _is_of(owner: str) -> ColumnElement[bool]:
    """Return whether a reservation is an owner's, or of one that works for it."""
    return or_(reservations.c.owner == owner, reservations.c.owner.startswith(helper_owner(owner, ""), autoescape=True))


def _locked(connection: Connection, account: str) -> Exact:
    """Return what is settled; nobody else can change the account until the transaction ends."""
    insert_new(connection, SpendingRow, [{"account": account, **asdict(Exact())}])
    # SQLite lets one transaction write at a time anyway; PostgreSQL is told which row.
    query = select(*_SETTLED).where(spending.c.account == account).with_for_update()
    return Exact(**connection.execute(query).mappings().one())


def _settle(connection: Connection, account: str, total: Exact) -> None:
    connection.execute(update(spending).where(spending.c.account == account).values(asdict(total)))


class LedgerAccount:
    """An account that threads, processes and machines share: it adds and compares in one transaction."""

    is_shared = True

    def __init__(self, store: Store, key: str, level: LimitLevel, limits: Limits, holder: Holder | None = None) -> None:
        """Name it; it holds what was spent under this key before, nothing if it is new.

        Args:
            store: The ledger it is kept in.
            key: Whose account it is, such as `day 2026-03-01`.
            level: What it is an account of, for messages.
            limits: The most that may be spent.
            holder: Whose reservations are made; by default this process, for a minute each.
        """
        self._store = store
        self._key = key
        self.level: LimitLevel = level
        self.limits = limits
        self._holder = holder or Holder()

    def try_add(self, amount: Spending, *, kept: bool = False) -> bool:
        """Set an amount aside if the limits still hold with it; return whether they did, else nothing is added.

        What is in the way and belongs to a process that is gone is given up first.

        Raises:
            ValueError: If a part of it is below zero or no number.
            LedgerUnusable: If the ledger cannot be written.
        """
        added = Exact.of(amount)

        def add(connection: Connection) -> bool:
            settled = _locked(connection, self._key)
            held = self._held(connection)
            if not self._has_room(settled, held, added):
                held = self._without_the_gone(connection, held)
                if not self._has_room(settled, held, added):
                    return False
            mine = (self._holder.owner, kept)
            self._put(connection, mine, held.get(mine, Exact()).plus(added))
            return True

        return self._store.run_write(add, durable=True)

    def replace(self, added: Spending, by: Spending, *, kept: bool = False) -> None:
        """Take back what was set aside before and settle the truth instead, whatever the limits say.

        Raises:
            ValueError: If a part of an amount is below zero or no number.
            LedgerUnusable: If the ledger cannot be written.
        """
        before, after = Exact.of(added), Exact.of(by)

        def settle(connection: Connection) -> None:
            settled = _locked(connection, self._key)
            mine = (self._holder.owner, kept)
            # It may have been given up meanwhile, as where this machine slept.
            self._put(connection, mine, self._held(connection).get(mine, Exact()).minus(before))
            _settle(connection, self._key, settled.plus(after))

        # Where a commit was not answered, this may settle a call twice, and never not at all.
        self._store.run_write(settle, durable=True)

    def take_kept(self, amount: Spending) -> None:
        """Count an amount that was kept as set aside for what is under way.

        Raises:
            ValueError: If a part of it is below zero or no number.
            LedgerUnusable: If the ledger cannot be written.
        """
        taken = Exact.of(amount)

        def take(connection: Connection) -> None:
            _locked(connection, self._key)
            held, owner = self._held(connection), self._holder.owner
            kept = held.get((owner, True), Exact())
            left = kept.minus(taken)
            self._put(connection, (owner, True), left)
            # No more than is there: it may have been given up meanwhile, or taken and not answered.
            self._put(connection, (owner, False), held.get((owner, False), Exact()).plus(kept.minus(left)))

        self._store.run_write(take, durable=True)

    def standing(self) -> Standing:
        """Return what is settled, set aside and kept, by everybody.

        Raises:
            LedgerUnusable: If the ledger cannot be read.
        """

        def look(connection: Connection) -> Standing:
            row = connection.execute(select(*_SETTLED).where(spending.c.account == self._key)).mappings().first()
            now = Standing(Exact(**row) if row else Exact())
            for (_, kept), amount in self._held(connection).items():
                now = now.adding(amount, kept=kept)
            return now

        return self._store.run_read(look)

    def spent(self) -> Spending:
        """Return what is settled and set aside, by everybody.

        Raises:
            LedgerUnusable: If the ledger cannot be read.
        """
        return self.standing().total.spending()

    def _held(self, connection: Connection) -> Mapping[_Mine, Exact]:
        """Return what is set aside, by whose it is."""
        query = select(reservations.c.owner, reservations.c.kept, *_SET_ASIDE).where(
            reservations.c.account == self._key
        )
        return {(owner, bool(kept)): Exact(*amounts) for owner, kept, *amounts in connection.execute(query)}

    def _has_room(self, settled: Exact, held: Mapping[_Mine, Exact], added: Exact) -> bool:
        total = settled.plus(added)
        for amount in held.values():
            total = total.plus(amount)
        return total.within(self.limits)

    def _put(self, connection: Connection, mine: _Mine, amount: Exact) -> None:
        """Write down what this process has set aside."""
        owner, kept = mine
        key = {"account": self._key, "owner": owner, "kept": kept}
        where = [reservations.c[name] == value for name, value in key.items()]
        if amount == Exact():
            connection.execute(delete(reservations).where(*where))
            return
        values = {**asdict(amount), "lease_until": self._holder.clock() + self._holder.lease}
        if not insert_new(connection, ReservationRow, [{**key, **values}]):
            connection.execute(update(reservations).where(*where).values(values))

    def _without_the_gone(self, connection: Connection, held: Mapping[_Mine, Exact]) -> Mapping[_Mine, Exact]:
        """Give up what belongs to processes that are gone, and return what is left."""
        now = self._holder.clock()
        query = select(reservations.c.owner, reservations.c.lease_until).where(reservations.c.account == self._key)
        rows = connection.execute(query.order_by(reservations.c.lease_until))
        # Of an owner's two rows the later lease counts. Within a program who started a process settles for it.
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
