"""A table of prices as programs write it: dates and decimal numbers without quotes, read as arrays at once.

Twenty years of 500 stocks are 2.6 million rows; as texts, each a Python
object, they take four times as long. What is written in any other way is no
plain table, and is read row by row by who asked.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Days = NDArray[np.datetime64]
ONE_DAY = np.timedelta64(1, "D")
Floats = NDArray[np.float64]

_DATE = 10
"""Characters of a date, such as 2026-01-05."""
_MOST_DIGITS = 15
"""So many are a whole number that a float holds, so that one division by a power of ten is the nearest float."""
_POWERS = np.array([10.0**power for power in range(_MOST_DIGITS + 1)])
_NEWLINE, _COMMA, _DOT, _DASH, _ZERO = (ord(each) for each in "\n,.-0")


def read_plain(body: bytes, names: Sequence[str], wanted: Sequence[str]) -> tuple[Days, Sequence[Floats]] | None:
    """Return the dates of a table, which are its first column, and some columns of numbers.

    Args:
        body: The lines below the first, each with an end, in bytes.
        names: Of the columns, each once.
        wanted: The columns of numbers.

    Returns:
        None where it is no plain table: a line has other cells than the first,
        a date is none, or what is wanted is no plain decimal number.
    """
    text = np.frombuffer(body, np.uint8)
    if not names or names[0] != "date" or not text.size or text[-1] != _NEWLINE or text.max() > 127 or b'"' in body:
        return None
    ends, separators = np.flatnonzero(text == _NEWLINE), np.flatnonzero(text == _COMMA)
    if len(names) < 2 or separators.size != ends.size * (len(names) - 1):
        return None
    starts, commas = np.concatenate([[0], ends[:-1] + 1]), separators.reshape(ends.size, -1)
    edges = np.column_stack([starts - 1, commas, ends])
    if (commas[:, 0] < starts).any() or (commas[:, -1] > ends).any():
        return None
    days = _days(text, starts, edges[:, 1])
    columns = [_numbers(text, edges[:, place] + 1, edges[:, place + 1]) for place in map(names.index, wanted)]
    known = [each for each in columns if each is not None]
    return None if days is None or len(known) < len(columns) else (days, known)


def _days(text: NDArray[np.uint8], first: NDArray[np.int64], end: NDArray[np.int64]) -> Days | None:
    if (end - first != _DATE).any():
        return None
    letters = text[first[:, np.newaxis] + np.arange(_DATE)]
    digits = np.delete(letters, [4, 7], axis=1).astype(np.int64) - _ZERO
    if (letters[:, [4, 7]] != _DASH).any() or (digits < 0).any() or (digits > 9).any():
        return None
    year, month, day = digits[:, :4] @ (1_000, 100, 10, 1), digits[:, 4:6] @ (10, 1), digits[:, 6:] @ (10, 1)
    if (year < 1).any() or (month < 1).any() or (month > 12).any() or (day < 1).any():
        return None
    months = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    days: Days = months.astype("datetime64[D]") + (day - 1) * ONE_DAY
    return None if (days.astype("datetime64[M]") != months).any() else days


def _numbers(text: NDArray[np.uint8], first: NDArray[np.int64], end: NDArray[np.int64]) -> Floats | None:
    width = end - first
    if (width < 1).any() or width.max() > _MOST_DIGITS + 1:
        return None
    places = first[:, np.newaxis] + np.arange(width.max())
    is_there = places < end[:, np.newaxis]
    letters = text[np.minimum(places, text.size - 1)].astype(np.int64)
    is_digit, is_dot = is_there & (letters >= _ZERO) & (letters <= _ZERO + 9), is_there & (letters == _DOT)
    digits, dots = is_digit.sum(axis=1), is_dot.sum(axis=1)
    if (digits + dots != width).any() or (dots > 1).any() or (digits < 1).any() or digits.max() > _MOST_DIGITS:
        return None
    whole = np.zeros(width.size, dtype=np.int64)
    for place in range(letters.shape[1]):
        whole = np.where(is_digit[:, place], 10 * whole + letters[:, place] - _ZERO, whole)
    behind = np.where(dots > 0, width - 1 - is_dot.argmax(axis=1), 0)
    found: Floats = whole / _POWERS[behind]
    return found
