"""Moments: what several bots said of one subject at about the same time, which alone is compared."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from predibot.scoring.arguments import Floats, Ints

NEAR_HOURS = 6
"""How far apart the prices may have been taken at which two bots are compared."""
_NEAR_SECONDS = NEAR_HOURS * 3600.0


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """The moments of some subjects: m rows of some bots, in n_t moments, each of one subject.

    Runs of one slot can be a day apart, where recipes differ or one of them ran
    late; whoever came later knew more.
    """

    of_row: Ints
    """Which moment each row is of, (m,), from zero."""
    subject: Ints
    """The subject of each, (n_t,), from zero."""
    first_at: Floats | None = None
    """When the first row of each bot was made, (n_t, bots), infinite without any; None where all are near."""
    last_at: Floats | None = None
    """When the last was, (n_t, bots), minus infinity without any."""

    @classmethod
    def of(cls, subject: Ints, at: Floats | None, bot: Ints, bots: int) -> "Moments":
        """Return the moments of rows; a subject has a new one where nobody had said anything of it for six hours.

        Args:
            subject: What each row is about, (m,).
            at: When it was made, (m,); None for all at once.
            bot: Whose it is, (m,), below `bots`.
            bots: How many there are.
        """
        subjects, code = np.unique(subject, return_inverse=True)
        code = code.astype(np.int64)
        everything = cls(code, np.arange(subjects.size))
        if at is None or not at.size or _reach(code, at, subjects.size) <= _NEAR_SECONDS:
            return everything
        order = np.lexsort((at, code))
        begins = (np.diff(code[order]) != 0) | (np.diff(at[order]) > _NEAR_SECONDS)
        number = np.concatenate([[0], np.cumsum(begins)])
        of_row = np.empty_like(code)
        of_row[order] = number
        of_moment = np.empty(int(number[-1]) + 1, dtype=np.int64)
        of_moment[number] = code[order]
        cell, shape = of_row * bots + bot, (of_moment.size, bots)
        first_at, last_at = np.full(shape, np.inf), np.full(shape, -np.inf)
        np.minimum.at(first_at.reshape(-1), cell, at)
        np.maximum.at(last_at.reshape(-1), cell, at)
        return cls(of_row, of_moment, first_at, last_at)

    def compared(self, first: int, second: int, both: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], int]:
        """Return the moments on which two bots can be compared, (n_t,), and how many common subjects have none.

        Args:
            first: One of the bots.
            second: The other.
            both: The moments of which both have something, (n_t,).
        """
        if self.first_at is None or self.last_at is None:
            return both, 0
        ends = np.maximum(self.last_at[:, first], self.last_at[:, second])
        near = both & (ends - np.minimum(self.first_at[:, first], self.first_at[:, second]) <= _NEAR_SECONDS)
        subjects = [np.unique(self.subject[np.isfinite(self.first_at[:, bot])]) for bot in (first, second)]
        common = np.intersect1d(*subjects, assume_unique=True).size
        return near, common - np.unique(self.subject[near]).size


def far_apart(subject: Ints, at: Floats) -> bool:
    """Return whether anything was said of one subject by several, or twice, at times that are not near each other."""
    subjects, code = np.unique(subject, return_inverse=True)
    return bool(subjects.size) and _reach(code, at, subjects.size) > _NEAR_SECONDS


def _reach(code: Ints, at: Floats, codes: int) -> float:
    """Return the longest time from the first to the last row of a code."""
    first, last = np.full(codes, np.inf), np.full(codes, -np.inf)
    np.minimum.at(first, code, at)
    np.maximum.at(last, code, at)
    return float((last - first).max())
