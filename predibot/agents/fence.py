"""The fence around text from the web: a marker that no page can know, so none can forge its end."""

import random
from dataclasses import dataclass


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
        """Return a text inside the fence; should it hold the marker all the same, the marker is taken out."""
        return f"{self.opening}\n{text.replace(self.mark, '(marker removed)')}\n{self.closing}"
