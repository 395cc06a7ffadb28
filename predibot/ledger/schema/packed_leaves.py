"""Leaves of a run's receipt, one a decision, and their bytes in the ledger."""

import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from predibot.errors import LedgerUnusable
from predibot.plain_file import unpacked

_DIGEST = re.compile("[0-9a-f]{64}")
CHECK_DIGITS = 4
"""For each field."""
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


def packed_leaves(leaves: Sequence[Leaf]) -> bytes:
    """Return leaves as bytes."""
    columns = [[getattr(leaf, name) for leaf in leaves] for name in Leaf.__slots__]
    return zlib.compress(json.dumps(columns, ensure_ascii=False).encode())


def unpacked_leaves(blob: Any) -> tuple[Leaf, ...]:
    """Return the leaves that `packed_leaves` packed."""
    try:
        columns = json.loads(unpacked(blob))
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
