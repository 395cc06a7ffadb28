"""Positions: the shares of a user in a market at an instant, and the user's next action."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

Side = Literal["YES", "NO"]
Action = Literal["flip", "increase", "decrease", "hold"]
ACTIONS: tuple[Action, ...] = ("flip", "increase", "decrease", "hold")
ACTION_HOURS = (6, 12, 24, 48, 72)
ACTION_WINDOW = timedelta(hours=48)
NETTED = timedelta(minutes=1)
"""Changes this soon after the first count as one."""
DUST_SHARES = 1e-6
"""Fewer shares are rounding: the venues count in millionths."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a user's shares in a market, by a trade or otherwise."""

    at: datetime
    yes: float
    """Shares of YES gained; negative where they leave."""
    no: float
    yes_paid: float = 0.0
    """Paid for YES less received, in the venue's currency; 0 without a trade."""
    no_paid: float = 0.0
    ends: bool = False
    """Whether it is the payout, which leaves no shares."""


Position = tuple[Side | None, float]
"""The label of a comment by its writer's holdings: the side, None without shares or with as many of both sides; and the
size, bought less sold in the venue's currency, negative after profits, 0 without a position."""
NOTHING: Position = (None, 0.0)


@dataclass(frozen=True, slots=True)
class Holdings:
    """The sum of a user's changes at an instant."""

    yes: float = 0.0
    no: float = 0.0
    yes_paid: float = 0.0
    no_paid: float = 0.0
    ever: bool = False

    @property
    def net(self) -> float:
        """Return the shares of YES less those of NO; 0 for dust."""
        net = self.yes - self.no
        return 0.0 if abs(net) <= DUST_SHARES else net

    def after(self, change: Change) -> "Holdings":
        """Return the holdings after a change; the payout leaves none."""
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
    """Return the holdings just before an instant, from changes in order; one at the very instant counts as later."""
    held = Holdings()
    for change in changes:
        if change.at >= at:
            break
        held = held.after(change)
    return held


def position_by_shares(held: Holdings) -> Position:
    """Return the side with more shares, and the money bought less sold (Polymarket).

    Examples:
        >>> position_by_shares(Holdings(yes=10.0, no=4.0, yes_paid=5.0, no_paid=3.0))
        ('YES', 8.0)
        >>> position_by_shares(Holdings(yes=4.0, no=4.0, yes_paid=2.0, no_paid=2.0))
        (None, 0.0)
    """
    if not held.net:
        return NOTHING
    return "YES" if held.net > 0.0 else "NO", held.yes_paid + held.no_paid


def position_by_mana(held: Holdings) -> Position:
    """Return the side with the larger net stake, and that stake (Manifold); none where neither is above zero.

    Examples:
        >>> position_by_mana(Holdings(yes_paid=20.0, no_paid=50.0))
        ('NO', 50.0)
        >>> position_by_mana(Holdings(yes_paid=20.0, no_paid=20.0))
        (None, 0.0)
    """
    larger = max(held.yes_paid, held.no_paid)
    if larger <= DUST_SHARES or abs(held.yes_paid - held.no_paid) <= DUST_SHARES:
        return NOTHING
    return "YES" if held.yes_paid > held.no_paid else "NO", larger


def first_action(
    changes: Sequence[Change], side: Side, at: datetime, *, window: timedelta = ACTION_WINDOW
) -> Action | None:
    """Return the first action of a user with a position within a window after a comment, both ends inside.

    Changes within a minute count as one, and are ignored if they cancel out. The payout is no action, and ends the
    window. None where the shares are not on the paid side: their changes mean nothing then.

    Args:
        changes: In the order of their instants.
        side: The position's.
        at: The comment's; changes at that instant count as later.

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
            return "flip" if before * held.net < 0.0 else "increase" if abs(held.net) > abs(before) else "decrease"
    return "hold"


def sort_changes(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Return changes sorted by instant; equal instants keep their order."""
    return tuple(sorted(changes, key=lambda change: change.at))
