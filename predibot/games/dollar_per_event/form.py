"""The answer form of one dollar an event: what is asked, and what is taken for an answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from predibot.domain.decision import Decision, Order
from predibot.domain.event import EventView
from predibot.domain.price import Instrument, Price, PricePoint
from predibot.errors import AnswerError
from predibot.games.answers import AnswerComplaint, Words, marked
from predibot.games.dollar_per_event.complaints import FIELDS
from predibot.games.dollar_per_event.parse import SCHEMA, SHAPE, parse_answer
from predibot.games.dollar_per_event.words import event_words
from predibot.games.game import AnswerForm

Check = Callable[[Decision, EventView, Mapping[Instrument, Price]], object]
"""Raises AnswerError where a decision on an event breaks a rule at these prices."""


@dataclass(frozen=True, slots=True)
class EventForm(AnswerForm):
    """How an answer about one event is asked for and read."""

    schema: ClassVar = SCHEMA
    shape: ClassVar = SHAPE
    fields: ClassVar = FIELDS
    seen: EventView
    stake_usd: float
    rules: Check
    price_blind: bool = False
    """Whether prices are left out of the words, and of complaints about an answer."""

    @property
    def enough_tokens(self) -> int:
        """Return how many tokens a short answer takes."""
        return 600 + 200 * len(self.seen.event.markets)

    def words(self, *, history: Callable[[str], tuple[PricePoint, ...]], untrusted: Callable[[str], str]) -> Words:
        """Return what a model is told about the event."""
        return event_words(
            self.seen.event, self.stake_usd, price_blind=self.price_blind, history=history, untrusted=untrusted
        )

    def parse(self, answer: object) -> Decision:
        """Return the decision that an answer says, which keeps the rules at the quotes that were shown.

        Raises:
            AnswerError: The message says everything that is wrong with it, and what to fix.
        """
        decision = parse_answer(answer, self.seen)
        self.check(decision)
        return decision

    def check(self, decision: Decision) -> None:
        """Refuse a decision that breaks a rule, to the price-blind in words that say no price.

        Raises:
            AnswerError: The message says what to fix.
        """
        try:
            self.rules(decision, self.seen, self.seen.prices)
        except AnswerError:
            if not self.price_blind:
                raise
            self.rules(decision, self.seen, {key: _hidden(price) for key, price in self.seen.prices.items()})
            # Without the cause: it says the price.
            raise AnswerComplaint(self._barred(decision)) from None

    def _barred(self, decision: Decision) -> str:
        """Return that orders of a decision cannot be booked at their prices, and on which markets."""
        outcomes = self.seen.outcomes
        barred = [
            marked(repr(outcomes[order.instrument][0].id))
            for order in decision.orders
            if self._is_barred(decision, order)
        ]
        return f"no bet on this side can be booked now for market {', '.join(barred)}; set it to 0"

    def _is_barred(self, decision: Decision, order: Order) -> bool:
        try:
            self.rules(replace(decision, orders=(order,), unallocated_usd=None), self.seen, self.seen.prices)
        except AnswerError:
            return True
        return False


def _hidden(price: Price) -> Price:
    """Return a price that is as usable as another, and says nothing of it."""
    return replace(price, mid=0.5) if 0.0 < price.mid < 1.0 else price
