"""Accounts: how much of one level's limits is spent or set aside."""

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Protocol, Self

from predibot.domain.budget import LimitLevel, Limits, Spending

_UNITS: Mapping[str, int] = MappingProxyType({"usd": 10**12, "tokens": 1, "steps": 1, "searches": 1, "seconds": 10**9})
"""Parts of one: whole numbers of them add up exactly, in any order and for ever."""


class Account(Protocol):
    """One level's limits and what is spent of them; kept in memory, or in the ledger for all processes.

    An implementation for several processes must add and compare in one
    transaction; nothing else here needs to know of it.
    """

    @property
    def level(self) -> LimitLevel:
        """Return which level this is."""
        ...

    @property
    def limits(self) -> Limits:
        """Return the most that may be spent."""
        ...

    def try_add(self, amount: Spending) -> bool:
        """Add an amount if the limits still hold with it; return whether they did, else nothing is added."""
        ...

    def replace(self, added: Spending, by: Spending) -> None:
        """Take back what was added before and add the truth instead, whatever the limits say."""
        ...

    def spent(self) -> Spending:
        """Return what is spent and set aside."""
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
        """Return an amount exactly, to the trillionth of a dollar.

        Raises:
            ValueError: If a part of it is below zero or no number.
        """
        for each in fields(amount):
            value = getattr(amount, each.name)
            if not (math.isfinite(value) and value >= 0):
                raise ValueError(f"{value!r} {each.name} cannot be spent; an amount is 0 or more")
        return cls(**{name: round(getattr(amount, name) * unit) for name, unit in _UNITS.items()})

    def plus(self, other: "Exact") -> "Exact":
        """Return the sum."""
        return Exact(**{name: getattr(self, name) + getattr(other, name) for name in _UNITS})

    def minus(self, other: "Exact") -> "Exact":
        """Return the difference."""
        return Exact(**{name: getattr(self, name) - getattr(other, name) for name in _UNITS})

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

    def __init__(self, level: LimitLevel, limits: Limits, *, spent: Spending | None = None) -> None:
        """Open it, with what was spent before."""
        self._level: LimitLevel = level
        self._limits = limits
        self._lock = threading.Lock()
        self._spent = Exact.of(spent or Spending())

    @property
    def level(self) -> LimitLevel:
        """Return which level this is."""
        return self._level

    @property
    def limits(self) -> Limits:
        """Return the most that may be spent."""
        return self._limits

    def try_add(self, amount: Spending) -> bool:
        """Add an amount if the limits still hold with it; return whether they did."""
        with self._lock:
            total = self._spent.plus(Exact.of(amount))
            if not total.within(self._limits):
                return False
            self._spent = total
            return True

    def replace(self, added: Spending, by: Spending) -> None:
        """Take back what was added before and add the truth instead, whatever the limits say."""
        with self._lock:
            self._spent = self._spent.minus(Exact.of(added)).plus(Exact.of(by))

    def spent(self) -> Spending:
        """Return what is spent and set aside."""
        with self._lock:
            return self._spent.spending()
