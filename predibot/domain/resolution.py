"""Resolutions: what a settled market paid, since when, and each later correction."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

SettledSource = Literal["venue", "first_sight"]


@dataclass(frozen=True, slots=True)
class Resolution:
    """One revision of what a market paid."""

    payout_yes: float | None
    """Dollars a share of YES paid, in [0, 1]; NO paid the rest. None of a market that was voided without a payout:
    what a position cost is paid back."""
    settled_at: datetime
    settled_source: SettledSource
    effective_at: datetime
    """Since when this revision was known; evaluating earlier does not see it."""
    payouts: tuple[float, ...] = ()
    """Of a market of more than two outcomes, what a share of each paid, in their order; the first is `payout_yes`.
    Empty of any other, and where it was voided without a payout."""

    def __post_init__(self) -> None:
        """Refuse a payout no share can have, and payouts that say different things of the first outcome."""
        if self.payout_yes is not None and not 0.0 <= self.payout_yes <= 1.0:
            raise ValueError(f"a share of YES pays between 0 and 1, not {self.payout_yes!r}")
        if not self.payouts:
            return
        if len(self.payouts) < 3 or self.payouts[0] != self.payout_yes:
            raise ValueError(f"{self.payouts!r} are not the payouts of more than two outcomes, the first as of YES")
        if not all(0.0 <= payout <= 1.0 for payout in self.payouts):
            raise ValueError(f"a share of each outcome pays between 0 and 1, not {self.payouts!r}")

    @classmethod
    def paying(
        cls, payouts: Sequence[float], settled_at: datetime, source: SettledSource, effective_at: datetime
    ) -> "Resolution":
        """Return that each outcome paid so much, of two or more of them."""
        return cls(payouts[0], settled_at, source, effective_at, tuple(payouts) if len(payouts) > 2 else ())

    def of_outcome(self, number: int) -> "Resolution | None":
        """Return it as an outcome is paid, counted from 0; None where it does not say what that is.

        A market that was voided without a payout says so of each.
        """
        if self.payout_yes is None:
            return self
        paid = self.payouts or (self.payout_yes, 1.0 - self.payout_yes)
        return replace(self, payout_yes=paid[number], payouts=()) if number < len(paid) else None

    def in_order(self, numbers: Sequence[int]) -> "Resolution":
        """Return it with its outcomes in another order: first the one that had the first of these numbers."""
        if self.payout_yes is None:
            return self
        paid = [
            self.payouts[number] if self.payouts else (1.0 - self.payout_yes if number else self.payout_yes)
            for number in numbers
        ]
        return Resolution.paying(paid, self.settled_at, self.settled_source, self.effective_at)


def as_known(revisions: Sequence[Resolution], as_of: datetime) -> Resolution | None:
    """Return the last revision that was effective at an instant, or None; of equal instants the later entry."""
    known = [
        (revision.effective_at, entry) for entry, revision in enumerate(revisions) if revision.effective_at <= as_of
    ]
    return revisions[max(known)[1]] if known else None


def unseen_revisions(
    stored: Sequence[Resolution], reported: Sequence[Resolution], as_of: datetime
) -> tuple[Resolution, ...]:
    """Return the revisions a venue reports, as of an instant, that are not stored yet.

    A correction for which the venue states no later instant than the revision it
    corrects is effective from when it was first seen, the `as_of`.

    Args:
        stored: What is known, in the order in which it was stored.
        reported: What the venue says now, oldest first; often the last one only.
        as_of: The instant the venue was asked about.
    """
    known, unseen = list(stored), list[Resolution]()
    for revision in reported:
        is_current = revision is reported[-1]
        before = as_known(known, as_of if is_current else revision.effective_at)
        if before is not None and (before.payout_yes, before.payouts) == (revision.payout_yes, revision.payouts):
            continue
        if is_current and before is not None and revision.effective_at <= before.effective_at:
            revision = replace(revision, effective_at=as_of)
        known.append(revision)
        unseen.append(revision)
    return tuple(unseen)
