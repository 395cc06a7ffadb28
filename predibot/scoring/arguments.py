"""Arguments: checked arrays and numbers from the arguments of a score."""

import functools
import math
import numbers as kinds
import reprlib
from collections.abc import Callable, Sequence
from datetime import datetime
from types import UnionType
from typing import Any, ParamSpec, TypeVar, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_Number = TypeVar("_Number", np.float64, np.int64)
_Asked = ParamSpec("_Asked")
_Found = TypeVar("_Found")

MOST_EXACT = 2**53
"""Up to here every whole number is exact as a float."""


def within_floats(score: Callable[_Asked, _Found]) -> Callable[_Asked, _Found]:
    """Return the score; it raises `ValueError` if numbers are too large, or too far apart, for floats."""

    @functools.wraps(score)
    def wrapper(*args: _Asked.args, **kwargs: _Asked.kwargs) -> _Found:
        try:
            with np.errstate(over="raise", divide="raise", invalid="raise"):
                return score(*args, **kwargs)
        except FloatingPointError as error:
            raise ValueError(f"{score.__name__} cannot compute with numbers this far apart: {error}") from None

    return wrapper


def instance_of(name: str, value: object, wanted: type | UnionType) -> None:
    """Raise `ValueError` for an object of another class; None is one of `SomeClass | None`."""
    if not isinstance(value, wanted):
        kind = wanted if isinstance(wanted, type) else get_args(wanted)[0]
        raise ValueError(f"{name} is {reprlib.repr(value)}; give a {kind.__name__}")


def instances_of(**given: tuple[object, type | UnionType]) -> None:
    """Raise `ValueError` for the first argument, by its name, that is of another class than is named beside it."""
    for name, (value, wanted) in given.items():
        instance_of(name, value, wanted)


def sequence_of(name: str, values: object, each: str, wanted: type) -> None:
    """Raise `ValueError` unless it is a sequence of that class; `each` is what one of them is called."""
    instance_of(name, values, Sequence)
    for value in cast("Sequence[object]", values):
        instance_of(each, value, wanted)


def instants_of(name: str, instants: object) -> list[datetime]:
    """Return a list of datetimes, all with a time zone or none; raise `ValueError` otherwise."""
    if not isinstance(instants, list | tuple):
        raise ValueError(f"{name} is {reprlib.repr(instants)}; give a list of datetimes")
    for row, each in enumerate(instants):
        if not isinstance(each, datetime):
            raise ValueError(f"{name}[{row}] is {reprlib.repr(each)}; each must be a datetime")
    if len({each.utcoffset() is None for each in instants}) > 1:
        raise ValueError(f"{name} have a time zone in part; give all of them one, or none")
    return list(instants)


def column(name: str, array: object) -> None:
    """Refuse with a ValueError what is no plain one-dimensional array of numbers or truth values."""
    if isinstance(array, np.ma.MaskedArray) or not isinstance(array, np.ndarray) or array.dtype.kind not in "biuf":
        raise ValueError(f"{name} is {reprlib.repr(array)}; give a numpy array of numbers, not masked")
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}; give one dimension")


def scalar(name: str, number: object) -> float:
    """Return one real number, which may be NaN or infinite; a whole number beyond all floats is infinite.

    Raises `ValueError` if it is anything else, such as a text, a truth value or an array.
    """
    # numpy counts a timedelta64 among the whole numbers.
    if isinstance(number, bool | np.timedelta64) or not isinstance(number, kinds.Real):
        raise ValueError(f"{name} is {reprlib.repr(number)}; it must be a number")
    try:
        return float(number)
    except OverflowError:
        return math.copysign(math.inf, -1 if number < 0 else 1)


def array_of(name: str, values: object) -> NDArray[Any]:
    """Return values as an array without a mask; masked numbers become NaN.

    Raises `ValueError` if they make no array, or something else than a number is masked.
    """
    if isinstance(values, np.ma.MaskedArray):
        if not np.ma.is_masked(values):
            return np.asarray(values.data)
        if values.dtype.kind not in "biuf":
            raise ValueError(f"{name} has masked values; leave those rows out")
        return np.where(np.ma.getmaskarray(values), np.nan, values.data.astype(np.float64))
    if _hides(values):
        raise ValueError(f"{name} has masked values in a list; give a masked array, or leave them out")
    try:
        return np.asarray(values)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} is not an array of numbers or words: {reprlib.repr(values)}") from None


def _hides(values: object) -> bool:
    """Return whether anything in a list, or in a list of lists, is masked."""
    if isinstance(values, list | tuple):
        return any(each is np.ma.masked or (isinstance(each, list | tuple) and _hides(each)) for each in values)
    return values is np.ma.masked


def floats(name: str, values: ArrayLike) -> Floats:
    """Return numbers of any shape and size, which may be NaN or infinite; masked ones become NaN.

    Raises `ValueError` if they are not real numbers; texts that read like numbers are none.
    """
    array = array_of(name, values)
    worded = array.dtype.kind == "O" and any(isinstance(each, str | bytes | complex) for each in array.flat)
    if array.dtype.kind in "biufO" and not worded:
        try:
            with np.errstate(over="ignore"):
                return array.astype(np.float64, copy=False)
        except (TypeError, ValueError, OverflowError):
            pass
    raise ValueError(f"{name} is not an array of numbers: {reprlib.repr(values)}")


def numbers(name: str, values: ArrayLike) -> Floats:
    """Return finite numbers, shape (n,); raise `ValueError` otherwise."""
    array = one_dimensional(name, floats(name, values))
    refuse(name, array, ~np.isfinite(array), "each must be a finite number")
    return array


def shares(name: str, values: ArrayLike, *, allow_nan: bool = False) -> Floats:
    """Return numbers in [0, 1], such as probabilities and prices, shape (n,); raise `ValueError` otherwise."""
    array = one_dimensional(name, floats(name, values))
    inside = (array >= 0.0) & (array <= 1.0)
    if allow_nan:
        inside |= np.isnan(array)
    refuse(name, array, ~inside, "each must be in [0, 1]")
    return array


def outcomes_of(name: str, values: ArrayLike) -> Floats:
    """Return outcomes, shape (n,), 1 for YES, 0 for NO, none of a void market; raise `ValueError` otherwise."""
    array = one_dimensional(name, floats(name, values))
    refuse(name, array, (array != 0.0) & (array != 1.0), "each must be 0 or 1")
    return array


def forecasts_and_outcomes(probabilities: ArrayLike, outcomes: ArrayLike) -> tuple[Floats, Floats]:
    """Return forecasts in [0, 1] and outcomes, 1 or 0, shape (n,) each, n above zero; raise `ValueError` otherwise."""
    forecasts = shares("probabilities", probabilities)
    happened = outcomes_of("outcomes", outcomes)
    same_length(probabilities=forecasts, outcomes=happened)
    not_empty("probabilities", forecasts)
    return forecasts, happened


def booleans(name: str, values: ArrayLike) -> NDArray[np.bool_]:
    """Return truth values, shape (n,), from truth values or 1 and 0; raise `ValueError` otherwise."""
    so: NDArray[np.bool_] = outcomes_of(name, values) == 1.0
    return so


def indices(name: str, values: ArrayLike) -> Ints:
    """Return whole numbers, shape (n,); raise `ValueError` otherwise."""
    array = array_of(name, values)
    if array.dtype.kind == "u":
        refuse(name, array, array > np.iinfo(np.int64).max, "each must fit into 64 bits with a sign")
    if array.dtype.kind in "iu":
        return one_dimensional(name, array.astype(np.int64, copy=False))
    whole = numbers(name, values)
    refuse(name, whole, whole != np.floor(whole), "each must be a whole number")
    refuse(name, whole, np.abs(whole) > MOST_EXACT, "above 2^53 a float is no exact whole number")
    return whole.astype(np.int64)


def none_if_nan(value: float) -> float | None:
    """Return a number, None for NaN."""
    return None if math.isnan(value) else float(value)


def same_length(**arrays: NDArray[Any]) -> None:
    """Refuse arrays of different lengths with a ValueError that names them."""
    if len({array.shape[0] for array in arrays.values()}) > 1:
        seen = ", ".join(f"{name} {array.shape[0]}" for name, array in arrays.items())
        raise ValueError(f"lengths differ: {seen}; give one value a row in each")


def not_empty(name: str, array: NDArray[Any]) -> None:
    """Refuse an empty array with a ValueError."""
    if array.size == 0:
        raise ValueError(f"{name} is empty; give at least one value")


def one_dimensional(name: str, array: NDArray[_Number]) -> NDArray[_Number]:
    """Return the array if it has one dimension; raise `ValueError` otherwise."""
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}; give one dimension, (n,)")
    return array


def refuse(name: str, array: NDArray[Any], bad: NDArray[np.bool_], rule: str) -> None:
    """Raise a ValueError if any element is bad: it names the first, its value and the rule."""
    if bad.any():
        where: Sequence[int] = np.argwhere(bad)[0].tolist()
        place = f"[{', '.join(str(index) for index in where)}]" if where else ""
        raise ValueError(f"{name}{place} is {array[tuple(where)].item()!r}; {rule}")


def distinct(sorted_numbers: Ints) -> Ints:
    """Return each of some sorted numbers once; `np.unique` would hash them, which takes a hundred times as long."""
    each: Ints = sorted_numbers[np.append(sorted_numbers[1:] != sorted_numbers[:-1], True)[: sorted_numbers.size]]
    return each


def stable_order(numbers: Ints) -> Ints:
    """Return a stable sorting order of numbers of zero or more, in linear time where 16 bits hold them."""
    narrow = numbers.astype(np.uint16) if numbers.max(initial=0) < 65_536 else numbers
    return np.argsort(narrow, kind="stable").astype(np.int64, copy=False)
