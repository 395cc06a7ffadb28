"""Designs: clustered scores drawn from a known truth, to see how often an interval holds it."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Sample(NamedTuple):
    """Rows of numerators and denominators in clusters; the truth is the ratio of their expectations."""

    numerators: Floats
    denominators: Floats
    clusters: NDArray[np.int64]
    truth: float


Design = Callable[[np.random.Generator, int], Sample]
Leaderboard = Callable[[np.random.Generator, int], tuple[Floats, NDArray[np.int64]]]
"""Scores, one column a forecaster, and the cluster of each row."""


def normal(rng: np.random.Generator, clusters: int) -> Sample:
    """Draw five normal scores a cluster, a fifth of their variance shared."""
    of = np.repeat(np.arange(clusters), 5)
    values = rng.normal(0.0, 1.0, clusters)[of] + rng.normal(0.0, 2.0, of.size)
    return Sample(values, np.ones(of.size), of, 0.0)


def skewed(rng: np.random.Generator, clusters: int) -> Sample:
    """Draw one to five scores a cluster in [0, 1], most near zero and a few near one, as Brier scores are."""
    return _beta(rng, rng.integers(1, 6, clusters))


def unequal(rng: np.random.Generator, clusters: int) -> Sample:
    """Draw skewed scores in clusters of log-normal sizes: the median has 3 or 4 rows, one in forty above 20."""
    return _beta(rng, np.ceil(3.0 * np.exp(rng.normal(0.0, 1.0, clusters))).astype(np.int64))


def skill(rng: np.random.Generator, clusters: int) -> Sample:
    """Draw squared errors of a bot over those of the market, on one to five linked markets a cluster."""
    of = np.repeat(np.arange(clusters), rng.integers(1, 6, clusters))
    chances = rng.random(of.size)
    outcomes = rng.random(clusters)[of] < chances
    bot, market = noisy(rng, chances, 0.5), noisy(rng, chances, 0.3)
    # A forecast (1 - s) q + s u of a chance q has expected squared error (1 + s^2) / 6, q and u being uniform.
    return Sample((bot - outcomes) ** 2, (market - outcomes) ** 2, of, 1.25 / 1.09)


def gains(rng: np.random.Generator, clusters: int) -> Sample:
    """Draw gains of a dollar bet at fair prices from 0.15 to 0.85."""
    return fair_gains(rng, clusters, 0.15)


def long_odds(rng: np.random.Generator, clusters: int) -> Sample:
    """Draw gains of a dollar bet at fair prices from 0.01 to 0.3: rare wins of up to a hundredfold."""
    return fair_gains(rng, clusters, 0.01, 0.3)


def fair_gains(rng: np.random.Generator, clusters: int, lowest: float, highest: float = 0.85) -> Sample:
    """Draw gains of a dollar bet at fair prices, on one to three linked markets a cluster."""
    of = np.repeat(np.arange(clusters), rng.integers(1, 4, clusters))
    prices = rng.uniform(lowest, highest, of.size)
    won = rng.random(clusters)[of] < prices
    return Sample(np.where(won, 1.0 / prices - 1.0, -1.0), np.ones(of.size), of, 0.0)


DESIGNS: Mapping[str, Design] = {
    "normal": normal,
    "skewed": skewed,
    "unequal": unequal,
    "skill": skill,
    "gains": gains,
}


def alike(rng: np.random.Generator, clusters: int) -> tuple[Floats, NDArray[np.int64]]:
    """Draw Brier scores of six equally good forecasters who err in the same way, shape (n, 6), and their clusters."""
    return _leaderboard(rng, clusters, often=(1.0,) * 6)


def unlike(rng: np.random.Generator, clusters: int) -> tuple[Floats, NDArray[np.int64]]:
    """Draw Brier scores of six equally good forecasters, of whom some err often and little, others seldom and much."""
    return _leaderboard(rng, clusters, often=(1.0, 0.7, 0.5, 0.3, 0.2, 0.1))


def _leaderboard(rng: np.random.Generator, clusters: int, often: tuple[float, ...]) -> tuple[Floats, NDArray[np.int64]]:
    of = np.repeat(np.arange(clusters), rng.integers(1, 6, clusters))
    chances = rng.random(of.size)
    outcomes = rng.random(clusters)[of] < chances
    # The share of errors times their squared size, and with it the expected score, is the same for all.
    forecasts = [noisy(rng, chances, np.where(rng.random(of.size) < share, 0.3 / share**0.5, 0.0)) for share in often]
    return (np.column_stack(forecasts) - outcomes[:, np.newaxis]) ** 2, of


def noisy(rng: np.random.Generator, chances: Floats, share: float | Floats) -> Floats:
    """Return forecasts that are so much noise and for the rest the true chances."""
    forecasts: Floats = (1.0 - share) * chances + share * rng.random(chances.size)
    return forecasts


def _beta(rng: np.random.Generator, sizes: NDArray[np.int64]) -> Sample:
    of = np.repeat(np.arange(sizes.size), sizes)
    means = np.clip(rng.beta(1.0, 4.0, sizes.size), 1e-6, None)[of]
    return Sample(rng.beta(2.0 * means, 2.0 * (1.0 - means)), np.ones(of.size), of, 0.2)
