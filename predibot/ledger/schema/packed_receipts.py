"""The contents of receipts as bytes: leaves of a run's decisions, and keys of the ledger's rows."""

import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from predibot.errors import LedgerUnusable
from predibot.plain_file import unpack

_DIGEST = re.compile("[0-9a-f]{64}")
CHECK_DIGITS = 4
"""Hexadecimal digits of a hash that find a changed field of a leaf, or a changed row."""
_CHECKS = re.compile(f"(?:[0-9a-f]{{{CHECK_DIGITS}}})*")
_BROKEN = "a receipt is broken"


@dataclass(frozen=True, slots=True, order=True)
class Leaf:
    """A decision by its natural key, and the hash of everything its scores rest on."""

    bot: str
    subject_kind: str
    subject_id: str
    sha256: str
    """Leaf hash of RFC 6962."""
    checks: str
    """`CHECK_DIGITS` hexadecimal digits for each field in order, which tell which field differs."""
    is_final: bool
    """Whether it cannot be tried again."""

    @property
    def key(self) -> tuple[str, str, str]:
        """Return its natural key; trees have leaves in this order."""
        return self.bot, self.subject_kind, self.subject_id


def pack_leaves(leaves: Sequence[Leaf]) -> bytes:
    """Return leaves as bytes."""
    columns = [[getattr(leaf, name) for leaf in leaves] for name in Leaf.__slots__]
    return zlib.compress(json.dumps(columns, ensure_ascii=False).encode())


def unpack_leaves(blob: Any) -> tuple[Leaf, ...]:
    """Return the leaves that `pack_leaves` packed."""
    try:
        columns = json.loads(unpack(blob))
        leaves = tuple(Leaf(*row) for row in zip(*columns, strict=True))
    except (TypeError, ValueError, RecursionError) as error:
        raise LedgerUnusable(f"{_BROKEN}: {str(error)[:100]}") from None
    for leaf in leaves:
        texts = (*leaf.key, leaf.sha256, leaf.checks)
        if not all(isinstance(text, str) for text in texts) or not isinstance(leaf.is_final, bool):
            raise LedgerUnusable(f"{_BROKEN}: a leaf is not made of texts")
        if not _DIGEST.fullmatch(leaf.sha256) or not _CHECKS.fullmatch(leaf.checks):
            raise LedgerUnusable(f"{_BROKEN}: {leaf.sha256[:80]!r} is no SHA-256 of a leaf")
    return leaves


DIGEST_DIGITS = 64
"""Kept of a row that may change later."""
_HEX = re.compile("[0-9a-f]*")

Key = tuple[int, ...]
Parts = Mapping[str, Mapping[Key, str]]
"""Keys in order, each with the first digits of its leaf's hash, by part."""


def pack_rows(parts: Parts, totals: Mapping[str, int]) -> bytes:
    """Return a receipt's rows as bytes."""
    packed = {
        name: [[list(column) for column in zip(*found, strict=True)], "".join(found.values())]
        for name, found in parts.items()
    }
    return zlib.compress(json.dumps([packed, dict(totals)], separators=(",", ":")).encode())


def unpack_rows(blob: Any) -> tuple[Parts, Mapping[str, int]]:
    """Return the rows that `pack_rows` packed."""
    try:
        parts, totals = json.loads(unpack(blob))
        found = {name: _unpack_part(columns, checks) for name, (columns, checks) in parts.items()}
        if not all(type(count) is int for count in totals.values()):
            raise ValueError("a total is no whole number")
        return found, totals
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
