"""A part of what was decided: by the slots of runs, whether they were live, and what events are about."""

from dataclasses import dataclass
from datetime import datetime

from predibot.domain.account import MODES
from predibot.errors import UsageError


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Which decisions somebody asks about, besides their venue, recipe and bots; what is left out narrows nothing."""

    since: datetime | None = None
    """Of slots at that instant or later."""
    until: datetime | None = None
    """Of slots before that instant."""
    category: str | None = None
    """On events of this category, as `report --by category` names it."""
    mode: str | None = None
    """Of `MODES`."""

    def __post_init__(self) -> None:
        """Refuse a mode that there is not, and dates between which nothing is.

        Raises:
            UsageError: If it is so.
        """
        if self.mode is not None and self.mode not in MODES:
            raise UsageError(f"there is no mode {self.mode[:40]!r}; there are: {', '.join(MODES)}")
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise UsageError("nothing is since an instant and until the same or an earlier one; exchange the two")

    @property
    def cuts_accounts(self) -> bool:
        """Return whether a part of an account's history is asked for, which is no account."""
        return any(each is not None for each in (self.since, self.until, self.category))

    def has_slot(self, at: datetime) -> bool:
        """Return whether what began at an instant is asked for."""
        return (self.since is None or at >= self.since) and (self.until is None or at < self.until)


EVERYTHING = Narrowing()
