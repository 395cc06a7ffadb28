"""Paces: when and how often at once a host may be asked, kept in the ledger for all its processes."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, delete, select, update

from predibot.contracts import Bucket
from predibot.domain.clock import EPOCH
from predibot.ledger.schema.tables import PaceRow, PermitRow
from predibot.ledger.schema.upsert import insert_new, table_of
from predibot.ledger.store import Store
from predibot.ledger.write.process_identity import is_gone, new_owner
from predibot.net.concurrency import Limit, Share, Signal, fair_shares

paces, permits = table_of(PaceRow), table_of(PermitRow)
_LEASE = timedelta(seconds=15)
"""Permits are renewed each second; those of another machine count for this long after its last sign of life."""


_TURN_SECONDS = 2.0
"""How long a process has the calls left over from equal shares; then the next one has them."""


def _wall_clock() -> datetime:
    return datetime.now(UTC)


@dataclass(slots=True)
class SharedPaces:
    """Turns at hosts with a rate limit, over all processes of a ledger."""

    clock: Callable[[], datetime] = _wall_clock
    store: Store | None = None
    """None until the ledger is open: until then no other process is known."""

    def take(self, buckets: Mapping[str, Bucket], *, longest_seconds: float) -> float | None:
        """Take a turn at each host, and return in how many seconds it is; None where that is too long."""
        if self.store is None or not buckets:
            return 0.0
        return self.store.run_write(lambda connection: self._take_turn(connection, buckets, longest_seconds))

    def _take_turn(self, connection: Connection, buckets: Mapping[str, Bucket], longest_seconds: float) -> float | None:
        now, wait = self.clock(), timedelta(0)
        next_at: dict[str, datetime] = {}
        # Always in the order of hosts, so that no two transactions wait for each other.
        for host, bucket in sorted(buckets.items()):
            turn_at = max(_lock_host(connection, host).free_at, now)
            burst = timedelta(seconds=(bucket.capacity - 1.0) / bucket.per_second)
            wait = max(wait, turn_at - burst - now)
            next_at[host] = turn_at + timedelta(seconds=1.0 / bucket.per_second)
        if wait.total_seconds() > longest_seconds:
            return None
        for host, at in next_at.items():
            connection.execute(update(paces).where(paces.c.host == host).values(free_at=at))
        return wait.total_seconds()


@dataclass(frozen=True, slots=True)
class LedgerPermits:
    """How many calls each process may have under way at a provider, out of one limit for all."""

    store: Store
    clock: Callable[[], datetime] = _wall_clock
    owner: str = field(default_factory=new_owner)

    def share(
        self, provider: str, *, under_way: int, wanted: int, ceiling: int, signal: Signal | None, began_at: datetime
    ) -> Share:
        """Store this process's calls, its wish and its provider's signal, and return its share."""

        def look(connection: Connection) -> Share:
            now = self.clock()
            row = _lock_host(connection, provider)
            limit = Limit() if row.at_once is None else Limit(row.at_once, row.lowered_at)
            others = self._others(connection, provider, now)
            held_by_others = sum(held for held, _ in others.values())
            if signal is not None:
                everybody = under_way + held_by_others
                limit = limit.after(signal, began_at=began_at, now=now, under_way=everybody)
            limit = replace(limit, calls=min(limit.calls, float(ceiling)))
            values = {"at_once": limit.calls, "lowered_at": limit.lowered_at}
            if values != {"at_once": row.at_once, "lowered_at": row.lowered_at}:
                connection.execute(update(paces).where(paces.c.host == provider).values(values))
            calls = math.floor(limit.calls)
            wishes = {self.owner: wanted} | {owner: wish for owner, (_, wish) in others.items()}
            turn = math.floor(now.timestamp() / _TURN_SECONDS)
            may_have = max(min(fair_shares(calls, wishes, turn)[self.owner], calls - held_by_others), 0)
            # Calls under way cannot be taken back, so they count until they end.
            self._store_permits(connection, provider, max(under_way, may_have), wanted, now)
            return Share(limit.calls, may_have)

        return self.store.run_write(look)

    def _others(self, connection: Connection, provider: str, now: datetime) -> dict[str, tuple[int, int]]:
        """Return what other processes hold and want, by owner; permits of gone processes are freed."""
        rows = connection.execute(
            select(*permits.c["owner", "held", "wanted", "lease_until"]).where(
                permits.c.host == provider, permits.c.owner != self.owner
            )
        ).all()
        gone = {row.owner for row in rows if row.lease_until <= now or is_gone(row.owner)}
        if gone:
            connection.execute(delete(permits).where(permits.c.host == provider, permits.c.owner.in_(gone)))
        return {row.owner: (row.held, row.wanted) for row in rows if row.owner not in gone}

    def _store_permits(self, connection: Connection, provider: str, held: int, wanted: int, now: datetime) -> None:
        mine = (permits.c.host == provider, permits.c.owner == self.owner)
        if not held and not wanted:
            connection.execute(delete(permits).where(*mine))
            return
        values = {"held": held, "wanted": wanted, "lease_until": now + _LEASE}
        if not insert_new(connection, PermitRow, [{"host": provider, "owner": self.owner, **values}]):
            connection.execute(update(permits).where(*mine).values(values))


def _lock_host(connection: Connection, host: str) -> Row[Any]:
    insert_new(connection, PaceRow, [{"host": host, "free_at": EPOCH, "at_once": None, "lowered_at": None}])
    # SQLite has one writer at a time anyway; PostgreSQL locks the row.
    query = select(paces).where(paces.c.host == host).with_for_update()
    return connection.execute(query).one()
