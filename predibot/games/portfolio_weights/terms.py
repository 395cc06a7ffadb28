"""Terms: what a recipe may say of a portfolio of weights."""

from dataclasses import dataclass
from typing import Literal

Filling = Literal["next", "same"]
FillName = Literal["mid", "quote", "book"]
Overweight = Literal["scale", "refuse"]
BothSides = Literal["refuse", "net"]


@dataclass(frozen=True, slots=True)
class PortfolioTerms:
    """When and how weights are traded, and what becomes of those that no account can have."""

    stake_usd: float
    """What an account begins with."""
    fill: Filling = "next"
    fills: FillName = "mid"
    overweight: Overweight = "scale"
    both_sides: BothSides = "refuse"
    is_stocks: bool = False
    """Whether shares are held, not outcomes."""
    fee_bps: float = 0.0
    spread_bps: float = 0.0
