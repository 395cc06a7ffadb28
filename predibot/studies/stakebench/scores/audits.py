"""Audits: whether a bot reads the language of commitment, or guesses outcomes and gets lucky.

All arguments are of shape (n,), of one split: `predicted` holds +1, -1, 0 or
`REFUSED`; `sides` the writers' sides, +1, -1, or 0 before their first position;
`resolved` +1, -1, or 0 where the market paid neither; `stakes` count by magnitude."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import Floats, Ints, array_of, booleans, indices, refuse, same_length
from predibot.scoring.inference.clusters import cluster_codes
from predibot.scoring.inference.draws import at_least, generator
from predibot.studies.stakebench.scores.ratios import Tally
from predibot.studies.stakebench.scores.scores import directed_marks, names_side, stake_quartiles
from predibot.studies.stakebench.scores.significance import binomial_p_values, mann_whitney

FEWEST_WRONG_BETTORS = 20
FEWEST_FOR_DOSES = 40


@dataclass(frozen=True, slots=True)
class WrongBettors:
    """Whether a bot names the side of writers on the losing side; a bot that guesses outcomes names the other."""

    n: int
    """Comments of writers on the losing side, for which the bot named a side."""
    following: float
    """The share in which it named the writer's side; NaN without any."""
    p_value: float
    """One-sided against one half; NaN below `FEWEST_WRONG_BETTORS`."""


def wrong_bettors(predicted: ArrayLike, sides: ArrayLike, resolved: ArrayLike) -> WrongBettors:
    """Return how a bot reads the writers on the losing side: section 3.2 of StakeBench (arXiv 2605.26074).

    Examples:
        >>> found = wrong_bettors([1] * 20, [1] * 20, [-1] * 20)
        >>> found.n, found.following, found.p_value < 1e-5
        (20, 1.0, True)
    """
    answers, own_side, outcome = _codes(predicted, sides, resolved)
    lost = (own_side != 0) & (outcome == -own_side) & names_side(answers)
    n, hits = int(lost.sum()), int((answers[lost] == own_side[lost]).sum())
    p_value = float(binomial_p_values([hits], [n], chance=0.5)[0]) if n >= FEWEST_WRONG_BETTORS else math.nan
    return WrongBettors(n, hits / n if n else math.nan, p_value)


@dataclass(frozen=True, slots=True)
class DoseResponse:
    """Whether a bot reads sides better where more is staked."""

    n: int
    by_quartile: tuple[float, float, float, float]
    """DA by quartile of stakes; NaN for an empty one."""
    p_value: float
    """One-sided, highest above lowest; NaN below `FEWEST_FOR_DOSES`, or without variation."""

    @property
    def signal(self) -> float:
        """Return CSD: DA of the highest quartile less that of the lowest."""
        return self.by_quartile[3] - self.by_quartile[0]


def dose_response(predicted: ArrayLike, sides: ArrayLike, stakes: ArrayLike) -> DoseResponse:
    """Return how a bot's hits depend on the stakes, as in section 3.2; p-values of Table 10 are up to .02 larger.

    Examples:
        >>> found = dose_response([1] * 40, [-1] * 20 + [1] * 20, range(40))
        >>> found.signal, found.p_value < 1e-4
        (1.0, True)
    """
    hits = directed_marks(predicted, sides)
    one_split = np.zeros(hits.earned.size, dtype=np.int64)
    quartiles = stake_quartiles(stakes, one_split, hits.counted)
    n = int(hits.counted.sum())
    found = Tally(hits.earned, hits.counted).by_split(quartiles, 5)
    p_value = math.nan
    if n >= FEWEST_FOR_DOSES:
        p_value = mann_whitney(hits.earned[quartiles == 4], hits.earned[quartiles == 1]).greater
    return DoseResponse(n, (float(found[1]), float(found[2]), float(found[3]), float(found[4])), p_value)


@dataclass(frozen=True, slots=True)
class Drift:
    """Whether users' comments drift away from the outcome once they hold a position."""

    users: int
    """Users with scored comments before and after their first position in a market."""
    before: float
    """DA against the resolution, of comments before."""
    after: float
    """DA against the resolution, of comments after; NaN without users, as `before`."""
    after_by_side: float
    """DA against the writers' sides, of comments after."""
    within_user: float
    """Mean over users of `after` less `before`; below zero is the mark of commitment."""
    p_value: float
    """One-sided, for below zero, by flipping users' signs; NaN below two users, or without differences."""


def within_user_drift(
    predicted: ArrayLike,
    sides: ArrayLike,
    resolved: ArrayLike,
    users: ArrayLike,
    markets: ArrayLike,
    after: ArrayLike,
    *,
    seed: int = 0,
    flips: int = 10_000,
) -> Drift:
    """Return how a bot's labels of the same users change when they take a position.

    `after` says whether the writer had taken one in the market. StakeBench, section 3.2 and Table 11, has no test.
    """
    at_least("flips", flips, 1)
    answers, own_side, outcome = _codes(predicted, sides, resolved)
    later = booleans("after", after)
    same_length(predicted=answers, users=array_of("users", users), after=later)
    counted = names_side(answers) & (outcome != 0)
    if not counted.any():
        return Drift(0, math.nan, math.nan, math.nan, math.nan, math.nan)
    person, market = cluster_codes(users, "users"), cluster_codes(markets, "markets")
    same_length(predicted=answers, markets=market)
    pairs = np.unique(person * (int(market.max()) + 1) + market, return_inverse=True)[1].astype(np.int64)
    number = int(pairs.max()) + 1
    times = [np.bincount(pairs[counted & when], minlength=number) for when in (~later, later)]
    both = (times[0] > 0) & (times[1] > 0)
    kept = counted & both[pairs]
    hits = (answers == outcome).astype(np.float64)
    rates = [np.bincount(pairs[kept & when], hits[kept & when], minlength=number) for when in (~later, later)]
    moved = (rates[1] / np.maximum(times[1], 1) - rates[0] / np.maximum(times[0], 1))[both]
    owner = np.zeros(number, dtype=np.int64)
    owner[pairs] = person
    _, local, counts = np.unique(owner[both], return_inverse=True, return_counts=True)
    by_user = np.bincount(local, moved) / counts if moved.size else moved
    return Drift(
        by_user.size,
        _mean(hits[kept & ~later]),
        _mean(hits[kept & later]),
        _mean((answers == own_side)[kept & later & (own_side != 0)]),
        _mean(by_user),
        _below_zero(by_user, flips, seed),
    )


def _mean(values: "np.ndarray[tuple[int, ...], np.dtype[np.float64 | np.bool_]]") -> float:
    return float(values.mean()) if values.size else math.nan


def _below_zero(differences: Floats, flips: int, seed: int) -> float:
    """Return the share of random signs, the actual ones included, with as low a sum or lower."""
    if differences.size < 2 or not differences.any():
        return math.nan
    rng, low, done = generator(seed), 0, 0
    block = max(1, 1_000_000 // differences.size)
    seen = float(differences.sum()) + 1e-9
    while done < flips:
        size = min(block, flips - done)
        signs = rng.integers(0, 2, (size, differences.size)) * 2 - 1
        low += int((signs @ differences <= seen).sum())
        done += size
    return (1 + low) / (1 + flips)


@dataclass(frozen=True, slots=True)
class OutcomeAudit:
    """Directed accuracy of the same answers against the writers' sides and the resolutions."""

    by_side: float
    by_resolution: float
    n: int


def outcome_audit(predicted: ArrayLike, sides: ArrayLike, resolved: ArrayLike) -> OutcomeAudit:
    """Return DA against sides and resolutions, of markets that paid YES or NO.

    Examples:
        >>> outcome_audit([1, 1], [1, -1], [1, 1]).by_side
        0.5
    """
    answers, own_side, outcome = _codes(predicted, sides, resolved)
    refuse("resolved", outcome, np.abs(outcome) > 1, "each must be -1, 0 or 1")
    kept = (outcome != 0) & (own_side != 0)
    by_side, by_resolution = (directed_marks(answers[kept], each[kept]) for each in (own_side, outcome))
    return OutcomeAudit(by_side.over_all(), by_resolution.over_all(), int(by_side.counted.sum()))


def _codes(predicted: ArrayLike, sides: ArrayLike, resolved: ArrayLike) -> tuple[Ints, Ints, Ints]:
    answers, own_side, outcome = indices("predicted", predicted), indices("sides", sides), indices("resolved", resolved)
    same_length(predicted=answers, sides=own_side, resolved=outcome)
    return answers, own_side, outcome
