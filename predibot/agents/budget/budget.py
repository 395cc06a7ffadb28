"""Budgets: nested limits of a decision, its bot, its run and its day, reserved before anything is spent.

What is settled is gone; what is set aside by others may come back. So only what
is settled refuses: where nothing but reservations stands in the way, one waits
for them until the deadline of the decision. Nobody waits for somebody who waits:

- Who waits has nothing set aside but what it keeps for its answer.
- What others keep for their answers is as good as spent to who keeps something
  too; who has nothing yet waits for it as well.

Seconds are the exception: waiting goes on side by side, so a caller that waits sets
none aside and takes none from the others. A limit in them holds by what is
booked, each call waits no longer than what is left, and what is under way when
the limit is reached ends beyond it.
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
"""How often other processes are looked at, which tell nobody here; drawn between the two, so that they take turns."""

WAITING_SHARE = 0.75
"""Of the time that is left; the rest is for what is waited for, which nobody should send and then not hear."""

_LONGEST_PAUSE_SECONDS = 60.0
"""Where everybody here is told; no thread can be told to wait for ever."""


_CLOSED = "this decision was given up, so nothing more is spent for it; run the same command again"
_ENDED = "this command ends, so nothing more is spent; run it again"


class BudgetHeld(ModelUnavailable):
    """What is left of a limit was set aside by others for as long as one could wait; nothing was sent."""


class Budget:
    """A `Meter` over nested accounts: what fits at every level is set aside at all of them, or at none.

    One lock guards a whole family, so that nobody in this process is refused
    because of an amount that another is about to take back. It is let go while
    somebody waits.
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
        """Open a level, inside another one if there is one.

        Args:
            account: Of the level.
            parent: The level around it.
            changed: Shared by the family where there is no parent to have it from.
            wait_seconds: How long from now on, at the most, reservations of
                others may be waited for; None refuses at once.
            monotonic: A clock in seconds that never goes back.
        """
        self._account = account
        self._accounts: tuple[LimitAccount, ...] = (account, *(parent._accounts if parent else ()))
        self._changed: threading.Condition = parent._changed if parent else changed or threading.Condition()
        self._monotonic = monotonic
        self._ends = None if wait_seconds is None else monotonic() + wait_seconds
        self._open: set[Reserved] = set()
        self._written_off: set[Reserved] = set()
        self._closed = self._ended = False
        self._offer: Reserved | None = None
        self._rng = random.Random()

    @classmethod
    def of(cls, level: LimitLevel, limits: Limits) -> "Budget":
        """Return the outermost budget, kept in memory."""
        return cls(MemoryAccount(level, limits))

    def inside(self, level: LimitLevel, limits: Limits, *, wait_seconds: float | None = None) -> "Budget":
        """Return a budget within this one, kept in memory."""
        return Budget(MemoryAccount(level, limits), parent=self, wait_seconds=wait_seconds, monotonic=self._monotonic)

    def reserve(self, worst: Spending, *, wait_seconds: float | None = None) -> "Reserved":
        """Set the worst case aside at every level, but for its seconds, or nothing at all.

        Args:
            worst: The most that may be spent.
            wait_seconds: How long all of it may take, where that is less than what the budget
                itself allows; reservations of others are waited for during three quarters of it.

        Raises:
            BudgetSpent: If what is settled leaves no room for it, no second is left, or the
                budget is closed; the message says which.
            BudgetHeld: If others had set aside what is left for as long as one could wait.
            ClaimLost: If the whole command ends.
            ValueError: If a part of it is below zero or no number.
        """
        return self._set_aside(worst, wait_seconds, kept=False)

    def keep(self, amount: Spending) -> "Reserved":
        """Set an amount aside for later, which others count as spent; see `Reserved.offer`.

        Raises:
            BudgetSpent: As of `reserve`.
            BudgetHeld: As of `reserve`.
            ClaimLost: As of `reserve`.
            ValueError: If a part of it is below zero or no number.
        """
        return self._set_aside(amount, None, kept=True)

    def spent(self) -> Spending:
        """Return what is settled and set aside so far, at the innermost level."""
        return self._account.spent()

    def left(self) -> Limits:
        """Return what may still be spent, the least over all levels; None is no limit."""
        with self._changed:
            pairs = [(account.limits, account.spent()) for account in self._accounts]
        least: dict[str, Any] = {each.name: _least_left(each.name, pairs) for each in fields(Limits)}
        return Limits(**least)

    @property
    def is_in_flight(self) -> bool:
        """Return whether something is set aside for a step that is under way."""
        with self._changed:
            return any(not each.kept for each in self._open)

    def close(self) -> None:
        """Refuse every further reservation and give back what is kept; what is under way is settled when it ends."""
        with self._changed:
            self._closed = True
            for each in [each for each in self._open if each.kept]:
                each.release()
            self._changed.notify_all()

    def end(self) -> None:
        """Refuse every further reservation because the whole command ends; waits for nobody, nor for the lock."""
        self._ended = True

    def write_off(self) -> None:
        """End it, and book what is under way at its worst case: nobody will be there to hear its end.

        That is done here in accounts of this process. Shared ones are left to `book_reservations`, which
        books all of an owner at once, before it has no more time.
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

    def _set_aside(self, worst: Spending, wait_seconds: float | None, *, kept: bool) -> "Reserved":
        Exact.of(worst)
        aside = replace(worst, seconds=0.0)
        ends = self._waits_until(wait_seconds)
        with self._changed:
            while True:
                if self._ended:
                    # Of no kind that is recorded: a decision that is broken off is made by the next call.
                    raise ClaimLost(_ENDED)
                if self._closed:
                    raise BudgetSpent(_CLOSED)
                offer = self._offer_for(aside)
                rest = aside if offer is None else Exact.of(aside).minus(Exact.of(offer.aside)).spending()
                full = self._first_without_room(rest, kept=kept)
                if full is None:
                    self._take(offer, kept=kept)
                    made = Reserved(self, self._accounts, aside, kept)
                    self._open.add(made)
                    return made
                if ends is None:
                    raise BudgetSpent(_complaint(full, worst))
                refusing = self._refusing(rest, full)
                if refusing is not None:
                    raise BudgetSpent(_complaint(refusing, worst))
                left_seconds = ends - self._monotonic()
                if left_seconds <= 0:
                    raise BudgetHeld(_held(full, worst))
                self._changed.wait(self._pause(left_seconds))

    def _waits_until(self, wait_seconds: float | None) -> float | None:
        """Return until when reservations of others are waited for, or None where they are not."""
        if self._ends is None:
            return None
        now = self._monotonic()
        left_seconds = self._ends - now
        return now + WAITING_SHARE * (left_seconds if wait_seconds is None else min(left_seconds, wait_seconds))

    def _take(self, offer: "Reserved | None", *, kept: bool) -> None:
        """Count what was kept for the step that begins now as a part of what is set aside for it."""
        if offer is None:
            return
        self._open.discard(offer)
        if not kept:
            for account in self._accounts:
                account.take_kept(offer.aside)

    def _first_without_room(self, aside: Spending, *, kept: bool) -> LimitAccount | None:
        """Set an amount aside at every level, or at none and return the first that has no room for it."""
        with ExitStack() as undo:
            for account in self._accounts:
                if not account.try_add(aside, kept=kept):
                    return account
                undo.callback(account.replace, aside, Spending(), kept=kept)
            undo.pop_all()
        return None

    def _offer_for(self, aside: Spending) -> "Reserved | None":
        """Return what was kept and is a part of what is asked for now."""
        if self._offer not in self._open or self._offer is None:
            return None
        beyond = Exact.of(self._offer.aside).minus(Exact.of(aside))
        return self._offer if beyond == Exact() else None

    def _refusing(self, aside: Spending, full: LimitAccount) -> LimitAccount | None:
        """Return the level where nobody else can make room, because of what is settled or one's own, or None."""
        if any(not each.kept for each in self._open):
            return full
        for account in self._accounts:
            now = account.standing()
            firm = now.settled.plus(now.kept) if self._open else now.settled
            if not firm.plus(Exact.of(aside)).within(account.limits):
                return account
        return None

    def _pause(self, left_seconds: float) -> float:
        """Return how long to wait for somebody here to settle, before looking at what others did elsewhere."""
        is_shared = any(account.is_shared for account in self._accounts)
        return min(left_seconds, self._rng.uniform(*_POLL_SECONDS) if is_shared else _LONGEST_PAUSE_SECONDS)

    def _settled(self, made: "Reserved", actual: Spending) -> None:
        """Book the truth in the place of a reservation, and wake those who wait for what it gives back."""
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
class Reserved:
    """An amount that is set aside at every level until the truth is known; thread-safe."""

    budget: Budget
    accounts: tuple[LimitAccount, ...]
    aside: Spending
    kept: bool

    def release(self) -> None:
        """Give back what is still set aside, if anything is."""
        with self.budget._changed:
            if self in self.budget._open:
                self.settle(Spending())

    def offer(self) -> None:
        """Let the next reservation of the same budget have what is kept here, so that nobody comes between."""
        self.budget._offer = self

    def settle(self, actual: Spending) -> None:
        """Replace what was set aside by what was spent, which may be more.

        Raises:
            ValueError: If it is settled already, or a part of the amount is below zero or no number.
        """
        self.budget._settled(self, actual)


class KeptStep:
    """Sets a step aside while something else is done, so that a limit in steps leaves one for the answer."""

    def __init__(self, meter: Meter | None) -> None:
        """Set nothing aside yet; without a meter there is nothing to keep."""
        self._meter = meter
        self._kept: Reservation | None = None
        self._is_given = False

    def __enter__(self) -> Self:
        """Set the step aside.

        Raises:
            BudgetSpent: If there is none left; the message names the limit.
            ModelUnavailable: If others had set it aside for as long as one could wait.
        """
        if self._meter is not None:
            self._kept = self._meter.keep(Spending(steps=1))
        return self

    def __exit__(self, *_: object) -> None:
        """Give the step back, unless it was used."""
        if self._kept is not None:
            self._kept.release()

    def give_back(self) -> bool:
        """Let the next call have the step, and nobody else; return whether it was still kept."""
        if self._kept is None or self._is_given:
            return False
        self._is_given = True
        self._kept.offer()
        return True


def _least_left(name: str, pairs: Sequence[tuple[Limits, Spending]]) -> float | None:
    """Return the least that is left of one kind, never below zero."""
    known = [
        getattr(limits, name) - getattr(spent, name) for limits, spent in pairs if getattr(limits, name) is not None
    ]
    return max(0, min(known)) if known else None


def _complaint(account: LimitAccount, worst: Spending) -> str:
    """Return what does not fit where."""
    limit, so_far, more = _figures(account, worst)
    return (
        f"the {account.level}'s limit of {limit} is reached: {so_far} spent or set aside, "
        f"and the next step may take {more}; raise that limit, or go on with what there is"
    )


def _held(account: LimitAccount, worst: Spending) -> str:
    """Return what nobody gave back where."""
    limit, so_far, more = _figures(account, worst)
    return (
        f"others held what is left of the {account.level}'s limit of {limit} for too long: {so_far} spent or set "
        f"aside, and the next step may take {more}. Try again, with fewer at once or a higher limit"
    )


def _figures(account: LimitAccount, worst: Spending) -> tuple[str, str, str]:
    """Return the limit that an amount does not fit in, what stands in it, and the amount."""
    now, more = account.standing(), Exact.of(replace(worst, seconds=0.0))
    over = (first_over(stands.plus(more), account.limits) for stands in (now.settled, now.total))
    name = next(filter(None, over), "usd")
    amounts = (account.limits, now.total.spending(), worst)
    limit, so_far, asked = (_amount(name, getattr(each, name)) for each in amounts)
    return limit, so_far, asked


def _amount(name: str, value: float | None) -> str:
    """Return an amount with its unit."""
    if value is None:
        return f"no limit in {name}"
    return f"${value:.6g}" if name == "usd" else f"{value:,.6g} {name}" if name == "seconds" else f"{value:,} {name}"
