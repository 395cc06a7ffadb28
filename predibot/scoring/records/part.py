"""What part of a ledger is meant: by venue, recipe and bots, by when it was decided, and by what events are about."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from predibot.domain.account import MODES
from predibot.errors import UsageError


@dataclass(frozen=True, slots=True)
class Part:
    """Which decisions somebody asks about, and as of when; what is left out narrows nothing."""

    since: datetime | None = None
    """Of slots at that instant or later."""
    until: datetime | None = None
    """Of slots before that instant."""
    category: str | None = None
    """On events of this category, as `report --by category` names it."""
    mode: str | None = None
    """Of `MODES`."""
    recipe: str | None = None
    """Of runs of this recipe."""
    bots: Sequence[str] = ()
    """Of these; empty for all."""
    venue: str | None = None
    """Where the runs were made; left out, where the ledger says."""
    as_of: datetime | None = None
    """Nothing later is seen; left out, the end of a sandbox, else now."""

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


EVERYTHING = Part()
