"""Scores of labels of pairs: how near they come to the true ones, with intervals over events.

Labels are whole numbers from 0, the least related, to 4. `UNREAD` stands for an
unreadable answer: a miss in scores of all answers, and left out of the others.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.inference.bootstrap import generator, resample_counts
from predibot.scoring.inference.clusters import cluster_codes

CLASSES = 5
UNREAD = -1
CENTRES = (np.arange(CLASSES) + 0.5) / CLASSES
"""The middle of each label's range of S: 0.1, 0.3, 0.5, 0.7, 0.9."""
MIN_EVENTS = 8
"""Fewer are too few for an interval."""
_MOST_WITHOUT_VALUE = 0.01
_STEPS = np.subtract.outer(np.arange(CLASSES), np.arange(CLASSES)).astype(np.float64)


class Values(NamedTuple):
    """The scores of some labels; NaN for a missing value. All but `accuracy` and `f1` are over readable answers."""

    mse: float
    """Mean squared distance between the centres of the given and the true label."""
    mae: float
    """Mean of that distance."""
    spearman: float
    """Rank correlation of the labels with S."""
    accuracy: float
    f1: float
    """Mean F1 over the given and the true labels; an unreadable answer finds none."""
    kappa: float
    """Cohen's kappa with quadratic weights."""
    mse_to_score: float
    """Mean squared distance from the label's centre to S itself."""
    mae_to_score: float


@dataclass(frozen=True, slots=True)
class PairScores:
    """The scores of a bot's labels with their intervals."""

    values: Values
    low: Values
    """Lower ends of the intervals; NaN with fewer than `MIN_EVENTS` events."""
    high: Values
    n: int
    """Answers, unreadable ones included."""
    unread: int
    events: int


def pair_scores(
    predicted: ArrayLike, score: ArrayLike, true: ArrayLike, events: ArrayLike, *, seed: int = 0, resamples: int = 1_000
) -> PairScores:
    """Return the scores of labels with 95 % percentile bootstrap intervals over events.

    In a draw a pair counts as often as its events were drawn: the product of both numbers, or the one number of a pair
    within an event.

    Args:
        predicted: Labels from 0 to 4 or `UNREAD`, shape (n,).
        score: S of the pairs, shape (n,), in [0, 1].
        true: The true labels, shape (n,).
        events: The events of each pair, words or whole numbers, shape (n, 2).

    Source:
        BeliefBench, section 5.4, for the scores. Its tables 2 to 5 have rows with an MSE below 0.2 MAE, which distances
        between centres cannot have; distances to S can, and are given too. Owen (2007), Annals of Applied Statistics
        1(2), 386-411, for the draws, which make intervals rather too wide than too narrow.

    Examples:
        >>> found = pair_scores([0, 1, 4], [0.1, 0.5, 0.9], [0, 2, 4], [["a", "b"], ["a", "c"], ["b", "c"]])
        >>> round(found.values.mse, 6), round(found.values.accuracy, 6), round(found.values.spearman, 6)
        (0.013333, 0.666667, 1.0)
    """
    answers, truths = np.asarray(predicted, dtype=np.int64), np.asarray(true, dtype=np.int64)
    s, both = np.asarray(score, dtype=np.float64), np.asarray(events)
    if not answers.size:
        none = Values(*(math.nan for _ in Values._fields))
        return PairScores(none, none, none, 0, 0, 0)
    codes = cluster_codes(both.reshape(-1), "events").reshape(-1, 2)
    _, code = np.unique(codes, return_inverse=True)
    code = code.reshape(-1, 2)
    number = int(code.max()) + 1
    drawn = [np.full((len(Values._fields), 1), np.nan)] if number < MIN_EVENTS else []
    for counts in () if drawn else resample_counts(number, resamples, generator(seed)):
        first, second = counts[:, code[:, 0]], counts[:, code[:, 1]]
        weights = np.where(code[:, 0] == code[:, 1], first, first * second)
        drawn.append(np.stack(weigh_values(answers, s, truths, weights)))
    found = weigh_values(answers, s, truths, np.ones((1, answers.size)))
    ends = [_ends(each) for each in np.concatenate(drawn, axis=1)]
    return PairScores(
        Values(*(float(each[0]) for each in found)),
        Values(*(low for low, _ in ends)),
        Values(*(high for _, high in ends)),
        int(answers.size),
        int((answers == UNREAD).sum()),
        number,
    )


def weigh_values(predicted: Ints, score: Floats, true: Ints, weights: Floats) -> tuple[Floats, ...]:
    """Return the weighted scores in the order of `Values`, (d,) each; NaN for a missing value."""
    cells = np.zeros((predicted.size, CLASSES * (CLASSES + 1)))
    cells[np.arange(predicted.size), true * (CLASSES + 1) + predicted % (CLASSES + 1)] = 1.0
    table = (weights @ cells).reshape(-1, CLASSES, CLASSES + 1)
    read = table[:, :, :CLASSES]
    hits = np.einsum("dii->di", read)
    of_true, named = table.sum(axis=2), read.sum(axis=1)
    rows, total = read.sum(axis=2), read.sum(axis=(1, 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        mse = (read * (_STEPS / CLASSES) ** 2).sum(axis=(1, 2)) / total
        mae = (read * np.abs(_STEPS / CLASSES)).sum(axis=(1, 2)) / total
        accuracy = hits.sum(axis=1) / of_true.sum(axis=1)
        of_labels = np.where(of_true + named > 0.0, 2.0 * hits / (of_true + named), 0.0)
        f1 = of_labels.sum(axis=1) / (of_true + named > 0.0).sum(axis=1)
        expected = np.einsum("di,dj,ij->d", rows, named, _STEPS**2) / total
        kappa = 1.0 - np.where(expected > 0.0, (read * _STEPS**2).sum(axis=(1, 2)) / expected, np.nan)
    readable = predicted != UNREAD
    spearman = _rank_correlations(predicted[readable], score[readable], weights[:, readable])
    off = np.abs(CENTRES[predicted[readable]] - score[readable])
    with np.errstate(invalid="ignore"):
        to_score = weights[:, readable] @ np.stack([off**2, off], axis=1) / total[:, np.newaxis]
    return mse, mae, spearman, accuracy, f1, kappa, *to_score.T


def _rank_correlations(predicted: Ints, score: Floats, weights: Floats) -> Floats:
    """Return Spearman's correlation in each draw, (d,); ties share their mean rank; NaN without variation."""
    if not predicted.size:
        return np.full(len(weights), np.nan)
    one, other = _ranks(predicted, weights), _ranks(score, weights)
    total = weights.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        one, other = (each - (weights * each).sum(axis=1, keepdims=True) / total for each in (one, other))
        squares = (weights * one**2).sum(axis=1) * (weights * other**2).sum(axis=1)
        # Ranks of equal values differ by rounding only.
        found: Floats = (weights * one * other).sum(axis=1) / np.sqrt(np.where(squares > 1e-9, squares, np.nan))
    return np.clip(found, -1.0, 1.0)


def _ranks(values: Ints | Floats, weights: Floats) -> Floats:
    """Return the mean rank of each value in each draw, (d, n), shifted by one half."""
    _, place = np.unique(values, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.flatnonzero(np.diff(place[order], prepend=-1))
    of_value = np.add.reduceat(weights[:, order], starts, axis=1)
    ranks: Floats = (np.cumsum(of_value, axis=1) - of_value / 2.0)[:, place]
    return ranks


def _ends(drawn: Floats) -> tuple[float, float]:
    """Return both ends of an interval; NaN where too many draws lack a value, or all are equal."""
    missing = np.isnan(drawn).mean()
    if missing > _MOST_WITHOUT_VALUE or np.nanmax(drawn) == np.nanmin(drawn):
        return math.nan, math.nan
    low, high = np.nanquantile(drawn, [(1.0 - 0.95) / 2.0, (1.0 + 0.95) / 2.0])
    return float(low), float(high)
