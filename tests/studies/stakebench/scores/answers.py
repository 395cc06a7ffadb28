"""Answers of a made-up bot to many comments, from a seed, with all that the scores read."""

from dataclasses import dataclass

import numpy as np

from predibot.scoring.arguments import Floats, Ints
from predibot.studies.stakebench.scores.tallies import REFUSED


@dataclass(frozen=True, slots=True)
class Answers:
    said: Ints
    side: Ints
    stake: Floats
    split: Ints
    market: Ints
    resolved: Ints


def made(seed: int, n: int = 400, *, splits: int = 3) -> Answers:
    """Return answers that are right more often than not, with abstentions, unreadable ones and stakes below zero."""
    rng = np.random.default_rng(seed)
    market = rng.integers(0, 8 * splits, n)
    side = rng.choice([-1, 1], n)
    said = np.where(rng.random(n) < 0.6, side, -side)
    said = np.where(rng.random(n) < 0.2, 0, said)
    said = np.where(rng.random(n) < 0.05, REFUSED, said)
    outcome = rng.choice([-1, 1, 0], 8 * splits, p=[0.45, 0.45, 0.1])
    return Answers(said, side, rng.choice([5.0, 20.0, -80.0, 400.0], n), market % splits, market, outcome[market])
