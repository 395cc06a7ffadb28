"""Concurrency: how many calls all processes together make to a provider at once, adapted to its answers."""

import math
import random
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Literal, Protocol

from predibot.errors import LedgerError
from predibot.net.failures import TryAgain

FIRST_LIMIT = 64.0
"""The first try: most providers bear it, and one that does not refuses at once."""
REFUSED_SHARE = 0.7
"""A limit shrinks to this share when a provider refuses because of too many calls."""
SLOW_SHARE = 0.9
"""A limit shrinks to this share when answers come late."""
SLOW_TIMES = 2.0
"""Times the usual time is late; answers differ in length, so less says nothing."""
HOLD = timedelta(seconds=10)
"""How long a lowered limit stays, because calls under way are still refused, and processes that have not yet heard of
it.
"""
LEAST_WINDOW = 8
_LEAST_SLOW = 4.0
"""A limit below this is not lowered for late answers: so few calls do not slow a provider."""
_POLL_SECONDS = (0.1, 0.3)
_SYNC_SECONDS = 1.0

Signal = Literal["refused", "slow", "grow"]


@dataclass(frozen=True, slots=True)
class Limit:
    """How many calls may be under way, and when that was last lowered."""

    calls: float = FIRST_LIMIT
    lowered_at: datetime | None = None

    def after(self, signal: Signal, *, began_at: datetime, now: datetime, under_way: int) -> "Limit":
        """Return the limit after a signal.

        It doubles with each round of calls until it is lowered for the first time; after that it grows by a tenth. A
        call that `began_at` an instant before the limit was lowered says nothing new.
        """
        if self.lowered_at is not None and now - self.lowered_at < HOLD:
            return self
        if signal == "grow":
            more = self.calls if self.lowered_at is None else max(1.0, self.calls / 10)
            return replace(self, calls=self.calls + more)
        if self.lowered_at is not None and began_at <= self.lowered_at:
            return self
        if signal == "slow":
            return Limit(max(min(_LEAST_SLOW, self.calls), SLOW_SHARE * self.calls), now)
        return Limit(max(1.0, REFUSED_SHARE * min(self.calls, float(max(under_way, 1)))), now)


def fair_shares(calls: int, wishes: Mapping[str, int], turn: int = 0) -> dict[str, int]:
    """Divide calls among several callers, by their wishes; return the number for each.

    Callers with small wishes get them; the others share the rest equally. `turn` rotates the remainder of the division.

    Examples:
        >>> fair_shares(10, {"a": 8, "b": 8}), fair_shares(10, {"a": 8, "b": 1}), fair_shares(10, {"a": 2, "b": 20})
        ({'a': 5, 'b': 5}, {'b': 1, 'a': 8}, {'a': 2, 'b': 8})
        >>> fair_shares(1, {"a": 8, "b": 8}, turn=0), fair_shares(1, {"a": 8, "b": 8}, turn=1)
        ({'a': 1, 'b': 0}, {'a': 0, 'b': 1})
    """
    shares: dict[str, int] = {}
    left, others = calls, sorted(wishes, key=lambda name: (wishes[name], name))
    while others and wishes[others[0]] <= left // len(others):
        least = others.pop(0)
        shares[least] = wishes[least]
        left -= wishes[least]
    if others:
        each, over = divmod(left, len(others))
        for number, name in enumerate(sorted(others)):
            shares[name] = each + ((number + turn) % len(others) < over)
    return shares


@dataclass(frozen=True, slots=True)
class Share:
    """How many calls a process may have under way; calls beyond that end, and none begins."""

    limit: float
    held: int


class Permits(Protocol):
    """The store of providers' limits and of processes' shares."""

    def share(
        self, provider: str, *, under_way: int, wanted: int, ceiling: int, signal: Signal | None, began_at: datetime
    ) -> Share:
        """Report a process's calls, wishes and its provider's signal; return its share from now on."""


@dataclass(slots=True)
class OwnPermits:
    """Limits of this process alone; thread-safe."""

    limits: dict[str, Limit] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def share(
        self, provider: str, *, under_way: int, wanted: int, ceiling: int, signal: Signal | None, began_at: datetime
    ) -> Share:
        """Return this process's share."""
        # Else a thread that only looks could put back what another one lowers at that moment.
        with self._lock:
            limit = self.limits.get(provider, Limit())
            if signal is not None:
                limit = limit.after(signal, began_at=began_at, now=datetime.now(UTC), under_way=under_way)
            limit = self.limits[provider] = replace(limit, calls=min(limit.calls, float(ceiling)))
        return Share(limit.calls, min(wanted, math.floor(limit.calls)))


@dataclass(slots=True)
class Window:
    """The durations of a round of calls, from which a slow provider is recognised."""

    usual_seconds: float | None = None
    _seconds: list[float] = field(default_factory=list)
    _was_full: bool = False

    def add(self, seconds: float, *, is_full: bool, limit: float) -> Signal | None:
        """Add a call; return the signal of a whole round of `limit` calls. `is_full` tells whether others waited for
        their turn.
        """
        self._seconds.append(seconds)
        self._was_full |= is_full
        if len(self._seconds) < max(LEAST_WINDOW, math.floor(limit)):
            return None
        now_seconds, was_full = median(self._seconds), self._was_full
        self._seconds, self._was_full = [], False
        before = self.usual_seconds
        # Shorter times become usual at once, longer ones slowly.
        is_better = before is None or now_seconds < before
        self.usual_seconds = now_seconds if is_better else 0.95 * (before or 0.0) + 0.05 * now_seconds
        if before is not None and now_seconds > SLOW_TIMES * before:
            return "slow"
        return "grow" if was_full else None


class Gate:
    """Lets as many calls to one provider through at once as this process may have; thread-safe."""

    def __init__(self, provider: str, ceiling: int, permits: Permits) -> None:
        """Hold nothing yet."""
        self._provider = provider
        self._ceiling = ceiling
        self._permits = permits
        self._changed = threading.Condition()
        self._window = Window()
        self._rng = random.Random()
        self._under_way = self._waiting = self._held = 0
        self._limit = min(FIRST_LIMIT, float(ceiling))
        self._next_look = -math.inf
        self._is_looking = self._is_kept = False

    @contextmanager
    def turn(self, deadline: float) -> Iterator[None]:
        """Wait for a turn, and give it back at the end; an error inside is a signal of how the provider copes. Raises
        `TryAgain` if the turn does not come by `deadline`, an instant of the clock.
        """
        self._enter(deadline)
        began, began_at = time.monotonic(), datetime.now(UTC)
        signal: Signal | None = None
        try:
            yield
        except TryAgain as failure:
            signal = "refused" if failure.too_many else None
            raise
        else:
            seconds = time.monotonic() - began
            with self._changed:
                signal = self._window.add(seconds, is_full=self._waiting > 0, limit=self._limit)
        finally:
            self._leave(signal, began_at)

    def _enter(self, deadline: float) -> None:
        with self._changed:
            self._waiting += 1
            try:
                while self._under_way >= self._held:
                    now = time.monotonic()
                    if now >= deadline:
                        raise TryAgain(
                            f"{self._provider} is asked by {self._limit:.0f} at once, and no turn came in time",
                            tries=1,
                            ill=False,
                        )
                    if now >= self._next_look and not self._is_looking:
                        self._refresh_share()
                    else:
                        self._changed.wait(min(_POLL_SECONDS[0], deadline - now))
                self._under_way += 1
            finally:
                self._waiting -= 1

    def _leave(self, signal: Signal | None, began_at: datetime) -> None:
        with self._changed:
            try:
                if signal is not None:
                    # The call is over, and may be paid for: better lose its signal than its answer.
                    with suppress(LedgerError):
                        self._refresh_share(signal, began_at)
            finally:
                self._under_way -= 1
                self._changed.notify()

    def _refresh_share(self, signal: Signal | None = None, began_at: datetime | None = None) -> None:
        """Update this process's share; the lock is released meanwhile."""
        self._is_looking = True
        under_way, wanted = self._under_way, self._under_way + self._waiting
        self._changed.release()
        try:
            share = self._permits.share(
                self._provider,
                under_way=under_way,
                wanted=wanted,
                ceiling=self._ceiling,
                signal=signal,
                began_at=began_at or datetime.now(UTC),
            )
        finally:
            self._changed.acquire()
            self._is_looking = False
            self._next_look = time.monotonic() + self._rng.uniform(*_POLL_SECONDS)
        self._limit, self._held = share.limit, share.held
        self._changed.notify_all()
        if (self._held or self._under_way) and not self._is_kept:
            self._is_kept = True
            threading.Thread(target=self._report_needs, name="predibot-permits", daemon=True).start()

    def _report_needs(self) -> None:
        """Report the needs of this process until there are none, so that others can have the rest."""
        while True:
            time.sleep(_SYNC_SECONDS)
            with self._changed:
                try:
                    self._refresh_share()
                except Exception:  # noqa: BLE001 - nobody listens here; the next call gets the error
                    self._held = 0
                if not (self._held or self._under_way):
                    self._is_kept = False
                    return


@dataclass(frozen=True, slots=True)
class Gates:
    """A gate for each provider, shared by all models of a process; thread-safe."""

    ceiling: int | None = None
    """The most calls at once to any provider; None is no limit."""
    permits: Permits = field(default_factory=OwnPermits)
    _by_provider: dict[str, Gate] = field(default_factory=dict)

    @contextmanager
    def turn(self, provider: str, deadline: float) -> Iterator[None]:
        """Wait for a turn at a provider, and give it back at the end; see `Gate.turn`."""
        if self.ceiling is None:
            yield
            return
        with self._by_provider.setdefault(provider, Gate(provider, self.ceiling, self.permits)).turn(deadline):
            yield
