"""Crowds whose comments were written by commitment, or by nothing, as one reader who is right nine times in ten reads.

The planted effect, the same for every bot: before a first position the words
point to the outcome with a chance of .68; after it they point to the writer's
side with a chance of .50 for the smallest stakes up to .80 for the largest.
Without it they point anywhere.
"""

from dataclasses import dataclass

import numpy as np

from predibot.scoring.arguments import Floats, Ints
from predibot.studies.stakebench.scores.significance import dose_response, within_user_drift, wrong_bettors


@dataclass(frozen=True, slots=True)
class AuditPValues:
    wrong_bettors: float
    dose: float
    drift: float


def audited(seed: int, *, planted: bool, flips: int = 400) -> AuditPValues:
    """Return the p-values of the three audits on a crowd of 2,000 comments by 500 users on 40 markets."""
    rng = np.random.default_rng(seed)
    user = np.repeat(np.arange(500), 4)
    market, after = rng.integers(0, 40, 500)[user], np.tile([0, 0, 1, 1], 500) == 1
    resolved = rng.choice([-1, 1], 40)[market]
    side = rng.choice([-1, 1], 500)[user]
    stake = rng.lognormal(4.0, 2.0, 500)[user]
    rank: Floats = np.argsort(np.argsort(stake)) / stake.size
    points = np.where(after, 0.50 + 0.30 * rank, 0.68) if planted else np.full(stake.size, 0.5)
    towards: Ints = np.where(after, side, resolved)
    language = np.where(rng.random(stake.size) < points, towards, -towards)
    said = np.where(rng.random(stake.size) < 0.9, language, -language)
    said = np.where(rng.random(stake.size) < 0.15, 0, said)
    held = np.where(after, side, 0)
    return AuditPValues(
        wrong_bettors(said[after], held[after], resolved[after])[1],
        dose_response(said[after], held[after], stake[after]).p_value,
        within_user_drift(said, held, resolved, user, market, after, flips=flips, seed=seed).p_value,
    )


def shares_found(crowds: int, *, planted: bool) -> dict[str, float]:
    """Return in which share of so many crowds each audit finds an effect at .05; NaN finds none."""
    found = [audited(seed, planted=planted) for seed in range(crowds)]
    return {name: float(np.mean([getattr(each, name) < 0.05 for each in found])) for name in AuditPValues.__slots__}
