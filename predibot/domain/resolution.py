"""Resolutions: what a settled market paid, since when, and each later correction."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

SettledSource = Literal["venue", "first_sight"]


@dataclass(frozen=True, slots=True)
class Resolution:
    """One revision of what a market paid."""

    payout_yes: float
    """Dollars a share of YES paid, in [0, 1]; NO paid the rest."""
    settled_at: datetime
    settled_source: SettledSource
    effective_at: datetime
    """Since when this revision was known; evaluating earlier does not see it."""

    def __post_init__(self) -> None:
        """Refuse a payout no share can have."""
        if not 0.0 <= self.payout_yes <= 1.0:
            raise ValueError(f"a share of YES pays between 0 and 1, not {self.payout_yes!r}")

    @property
    def void(self) -> bool:
        """Return whether neither side won."""
        return self.payout_yes not in (0.0, 1.0)
