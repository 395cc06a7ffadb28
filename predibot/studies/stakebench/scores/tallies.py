"""Scores of labels: what each answer earns as a `Tally`, the ratios of tallies with their errors, gaps and means."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.inference.bootstrap import generator, resample_counts
from predibot.scoring.inference.clusters import cluster_codes

REFUSED = -99
"""Stands for an unreadable answer: never right, and no side."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What each answer earns, and its weight."""

    earned: Floats
    """Shape (n,), from zero to `counted`."""
    counted: Floats
    """Shape (n,), zero or more; 0 where the answer is not scored."""

    def by_split(self, splits: Ints, number: int) -> Floats:
        """Return the score of each split, shape (number,); NaN where nothing counts."""
        earned, counted = (np.bincount(splits, each, minlength=number) for each in (self.earned, self.counted))
        # Weights that vanish in a sum are no weights.
        found: Floats = np.divide(earned, counted, out=np.full(number, np.nan), where=counted > 0.0)
        return found

    def over_all(self) -> float:
        """Return the score of all answers as one split; NaN where nothing counts."""
        return float(self.by_split(np.zeros(self.earned.size, dtype=np.int64), 1)[0])


@dataclass(frozen=True, slots=True)
class MacroEstimate:
    """A mean over splits with a bootstrap interval over markets."""

    estimate: float
    low: float | None
    """None with fewer than two markets, or with resamples without a value."""
    high: float | None
    splits: int
    """Only those with a value."""
    markets: int
    n: int
    """Answers that count."""

    @property
    def width(self) -> float | None:
        """Return the width of the interval."""
        return None if self.low is None or self.high is None else self.high - self.low


def macro_average(by_split: ArrayLike) -> float:
    """Return the unweighted mean over splits with a value; NaN without any.

    Examples:
        >>> macro_average([0.4, float("nan"), 0.6])
        0.5
    """
    values = np.asarray(by_split, dtype=np.float64)
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else math.nan


def macro_estimate(
    marks: Tally, splits: ArrayLike, markets: ArrayLike, *, minus: Tally | None = None, resamples: int = 2_000
) -> MacroEstimate:
    """Return a macro average with its 95 % percentile interval, markets drawn anew within each split.

    A market is drawn with all its comments, as they share a question and often a crowd.

    Args:
        splits: Whole numbers from zero, shape (n,).
        markets: Words or whole numbers, shape (n,); a market lies in one split.
        minus: Subtracted in each split, such as a baseline or the lowest quartile.
    """
    rows = np.asarray(splits)
    if not rows.size:
        return MacroEstimate(math.nan, None, None, 0, 0, 0)
    number = int(rows.max()) + 1
    parts = (marks,) if minus is None else (marks, minus)
    codes = cluster_codes(markets, "markets")
    columns = [column for each in parts for column in (each.earned, each.counted)]
    rng = generator(0)
    found, drawn, several = np.full(number, np.nan), np.full((resamples, number), np.nan), True
    for split in range(number):
        inside = rows == split
        if not inside.any():
            continue
        _, local = np.unique(codes[inside], return_inverse=True)
        sums = np.stack([np.bincount(local, column[inside]) for column in columns], axis=1)
        found[split] = _ratio_difference(sums.sum(axis=0)[np.newaxis, :])[0]
        if math.isnan(found[split]):
            continue
        several &= len(sums) > 1
        counts = resample_counts(len(sums), resamples, rng)
        drawn[:, split] = np.concatenate([_ratio_difference(block @ sums) for block in counts])
    known = ~np.isnan(found)
    low = high = None
    if known.any() and several:
        # A draw without a value in some split has no value: leaving the split out would change the average.
        means = drawn[:, known].mean(axis=1)
        if np.isnan(means).mean() <= 0.01:
            ends = np.nanquantile(means, [(1.0 - 0.95) / 2.0, (1.0 + 0.95) / 2.0])
            low, high = float(ends[0]), float(ends[1])
    counting = np.any([each.counted > 0.0 for each in parts], axis=0) & known[rows]
    markets_known = int(np.unique(codes[known[rows]]).size)
    return MacroEstimate(macro_average(found), low, high, int(known.sum()), markets_known, int(counting.sum()))


def _ratio_difference(sums: Floats) -> Floats:
    """Return the ratio earned/counted, less that of the next two columns if there are any; NaN for 0/0."""
    values = np.full(len(sums), np.nan)
    usable = (sums[:, 1::2] > 0.0).all(axis=1)
    ratios = sums[usable, ::2] / sums[usable, 1::2]
    values[usable] = ratios[:, 0] - ratios[:, 1:].sum(axis=1)
    return values


def accuracy_marks(predicted: ArrayLike, true: ArrayLike) -> Tally:
    """Return hits of all answers, for Acc, strict Acc of sides, Acc_act, Acc_f, Acc_d and PLA; abstaining is a miss.

    Examples:
        >>> accuracy_marks([1, 0, -1, 1], [1, 1, -1, -1]).over_all()
        0.5
    """
    answers = np.asarray(predicted)
    return Tally((answers == true).astype(np.float64), np.ones(answers.size))


def f1_marks(predicted: ArrayLike, true: ArrayLike) -> Tally:
    """Return the tally of F1 of class 1: 2 TP / (2 TP + FP + FN); unreadable answers find nothing.

    Examples:
        >>> f1_marks([1, 1, 0, 0], [1, 0, 1, 0]).over_all()
        0.5
    """
    answers, truths = np.asarray(predicted), np.asarray(true)
    both = ((answers == 1) & (truths == 1)).astype(np.float64)
    return Tally(2.0 * both, (answers == 1).astype(np.float64) + (truths == 1))


def directed_marks(predicted: ArrayLike, true: ArrayLike) -> Tally:
    """Return hits of the answers that name a side, for DA.

    Examples:
        >>> directed_marks([1, 0, -1, 1], [1, 1, -1, -1]).over_all() == 2 / 3
        True
    """
    answers = np.asarray(predicted)
    directional = names_side(answers)
    return Tally((directional & (answers == true)).astype(np.float64), directional.astype(np.float64))


def commitment_calibrated_marks(predicted: ArrayLike, true: ArrayLike, stakes: ArrayLike) -> Tally:
    """Return hits of the answers that name a side, weighted by log(1 + stake), for CCA.

    Examples:
        >>> round(commitment_calibrated_marks([1, 1], [1, -1], [99.0, -9.0]).over_all(), 6)
        0.666667
    """
    weights = np.log1p(np.abs(stakes))
    plain = directed_marks(predicted, true)
    return Tally(plain.earned * weights, plain.counted * weights)


def stake_quartiles(stakes: ArrayLike, splits: ArrayLike, counted: ArrayLike) -> Ints:
    """Return the quartile of each answer's stake in its split, 1 (lowest) to 4, or 0 where it is not counted.

    Equal stakes are in the same quartile, so that one may be empty.

    Examples:
        >>> stake_quartiles([1, 2, 3, 4, 5, 6, 7, 9], [0] * 8, [1] * 8).tolist()
        [1, 1, 2, 2, 3, 3, 4, 4]
    """
    sizes, rows, counting = np.abs(stakes), np.asarray(splits), np.asarray(counted) > 0.0
    found = np.zeros(sizes.size, dtype=np.int64)
    for split in np.unique(rows[counting]):
        inside = counting & (rows == split)
        ends = np.quantile(sizes[inside], [0.25, 0.5, 0.75])
        found[inside] = 1 + np.searchsorted(ends, sizes[inside], side="left")
    return found


def costly_signal_marks(
    predicted: ArrayLike, true: ArrayLike, stakes: ArrayLike, splits: ArrayLike
) -> tuple[Tally, Tally]:
    """Return the hits of the highest and of the lowest stake quartile of each split, for CSD, their difference.

    Examples:
        >>> high, low = costly_signal_marks([1, 1, 1, 1], [-1, 1, -1, 1], [1, 2, 3, 4], [0, 0, 0, 0])
        >>> high.over_all() - low.over_all()
        1.0
    """
    plain = directed_marks(predicted, true)
    quartiles = stake_quartiles(stakes, splits, plain.counted)
    high, low = ((quartiles == each).astype(np.float64) for each in (4, 1))
    return Tally(plain.earned * high, high), Tally(plain.earned * low, low)


FOUND_AT_TIMES = 0.075
"""A class counts as found from this recall on; the paper gives no number, this one separates its Table 4."""


@dataclass(frozen=True, slots=True)
class RecallProfile:
    """How a bot's answers are spread over classes."""

    recall: tuple[float, ...]
    """By class; NaN for an absent class."""
    true: tuple[float, ...]
    """By class: its true share."""
    entropy: float
    """The entropy of the readable answers as a share of the largest: 1 for an even spread, 0 for a single label."""

    @property
    def is_degenerate(self) -> bool:
        """Return whether it finds only one or two of the classes, though more occur."""
        return 0 < sum(each >= FOUND_AT_TIMES for each in self.recall) <= 2 < sum(share > 0.0 for share in self.true)


def recall_profile(predicted: ArrayLike, true: ArrayLike, *, classes: int) -> RecallProfile:
    """Return the recall of each class and the spread of the answers.

    Examples:
        >>> recall_profile([0, 0, 0, 0], [0, 0, 1, 1], classes=2).recall
        (1.0, 0.0)
    """
    answers, truths = np.asarray(predicted), np.asarray(true)
    readable = answers != REFUSED
    of_class = np.bincount(truths, minlength=classes)
    hits = np.bincount(truths[answers == truths], minlength=classes)
    named = np.bincount(answers[readable], minlength=classes)
    recall = np.divide(hits, of_class, out=np.full(classes, np.nan), where=of_class > 0)
    return RecallProfile(
        tuple(recall.tolist()),
        tuple((of_class / max(answers.size, 1)).tolist()),
        _entropy(named / max(int(named.sum()), 1)),
    )


def _entropy(shares: Floats) -> float:
    some = shares[shares > 0.0]
    return float(-(some * np.log(some)).sum() / math.log(shares.size)) + 0.0 if some.size else math.nan


def names_side(predicted: Ints) -> "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]":
    """Return which answers name a side."""
    found: np.ndarray[tuple[int, ...], np.dtype[np.bool_]] = np.abs(predicted) == 1
    return found


def commitment_gap(
    *, side_reference: float, directed_accuracy: float, action_accuracy: float, odds_reference: float, odds_lead: float
) -> dict[str, float]:
    """Return how far a bot is below the references on side, action and odds, CG(2) to CG(4), and MCG, their mean:
    equations 2 and 3 of StakeBench (arXiv 2605.26074).

    Below zero where it is ahead; NaN without a value. The reference of actions is 1, as they are known afterwards.

    Args:
        side_reference: O2, how often the side with the larger stakes won.
        directed_accuracy: DA.
        action_accuracy: Acc_act.
        odds_reference: O4, the accuracy of the stake-weighted side on the windows that the bot answered.
        odds_lead: PLA.

    Examples:
        >>> gaps = commitment_gap(
        ...     side_reference=0.552,
        ...     directed_accuracy=0.599,
        ...     action_accuracy=0.279,
        ...     odds_reference=0.573,
        ...     odds_lead=0.521,
        ... )
        >>> {name: round(gap, 3) for name, gap in gaps.items()}
        {'CG(2)': -0.047, 'CG(3)': 0.721, 'CG(4)': 0.052, 'MCG': 0.242}
    """
    side, action, odds = side_reference - directed_accuracy, 1.0 - action_accuracy, odds_reference - odds_lead
    return {"CG(2)": side, "CG(3)": action, "CG(4)": odds, "MCG": (side + action + odds) / 3.0}


def aggregate_score(
    *, accuracy: float, directed_accuracy: float, action_accuracy: float, flip_accuracy: float, lead_share: float
) -> float:
    """Return Agg, the mean of five scores, each scaled from guessing (0) to perfect (1), none below zero.

    In [0, 1]; NaN where one has no value, as a mean of fewer is another score.

    Args:
        accuracy: Acc of who holds a position.
        directed_accuracy: DA of which side.
        action_accuracy: Acc_act of which of four actions.
        flip_accuracy: Acc_f of whether it is a flip or nothing.
        lead_share: n+ over the splits that were evaluated, in [0, 1].

    Source:
        StakeBench (arXiv 2605.26074). Its Appendix B names four parts and
        leaves out Acc_f; that matches no row of its Table 3, these five match all.

    Examples:
        >>> scores = {"accuracy": 0.689, "directed_accuracy": 0.599, "action_accuracy": 0.279, "flip_accuracy": 0.564}
        >>> round(aggregate_score(**scores, lead_share=5 / 18), 3)
        0.204
    """
    scored = ((accuracy, 0.5), (directed_accuracy, 0.5), (action_accuracy, 0.25), (flip_accuracy, 0.5))
    parts = [(score - chance) / (1.0 - chance) for score, chance in scored] + [lead_share]
    if any(math.isnan(part) for part in parts):
        return math.nan
    return math.fsum(max(part, 0.0) for part in parts) / len(parts)
