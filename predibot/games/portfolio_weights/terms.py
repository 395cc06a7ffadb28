"""Terms: what a recipe may say of a portfolio of weights."""

from dataclasses import dataclass
from typing import Literal

Filling = Literal["next", "same"]
FillName = Literal["mid", "quote", "book"]
Overweight = Literal["scale", "refuse"]
BothSides = Literal["refuse", "net"]
STAKE_USD, STOCKS_STAKE_USD = 500.0, 1_000.0
MOST_BPS = 1_000.0


@dataclass(frozen=True, slots=True)
class PortfolioTerms:
    """What is held, when and how weights are traded, and what becomes of those that no account can have."""

    fill: Filling = "next"
    """When weights are traded: at the prices of the `next` slot, or at the `same` that they were decided at."""
    fills: FillName = "mid"
    """What sets the price of a trade: the `mid`, the `quote`, or the recorded `book`."""
    overweight: Overweight = "scale"
    """What happens to weights of more than one: all are scaled down to 1, or a complaint."""
    both_sides: BothSides = "refuse"
    """What happens to YES and NO of one market: a complaint, or the `net` of them is held."""
    tickers: tuple[str, ...] = ()
    """The stocks that are held instead of outcomes; empty for prediction markets."""
    benchmarks: tuple[str, ...] = ()
    """Index funds that only bots of an index buy; nobody else is shown them."""
    fee_bps: float = 0.0
    """What a trade costs, in hundredths of a percent of its money, beside what the venue states."""
    spread_bps: float = 0.0
    """How far apart buying and selling are around the price, in hundredths of a percent of it."""

    def __post_init__(self) -> None:
        """Refuse costs that nobody has, and an index that is a stock of the universe too."""
        for name in ("fee_bps", "spread_bps"):
            if not 0.0 <= getattr(self, name) <= MOST_BPS:
                raise ValueError(f"{name} is {getattr(self, name)!r}; give 0 to {MOST_BPS:g} hundredths of a percent")
        if len(set(self.tickers) | set(self.benchmarks)) < len(self.tickers) + len(self.benchmarks):
            raise ValueError("tickers and benchmarks name one stock twice; keep one of them")
        if self.benchmarks and not self.tickers:
            raise ValueError("benchmarks are of stocks; name tickers too, or leave them out")

    @property
    def is_stocks(self) -> bool:
        """Return whether shares are held, not outcomes; they trade, and accounts are valued, at closes."""
        return bool(self.tickers)

    @property
    def stake_usd(self) -> float:
        """Return what an account begins with."""
        return STOCKS_STAKE_USD if self.is_stocks else STAKE_USD
