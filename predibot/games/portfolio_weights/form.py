"""The answer form of a portfolio of weights: what is asked, and what is taken for an answer."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from predibot.domain.account_past import CASH
from predibot.domain.chat import ToolSchema
from predibot.domain.decision import Decision
from predibot.domain.price import PricePoint
from predibot.games.answers import REASONING, Words, final_answer
from predibot.games.game import AnswerForm
from predibot.games.portfolio_weights.parse import ALLOCATIONS, FIELDS, PROBABILITIES, parse_answer
from predibot.games.portfolio_weights.terms import PortfolioTerms
from predibot.games.portfolio_weights.view import PortfolioView
from predibot.games.portfolio_weights.words import portfolio_words

SHAPE = f"""{{
  "{REASONING}": "...",
  "{ALLOCATIONS}": {{"512_Yes": 0.2, "730_No": 0.3, "{CASH}": 0.5}},
  "{PROBABILITIES}": {{"512": 0.7, "730": 0.1}}
}}"""
"""An answer as it is shown to a model."""
STOCK_SHAPE = f"""{{
  "{REASONING}": "...",
  "{ALLOCATIONS}": {{"AAPL": 0.2, "XOM": 0.3, "{CASH}": 0.5}}
}}"""


@dataclass(frozen=True, slots=True)
class PortfolioForm(AnswerForm):
    """How an answer about a portfolio is asked for and read."""

    seen: PortfolioView
    terms: PortfolioTerms
    price_blind: bool = False
    """Whether prices, and what follows from them, are left out of the words; no complaint says one anyhow."""

    @property
    def schema(self) -> ToolSchema:
        """Return the tool by which an answer is handed in."""
        share = {"type": "number", "description": "Its share of the portfolio, between 0 and 1."}
        assets = [*self.seen.assets, CASH]
        return final_answer(
            f"Hand in your decision, once, alone. It is checked; a complaint says what to mend. "
            f"It is {REASONING} and {ALLOCATIONS}, or else abstain and nothing beside it.",
            {
                REASONING: {"type": "string", "description": "Why, in a few sentences."},
                ALLOCATIONS: {
                    "type": "object",
                    "description": f"The weight of each asset that you want, {CASH} included; together 1.",
                    "properties": dict.fromkeys(assets, share),
                },
            }
            | ({} if self.terms.is_stocks else {PROBABILITIES: self._probabilities}),
        )

    @property
    def _probabilities(self) -> dict[str, object]:
        return {
            "type": "object",
            "description": "By market id, the probability of YES, between 0 and 1; you may leave it out.",
            "properties": {market.market.id: {"type": "number"} for market in self.seen.markets},
        }

    @property
    def shape(self) -> str:
        """Return an answer as it is shown to a model, in JSON."""
        return STOCK_SHAPE if self.terms.is_stocks else SHAPE

    @property
    def fields(self) -> Collection[str]:
        """Return the names of the fields an answer may have; of assets those that hold no word of the venue."""
        ours = {
            market.asset(side)
            for market in self.seen.markets
            for side in market.sides
            if self.terms.is_stocks or not any(map(str.isalpha, market.market.id))
        }
        return FIELDS | ours | {CASH}

    @property
    def enough_tokens(self) -> int:
        """Return how many tokens a short answer takes."""
        return 800 + 60 * len(self.seen.markets)

    def words(self, *, history: Callable[[str], tuple[PricePoint, ...]], untrusted: Callable[[str], str]) -> Words:
        """Return what a model is told about the portfolio."""
        return portfolio_words(
            self.seen, self.terms, price_blind=self.price_blind, history=history, untrusted=untrusted
        )

    def parse(self, answer: object) -> Decision:
        """Return the decision that an answer says, with the weights as they are applied.

        Raises:
            AnswerError: The message says everything that is wrong with it, and what to fix.
        """
        return parse_answer(answer, self.seen, self.terms, fields=self.fields)
