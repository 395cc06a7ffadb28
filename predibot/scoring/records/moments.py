"""Moments: when bots forecast a subject, so that two of them are compared one to one."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from predibot.scoring.arguments import Floats, Ints

NEAR_HOURS = 6
"""The most hours between the prices of two bots that are compared."""
_NEAR = NEAR_HOURS * 3600.0 * 1e6


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """The n_t moments at which some bots forecast something: by bot, then by subject, then by time.

    All that a bot was asked of one subject within six hours of one slot, as by two recipes, is one moment, at the first
    of these instants.
    """

    of_row: Ints
    """The moment of each of m rows, (m,)."""
    row: Ints
    """A row of each moment, (n_t,)."""
    rows: Ints
    subject: Ints
    key: Ints
    """Subject and instant as one number, (n_t,)."""
    at: Floats
    """In whole microseconds, whose differences are exact, (n_t,)."""
    ends: Ints
    """The end of each bot's moments, (bots + 1,), from 0."""

    @classmethod
    def of(cls, bot: Ints, subject: Ints, asked: Ints, at: Floats, bots: int) -> "Moments":
        """Return the moments of m rows; `asked` numbers their subjects and slots, `at` is in seconds, (m,) each."""
        at = np.rint(at * 1e6)
        cells, cell = np.unique(asked * bots + bot, return_inverse=True)
        late = (at - _first(cell, at, cells.size)[cell]) // _NEAR
        parts, part = np.unique(cell * (late.max(initial=0.0) + 1.0) + late, return_inverse=True)
        instants, instant = np.unique(_first(part, at, parts.size)[part], return_inverse=True)
        subjects, code = np.unique(subject, return_inverse=True)
        # Numbers from zero do not overflow.
        of_bot = max(subjects.size * instants.size, 1)
        numbers, row, of_row, rows = np.unique(
            bot * of_bot + code * instants.size + instant, return_index=True, return_inverse=True, return_counts=True
        )
        ends = np.searchsorted(numbers, np.arange(bots + 1) * of_bot)
        return cls(of_row, row, rows, code[row], numbers % of_bot, instants[instant[row]], ends)

    def means(self, values: Floats) -> Floats:
        """Return the mean over the rows of each moment, (n_t,)."""
        return np.bincount(self.of_row, values, self.rows.size) / np.maximum(self.rows, 1)

    def match(self, first: int, second: int) -> tuple[Ints, Ints, int]:
        """Return the moments of two bots that are compared one to one, and the number of common subjects without any.

        Two moments of a subject match if each is the other's nearest and they lie at most six hours apart. Of several
        equally near ones the earliest two match, and then the earliest of the rest.
        """
        moment = np.concatenate([np.arange(self.ends[bot], self.ends[bot + 1]) for bot in (first, second)])
        order = np.argsort(self.key[moment], kind="stable")
        other = order >= self.ends[first + 1] - self.ends[first]
        moment = moment[order]
        subject, at = self.subject[moment], self.at[moment]
        before = _since_other(other, subject, at)
        after = _since_other(other[::-1], subject[::-1], -at[::-1])[::-1]
        nearest = np.minimum(before, after)
        # Two that are each other's nearest are neighbours.
        mutual = (other[1:] != other[:-1]) & (after[:-1] == nearest[:-1]) & (before[1:] == nearest[1:])
        left = np.flatnonzero(_every_second(mutual & (after[:-1] <= _NEAR)))
        turned = other[left]
        ours, theirs = moment[np.where(turned, left + 1, left)], moment[np.where(turned, left, left + 1)]
        common = np.unique(subject[np.isfinite(nearest)]).size
        return ours, theirs, common - np.unique(subject[left]).size


def _first(code: Ints, at: Floats, codes: int) -> Floats:
    first = np.full(codes, np.inf)
    np.minimum.at(first, code, at)
    return first


def _since_other(other: NDArray[np.bool_], subject: Ints, at: Floats) -> Floats:
    """Return the time since the other of two sides last forecast each subject, infinite for never."""
    place = np.arange(at.size)
    ours, theirs = (np.maximum.accumulate(np.where(side, place, -1)) for side in (~other, other))
    last = np.where(other, ours, theirs)
    return np.where((last >= 0) & (subject[last] == subject), at - at[last], np.inf)


def _every_second(true: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the first, third, fifth and so on of every run of true ones."""
    place = np.arange(true.size)
    begins = true & ~np.concatenate([[False], true[:-1]])
    found: NDArray[np.bool_] = true & ((place - np.maximum.accumulate(np.where(begins, place, 0))) % 2 == 0)
    return found
