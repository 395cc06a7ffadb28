"""The baseline that holds nothing."""

from dataclasses import dataclass

from predibot.contracts import Context
from predibot.domain.decision import Decision


@dataclass(frozen=True, slots=True)
class AllCash:
    """Keep the whole account in cash, so that it is worth its deposit for ever."""

    games = ("portfolio_weights", "weekly_cohort")

    def decide(self, context: Context) -> Decision:
        """Return no weight for anything, by which what is held is sold; in a cohort, where nothing is, hold."""
        if context.game.name == "weekly_cohort":
            return Decision()
        return Decision(orders=context.view.orders({}))
