"""Scores of labels of pairs: how near each comes to the true one, with intervals over the events that pairs are of.

Labels are whole numbers from 0, the least related, to 4; `UNREAD` is an answer
that could not be read: a miss wherever every answer counts, and no label.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import Floats, Ints, indices, numbers, refuse, same_length
from predibot.scoring.inference.clusters import cluster_codes
from predibot.scoring.inference.draws import generator, resampled_counts

CLASSES = 5
UNREAD = -1
CENTRES = (np.arange(CLASSES) + 0.5) / CLASSES
"""The middle of each label's stretch of the score: 0.1, 0.3, 0.5, 0.7, 0.9."""
MIN_EVENTS = 8
"""Fewer tell too little of how others would do for an interval."""
_MOST_WITHOUT_VALUE = 0.01
_STEPS = np.subtract.outer(np.arange(CLASSES), np.arange(CLASSES)).astype(np.float64)


class Values(NamedTuple):
    """The scores of some labels; NaN where one has no value."""

    mse: float
    """The mean square of the distance between the centres of both labels; of what could be read, as the next one."""
    mae: float
    """The mean of that distance."""
    spearman: float
    """Spearman's correlation of the labels with the score S; of what could be read."""
    accuracy: float
    """The share of all answers that are right."""
    f1: float
    """The mean of F1 over the labels that were given or are true; what could not be read was not found."""
    kappa: float
    """Cohen's kappa weighted by the square of the steps between labels; of what could be read."""
    mse_to_score: float
    """The mean square of the distance from the label's centre to S itself; of what could be read, as the next one."""
    mae_to_score: float


@dataclass(frozen=True, slots=True)
class PairScores:
    """How well a bot labelled some pairs; NaN is a score that has no value."""

    values: Values
    low: Values
    """The lower end of each interval, NaN where there is none, as of fewer than `MIN_EVENTS` events; as the next."""
    high: Values
    n: int
    """Answers, those that could not be read among them."""
    unread: int
    events: int


def pair_scores(
    predicted: ArrayLike,
    score: ArrayLike,
    true: ArrayLike,
    events: ArrayLike,
    *,
    seed: int = 0,
    resamples: int = 1_000,
) -> PairScores:
    """Return how near labels come to the true ones, with 95 % percentile intervals, events drawn anew.

    A pair counts in a draw as often as both of its events were drawn together:
    the product of both numbers; one of two markets of the same event as often
    as that was.

    Args:
        predicted: Labels from 0 to 4 or `UNREAD`, shape (n,).
        score: S of the pairs, shape (n,), in [0, 1].
        true: Their labels, shape (n,).
        events: Of both questions of each pair, words or whole numbers, shape (n, 2).
        seed: Of the draws; equal seeds give equal intervals.
        resamples: How many draws.

    Raises:
        ValueError: If lengths differ, or a label is none.

    Source:
        BeliefBench, section 5.4: the scores. Tables 2 to 5 have rows with
        an MSE below 0.2 MAE, which no distances between centres have: they fit
        the distance to S itself, which is given beside. The draw of rows and columns of a
        table alike: Owen (2007), Annals of Applied Statistics 1(2), 386-411,
        who shows that such intervals are rather too wide than too narrow.

    Examples:
        >>> found = pair_scores([0, 1, 4], [0.1, 0.5, 0.9], [0, 2, 4], [["a", "b"], ["a", "c"], ["b", "c"]])
        >>> round(found.values.mse, 6), round(found.values.accuracy, 6), round(found.values.spearman, 6)
        (0.013333, 0.666667, 1.0)
    """
    said, is_so, s = indices("predicted", predicted), indices("true", true), numbers("score", score)
    refuse("true", is_so, (is_so < 0) | (is_so >= CLASSES), f"each must be from 0 to {CLASSES - 1}")
    refuse("predicted", said, (said < UNREAD) | (said >= CLASSES), f"each must be from 0 to {CLASSES - 1}, or {UNREAD}")
    both = np.asarray(events)
    same_length(predicted=said, true=is_so, score=s, events=both)
    if not said.size:
        none = Values(*(math.nan for _ in Values._fields))
        return PairScores(none, none, none, 0, 0, 0)
    codes = cluster_codes(both.reshape(-1), "events").reshape(-1, 2)
    _, code = np.unique(codes, return_inverse=True)
    code = code.reshape(-1, 2)
    number = int(code.max()) + 1
    drawn = [np.full((len(Values._fields), 1), np.nan)] if number < MIN_EVENTS else []
    for counts in () if drawn else resampled_counts(number, resamples, generator(seed)):
        first, second = counts[:, code[:, 0]], counts[:, code[:, 1]]
        weights = np.where(code[:, 0] == code[:, 1], first, first * second)
        drawn.append(np.stack(weighted_values(said, s, is_so, weights)))
    found = weighted_values(said, s, is_so, np.ones((1, said.size)))
    ends = [_ends(each) for each in np.concatenate(drawn, axis=1)]
    return PairScores(
        Values(*(float(each[0]) for each in found)),
        Values(*(low for low, _ in ends)),
        Values(*(high for _, high in ends)),
        int(said.size),
        int((said == UNREAD).sum()),
        number,
    )


def weighted_values(predicted: Ints, score: Floats, true: Ints, weights: Floats) -> tuple[Floats, ...]:
    """Return the scores where each pair counts so often, (d,) each, in the order of `Values`; NaN for no value.

    Args:
        predicted: As `pair_scores` takes it, as the next two.
        score: S.
        true: The labels.
        weights: How often each pair counts in each draw, shape (d, n).
    """
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
    """Return Spearman's correlation in each draw, (d,); ties share their mean rank, NaN where all are the same."""
    if not predicted.size:
        return np.full(len(weights), np.nan)
    one, other = _ranks(predicted, weights), _ranks(score, weights)
    total = weights.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        one, other = (each - (weights * each).sum(axis=1, keepdims=True) / total for each in (one, other))
        squares = (weights * one**2).sum(axis=1) * (weights * other**2).sum(axis=1)
        # The ranks of what is the same throughout differ by rounding alone.
        found: Floats = (weights * one * other).sum(axis=1) / np.sqrt(np.where(squares > 1e-9, squares, np.nan))
    return np.clip(found, -1.0, 1.0)


def _ranks(values: Ints | Floats, weights: Floats) -> Floats:
    """Return the mean rank of each value in each draw, (d, n), but for a half that all have."""
    _, place = np.unique(values, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.flatnonzero(np.diff(place[order], prepend=-1))
    of_value = np.add.reduceat(weights[:, order], starts, axis=1)
    ranks: Floats = (np.cumsum(of_value, axis=1) - of_value / 2.0)[:, place]
    return ranks


def _ends(drawn: Floats) -> tuple[float, float]:
    """Return both ends of an interval; NaN where too many draws have no value, or all the same one."""
    missing = np.isnan(drawn).mean()
    if missing > _MOST_WITHOUT_VALUE or np.nanmax(drawn) == np.nanmin(drawn):
        return math.nan, math.nan
    low, high = np.nanquantile(drawn, [(1.0 - 0.95) / 2.0, (1.0 + 0.95) / 2.0])
    return float(low), float(high)
