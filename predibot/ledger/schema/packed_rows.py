"""Rows of a ledger's receipt: their keys and checks, and their bytes in the ledger."""

import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from predibot.errors import LedgerUnusable
from predibot.plain_file import unpacked

CHECK_DIGITS, DIGEST_DIGITS = 4, 64
"""Hexadecimal digits of a leaf's hash: a few find a changed row, all are kept of a row that may change."""
_HEX = re.compile("[0-9a-f]*")

Key = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PackedRows:
    """The rows that a receipt covers."""

    parts: Mapping[str, Mapping[Key, str]]
    """Keys in order, each with the first digits of its leaf's hash, by part."""
    totals: Mapping[str, int]
    """How many rows each part had then, for prices how many points; an equal number means that none came since."""


def packed_rows(rows: PackedRows) -> bytes:
    """Return a receipt's rows as bytes."""
    parts = {
        name: [[list(column) for column in zip(*found, strict=True)], "".join(found.values())]
        for name, found in rows.parts.items()
    }
    return zlib.compress(json.dumps([parts, dict(rows.totals)], separators=(",", ":")).encode())


def unpacked_rows(blob: Any) -> PackedRows:
    """Return the rows that `packed_rows` packed."""
    try:
        parts, totals = json.loads(unpacked(blob))
        found = {name: _unpack_part(columns, checks) for name, (columns, checks) in parts.items()}
        if not all(type(count) is int for count in totals.values()):
            raise ValueError("a total is no whole number")
        return PackedRows(found, totals)
    except (ArithmeticError, AttributeError, TypeError, ValueError, RecursionError, MemoryError) as error:
        raise LedgerUnusable(f"a receipt of the ledger is broken: {str(error)[:100]}") from None


def _unpack_part(columns: Any, checks: Any) -> Mapping[Key, str]:
    keys = [*zip(*columns, strict=True)]
    digits = len(checks) // len(keys)
    if digits not in (CHECK_DIGITS, DIGEST_DIGITS) or digits * len(keys) != len(checks) or not _HEX.fullmatch(checks):
        raise ValueError("its checks are none")
    if not all(type(each) is int for key in keys for each in key):
        raise ValueError("a key is no whole number")
    return {key: checks[at * digits : (at + 1) * digits] for at, key in enumerate(keys)}
