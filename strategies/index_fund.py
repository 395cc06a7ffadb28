"""The baseline that buys an index, by which portfolios of stocks are measured."""

from dataclasses import dataclass

from predibot.contracts import Context
from predibot.domain.decision import Decision


@dataclass(frozen=True, slots=True)
class IndexFund:
    """Put the whole account into an index fund once, then keep the shares, and as cash what they pay."""

    games = ("portfolio_weights",)
    ticker: str = "SPY"
    """One of the game's benchmarks."""

    def decide(self, context: Context) -> Decision:
        """Return the one order, or later none, which leaves every share as it is."""
        view = context.view
        if view.past.pending and not view.account.positions:
            # Nothing closed since: another answer would replace what is still to be bought.
            return Decision(orders=view.past.pending)
        return Decision() if view.has_begun else Decision(orders=view.order_benchmark(self.ticker))
