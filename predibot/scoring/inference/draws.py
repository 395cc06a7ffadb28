"""Draws: clusters drawn anew, from a seed, as if other events had been asked about."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from predibot.scoring.arguments import Floats, scalar

MAX_RESAMPLES = 1_000_000
"""More tell nothing new, and would fill the memory."""

_BLOCK_CELLS = 32_768
"""Draws held at once: they stay in the processor's cache, whatever the number of clusters."""


def resampled_counts(clusters: int, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
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


def resampled_sums(tables: Sequence[Floats], resamples: int, rng: np.random.Generator) -> list[Floats]:
    """Return the column sums of each table (clusters, columns) in each resample, shape (resamples, columns).

    All tables have equally many clusters and share the draws; each has the sums
    that it has alone.
    """
    blocks = [[counts @ table for table in tables] for counts in resampled_counts(len(tables[0]), resamples, rng)]
    return [np.concatenate(of_table) for of_table in zip(*blocks, strict=True)]


def generator(seed: int) -> np.random.Generator:
    """Return the random numbers of a seed.

    Raises:
        ValueError: If the seed is not a whole number of zero or more.
    """
    at_least("seed", seed, 0)
    return np.random.default_rng(seed)


def is_whole(number: object) -> bool:
    """Return whether it is one whole number; truth values and lengths of time are none."""
    return isinstance(number, int | np.integer) and not isinstance(number, bool | np.timedelta64)


def at_least(name: str, number: Any, least: int) -> None:
    """Refuse what is not a whole number, or too small a one.

    Raises:
        ValueError: If it is; says what was seen.
    """
    if not is_whole(number) or number < least:
        raise ValueError(f"{name} is {number!r}; it must be a whole number of at least {least}")


def at_most(name: str, number: int, most: int) -> None:
    """Refuse a number that would fill the memory.

    Raises:
        ValueError: If it is larger than the most.
    """
    if number > most:
        raise ValueError(f"{name} is {number:,}; it must be at most {most:,}")


def between_0_and_1(name: str, number: float) -> float:
    """Return a share that is neither all nor nothing.

    Raises:
        ValueError: If it does not lie strictly between zero and one.
    """
    share = scalar(name, number)
    if not 0.0 < share < 1.0:
        raise ValueError(f"{name} is {number!r}; it must be above 0 and below 1")
    return share
