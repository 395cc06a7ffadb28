"""Points: observed prices of an instrument, and their bytes in the ledger."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from predibot.errors import LedgerUnusable

SOURCES = ("history", "quote")
"""Sources of points; of equal instants the last source counts, track's own quote."""
POINT = np.dtype([("at", "<i8"), ("source", "u1"), ("price", "<f8")])
"""Microseconds since 1970, an index into `SOURCES`, and the price within the instrument's bound."""
LAST_MICROSECOND = 32_503_680_000_000_000
"""The year 3000."""
_VERSION = b"\x01"
"""Format version, the first byte."""

Points = NDArray[np.void]


def pack_points(points: Points) -> bytes:
    """Return points as bytes."""
    return _VERSION + points.tobytes()


def unpack_points(blobs: Sequence[bytes], *, highest: float = 1.0) -> tuple[Points, NDArray[np.int64]]:
    """Return the points of several instruments behind each other, and how many each has.

    Raises:
        LedgerUnusable: If the bytes are malformed, or hold impossible points, such as prices above `highest`.
    """
    # A database may hold anything in a column, whatever it is declared as.
    if not all(isinstance(blob, bytes) for blob in blobs):
        raise LedgerUnusable(f"{_BROKEN}: they are no bytes. {_REMEDY}")
    sizes = np.array([len(blob) - 1 for blob in blobs], dtype=np.int64)
    if (sizes % POINT.itemsize).any() or any(blob[:1] != _VERSION for blob in blobs):
        raise LedgerUnusable(f"{_BROKEN}: they are cut, or of another version. {_REMEDY}")
    found = np.frombuffer(b"".join(memoryview(blob)[1:] for blob in blobs), dtype=POINT)
    # Written so that NaN is refused too.
    is_price = (found["price"] >= 0.0) & (found["price"] <= highest) & np.isfinite(found["price"])
    if not (is_price.all() and (found["source"] < len(SOURCES)).all()):
        raise LedgerUnusable(f"{_BROKEN}: one is no price in [0, {highest:g}], or of no known source. {_REMEDY}")
    if not ((found["at"] >= 0) & (found["at"] < LAST_MICROSECOND)).all():
        raise LedgerUnusable(f"{_BROKEN}: one is of before 1970 or after 2999. {_REMEDY}")
    return found, sizes // POINT.itemsize


def merge_points(held: Points, more: Points) -> Points:
    """Return points in order of time and source, each pair once; the first counts, those of `held` before `more`."""
    both = np.concatenate([held, more])
    both = both[np.lexsort((both["source"], both["at"]))]
    again = (both["at"][1:] == both["at"][:-1]) & (both["source"][1:] == both["source"][:-1])
    return both[np.append(True, ~again)] if both.size else both


def receipt_numbers(receipts: bytes | None, size: int) -> NDArray[np.uint32]:
    """Return the number of the ledger's receipt for each of `size` points; 0 for none.

    Stored numbers that are not as many as the points count as none.
    """
    found = unpack_numbers(receipts)
    return found if found.size == size else np.zeros(size, dtype=_NUMBER)


def unpack_numbers(receipts: bytes | None) -> NDArray[np.uint32]:
    """Return the stored numbers of receipts."""
    if receipts is None:
        return np.zeros(0, dtype=_NUMBER)
    if not isinstance(receipts, bytes) or len(receipts) % _NUMBER.itemsize:
        raise LedgerUnusable(f"the receipts of prices in the ledger are not as predibot writes them. {_REMEDY}")
    return np.frombuffer(receipts, dtype=_NUMBER)


def merge_numbers(numbers: NDArray[np.uint32], held: Points, merged: Points) -> bytes:
    """Return receipt numbers for merged points: those of held points, and 0 for new ones."""
    names, known = (each["at"] * len(SOURCES) + each["source"] for each in (merged, held))
    found = np.zeros(merged.size, dtype=_NUMBER)
    found[np.isin(names, known)] = numbers
    return found.tobytes()


_NUMBER = np.dtype("<u4")
_BROKEN = "the prices in the ledger are not as predibot writes them"
_REMEDY = "Put a copy in its place"
