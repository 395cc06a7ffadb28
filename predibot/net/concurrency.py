"""Concurrency: how many calls one provider is asked at once, by all processes together, more and fewer as it bears."""

import math
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Literal, Protocol

from predibot.errors import LedgerError
from predibot.net.failures import TryAgain

FIRST_LIMIT = 64.0
"""What is tried first: most providers bear it, and one that does not says so at once."""
REFUSED_SHARE = 0.7
"""What is left of a limit when a provider refuses for too many calls."""
SLOW_SHARE = 0.9
"""What is left of it when answers come late."""
SLOW_TIMES = 2.0
"""So many times the usual time is late; answers differ in length, so that less says nothing."""
HOLD = timedelta(seconds=10)
"""How long a limit that was lowered stays where it is.

What was under way is refused bit by bit, also what begins before every process has heard of it.
"""
LEAST_WINDOW = 8
_LEAST_SLOW = 4.0
"""Below this a limit is not lowered because answers come late: so few calls make nobody slow."""
_POLL_SECONDS = (0.1, 0.3)
_SYNC_SECONDS = 1.0

Signal = Literal["refused", "slow", "grow"]


@dataclass(frozen=True, slots=True)
class Limit:
    """How many calls may be under way, and when that was lowered last."""

    calls: float = FIRST_LIMIT
    lowered_at: datetime | None = None

    def after(self, signal: Signal, *, began_at: datetime, now: datetime, under_way: int) -> "Limit":
        """Return the limit after a signal.

        It doubles with each round of calls until it is lowered for the first time; after that it grows by a tenth.

        Args:
            signal: What a provider let us know.
            began_at: When the call began that was refused: one from before the limit was lowered tells nothing new.
            now: The instant it is.
            under_way: How many calls there were, which is what was too much.
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
    """Return how many of so many calls each one may have that wants a number: nobody more than it wants, or others.

    Args:
        calls: What there is.
        wishes: How many each wants, by its name.
        turn: Whose turn it is to have what is left over; the next ones have it with the next number.

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
    """What a process may have under way: it begins no call while it has as many, and those it has too many end."""

    limit: float
    held: int


class Permits(Protocol):
    """Where the limits of providers are kept, and who holds how much of them."""

    def share(
        self, provider: str, *, under_way: int, wanted: int, ceiling: int, signal: Signal | None, began_at: datetime
    ) -> Share:
        """Tell what a process has and wants, and what its provider let it know; return what it may have from now on."""
        ...


@dataclass(slots=True)
class OwnPermits:
    """Limits of this process alone."""

    limits: dict[str, Limit] = field(default_factory=dict)

    def share(
        self, provider: str, *, under_way: int, wanted: int, ceiling: int, signal: Signal | None, began_at: datetime
    ) -> Share:
        """Return what this process may have."""
        limit = self.limits.get(provider, Limit())
        if signal is not None:
            limit = limit.after(signal, began_at=began_at, now=datetime.now(UTC), under_way=under_way)
        limit = self.limits[provider] = replace(limit, calls=min(limit.calls, float(ceiling)))
        return Share(limit.calls, min(wanted, math.floor(limit.calls)))


@dataclass(slots=True)
class Window:
    """The times of a round of calls, which tell whether a provider is slow or bears more."""

    usual_seconds: float | None = None
    _seconds: list[float] = field(default_factory=list)
    _was_full: bool = False

    def add(self, seconds: float, *, is_full: bool, limit: float) -> Signal | None:
        """Take note of a call; return what a whole round of them says.

        Args:
            seconds: How long it took.
            is_full: Whether others waited for their turn meanwhile.
            limit: How many calls are a round.
        """
        self._seconds.append(seconds)
        self._was_full |= is_full
        if len(self._seconds) < max(LEAST_WINDOW, math.floor(limit)):
            return None
        now_seconds, was_full = median(self._seconds), self._was_full
        self._seconds, self._was_full = [], False
        before = self.usual_seconds
        # Better is believed at once, and worse becomes usual only slowly.
        is_better = before is None or now_seconds < before
        self.usual_seconds = now_seconds if is_better else 0.95 * (before or 0.0) + 0.05 * now_seconds
        if before is not None and now_seconds > SLOW_TIMES * before:
            return "slow"
        return "grow" if was_full else None


class Gate:
    """Lets so many calls to one provider through at once as this process may have; thread-safe."""

    def __init__(
        self, provider: str, ceiling: int, permits: Permits, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        """Hold nothing yet."""
        self._provider = provider
        self._ceiling = ceiling
        self._permits = permits
        self._monotonic = monotonic
        self._changed = threading.Condition()
        self._window = Window()
        self._rng = random.Random()
        self._under_way = self._waiting = self._held = 0
        self._limit = min(FIRST_LIMIT, float(ceiling))
        self._next_look = -math.inf
        self._is_looking = self._is_kept = False

    @contextmanager
    def passed(self, deadline: float) -> Iterator[None]:
        """Wait for one's turn, and give it back at the end; what is raised inside tells how the provider bears it.

        Args:
            deadline: The instant of the clock by which one's turn has to come.

        Raises:
            TryAgain: If it comes too late.
            LedgerUnusable: If nobody can be asked whose turn it is.
        """
        self._enter(deadline)
        began, began_at = self._monotonic(), datetime.now(UTC)
        signal: Signal | None = None
        try:
            yield
        except TryAgain as failure:
            signal = "refused" if failure.too_many else None
            raise
        else:
            seconds = self._monotonic() - began
            with self._changed:
                signal = self._window.add(seconds, is_full=self._waiting > 0, limit=self._limit)
        finally:
            self._leave(signal, began_at)

    def _enter(self, deadline: float) -> None:
        with self._changed:
            self._waiting += 1
            try:
                while self._under_way >= self._held:
                    now = self._monotonic()
                    if now >= deadline:
                        raise TryAgain(
                            f"{self._provider} is asked by {self._limit:.0f} at once, and no turn came in time",
                            tries=1,
                            ill=False,
                        )
                    if now >= self._next_look and not self._is_looking:
                        self._look()
                    else:
                        self._changed.wait(min(_POLL_SECONDS[0], deadline - now))
                self._under_way += 1
            finally:
                self._waiting -= 1

    def _leave(self, signal: Signal | None, began_at: datetime) -> None:
        with self._changed:
            try:
                if signal is not None:
                    # The call is over, and may be paid for: what it told is lost rather than its answer.
                    with suppress(LedgerError):
                        self._look(signal, began_at)
            finally:
                self._under_way -= 1
                self._changed.notify()

    def _look(self, signal: Signal | None = None, began_at: datetime | None = None) -> None:
        """See what this process may have; the lock is let go of meanwhile."""
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
            self._next_look = self._monotonic() + self._rng.uniform(*_POLL_SECONDS)
        self._limit, self._held = share.limit, share.held
        self._changed.notify_all()
        if (self._held or self._under_way) and not self._is_kept:
            self._is_kept = True
            threading.Thread(target=self._keep, name="predibot-permits", daemon=True).start()

    def _keep(self) -> None:
        """Say now and then what is needed, until nothing is, so that others can have the rest."""
        while True:
            time.sleep(_SYNC_SECONDS)
            with self._changed:
                try:
                    self._look()
                except Exception:  # noqa: BLE001 - who is at work is told the next time; here nobody listens
                    self._held = 0
                if not (self._held or self._under_way):
                    self._is_kept = False
                    return


@dataclass(frozen=True, slots=True)
class Gates:
    """One gate a provider, shared by all models of a process; thread-safe."""

    ceiling: int | None = None
    """The most calls at once to any provider; None lets everything through."""
    permits: Permits = field(default_factory=OwnPermits)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _by_provider: dict[str, Gate] = field(default_factory=dict)

    @contextmanager
    def passed(self, provider: str, deadline: float) -> Iterator[None]:
        """Wait for one's turn at a provider, and give it back at the end; see `Gate.passed`."""
        if self.ceiling is None:
            yield
            return
        with self._lock:
            if provider not in self._by_provider:
                self._by_provider[provider] = Gate(provider, self.ceiling, self.permits)
            gate = self._by_provider[provider]
        with gate.passed(deadline):
            yield
