"""Moments: what several bots said of one subject at about the same time, which alone is compared."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from predibot.scoring.arguments import Floats, Ints

NEAR_HOURS = 6
"""How far apart the prices may have been taken at which two bots are compared."""
_NEAR_SECONDS = NEAR_HOURS * 3600.0


def moments_of(subject: Ints, asked: Ints, at: Floats) -> Ints:
    """Return which moment each of m rows is of, (m,), from zero.

    A slot is no moment: runs of one slot can be a day apart, where recipes
    differ or one of them ran late, and whoever came later knew more. So a
    subject has a new moment where nobody had said anything of it for six hours.
    Where that makes a moment longer than six hours, as with a run an hour, each
    slot has its own.

    Args:
        subject: What each row is about, (m,).
        asked: The same with the slot, (m,).
        at: When it was made, (m,).
    """
    code, longest = _chained(np.unique(subject, return_inverse=True)[1].astype(np.int64), at)
    if not code.size or longest.max() <= _NEAR_SECONDS:
        return code
    _, slot = np.unique(asked, return_inverse=True)
    within = np.where(longest[code] > _NEAR_SECONDS, slot + 1, 0)
    cells = np.unique(code * (int(within.max()) + 1) + within, return_inverse=True)[1].astype(np.int64)
    return _chained(cells, at)[0]


def far_apart(asked: Ints, at: Floats) -> bool:
    """Return whether anything was said of one subject at one slot at times that are not near each other."""
    subjects, code = np.unique(asked, return_inverse=True)
    return bool(subjects.size) and bool(_lengths(code, at, subjects.size).max() > _NEAR_SECONDS)


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """The moments of m rows of some bots, n_t of them."""

    of_row: Ints
    """Which moment each row is of, (m,), from zero."""
    asked: Ints
    """The subject and slot of each row, (m,), by which what is not compared is counted."""
    bot: Ints
    """Whose each row is, (m,)."""
    count: int
    """How many there are."""
    first_at: Floats | None = None
    """When the first row of each bot was made, (n_t, bots), infinite without any; None where slots are moments."""
    last_at: Floats | None = None
    """When the last was, (n_t, bots), minus infinity without any."""

    @classmethod
    def of(cls, moment: Ints, asked: Ints, at: Floats, bot: Ints, bots: int) -> "Moments":
        """Return the moments of rows, of each of which the number is known; those without a row are left out."""
        numbers, code = np.unique(moment, return_inverse=True)
        of_row, count = code.astype(np.int64), int(numbers.size)
        slots, slot = np.unique(asked, return_inverse=True)
        # As a rule every slot is a moment, and there is nothing to keep for each bot.
        if not count or (slots.size == count and _lengths(slot, at, count).max() <= _NEAR_SECONDS):
            return cls(of_row, asked, bot, count)
        cell, shape = of_row * bots + bot, (count, bots)
        first_at, last_at = np.full(shape, np.inf), np.full(shape, -np.inf)
        np.minimum.at(first_at.reshape(-1), cell, at)
        np.maximum.at(last_at.reshape(-1), cell, at)
        return cls(of_row, asked, bot, count, first_at, last_at)

    def compared(self, first: int, second: int, both: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], int]:
        """Return the moments on which two bots are compared, (n_t,), and how many common subjects of a slot have none.

        Args:
            first: One of the bots.
            second: The other.
            both: The moments of which both have something, (n_t,).
        """
        if self.first_at is None or self.last_at is None:
            return both, 0
        ends = np.maximum(self.last_at[:, first], self.last_at[:, second])
        begins = np.minimum(self.first_at[:, first], self.first_at[:, second])
        near = both & (ends - begins <= _NEAR_SECONDS)
        sides = [np.flatnonzero(self.bot == column) for column in (first, second)]
        # Of what nobody else has, nothing can be left out.
        if all(near[self.of_row[rows]].all() for rows in sides):
            return near, 0
        used = [np.unique(self.asked[rows[near[self.of_row[rows]]]]) for rows in sides]
        common = np.intersect1d(self.asked[sides[0]], self.asked[sides[1]])
        return near, int(np.setdiff1d(common, np.concatenate(used)).size)


def _chained(code: Ints, at: Floats) -> tuple[Ints, Floats]:
    """Return the codes split where nothing was said for too long, (m,), from zero, and how long each lasts."""
    order = np.lexsort((at, code))
    begins = (np.diff(code[order]) != 0) | (np.diff(at[order]) > _NEAR_SECONDS)
    found = np.empty_like(code)
    found[order] = np.concatenate([[0], np.cumsum(begins)])[: code.size]
    return found, _lengths(found, at, int(found.max(initial=-1)) + 1)


def _lengths(code: Ints, at: Floats, codes: int) -> Floats:
    """Return the time from the first to the last row of each code."""
    first, last = np.full(codes, np.inf), np.full(codes, -np.inf)
    np.minimum.at(first, code, at)
    np.maximum.at(last, code, at)
    lengths: Floats = last - first
    return lengths
