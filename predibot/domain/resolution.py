"""Resolutions: what a settled market paid, since when, and later corrections; and what was forecast of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

SettledSource = Literal["venue", "first_sight"]


@dataclass(frozen=True, slots=True)
class Resolution:
    """One revision of a market's payout."""

    payout_yes: float | None
    """What a share of YES paid, in [0, 1] dollars; NO paid the rest. None where the market was voided without a payout:
    positions get back what they cost.
    """
    settled_at: datetime
    settled_source: SettledSource
    effective_at: datetime
    """When this revision became known; evaluations as of earlier instants do not see it."""
    payouts: tuple[float, ...] = ()
    """For a market with more than two outcomes: the payout of a share of each, in order; the first is `payout_yes`.
    Empty otherwise, and where the market was voided."""

    def __post_init__(self) -> None:
        """Refuse impossible payouts, and payouts that contradict `payout_yes`."""
        if self.payout_yes is not None and not 0.0 <= self.payout_yes <= 1.0:
            raise ValueError(f"a share of YES pays between 0 and 1, not {self.payout_yes!r}")
        if not self.payouts:
            return
        if len(self.payouts) < 3 or self.payouts[0] != self.payout_yes:
            raise ValueError(f"{self.payouts!r} are not the payouts of more than two outcomes, the first as of YES")
        if not all(0.0 <= payout <= 1.0 for payout in self.payouts):
            raise ValueError(f"a share of each outcome pays between 0 and 1, not {self.payouts!r}")

    @classmethod
    def of_payouts(
        cls, payouts: Sequence[float], settled_at: datetime, source: SettledSource, effective_at: datetime
    ) -> "Resolution":
        """Return the resolution with these payouts of two or more outcomes."""
        return cls(payouts[0], settled_at, source, effective_at, tuple(payouts) if len(payouts) > 2 else ())

    def of_outcome(self, number: int) -> "Resolution | None":
        """Return the resolution of one outcome, counted from 0; None for an unknown payout. A void market is void for
        each.
        """
        if self.payout_yes is None:
            return self
        paid = self.payouts or (self.payout_yes, 1.0 - self.payout_yes)
        return replace(self, payout_yes=paid[number], payouts=()) if number < len(paid) else None

    def in_order(self, numbers: Sequence[int]) -> "Resolution":
        """Return it with the outcomes in another order: these numbers, counted from 0."""
        if self.payout_yes is None:
            return self
        paid = [
            self.payouts[number] if self.payouts else (1.0 - self.payout_yes if number else self.payout_yes)
            for number in numbers
        ]
        return Resolution.of_payouts(paid, self.settled_at, self.settled_source, self.effective_at)


def latest_known(revisions: Sequence[Resolution], as_of: datetime) -> Resolution | None:
    """Return the last revision that was effective at an instant; of two at the same instant the later entry."""
    known = [
        (revision.effective_at, entry) for entry, revision in enumerate(revisions) if revision.effective_at <= as_of
    ]
    return revisions[max(known)[1]] if known else None


def unseen_revisions(
    stored: Sequence[Resolution], reported: Sequence[Resolution], as_of: datetime
) -> tuple[Resolution, ...]:
    """Return the revisions reported by a venue that are not stored yet.

    A correction without a later instant of its own is effective from `as_of`, when it was first seen.

    Args:
        stored: Known revisions, in the order in which they were stored.
        reported: The venue's revisions as of `as_of`, oldest first; often only the last one.
    """
    known, unseen = list(stored), list[Resolution]()
    for revision in reported:
        is_current = revision is reported[-1]
        before = latest_known(known, as_of if is_current else revision.effective_at)
        if before is not None and (before.payout_yes, before.payouts) == (revision.payout_yes, revision.payouts):
            continue
        if is_current and before is not None and revision.effective_at <= before.effective_at:
            revision = replace(revision, effective_at=as_of)
        known.append(revision)
        unseen.append(revision)
    return tuple(unseen)


@dataclass(frozen=True, slots=True)
class SettledForecast:
    """A forecast whose market has paid, with the price of its booking."""

    event_id: str
    market_id: str
    price_yes: float
    probability: float
    """The probability of YES, in [0, 1]."""
    outcome: float
    """1 for YES, 0 for NO."""
    decided_at: datetime
    settled_at: datetime
