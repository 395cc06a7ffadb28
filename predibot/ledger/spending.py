"""Spending: the accounts of runs and days, kept in the ledger, so that all processes together hold to a limit."""

from dataclasses import asdict, fields

from sqlalchemy import Connection, select, update

from predibot.agents.account import Exact
from predibot.domain.budget import LimitLevel, Limits, Spending
from predibot.ledger.rows import insert_new, table_of
from predibot.ledger.store import Store
from predibot.ledger.tables import SpendingRow

spending = table_of(SpendingRow)
_AMOUNTS = tuple(spending.c[each.name] for each in fields(Exact))


class LedgerAccount:
    """An account that threads, processes and machines share: it adds and compares in one transaction."""

    def __init__(self, store: Store, key: str, level: LimitLevel, limits: Limits) -> None:
        """Name it; it holds what was spent under this key before, nothing if it is new.

        Args:
            store: The ledger it is kept in.
            key: Whose account it is, such as `day 2026-03-01`.
            level: What it is an account of, for messages.
            limits: The most that may be spent.
        """
        self._store = store
        self._key = key
        self._level: LimitLevel = level
        self._limits = limits

    @property
    def level(self) -> LimitLevel:
        """Return which level this is."""
        return self._level

    @property
    def limits(self) -> Limits:
        """Return the most that may be spent."""
        return self._limits

    def try_add(self, amount: Spending) -> bool:
        """Add an amount if the limits still hold with it; return whether they did, else nothing is added.

        Raises:
            ValueError: If a part of it is below zero or no number.
            LedgerUnusable: If the ledger cannot be written.
        """
        added = Exact.of(amount)

        def add(connection: Connection) -> bool:
            total = self._held(connection).plus(added)
            if total.within(self._limits):
                self._put(connection, total)
                return True
            return False

        return self._store.run_write(add, durable=True)

    def replace(self, added: Spending, by: Spending) -> None:
        """Take back what was added before and add the truth instead, whatever the limits say.

        Raises:
            ValueError: If a part of an amount is below zero or no number.
            LedgerUnusable: If the ledger cannot be written.
        """
        before, after = Exact.of(added), Exact.of(by)
        self._store.run_write(
            lambda connection: self._put(connection, self._held(connection).minus(before).plus(after)), durable=True
        )

    def spent(self) -> Spending:
        """Return what is spent and set aside, by everybody.

        Raises:
            LedgerUnusable: If the ledger cannot be read.
        """
        query = select(*_AMOUNTS).where(spending.c.account == self._key)
        row = self._store.run_read(lambda connection: connection.execute(query).mappings().first())
        return (Exact(**row) if row else Exact()).spending()

    def _held(self, connection: Connection) -> Exact:
        """Return what the account holds, which nobody else can change until the transaction ends."""
        insert_new(connection, SpendingRow, [{"account": self._key, **asdict(Exact())}])
        # SQLite lets one transaction write at a time anyway; PostgreSQL is told which row.
        query = select(*_AMOUNTS).where(spending.c.account == self._key).with_for_update()
        return Exact(**connection.execute(query).mappings().one())

    def _put(self, connection: Connection, total: Exact) -> None:
        connection.execute(update(spending).where(spending.c.account == self._key).values(asdict(total)))
