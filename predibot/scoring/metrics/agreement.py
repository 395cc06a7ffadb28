"""Agreement: how far two readings of the same things agree."""

from collections.abc import Sequence
from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from predibot.errors import UsageError
from predibot.scoring.arguments import Floats, array_of, indices, not_empty, numbers, same_length


def rank_correlation(a: ArrayLike, b: ArrayLike) -> float:
    """Return how far two series rank the same things alike: Spearman's rho.

    The correlation of ranks; equal values share their mean rank. One is the same
    order, minus one the opposite order, about zero neither.

    Args:
        a: Finite numbers, shape (n,).
        b: Numbers for the same things from another source, shape (n,).

    Returns:
        In [-1, 1]; NaN if one series is constant, and so has no order.

    Raises:
        ValueError: If there is none, the lengths differ, or a value is NaN or infinite.

    Source:
        Spearman (1904), American Journal of Psychology 15(1), 72-101.

    Examples:
        >>> round(rank_correlation([0.1, 0.5, 0.9], [1, 3, 2]), 4)
        0.5
        >>> rank_correlation([1, 2, 3], [5, 5, 5])
        nan
    """
    one, other = numbers("a", a), numbers("b", b)
    return linear_correlation(_mean_ranks(one), _mean_ranks(other))


def linear_correlation(a: ArrayLike, b: ArrayLike) -> float:
    """Return how far two series of shape (n,) lie on one line: Pearson's r, in [-1, 1]; NaN if one is constant.

    Raises:
        ValueError: If there is none, the lengths differ, or a value is NaN or infinite.

    Source:
        Pearson (1895), Proceedings of the Royal Society of London 58, 240-242.

    Examples:
        >>> linear_correlation([1, 2, 3], [5, 5, 5])
        nan
    """
    one, other = numbers("a", a), numbers("b", b)
    same_length(a=one, b=other)
    not_empty("a", one)
    if (one == one[0]).all() or (other == other[0]).all():
        return float("nan")
    return float(np.corrcoef(one, other)[0, 1])


def _mean_ranks(values: Floats) -> Floats:
    """Return the rank of each value, from one; equal values share their mean rank."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2.0)[places]


def quadratic_weighted_kappa(a: ArrayLike, b: ArrayLike) -> float:
    """Return how far two raters agree beyond chance, far disagreements counting most.

    1 - sum(w * seen) / sum(w * expected), with w the squared number of steps between two ratings. One is full
    agreement, zero is agreement by chance, negative is less. Only ratings that a rater gave count as steps: if both
    gave only 1 and 5, these are neighbours.

    Args:
        a: Whole-number ratings, shape (n,).
        b: The other rater's ratings of the same things, shape (n,).

    Returns:
        At most 1; NaN if both gave everything the same single rating.

    Raises:
        ValueError: If there is none, the lengths differ, or a rating is no whole number.
        UsageError: If scikit-learn is not installed.

    Source:
        Cohen (1968), Psychological Bulletin 70(4), 213-220, as scikit-learn computes it.

    Examples:
        >>> round(quadratic_weighted_kappa([1, 2, 3, 3], [1, 2, 3, 2]), 4)
        0.8
    """
    one, other = indices("a", a), indices("b", b)
    same_length(a=one, b=other)
    not_empty("a", one)
    metrics = _metrics()
    if (one == one[0]).all() and (other == one[0]).all():
        return float("nan")
    return float(metrics.cohen_kappa_score(one, other, weights="quadratic"))


def cohen_kappa(one: Sequence[str] | ArrayLike, other: Sequence[str] | ArrayLike) -> float | None:
    """Return how far two readings of the same things agree beyond chance.

    (seen - expected) / (1 - expected), with expected the agreement by chance of readers who give each class as often as
    these. One is full agreement, zero is agreement by chance, negative is less.

    Args:
        one: The class of each thing by one reader, shape (n,), all texts or all whole numbers.
        other: The classes of the same things by another reader.

    Returns:
        At most 1; None if both gave everything the same single class.

    Raises:
        ValueError: If there is none, the lengths differ, or classes are not all texts or all whole numbers.

    Source:
        Cohen (1960), Educational and Psychological Measurement 20(1), 37-46.

    Examples:
        >>> round(cohen_kappa([1, 1, 0, 0], [1, 0, 0, 0]), 6)
        0.5
    """
    first, second = _labels("one", one), _labels("other", other)
    same_length(one=first, other=second)
    not_empty("one", first)
    n, seen = first.size, int((first == second).sum())
    counts = (dict(zip(*np.unique(each, return_counts=True), strict=True)) for each in (first, second))
    one_counts, other_counts = ({key.item(): int(count) for key, count in each.items()} for each in counts)
    expected = sum(count * other_counts.get(each, 0) for each, count in one_counts.items())
    # In whole numbers, to tell full agreement on one class from nearly full.
    return None if expected == n * n else (n * seen - expected) / (n * n - expected)


def macro_f1(truth: Sequence[str] | ArrayLike, predicted: Sequence[str] | ArrayLike) -> float:
    """Return how well labels are predicted, with every kind of label weighing the same.

    The mean of 2 TP / (2 TP + FP + FN) over the kinds in either array. One is
    perfect, zero is never right. A rare kind weighs as much as a frequent one.

    Args:
        truth: The right labels, shape (n,), all texts or all whole numbers.
        predicted: The predicted labels, shape (n,), of the same sort.

    Returns:
        In [0, 1].

    Raises:
        ValueError: If there is none, the lengths differ, or labels are not all texts or all whole numbers.
        UsageError: If scikit-learn is not installed.

    Source:
        Lewis et al. (1996), SIGIR 19, 298-306, in the form that averages F1 and not precision and recall.

    Examples:
        >>> round(macro_f1(["yes", "yes", "no"], ["yes", "no", "no"]), 4)
        0.6667
    """
    right, given = _labels("truth", truth), _labels("predicted", predicted)
    same_length(truth=right, predicted=given)
    not_empty("truth", right)
    if (right.dtype.kind == "U") != (given.dtype.kind == "U"):
        seen = f"truth[0] is {right[0].item()!r}, predicted[0] is {given[0].item()!r}"
        raise ValueError(f"{seen}; give texts in both, or whole numbers in both")
    return float(_metrics().f1_score(right, given, average="macro"))


def _labels(name: str, values: Sequence[str] | ArrayLike) -> NDArray[np.str_] | NDArray[np.int64]:
    # Refuses masked values; converting first would turn all values into texts.
    array_of(name, values)
    array = np.asarray(values, dtype=object)
    texts = [isinstance(each, str) for each in array.flat]
    if array.ndim != 1 or not any(texts):
        return indices(name, values)
    if not all(texts):
        row = texts.index(False)
        raise ValueError(f"{name}[{row}] is {array[row]!r}; give texts only, or whole numbers only")
    return array.astype(np.str_)


def _metrics() -> ModuleType:
    try:
        # An extra, and slow to import.
        from sklearn import metrics
    except ImportError:
        raise UsageError('agreement of labels needs scikit-learn: pip install "predibot[agreement]"') from None
    module: ModuleType = metrics
    return module
