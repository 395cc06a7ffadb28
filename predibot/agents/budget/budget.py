"""Budgets: nested limits of a decision, its bot, its run and its day. Amounts are reserved before they are spent.

Settled amounts are gone; amounts that others reserved may come back. So only settled amounts refuse a reservation. If
nothing but reservations stands in the way, the caller waits for them until the decision's deadline. Two rules prevent a
deadlock. A waiting caller has nothing reserved except a step for its answer, which it keeps. And a caller that keeps a
step counts the steps that others keep as spent, while a caller without one waits for them too.

Seconds are an exception: callers can wait side by side, so no seconds are reserved. Their limit holds for the seconds
that are booked, and each call waits no longer than the seconds left. Calls under way when the limit is reached may end
beyond it.
"""

import random
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from predibot.agents.budget.account import Exact, LimitAccount, MemoryAccount, first_over
from predibot.contracts import Meter, Reservation
from predibot.domain.budget import LimitLevel, Limits, Spending
from predibot.errors import BudgetSpent, ClaimLost, ModelUnavailable

_POLL_SECONDS = (0.1, 0.3)

WAITING_SHARE = 0.75
"""The share of the time left that may be spent on waiting. The rest is for the call itself."""

_LONGEST_PAUSE_SECONDS = 60.0


_CLOSED = "this decision was given up, so nothing more is spent for it; run the same command again"
_ENDED = "this command ends, so nothing more is spent; run it again"
_SPENT = (
    "the {level}'s limit of {limit} is reached: {so_far} spent or set aside, "
    "and the next step may take {more}; raise that limit, or go on with what there is"
)
_BUSY = (
    "others held what is left of the {level}'s limit of {limit} for too long: {so_far} spent or set "
    "aside, and the next step may take {more}. Try again, with fewer at once or a higher limit"
)


class BudgetHeld(ModelUnavailable):
    """Others had reserved the rest of a limit for the whole wait; nothing was sent."""


class Budget:
    """A `Meter` over nested accounts: an amount is set aside at every level or at none.

    All budgets of a family share one lock. A failed reservation is undone before the lock is released, so it refuses
    nobody else. Waiting releases the lock.
    """

    def __init__(
        self,
        account: LimitAccount,
        *,
        parent: "Budget | None" = None,
        changed: threading.Condition | None = None,
        wait_seconds: float | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open a level. Its family shares `changed`; `wait_seconds` limits all waits, and None refuses at once."""
        self._account = account
        self._accounts: tuple[LimitAccount, ...] = (account, *(parent._accounts if parent else ()))
        self._changed: threading.Condition = parent._changed if parent else changed or threading.Condition()
        self._monotonic = monotonic
        self._ends = None if wait_seconds is None else monotonic() + wait_seconds
        self._open: set[BudgetReservation] = set()
        self._written_off: set[BudgetReservation] = set()
        self._closed = self._ended = False
        self._offer: BudgetReservation | None = None
        self._rng = random.Random()

    @classmethod
    def of(cls, level: LimitLevel, limits: Limits) -> "Budget":
        """Return an outermost budget in memory."""
        return cls(MemoryAccount(level, limits))

    def inside(self, level: LimitLevel, limits: Limits, *, wait_seconds: float | None = None) -> "Budget":
        """Return a budget in memory, within this one."""
        return Budget(MemoryAccount(level, limits), parent=self, wait_seconds=wait_seconds, monotonic=self._monotonic)

    def reserve(self, worst: Spending, *, wait_seconds: float | None = None) -> "BudgetReservation":
        """Set the worst case aside at every level, except for its seconds.

        `wait_seconds` is the time for the whole call, if it is less than the budget allows; three quarters of it may go
        into waiting for reservations of others. Raises `BudgetSpent` if settled amounts leave no room, no second is
        left, or the budget is closed; `BudgetHeld` if others had reserved the rest for the whole wait; `ClaimLost` if
        the whole command ends; `ValueError` if a part of it is below zero or no number.
        """
        return self._set_aside(worst, wait_seconds, kept=False)

    def keep(self, amount: Spending) -> "BudgetReservation":
        """Set an amount aside that others count as spent; see `BudgetReservation.offer`. Raises like `reserve`."""
        return self._set_aside(amount, None, kept=True)

    def spent(self) -> Spending:
        """Return the sum of settled and reserved amounts, at the innermost level."""
        return self._account.spent()

    def left(self) -> Limits:
        """Return what may still be spent, the least over all levels; None is no limit."""
        with self._changed:
            pairs = [(account.limits, account.spent()) for account in self._accounts]
        least: dict[str, Any] = {each.name: _least_left(each.name, pairs) for each in fields(Limits)}
        return Limits(**least)

    @property
    def is_in_flight(self) -> bool:
        """Return whether a step is under way."""
        with self._changed:
            return any(not each.kept for each in self._open)

    def close(self) -> None:
        """Refuse further reservations and give back what is kept. Steps under way are settled when they end."""
        with self._changed:
            self._closed = True
            for each in [each for each in self._open if each.kept]:
                each.release()
            self._changed.notify_all()

    def end(self) -> None:
        """Refuse further reservations because the whole command ends, without waiting for the lock."""
        self._ended = True

    def write_off(self) -> None:
        """End the budget, and book steps under way at their worst case, because nobody will settle them.

        This books accounts of this process only. `book_reservations` books shared ones, all of an owner at once.
        """
        self.end()
        with self._changed:
            for each in self._open:
                for account in each.accounts:
                    if not account.is_shared:
                        account.replace(each.aside, Spending() if each.kept else each.aside, kept=each.kept)
            self._written_off |= self._open
            self._open.clear()
            self._changed.notify_all()

    def _set_aside(self, worst: Spending, wait_seconds: float | None, *, kept: bool) -> "BudgetReservation":
        Exact.of(worst)
        aside = replace(worst, seconds=0.0)
        ends = self._waits_until(wait_seconds)
        with self._changed:
            while True:
                if self._ended:
                    # This error is not recorded: the next command makes the decision that is broken off here.
                    raise ClaimLost(_ENDED)
                if self._closed:
                    raise BudgetSpent(_CLOSED)
                offer = self._offer_for(aside)
                rest = aside if offer is None else Exact.of(aside).minus(Exact.of(offer.aside)).spending()
                full = self._try_all_levels(rest, kept=kept)
                if full is None:
                    self._take_offer(offer, kept=kept)
                    made = BudgetReservation(self, self._accounts, aside, kept)
                    self._open.add(made)
                    return made
                if ends is None:
                    raise BudgetSpent(_full_message(_SPENT, full, worst))
                refusing = self._hopeless_level(rest, full)
                if refusing is not None:
                    raise BudgetSpent(_full_message(_SPENT, refusing, worst))
                left_seconds = ends - self._monotonic()
                if left_seconds <= 0:
                    raise BudgetHeld(_full_message(_BUSY, full, worst))
                self._changed.wait(self._pause_seconds(left_seconds))

    def _waits_until(self, wait_seconds: float | None) -> float | None:
        """Return until when to wait for reservations of others; None for not at all."""
        if self._ends is None:
            return None
        now = self._monotonic()
        left_seconds = self._ends - now
        return now + WAITING_SHARE * (left_seconds if wait_seconds is None else min(left_seconds, wait_seconds))

    def _take_offer(self, offer: "BudgetReservation | None", *, kept: bool) -> None:
        if offer is None:
            return
        self._open.discard(offer)
        if not kept:
            for account in self._accounts:
                account.move_kept(offer.aside)

    def _try_all_levels(self, aside: Spending, *, kept: bool) -> LimitAccount | None:
        """Set an amount aside at every level; if one has no room, undo it all and return that level."""
        with ExitStack() as undo:
            for account in self._accounts:
                if not account.try_add(aside, kept=kept):
                    return account
                undo.callback(account.replace, aside, Spending(), kept=kept)
            undo.pop_all()
        return None

    def _offer_for(self, aside: Spending) -> "BudgetReservation | None":
        if self._offer not in self._open or self._offer is None:
            return None
        beyond = Exact.of(self._offer.aside).minus(Exact.of(aside))
        return self._offer if beyond == Exact() else None

    def _hopeless_level(self, aside: Spending, full: LimitAccount) -> LimitAccount | None:
        """Return the level where waiting cannot make room, because of settled or own amounts, or None."""
        if any(not each.kept for each in self._open):
            return full
        for account in self._accounts:
            now = account.standing()
            firm = now.settled.plus(now.kept) if self._open else now.settled
            if not firm.plus(Exact.of(aside)).within(account.limits):
                return account
        return None

    def _pause_seconds(self, left_seconds: float) -> float:
        is_shared = any(account.is_shared for account in self._accounts)
        return min(left_seconds, self._rng.uniform(*_POLL_SECONDS) if is_shared else _LONGEST_PAUSE_SECONDS)

    def _settle(self, made: "BudgetReservation", actual: Spending) -> None:
        Exact.of(actual)
        with self._changed:
            if made in self._written_off:
                return
            if made not in self._open:
                raise ValueError("this reservation is settled already; reserve again")
            self._open.discard(made)
            for account in made.accounts:
                account.replace(made.aside, actual, kept=made.kept)
            self._changed.notify_all()


@dataclass(frozen=True, slots=True, eq=False)
class BudgetReservation:
    """An amount that is set aside at every level until the true amount is known; thread-safe."""

    budget: Budget
    accounts: tuple[LimitAccount, ...]
    aside: Spending
    kept: bool

    def release(self) -> None:
        """Give back the amount if it is still set aside."""
        with self.budget._changed:
            if self in self.budget._open:
                self.settle(Spending())

    def offer(self) -> None:
        """Let the next reservation of the same budget take this amount, so that nobody else gets it in between."""
        self.budget._offer = self

    def settle(self, actual: Spending) -> None:
        """Replace the amount by the actual spending, which may be more; raise `ValueError` if it is settled already."""
        self.budget._settle(self, actual)


class KeptStep:
    """Sets a step aside, so that a limit in steps leaves one for the answer."""

    def __init__(self, meter: Meter | None) -> None:
        """Set nothing aside yet. Without a meter there is nothing to keep."""
        self._meter = meter
        self._kept: Reservation | None = None
        self._is_given = False

    def __enter__(self) -> Self:
        """Set the step aside; raise `BudgetSpent` if there is none left, `ModelUnavailable` if others keep it."""
        if self._meter is not None:
            self._kept = self._meter.keep(Spending(steps=1))
        return self

    def __exit__(self, *_: object) -> None:
        """Give the step back, unless it was used."""
        if self._kept is not None:
            self._kept.release()

    def give_back(self) -> bool:
        """Let the next call, and nobody else, have the step; return whether it was still kept."""
        if self._kept is None or self._is_given:
            return False
        self._is_given = True
        self._kept.offer()
        return True


def _least_left(name: str, pairs: Sequence[tuple[Limits, Spending]]) -> float | None:
    known = [
        getattr(limits, name) - getattr(spent, name) for limits, spent in pairs if getattr(limits, name) is not None
    ]
    return max(0, min(known)) if known else None


def _full_message(words: str, account: LimitAccount, worst: Spending) -> str:
    """Return a message with the level's limit, what is spent or set aside of it, and what the next step may take."""
    now, more = account.standing(), Exact.of(replace(worst, seconds=0.0))
    over = (first_over(stands.plus(more), account.limits) for stands in (now.settled, now.total))
    name = next(filter(None, over), "usd")
    amounts = {"limit": account.limits, "so_far": now.total.spending(), "more": worst}
    figures = {word: _format_amount(name, getattr(each, name)) for word, each in amounts.items()}
    return words.format(level=account.level, **figures)


def _format_amount(name: str, value: float | None) -> str:
    if value is None:
        return f"no limit in {name}"
    return f"${value:.6g}" if name == "usd" else f"{value:,.6g} {name}" if name == "seconds" else f"{value:,} {name}"
