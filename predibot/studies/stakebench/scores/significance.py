"""Significance: tests against chance, of two samples, of many tests at once, and audits made with them: whether a bot
reads the language of commitment, or guesses outcomes and gets lucky.

Arguments of the audits are of shape (n,), of one split: `predicted` holds +1, -1, 0 or `REFUSED`; `sides` the writers'
sides, +1, -1, or 0 before their first position; `resolved` +1, -1, or 0 where the market paid neither; `stakes` count
by magnitude."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import Floats
from predibot.scoring.inference.bootstrap import generator
from predibot.scoring.inference.clusters import cluster_codes
from predibot.scoring.inference.student_t import t_two_sided
from predibot.scoring.inference.uncertainty import benjamini_hochberg
from predibot.scoring.metrics.agreement import rank_correlation
from predibot.studies.stakebench.scores.tallies import Tally, directed_marks, names_side, stake_quartiles

FEWEST_WRONG_BETTORS = 20
FEWEST_FOR_DOSES = 40


def wrong_bettors(predicted: ArrayLike, sides: ArrayLike, resolved: ArrayLike) -> tuple[float, float]:
    """Return how often a bot names the side of writers on the losing side, of those for whom it names one, and the
    one-sided p-value against one half: section 3.2 of StakeBench (arXiv 2605.26074).

    A bot that guesses outcomes names the other side. NaN without any; no p-value below `FEWEST_WRONG_BETTORS`.

    Examples:
        >>> following, p_value = wrong_bettors([1] * 20, [1] * 20, [-1] * 20)
        >>> following, p_value < 1e-5
        (1.0, True)
    """
    answers, own_side, outcome = map(np.asarray, (predicted, sides, resolved))
    lost = (own_side != 0) & (outcome == -own_side) & names_side(answers)
    n, hits = int(lost.sum()), int((answers[lost] == own_side[lost]).sum())
    p_value = float(binomial_p_values([hits], [n], chance=0.5)[0]) if n >= FEWEST_WRONG_BETTORS else math.nan
    return hits / n if n else math.nan, p_value


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
        p_value = mann_whitney(hits.earned[quartiles == 4], hits.earned[quartiles == 1])[0]
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
    answers, own_side, outcome, later = map(np.asarray, (predicted, sides, resolved, after))
    later = later == 1
    counted = names_side(answers) & (outcome != 0)
    if not counted.any():
        return Drift(0, math.nan, math.nan, math.nan, math.nan, math.nan)
    person, market = cluster_codes(users, "users"), cluster_codes(markets, "markets")
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


def outcome_audit(predicted: ArrayLike, sides: ArrayLike, resolved: ArrayLike) -> tuple[float, float]:
    """Return DA of the same answers against the writers' sides and against the resolutions, of markets that paid YES or
    NO.

    Examples:
        >>> outcome_audit([1, 1], [1, -1], [1, 1])
        (0.5, 1.0)
    """
    answers, own_side, outcome = map(np.asarray, (predicted, sides, resolved))
    kept = (outcome != 0) & (own_side != 0)
    by_side, by_resolution = (directed_marks(answers[kept], each[kept]).over_all() for each in (own_side, outcome))
    return by_side, by_resolution


def binomial_p_values(hits: ArrayLike, trials: ArrayLike, *, chance: float) -> Floats:
    """Return the exact one-sided chance of at least so many hits by guessing, (m,); NaN where there was no trial.

    Examples:
        >>> binomial_p_values([4, 0], [4, 0], chance=0.5).tolist()
        [0.0625, nan]
    """
    # Imported here: it takes a third of a second.
    from scipy.special import bdtrc

    found, tried = np.asarray(hits, dtype=np.int64), np.asarray(trials, dtype=np.int64)
    p_values = np.full(found.size, np.nan)
    happened = tried > 0
    p_values[happened] = bdtrc(found[happened] - 1, tried[happened], chance)
    return p_values


def discoveries(p_values: ArrayLike) -> tuple[int, int, int]:
    """Return the number of tests with a p-value, how many are significant at 0.05, and how many of them Benjamini and
    Hochberg's false discovery rate retains.

    Examples:
        >>> discoveries([0.001, 0.04, 0.9, float("nan")])
        (3, 2, 1)
    """
    given = np.asarray(p_values)
    known = given[~np.isnan(given)]
    retained = int((benjamini_hochberg(known) < 0.05).sum()) if known.size else 0
    return known.size, int((known < 0.05).sum()), retained


def mann_whitney(first: ArrayLike, second: ArrayLike) -> tuple[float, float]:
    """Return the p-values of Mann and Whitney's test of two samples, one-sided for a larger first one and two-sided, by
    the normal approximation, corrected for ties and continuity.

    NaN where a sample is empty or all values are equal.

    Source:
        Mann and Whitney (1947), Annals of Mathematical Statistics 18(1), 50-60.

    Examples:
        >>> greater, two_sided = mann_whitney([4, 5, 6], [1, 2, 3])
        >>> round(greater, 4), round(two_sided, 4)
        (0.0404, 0.0809)
    """
    # Imported here: it takes half a second.
    from scipy.stats import mannwhitneyu

    one, other = np.asarray(first), np.asarray(second)
    if not one.size or not other.size or np.ptp(np.concatenate((one, other))) == 0.0:
        return math.nan, math.nan
    greater = mannwhitneyu(one, other, alternative="greater", method="asymptotic")
    two_sided = mannwhitneyu(one, other, method="asymptotic")
    return float(greater.pvalue), float(two_sided.pvalue)


BIAS_COLUMNS = ("holders", "others", "Cohen's d", "p")
"""The columns of `coverage_bias`."""


def coverage_bias(values: ArrayLike, holds: ArrayLike) -> tuple[float, ...]:
    """Compare a number, such as the length of each comment, between comments with and without a position.

    Returns the cells of `BIAS_COLUMNS`: both means; the difference of means in pooled standard deviations, NaN below
    two of each or without spread; and the two-sided p-value by Mann and Whitney. `values` may be NaN; `holds` says
    which comments have a position. From StakeBench (arXiv 2605.26074), Appendix H; Cohen (1988).

    Examples:
        >>> [round(each, 4) for each in coverage_bias([1, 2, 3, 4], [0, 0, 1, 1])[:3]]
        [3.5, 1.5, 2.8284]
    """
    given, so = np.asarray(values, dtype=np.float64), np.asarray(holds) == 1
    known = np.isfinite(given)
    one, other = given[known & so], given[known & ~so]
    means = [float(each.mean()) if each.size else math.nan for each in (one, other)]
    spread = math.nan
    if min(one.size, other.size) > 1:
        squares = one.var(ddof=1) * (one.size - 1) + other.var(ddof=1) * (other.size - 1)
        spread = math.sqrt(float(squares) / (one.size + other.size - 2))
    # The deviation of equal numbers is rounding.
    cohen_d = (means[0] - means[1]) / spread if spread > 1e-12 * max(map(abs, means)) else math.nan
    return means[0], means[1], cohen_d, mann_whitney(one, other)[1]


def independence_p_value(rows: ArrayLike, columns: ArrayLike) -> float:
    """Return the p-value of the chi-squared test that two kinds of labels are independent; NaN for a single label.

    Examples:
        >>> round(independence_p_value(["a", "a", "b", "b"], [0, 1, 0, 1]), 6)
        1.0
    """
    # Imported here: it takes half a second.
    from scipy.stats import chi2_contingency
    from scipy.stats.contingency import crosstab

    table = crosstab(rows, columns).count
    return float(chi2_contingency(table, correction=False).pvalue) if min(table.shape) > 1 else math.nan


PLATFORM_COLUMNS = ("difference", "t", "p", "rank correlation", "rank p", "topics", "bots")
"""The columns of `platform_comparison`."""


def platform_comparison(first: ArrayLike, second: ArrayLike) -> tuple[float, ...]:
    """Compare a score on two platforms, (bots, topics) each, NaN without a score: StakeBench's Table 12.

    Returns the cells of `PLATFORM_COLUMNS`: the mean of the first less the second, over topics and bots; t and its
    p-value, paired by topic, NaN below two topics or for equal differences; the correlation of the bots' ranks on both
    platforms and its p-value, NaN below three bots; and the numbers of topics and of bots.

    Examples:
        >>> found = platform_comparison([[0.6, 0.7], [0.5, 0.7]], [[0.5, 0.5], [0.4, 0.3]])
        >>> round(found[0], 3), found[-2]
        (0.2, 2)
    """
    one, other = np.asarray(first), np.asarray(second)
    known = ~np.isnan(one) & ~np.isnan(other)
    one, other = np.where(known, one, np.nan), np.where(known, other, np.nan)
    topics, bots = known.any(axis=0), known.any(axis=1)
    if not topics.any():
        return *[math.nan] * 5, 0, 0
    differences = np.nanmean((one - other)[:, topics], axis=0)
    t = p_value = math.nan
    number = differences.size
    # Equal differences have no spread to test against.
    if number > 1 and np.ptp(differences) > 1e-12:
        t = float(differences.mean() / (differences.std(ddof=1) / math.sqrt(number)))
        p_value = t_two_sided(t, number - 1)
    rho, rank_p, count = rank_test(*(np.nanmean(each[bots], axis=1) for each in (one, other)))
    return float(differences.mean()), t, p_value, rho, rank_p, number, count


def rank_test(first: ArrayLike, second: ArrayLike) -> tuple[float, float, int]:
    """Return the rank correlation of two scores over bots, its two-sided p-value, and the number of bots with both.

    Examples:
        >>> rho, p, bots = rank_test([1, 2, 3, 4, float("nan")], [2, 1, 4, 3, 9])
        >>> round(rho, 3), round(p, 3), bots
        (0.6, 0.4, 4)
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    both = ~np.isnan(one) & ~np.isnan(other)
    n = int(both.sum())
    rho = rank_correlation(one[both], other[both]) if n > 2 else math.nan
    if math.isnan(rho):
        return rho, math.nan, n
    # Equal and opposite orders are two of n!; Student's t would call them impossible.
    if abs(rho) >= 1.0 - 1e-12:
        return rho, 2.0 / math.factorial(min(n, 20)), n
    return rho, t_two_sided(rho * math.sqrt((n - 2) / (1.0 - rho * rho)), n - 2), n
