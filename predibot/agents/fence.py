"""The fence around text from strangers: a marker that no page can know, so none can forge its end."""

import random
import re
from dataclasses import dataclass

REMOVED = "(marker removed)"
_LOOKALIKE = re.compile(r"<<[^<>\n]{0,80}untrusted[^<>\n]{0,80}>>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Fence:
    """The marker of one decision."""

    mark: str

    @classmethod
    def drawn(cls, rng: random.Random) -> "Fence":
        """Return a fence whose marker follows from the decision's own generator."""
        return cls(f"{rng.getrandbits(64):016x}")

    @property
    def opening(self) -> str:
        """Return what stands before untrusted text."""
        return f"<<untrusted {self.mark}>>"

    @property
    def closing(self) -> str:
        """Return what stands behind untrusted text."""
        return f"<<end of untrusted {self.mark}>>"

    def around(self, text: str) -> str:
        """Return a text inside the fence."""
        return f"{self.opening}\n{self.cleared(text)}\n{self.closing}"

    def cleared(self, text: str) -> str:
        """Return a text without the marker, in whatever case, and without anything that looks like it.

        What is taken out leaves its words behind, so that nothing grows
        together into a new marker.
        """
        without = re.sub(re.escape(self.mark), REMOVED, text, flags=re.IGNORECASE)
        return _LOOKALIKE.sub(REMOVED, without)

    def shortened(self, text: str, characters: int) -> str:
        """Return the beginning of a text; where that is fenced, it is fenced again."""
        inside = text.removeprefix(f"{self.opening}\n").removesuffix(f"\n{self.closing}")
        if len(inside) <= characters:
            return text
        begin = f"{inside[:characters]}… (shortened)"
        return begin if inside == text else f"{self.opening}\n{begin}\n{self.closing}"
