"""Arguments: what callers hand to a score, as checked arrays."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_Number = TypeVar("_Number", np.float64, np.int64)


def floats(name: str, values: ArrayLike) -> Floats:
    """Return numbers of any shape and size, NaN and infinity among them.

    Raises:
        ValueError: If they are not numbers.
    """
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is not an array of numbers: {str(values)[:60]}") from None


def numbers(name: str, values: ArrayLike) -> Floats:
    """Return finite numbers, shape (n,).

    Raises:
        ValueError: If they are not numbers, not one-dimensional, or one is NaN
            or infinite.
    """
    array = one_dimensional(name, floats(name, values))
    refuse(name, array, ~np.isfinite(array), "each must be a finite number")
    return array


def shares(name: str, values: ArrayLike, *, allow_nan: bool = False) -> Floats:
    """Return numbers in [0, 1], such as probabilities and prices, shape (n,).

    Raises:
        ValueError: If one lies outside, or is NaN where that has no meaning.
    """
    array = one_dimensional(name, floats(name, values))
    inside = (array >= 0.0) & (array <= 1.0)
    if allow_nan:
        inside |= np.isnan(array)
    refuse(name, array, ~inside, "each must be in [0, 1]")
    return array


def outcomes_of(name: str, values: ArrayLike) -> Floats:
    """Return what happened, shape (n,): 1 for YES, 0 for NO.

    Raises:
        ValueError: If one is anything else; a void market has no outcome.
    """
    array = one_dimensional(name, floats(name, values))
    refuse(name, array, (array != 0.0) & (array != 1.0), "each must be 0 or 1")
    return array


def forecasts_and_outcomes(probabilities: ArrayLike, outcomes: ArrayLike) -> tuple[Floats, Floats]:
    """Return forecasts in [0, 1] and what happened, 1 or 0, both of shape (n,), n above zero.

    Raises:
        ValueError: If there is none, the lengths differ, or a value is NaN or
            out of range.
    """
    forecasts = shares("probabilities", probabilities)
    happened = outcomes_of("outcomes", outcomes)
    same_length(probabilities=forecasts, outcomes=happened)
    not_empty("probabilities", forecasts)
    return forecasts, happened


def booleans(name: str, values: ArrayLike) -> NDArray[np.bool_]:
    """Return what is so and what is not, shape (n,): truth values, or 1 and 0.

    Raises:
        ValueError: If one is anything else.
    """
    so: NDArray[np.bool_] = outcomes_of(name, values) == 1.0
    return so


def indices(name: str, values: ArrayLike) -> Ints:
    """Return whole numbers, shape (n,).

    Raises:
        ValueError: If one has a fraction or is no number.
    """
    array = np.asarray(values)
    if array.dtype.kind in "iu":
        return one_dimensional(name, array.astype(np.int64, copy=False))
    whole = numbers(name, values)
    refuse(name, whole, whole != np.floor(whole), "each must be a whole number")
    return whole.astype(np.int64)


def same_length(**arrays: NDArray[Any]) -> None:
    """Refuse arrays that cannot be read row by row.

    Raises:
        ValueError: If their lengths differ; says all of them.
    """
    if len({array.shape[0] for array in arrays.values()}) > 1:
        seen = ", ".join(f"{name} {array.shape[0]}" for name, array in arrays.items())
        raise ValueError(f"lengths differ: {seen}; give one value a row in each")


def not_empty(name: str, array: NDArray[Any]) -> None:
    """Refuse to score nothing.

    Raises:
        ValueError: If there is no value.
    """
    if array.size == 0:
        raise ValueError(f"{name} is empty; give at least one value")


def one_dimensional(name: str, array: NDArray[_Number]) -> NDArray[_Number]:
    """Return the array if it has one dimension.

    Raises:
        ValueError: If it has none or several; says its shape.
    """
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}; give one dimension, (n,)")
    return array


def refuse(name: str, array: NDArray[Any], bad: NDArray[np.bool_], rule: str) -> None:
    """Refuse an array with a bad element, naming the first.

    Raises:
        ValueError: If any is bad; says where, what was seen, and the rule.
    """
    if bad.any():
        where: Sequence[int] = np.argwhere(bad)[0].tolist()
        place = f"[{', '.join(str(index) for index in where)}]" if where else ""
        raise ValueError(f"{name}{place} is {array[tuple(where)].item()!r}; {rule}")
