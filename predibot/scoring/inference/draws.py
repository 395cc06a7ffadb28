"""Draws: clusters drawn anew from a seed, as if other events had been asked about."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from predibot.scoring.arguments import Floats, scalar

MAX_RESAMPLES = 1_000_000
"""More would change nothing and fill the memory."""

_BLOCK_CELLS = 32_768


def resample_counts(clusters: int, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield how often each cluster is drawn in each resample, in blocks of shape (some resamples, clusters).

    A resample draws as many clusters as there are, with replacement.
    """
    block = max(1, _BLOCK_CELLS // clusters)
    for done in range(0, resamples, block):
        size = min(block, resamples - done)
        drawn = (rng.random((size, clusters)) * clusters).astype(np.int64)
        drawn += clusters * np.arange(size)[:, np.newaxis]
        counts = np.bincount(drawn.ravel(), minlength=size * clusters)
        yield counts.reshape(size, clusters).astype(np.float64)


def resample_sums(tables: Sequence[Floats], resamples: int, rng: np.random.Generator) -> list[Floats]:
    """Return the column sums of each table (clusters, columns) in each resample, shape (resamples, columns).

    All tables have equally many clusters and share the draws; the sums of each are the same as if it were alone.
    """
    blocks = [[counts @ table for table in tables] for counts in resample_counts(len(tables[0]), resamples, rng)]
    return [np.concatenate(of_table) for of_table in zip(*blocks, strict=True)]


def generator(seed: int) -> np.random.Generator:
    """Return the random generator of a seed, a whole number of zero or more; raise `ValueError` otherwise."""
    at_least("seed", seed, 0)
    return np.random.default_rng(seed)


def is_whole(number: object) -> bool:
    """Return whether it is one whole number; truth values and timedelta64 are none."""
    return isinstance(number, int | np.integer) and not isinstance(number, bool | np.timedelta64)


def at_least(name: str, number: Any, least: int) -> None:
    """Raise `ValueError` unless it is a whole number that is large enough."""
    if not is_whole(number) or number < least:
        raise ValueError(f"{name} is {number!r}; it must be a whole number of at least {least}")


def at_most(name: str, number: int, most: int) -> None:
    """Raise `ValueError` for a number that would fill the memory."""
    if number > most:
        raise ValueError(f"{name} is {number:,}; it must be at most {most:,}")


def between_0_and_1(name: str, number: float) -> float:
    """Return a number strictly between 0 and 1; raise `ValueError` otherwise."""
    share = scalar(name, number)
    if not 0.0 < share < 1.0:
        raise ValueError(f"{name} is {number!r}; it must be above 0 and below 1")
    return share
