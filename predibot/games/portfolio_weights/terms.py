"""Terms: the options of a portfolio of weights in a recipe."""

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
    """What is held, how weights are traded, and what happens to weights that no account can have."""

    fill: Filling = "next"
    """Weights are traded at the prices of the `next` slot, or of the `same` slot as the decision."""
    fills: FillName = "mid"
    """The price source of a trade: the `mid`, the `quote`, or the recorded `book`."""
    overweight: Overweight = "scale"
    """Weights that add up to more than one are scaled down to 1, or refused with a complaint."""
    both_sides: BothSides = "refuse"
    """YES and NO of one market are refused with a complaint, or only their `net` is held."""
    tickers: tuple[str, ...] = ()
    """The stocks of the universe; empty for prediction markets."""
    benchmarks: tuple[str, ...] = ()
    """Index funds that only index bots buy; other bots do not see them."""
    fee_bps: float = 0.0
    """The cost of a trade besides the venue's fees, in hundredths of a percent of its money."""
    spread_bps: float = 0.0
    """The spread between buying and selling, in hundredths of a percent of the price."""

    def __post_init__(self) -> None:
        """Refuse implausible costs, and an index fund that is also a stock of the universe."""
        for name in ("fee_bps", "spread_bps"):
            if not 0.0 <= getattr(self, name) <= MOST_BPS:
                raise ValueError(f"{name} is {getattr(self, name)!r}; give 0 to {MOST_BPS:g} hundredths of a percent")
        if len(set(self.tickers) | set(self.benchmarks)) < len(self.tickers) + len(self.benchmarks):
            raise ValueError("tickers and benchmarks name one stock twice; keep one of them")
        if self.benchmarks and not self.tickers:
            raise ValueError("benchmarks are of stocks; name tickers too, or leave them out")

    @property
    def is_stocks(self) -> bool:
        """Return whether it holds shares, traded and valued at closes, instead of outcomes."""
        return bool(self.tickers)

    @property
    def stake_usd(self) -> float:
        """Return the first cash of an account."""
        return STOCKS_STAKE_USD if self.is_stocks else STAKE_USD
