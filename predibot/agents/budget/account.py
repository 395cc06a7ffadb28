"""Budget accounts: how much of one level's limits is spent, and how much only set aside."""

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Protocol, Self

from predibot.domain.budget import LimitLevel, Limits, Spending

_UNITS: Mapping[str, int] = MappingProxyType({"usd": 10**12, "tokens": 1, "steps": 1, "searches": 1, "seconds": 10**9})
"""Amounts are whole numbers of these parts of one, so that sums are exact in any order."""
_MOST = 2**63 - 1
"""The largest integer of a database column; larger sums are stored as this."""


class LimitAccount(Protocol):
    """One level's limits and its spending, in memory or in the ledger for all processes; see `Standing`. An account
    that several processes share must add and compare in one transaction.
    """

    @property
    def level(self) -> LimitLevel:
        """Return the account's level."""

    @property
    def limits(self) -> Limits:
        """Return the limits."""

    @property
    def is_shared(self) -> bool:
        """Return whether other processes change the account, which notifies nobody here."""

    def try_add(self, amount: Spending, *, kept: bool = False) -> bool:
        """Set an amount aside if the limits allow it; return whether they did."""

    def replace(self, added: Spending, by: Spending, *, kept: bool = False) -> None:
        """Take back an amount that was set aside, and settle the true amount, even above the limits."""

    def move_kept(self, amount: Spending) -> None:
        """Move an amount from kept to reserved, because its step begins."""

    def standing(self) -> "Standing":
        """Return the settled, reserved and kept amounts."""

    def spent(self) -> Spending:
        """Return the sum of all amounts."""


@dataclass(frozen=True, slots=True)
class Exact:
    """An amount in whole numbers of small units, so that sums are exact."""

    usd: int = 0
    tokens: int = 0
    steps: int = 0
    searches: int = 0
    seconds: int = 0

    @classmethod
    def of(cls, amount: Spending) -> Self:
        """Return the exact amount, to the trillionth of a dollar; raise `ValueError` if a part is below zero or NaN."""
        for each in fields(amount):
            value = getattr(amount, each.name)
            if not 0 <= value < math.inf:
                raise ValueError(f"{value!r} {each.name} cannot be spent; an amount is 0 or more")
        return cls(**{name: round(min(getattr(amount, name) * unit, _MOST)) for name, unit in _UNITS.items()})

    def plus(self, other: "Exact") -> "Exact":
        """Return the sum, at most `_MOST`."""
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
        """Return whether no limit is exceeded."""
        return first_over(self, limits) is None


@dataclass(frozen=True, slots=True)
class Standing:
    """The amounts in an account."""

    settled: Exact = Exact()
    reserved: Exact = Exact()
    """Set aside for steps under way; when they end, they give back the rest."""
    kept: Exact = Exact()
    """Set aside for later answers: as good as spent."""

    @property
    def total(self) -> Exact:
        """Return the sum."""
        return self.settled.plus(self.reserved).plus(self.kept)

    def adding(self, amount: Exact, *, kept: bool) -> "Standing":
        """Return a standing with a further amount set aside."""
        if kept:
            return replace(self, kept=self.kept.plus(amount))
        return replace(self, reserved=self.reserved.plus(amount))

    def settling(self, added: Exact, by: Exact, *, kept: bool) -> "Standing":
        """Return a standing with the true amount in place of the one that was set aside."""
        settled = self.settled.plus(by)
        if kept:
            return replace(self, settled=settled, kept=self.kept.minus(added))
        return replace(self, settled=settled, reserved=self.reserved.minus(added))


def first_over(amount: Exact, limits: Limits) -> str | None:
    """Return the name of the first limit that an amount exceeds, or None. The limit in seconds is exceeded once it is
    reached.
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
        """Open the account, with an earlier spending."""
        self.level: LimitLevel = level
        self.limits = limits
        self._lock = threading.Lock()
        self._standing = Standing(Exact.of(spent or Spending()))

    def try_add(self, amount: Spending, *, kept: bool = False) -> bool:
        """Set an amount aside if the limits allow it; return whether they did."""
        added = Exact.of(amount)
        with self._lock:
            if not self._standing.total.plus(added).within(self.limits):
                return False
            self._standing = self._standing.adding(added, kept=kept)
            return True

    def replace(self, added: Spending, by: Spending, *, kept: bool = False) -> None:
        """Take back an amount that was set aside, and settle the true amount."""
        before, after = Exact.of(added), Exact.of(by)
        with self._lock:
            self._standing = self._standing.settling(before, after, kept=kept)

    def move_kept(self, amount: Spending) -> None:
        """Move an amount from kept to reserved."""
        taken = Exact.of(amount)
        with self._lock:
            self._standing = self._standing.adding(taken, kept=False).settling(taken, Exact(), kept=True)

    def standing(self) -> Standing:
        """Return the settled, reserved and kept amounts."""
        with self._lock:
            return self._standing

    def spent(self) -> Spending:
        """Return the sum of all amounts."""
        return self.standing().total.spending()
