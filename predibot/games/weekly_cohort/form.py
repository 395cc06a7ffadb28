"""The answer form of a cohort: what is asked, and what is taken for an answer."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import ClassVar

from predibot.domain.decision import Decision
from predibot.domain.price import PricePoint
from predibot.games.answers import REASONING, Words, final_answer
from predibot.games.game import AnswerForm
from predibot.games.weekly_cohort.methodology import MIN_BET_USD
from predibot.games.weekly_cohort.parse import (
    ACTION,
    ACTIONS,
    BETS,
    FIELDS,
    PROBABILITIES,
    SELLS,
    parse_answer,
)
from predibot.games.weekly_cohort.view import CohortView
from predibot.games.weekly_cohort.words import cohort_words

SCHEMA = final_answer(
    "Hand in your decision, once, alone. It is checked; a complaint says what to fix. "
    f"It is {ACTION} with what belongs to it and {REASONING}, or else abstain and nothing beside it.",
    {
        ACTION: {"type": "string", "enum": list(ACTIONS)},
        BETS: {
            "type": "array",
            "description": "With BET only.",
            "items": {
                "type": "object",
                "properties": {
                    "market_id": {"type": "string"},
                    "side": {"type": "string", "description": "YES or NO; of more outcomes the name of one."},
                    "amount": {"type": "number", "description": f"Dollars, at least {MIN_BET_USD:g}."},
                },
                "required": ["market_id", "side", "amount"],
            },
        },
        SELLS: {
            "type": "array",
            "description": "With SELL only.",
            "items": {
                "type": "object",
                "properties": {
                    "position_id": {"type": "string"},
                    "percentage": {"type": "number", "description": "Of the position, from 1 to 100."},
                },
                "required": ["position_id", "percentage"],
            },
        },
        REASONING: {"type": "string", "description": "Why, in a few sentences."},
        PROBABILITIES: {
            "type": "object",
            "description": "By market id, the probability of YES, between 0 and 1; you may leave it out.",
        },
    },
)
SHAPE = """{"action": "BET", "bets": [{"market_id": "...", "side": "YES", "amount": 500.0}], "reasoning": "..."}
or {"action": "SELL", "sells": [{"position_id": "p1", "percentage": 100}], "reasoning": "..."}
or {"action": "HOLD", "reasoning": "..."}"""
"""Answers as they are shown to a model."""


SYSTEM_HOLD = "held by the system"
"""With which the note of a HOLD begins that no bot has said."""


@dataclass(frozen=True, slots=True)
class CohortForm(AnswerForm):
    """How an answer in a cohort is asked for and read."""

    schema: ClassVar = SCHEMA
    shape: ClassVar = SHAPE
    fields: ClassVar[Collection[str]] = FIELDS
    enough_tokens: ClassVar = 2_000
    """How many tokens a short answer takes."""
    seen: CohortView
    price_blind: bool = False
    """Whether prices, and what follows from them, are left out of the words."""

    def words(self, *, history: Callable[[str], tuple[PricePoint, ...]], untrusted: Callable[[str], str]) -> Words:
        """Return what a model is told; the history of prices is not asked for, the game shows none."""
        return cohort_words(self.seen, price_blind=self.price_blind, untrusted=untrusted)

    def parse(self, answer: object) -> Decision:
        """Return the decision that an answer says, which keeps the rules at the prices that were shown.

        Raises:
            AnswerError: The message says everything that is wrong with it, and what to fix.
        """
        return parse_answer(answer, self.seen)
