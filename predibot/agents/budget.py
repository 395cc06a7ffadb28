"""Budgets: nested limits of a decision, its bot, its run and its day, reserved before anything is spent.

Seconds are the exception: waiting goes on side by side, so whoever waits sets
none aside and takes none from the others. A limit in them holds by what is
booked, each call waits no longer than what is left, and what is under way when
the limit is reached ends beyond it.
"""

import threading
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from predibot.agents.account import Account, Exact, MemoryAccount, first_over
from predibot.domain.budget import LimitLevel, Limits, Spending
from predibot.errors import BudgetSpent


class Budget:
    """A `Meter` over nested accounts: what fits at every level is set aside at all of them, or at none.

    One lock guards a whole family, so that nobody in this process is refused
    because of an amount that another is about to take back.
    """

    def __init__(self, account: Account, *, parent: "Budget | None" = None) -> None:
        """Open a level, inside another one if there is one."""
        self._account = account
        self._accounts: tuple[Account, ...] = (account, *(parent._accounts if parent else ()))
        self._lock: threading.Lock = parent._lock if parent else threading.Lock()

    @classmethod
    def of(cls, level: LimitLevel, limits: Limits) -> "Budget":
        """Return the outermost budget, kept in memory."""
        return cls(MemoryAccount(level, limits))

    def inside(self, level: LimitLevel, limits: Limits) -> "Budget":
        """Return a budget within this one, kept in memory."""
        return Budget(MemoryAccount(level, limits), parent=self)

    @property
    def limits(self) -> tuple[Limits, ...]:
        """Return the limits of every level, innermost first."""
        return tuple(account.limits for account in self._accounts)

    def reserve(self, worst: Spending) -> "Reserved":
        """Set the worst case aside at every level, but for its seconds, or nothing at all.

        Raises:
            BudgetSpent: If it does not fit any more, or no second is left; the message names level and limit.
            ValueError: If a part of it is below zero or no number.
        """
        Exact.of(worst)
        aside = replace(worst, seconds=0.0)
        with self._lock:
            for number, account in enumerate(self._accounts):
                if not account.try_add(aside):
                    for earlier in self._accounts[:number]:
                        earlier.replace(aside, Spending())
                    raise BudgetSpent(_complaint(account, worst))
        return Reserved(self._accounts, aside, self._lock)

    def spent(self) -> Spending:
        """Return what is settled and reserved so far, at the innermost level."""
        return self._account.spent()

    def left(self) -> Limits:
        """Return what may still be spent, the least over all levels; None is no limit."""
        with self._lock:
            pairs = [(account.limits, account.spent()) for account in self._accounts]
        least: dict[str, Any] = {each.name: _least_left(each.name, pairs) for each in fields(Limits)}
        return Limits(**least)


class Reserved:
    """An amount that is set aside at every level until the truth is known; thread-safe."""

    def __init__(self, accounts: tuple[Account, ...], aside: Spending, lock: threading.Lock) -> None:
        """Keep what was set aside, and where."""
        self._accounts = accounts
        self._aside = aside
        self._lock = lock
        self._open = True

    def settle(self, actual: Spending) -> None:
        """Replace what was set aside by what was spent, which may be more.

        Raises:
            ValueError: If it is settled already, or a part of the amount is below zero or no number.
        """
        Exact.of(actual)
        with self._lock:
            if not self._open:
                raise ValueError("this reservation is settled already; reserve again")
            self._open = False
            for account in self._accounts:
                account.replace(self._aside, actual)


def _least_left(name: str, pairs: Sequence[tuple[Limits, Spending]]) -> float | None:
    """Return the least that is left of one kind, never below zero."""
    known = [
        getattr(limits, name) - getattr(spent, name) for limits, spent in pairs if getattr(limits, name) is not None
    ]
    return max(0, min(known)) if known else None


def _complaint(account: Account, worst: Spending) -> str:
    """Return what does not fit where."""
    spent = account.spent()
    name = first_over(Exact.of(spent).plus(Exact.of(replace(worst, seconds=0.0))), account.limits) or "usd"
    limit, so_far, more = (_amount(name, getattr(each, name)) for each in (account.limits, spent, worst))
    return (
        f"the {account.level}'s limit of {limit} is reached: {so_far} spent or set aside, "
        f"and the next step may take {more}; raise that limit, or go on with what there is"
    )


def _amount(name: str, value: float | None) -> str:
    """Return an amount with its unit."""
    if value is None:
        return f"no limit in {name}"
    return f"${value:.6g}" if name == "usd" else f"{value:,.6g} {name}" if name == "seconds" else f"{value:,} {name}"
