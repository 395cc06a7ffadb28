"""Positions: what somebody held in a market at an instant, on which side, how much, and what they did next."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

Side = Literal["YES", "NO"]
Action = Literal["flip", "increase", "decrease", "hold"]
ACTIONS: tuple[Action, ...] = ("flip", "increase", "decrease", "hold")
ACTION_HOURS = (6, 12, 24, 48, 72)
"""Windows whose actions are compared, in hours."""
ACTION_WINDOW = timedelta(hours=48)
NETTED = timedelta(minutes=1)
"""Changes within so long of the first of them are one."""
DUST_SHARES = 1e-6
"""Fewer are what floats and fees leave of none: the venues count in millionths."""


@dataclass(frozen=True, slots=True)
class Change:
    """What one trade, or whatever else moves shares, did to somebody's holdings in a market."""

    at: datetime
    yes: float
    """Shares of YES, negative where they went."""
    no: float
    yes_paid: float = 0.0
    """Of what was bought less what was sold of YES, in the venue's currency; nothing where no trade moved shares."""
    no_paid: float = 0.0
    ends: bool = False
    """Whether it is the payout, after which nothing is held, and which nobody chose."""


@dataclass(frozen=True, slots=True)
class LabelledPosition:
    """What was held, as a comment's label."""

    side: Side | None
    """None where nothing was held, or as much of either side."""
    size: float
    """Bought less sold in the venue's currency, negative where profit was taken; 0 without a position."""


NOTHING = LabelledPosition(None, 0.0)


@dataclass(frozen=True, slots=True)
class Holdings:
    """What somebody's changes come to at an instant."""

    yes: float = 0.0
    no: float = 0.0
    yes_paid: float = 0.0
    no_paid: float = 0.0
    ever: bool = False
    """Whether anything was ever held."""

    @property
    def net(self) -> float:
        """Return the shares of YES less those of NO, and 0 for what is dust."""
        net = self.yes - self.no
        return 0.0 if abs(net) <= DUST_SHARES else net

    def after(self, change: Change) -> "Holdings":
        """Return them after one more change; the payout ends all."""
        if change.ends:
            return Holdings(yes_paid=self.yes_paid, no_paid=self.no_paid, ever=self.ever)
        return Holdings(
            self.yes + change.yes,
            self.no + change.no,
            self.yes_paid + change.yes_paid,
            self.no_paid + change.no_paid,
            ever=True,
        )


def holdings_at(changes: Sequence[Change], at: datetime) -> Holdings:
    """Return what was held just before an instant, from somebody's changes in the order of their instants.

    A change at the very instant came after the comment, as far as anybody can tell.
    """
    held = Holdings()
    for change in changes:
        if change.at >= at:
            break
        held = held.after(change)
    return held


def position_by_shares(held: Holdings) -> LabelledPosition:
    """Return the side of which more shares are held, and what was bought less what was sold (Polymarket).

    Examples:
        >>> position_by_shares(Holdings(yes=10.0, no=4.0, yes_paid=5.0, no_paid=3.0))
        LabelledPosition(side='YES', size=8.0)
        >>> position_by_shares(Holdings(yes=4.0, no=4.0, yes_paid=2.0, no_paid=2.0)).side
    """
    if not held.net:
        return NOTHING
    return LabelledPosition("YES" if held.net > 0.0 else "NO", held.yes_paid + held.no_paid)


def position_by_mana(held: Holdings) -> LabelledPosition:
    """Return the side on which more is staked net, and how much (Manifold); none where neither is above zero.

    Examples:
        >>> position_by_mana(Holdings(yes_paid=20.0, no_paid=50.0))
        LabelledPosition(side='NO', size=50.0)
        >>> position_by_mana(Holdings(yes_paid=20.0, no_paid=20.0)).side
    """
    larger = max(held.yes_paid, held.no_paid)
    if larger <= DUST_SHARES or abs(held.yes_paid - held.no_paid) <= DUST_SHARES:
        return NOTHING
    return LabelledPosition("YES" if held.yes_paid > held.no_paid else "NO", larger)


def first_action(
    changes: Sequence[Change], side: Side, at: datetime, *, window: timedelta = ACTION_WINDOW
) -> Action | None:
    """Return what somebody with a position did first to it within a window after an instant.

    Changes within a minute of the first of them are taken together, and go by
    where they come to nothing. The payout is nobody's action, and ends the window.

    Args:
        changes: In the order of their instants.
        side: That the position was on.
        at: Of the comment; what happens at that instant happens after it.
        window: How long after it, its end within.

    Returns:
        None where the shares held do not lie on the side that was paid for, so that no change of them tells anything.

    Examples:
        >>> from datetime import UTC
        >>> day = datetime(2026, 3, 1, tzinfo=UTC)
        >>> bought, sold = Change(day, 10.0, 0.0), Change(day + timedelta(hours=5), -4.0, 0.0)
        >>> first_action([bought, sold], "YES", day + timedelta(hours=1))
        'decrease'
    """
    held = holdings_at(changes, at)
    before = held.net
    if before * (1 if side == "YES" else -1) <= 0.0:
        return None
    later = [change for change in changes if at <= change.at <= at + window]
    number = 0
    while number < len(later) and not later[number].ends:
        ends = later[number].at + NETTED
        while number < len(later) and later[number].at <= ends and not later[number].ends:
            held = held.after(later[number])
            number += 1
        if abs(held.net - before) > DUST_SHARES:
            return _action(before, held.net)
    return "hold"


def _action(before: float, after: float) -> Action:
    if before * after < 0.0:
        return "flip"
    return "increase" if abs(after) > abs(before) else "decrease"


def in_order(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Return changes by their instants; those of one instant stay as they came."""
    return tuple(sorted(changes, key=lambda change: change.at))
