"""Accounts: how much of one level's limits is settled, and how much only set aside."""

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Protocol, Self

from predibot.domain.budget import LimitLevel, Limits, Spending

_UNITS: Mapping[str, int] = MappingProxyType({"usd": 10**12, "tokens": 1, "steps": 1, "searches": 1, "seconds": 10**9})
"""Parts of one: whole numbers of them add up exactly, in any order and for ever."""
_MOST = 2**63 - 1
"""What a database holds in one number; a sum beyond it stays there."""


class LimitAccount(Protocol):
    """One level's limits and what is spent of them; kept in memory, or in the ledger for all processes.

    What is set aside is kept apart from what is settled, and apart from both
    what is kept for an answer: see `Standing`. An implementation for several
    processes must add and compare in one transaction; nothing else here needs to
    know of it.
    """

    @property
    def level(self) -> LimitLevel:
        """Return which level this is."""
        ...

    @property
    def limits(self) -> Limits:
        """Return the most that may be spent."""
        ...

    @property
    def is_shared(self) -> bool:
        """Return whether other processes change it, so that nobody here is told of it."""
        ...

    def try_add(self, amount: Spending, *, kept: bool = False) -> bool:
        """Set an amount aside if the limits still hold with it; return whether they did, else nothing is added."""
        ...

    def replace(self, added: Spending, by: Spending, *, kept: bool = False) -> None:
        """Take back what was set aside before and settle the truth instead, whatever the limits say."""
        ...

    def take_kept(self, amount: Spending) -> None:
        """Count an amount that was kept as set aside for what is under way: what it was kept for begins."""
        ...

    def standing(self) -> "Standing":
        """Return what is settled, set aside and kept."""
        ...

    def spent(self) -> Spending:
        """Return what is settled and set aside, kept amounts included."""
        ...


@dataclass(frozen=True, slots=True)
class Exact:
    """An amount in whole numbers of small units, which add up exactly."""

    usd: int = 0
    tokens: int = 0
    steps: int = 0
    searches: int = 0
    seconds: int = 0

    @classmethod
    def of(cls, amount: Spending) -> Self:
        """Return an amount exactly, to the trillionth of a dollar; what no database holds is the most that one does.

        Raises:
            ValueError: If a part of it is below zero or no number.
        """
        for each in fields(amount):
            value = getattr(amount, each.name)
            if not 0 <= value < math.inf:
                raise ValueError(f"{value!r} {each.name} cannot be spent; an amount is 0 or more")
        return cls(**{name: round(min(getattr(amount, name) * unit, _MOST)) for name, unit in _UNITS.items()})

    def plus(self, other: "Exact") -> "Exact":
        """Return the sum, which a database can hold."""
        return Exact(**{name: min(getattr(self, name) + getattr(other, name), _MOST) for name in _UNITS})

    def minus(self, other: "Exact") -> "Exact":
        """Return the difference, never below zero."""
        return Exact(**{name: max(getattr(self, name) - getattr(other, name), 0) for name in _UNITS})

    def spending(self) -> Spending:
        """Return the amount in its usual units."""
        return Spending(
            usd=self.usd / _UNITS["usd"],
            tokens=self.tokens,
            steps=self.steps,
            searches=self.searches,
            seconds=self.seconds / _UNITS["seconds"],
        )

    def within(self, limits: Limits) -> bool:
        """Return whether every limit holds."""
        return first_over(self, limits) is None


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands in an account."""

    settled: Exact = Exact()
    """Spent for good."""
    reserved: Exact = Exact()
    """Set aside for what is under way: it ends, and gives back what it did not need."""
    kept: Exact = Exact()
    """Set aside for answers that will be asked for: as good as spent."""

    @property
    def total(self) -> Exact:
        """Return all of it."""
        return self.settled.plus(self.reserved).plus(self.kept)

    def adding(self, amount: Exact, *, kept: bool) -> "Standing":
        """Return it with an amount set aside."""
        return (
            replace(self, kept=self.kept.plus(amount)) if kept else replace(self, reserved=self.reserved.plus(amount))
        )

    def settling(self, added: Exact, by: Exact, *, kept: bool) -> "Standing":
        """Return it with the truth in the place of what was set aside."""
        settled = self.settled.plus(by)
        if kept:
            return replace(self, settled=settled, kept=self.kept.minus(added))
        return replace(self, settled=settled, reserved=self.reserved.minus(added))


def first_over(amount: Exact, limits: Limits) -> str | None:
    """Return the name of the first limit an amount is over, or None.

    One in seconds is over as soon as it is reached: of seconds nothing is set
    aside, so that is when none are left.
    """
    for name, unit in _UNITS.items():
        limit = getattr(limits, name)
        if limit is None or not math.isfinite(limit):
            continue
        left = round(limit * unit) - getattr(amount, name)
        if left < 0 or (name == "seconds" and left == 0):
            return name
    return None


class MemoryAccount:
    """An account of this process; thread-safe."""

    is_shared = False

    def __init__(self, level: LimitLevel, limits: Limits, *, spent: Spending | None = None) -> None:
        """Open it, with what was spent before."""
        self.level: LimitLevel = level
        self.limits = limits
        self._lock = threading.Lock()
        self._standing = Standing(Exact.of(spent or Spending()))

    def try_add(self, amount: Spending, *, kept: bool = False) -> bool:
        """Set an amount aside if the limits still hold with it; return whether they did."""
        added = Exact.of(amount)
        with self._lock:
            if not self._standing.total.plus(added).within(self.limits):
                return False
            self._standing = self._standing.adding(added, kept=kept)
            return True

    def replace(self, added: Spending, by: Spending, *, kept: bool = False) -> None:
        """Take back what was set aside before and settle the truth instead, whatever the limits say."""
        before, after = Exact.of(added), Exact.of(by)
        with self._lock:
            self._standing = self._standing.settling(before, after, kept=kept)

    def take_kept(self, amount: Spending) -> None:
        """Count an amount that was kept as set aside for what is under way."""
        taken = Exact.of(amount)
        with self._lock:
            self._standing = self._standing.adding(taken, kept=False).settling(taken, Exact(), kept=True)

    def standing(self) -> Standing:
        """Return what is settled, set aside and kept."""
        with self._lock:
            return self._standing

    def spent(self) -> Spending:
        """Return what is settled and set aside."""
        return self.standing().total.spending()
