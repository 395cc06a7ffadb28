"""A resolved bet of a cohort: what the Brier score of bets' sizes is made of."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ResolvedBet:
    """A bet whose market is resolved."""

    amount_usd: float
    cash_before_usd: float
    """Right before it was booked, after the bets of the same answer that stand before it."""
    won: bool | None
    """None where no side won."""
