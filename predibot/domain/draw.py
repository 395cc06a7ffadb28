"""Random draws that depend on what they are for, never on the order of drawing."""

import hashlib
import random


def seeded(*parts: str | int) -> random.Random:
    """Return a generator whose draws follow from the parts alone.

    Args:
        parts: What the draw is for: seed, recipe, slot, bot, subject.

    Source:
        `scoring.md`: sha256 of the parts joined by `|`.
    """
    digest = hashlib.sha256("|".join(str(part) for part in parts).encode()).digest()
    return random.Random(int.from_bytes(digest))
