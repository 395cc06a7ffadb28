"""Part: a part of a ledger, by venue, recipe, bots, dates and category."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from predibot.domain.account import MODES
from predibot.domain.replicates import split_replicate
from predibot.errors import UsageError


@dataclass(frozen=True, slots=True)
class Part:
    """A filter of decisions, and the instant as of which they are read; unset fields filter nothing."""

    since: datetime | None = None
    """Slots at that instant or later."""
    until: datetime | None = None
    """Slots before that instant."""
    category: str | None = None
    """Events of this category, as `report --by category` names it."""
    mode: str | None = None
    recipe: str | None = None
    bots: Sequence[str] = ()
    venue: str | None = None
    """By default the ledger's."""
    as_of: datetime | None = None
    """Nothing later is read; by default the end of a sandbox, else now."""

    def __post_init__(self) -> None:
        """Refuse an unknown mode and empty spans with a UsageError."""
        if self.mode is not None and self.mode not in MODES:
            raise UsageError(f"there is no mode {self.mode[:40]!r}; there are: {', '.join(MODES)}")
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise UsageError("nothing is since an instant and until the same or an earlier one; exchange the two")

    @property
    def cuts_accounts(self) -> bool:
        """Return whether it would cut an account's history and so leave no account."""
        return any(each is not None for each in (self.since, self.until, self.category))

    def has_bot(self, name: str) -> bool:
        """Return whether it includes a bot; a bot with replicates includes these."""
        return not self.bots or not {name, split_replicate(name)[0]}.isdisjoint(self.bots)

    def has_slot(self, at: datetime) -> bool:
        """Return whether it includes a slot at an instant."""
        return (self.since is None or at >= self.since) and (self.until is None or at < self.until)


EVERYTHING = Part()
