"""The answer form of one dollar an event: the schema of an answer, and its parser."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from predibot.domain.chat import ToolSchema
from predibot.domain.decision import Decision, Forecast, Order
from predibot.domain.event import Event, EventView
from predibot.domain.price import Instrument, Price, PricePoint
from predibot.errors import AnswerError
from predibot.games.answers import (
    ABSENT,
    AnswerComplaint,
    Words,
    decode_json,
    final_answer,
    join_complaints,
    list_ids,
    mark_foreign,
    quoted,
    read_object,
)
from predibot.games.dollar_per_event.complaints import FIELDS, complaints_of
from predibot.games.dollar_per_event.words import CONFIDENCE, WHY, event_words
from predibot.games.game import AnswerForm

MAX_TEXT_CHARACTERS = 4_000
MAX_MARKETS = 500
PROBABILITY_NAMES = ("estimated_probability", "odds")
"""The second is an older name that some prompts and models still use."""
DECISIONS_NAMES = ("market_decisions", "market_investment_decisions")
RATIONALE_NAMES = ("rationale", "summary")
"""The second names are those of PrediBench."""


def _schema(fields: Sequence[str]) -> ToolSchema:
    """Return the tool that hands in a decision, with the fields of an entry in this order."""
    described: Mapping[str, Mapping[str, str]] = {
        "estimated_probability": {"type": "number", "description": "Of YES, between 0 and 1."},
        "bet": {"type": "number", "description": "Dollars: positive buys YES, negative NO, 0 none."},
        "confidence": {"type": "number", "description": CONFIDENCE},
        "rationale": {"type": "string", "description": f"In short, {WHY}."},
    }
    entry = {"market_id": {"type": "string"}, **{name: described[name] for name in fields}}
    return final_answer(
        "Hand in your decision, once, alone. It is checked; a complaint says what to mend. "
        "It is market_decisions and unallocated_capital, or else abstain and nothing beside it.",
        {
            "market_decisions": {
                "type": "array",
                "description": "One entry for every market.",
                "items": {"type": "object", "properties": entry, "required": [*entry]},
            },
            "unallocated_capital": {"type": "number", "description": "Dollars not bet; what is left where left out."},
        },
    )


def _shape(fields: Sequence[str]) -> str:
    """Return an example of an answer, with the fields of an entry in this order."""
    shown = {"estimated_probability": "0.5", "bet": "0.0", "confidence": "5", "rationale": '"..."'}
    entry = ", ".join(f'"{name}": {shown[name]}' for name in fields)
    return f"""{{
  "market_decisions": [
    {{"market_id": "...", {entry}}}
  ],
  "unallocated_capital": 1.0
}}"""


_ORDER = ("estimated_probability", "bet", "confidence", "rationale")
_RATIONALE_FIRST = ("rationale", "estimated_probability", "confidence", "bet")
"""A model writes from left to right, so what stands first can shape what follows."""
SCHEMA = _schema(_ORDER)
SHAPE = _shape(_ORDER)
_REASONED_SCHEMA, _REASONED_SHAPE = _schema(_RATIONALE_FIRST), _shape(_RATIONALE_FIRST)


class _Wire(BaseModel):
    """A part of a model's answer: nothing is converted, nothing is ignored."""

    model_config = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)


class _MarketAnswer(_Wire):
    market_id: str
    estimated_probability: float = Field(ge=0, le=1, allow_inf_nan=False)
    bet: float = Field(allow_inf_nan=False)
    confidence: float = Field(ge=0, le=10, allow_inf_nan=False)
    rationale: str = Field(pattern=r"\S", max_length=MAX_TEXT_CHARACTERS)

    def to_domain(self) -> Forecast:
        return Forecast(self.market_id, self.estimated_probability, self.confidence, self.rationale)


class _Answer(_Wire):
    market_decisions: list[_MarketAnswer] = Field(max_length=MAX_MARKETS)
    unallocated_capital: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    rationale: str | None = Field(default=None, max_length=MAX_TEXT_CHARACTERS)

    def to_domain(self, view: EventView) -> Decision:
        forecasts = tuple(market.to_domain() for market in self.market_decisions)
        orders = view.orders({market.market_id: market.bet for market in self.market_decisions})
        return Decision(forecasts, orders, unallocated_usd=self.unallocated_capital, rationale=self.rationale or "")


def parse_answer(answer: object, view: EventView) -> Decision:
    """Return the decision of an answer: an object, or its JSON text, which also shows a field that is given twice.

    Raises `AnswerError` if anything is missing, unknown, of a wrong kind or out of range, or a market is not answered
    exactly once; the message names each and says what to fix. The game checks the stakes.
    """
    data = read_object(answer, FIELDS, "market_decisions and unallocated_capital")
    data = _drop_empty_older(_drop_empty_older(data, DECISIONS_NAMES), RATIONALE_NAMES)
    complaints = [*_both_names((data,), DECISIONS_NAMES), *_both_names((data,), RATIONALE_NAMES)]
    data = _use_newer_name(_use_newer_name(data, DECISIONS_NAMES), RATIONALE_NAMES)
    items = data.get("market_decisions")
    if isinstance(items, list) and len(items) <= MAX_MARKETS:
        items = [_drop_empty_older(item, PROBABILITY_NAMES) if isinstance(item, Mapping) else item for item in items]
        complaints += [*_both_names(items, PROBABILITY_NAMES), *_roll_call(items, view.event)]
        named = [_use_newer_name(item, PROBABILITY_NAMES) if isinstance(item, Mapping) else item for item in items]
        data = {**data, "market_decisions": named}
    try:
        parsed = _Answer.model_validate(data)
    except ValidationError as error:
        raise AnswerComplaint(join_complaints([*complaints_of(error, items), *complaints])) from None
    if complaints:
        raise AnswerComplaint(join_complaints(complaints))
    return parsed.to_domain(view)


def _drop_empty_older(item: Mapping[Any, Any], names: tuple[str, str]) -> Mapping[Any, Any]:
    """Return an object without the older of two names if that is empty beside the newer one."""
    newer, older = names
    is_empty = newer in item and item.get(older) in ABSENT
    return {name: value for name, value in item.items() if name != older} if is_empty else item


def _use_newer_name(item: Mapping[Any, Any], names: tuple[str, str]) -> dict[Any, Any]:
    """Return an object with the value of the older name under the newer one; both at once are a complaint."""
    newer, older = names
    rest = {name: value for name, value in item.items() if name != older}
    if newer in item or older not in item:
        return rest
    said = item[older]
    # The reader of answers knows the schema and has decoded the newer name already.
    return {**rest, newer: decode_json(said) if names is DECISIONS_NAMES and isinstance(said, str) else said}


def _both_names(entries: Sequence[object], names: tuple[str, str]) -> Iterator[str]:
    for item in entries:
        if isinstance(item, Mapping) and all(name in item for name in names):
            who = f"market {quoted(item.get('market_id'))}" if names is PROBABILITY_NAMES else "the answer"
            yield f"{who} gives both {' and '.join(names)}; give the first only"


def _roll_call(entries: Sequence[object], event: Event) -> Iterator[str]:
    """Yield complaints about which markets are answered; ids that are no text have another complaint."""
    known = [market.id for market in event.markets]
    answered = [item.get("market_id") for item in entries if isinstance(item, Mapping)]
    ids = [market_id for market_id in answered if isinstance(market_id, str)]
    for market_id in dict.fromkeys(ids):
        if market_id not in known:
            yield f"market {quoted(market_id)} is not of this event; its markets are {list_ids(known)}"
        elif ids.count(market_id) > 1:
            yield f"market {quoted(market_id)} is answered {ids.count(market_id)} times; answer it once"
    for market_id in known:
        if market_id not in ids:
            yield f"market {quoted(market_id)} is missing; add its probability and its bet, which may be 0"


Check = Callable[[Decision, EventView, Mapping[Instrument, Price]], object]
"""Raises `AnswerError` where a decision on an event breaks a rule at these prices."""


@dataclass(frozen=True, slots=True)
class EventForm(AnswerForm):
    """The prompt and the parser for an answer about one event."""

    fields: ClassVar = FIELDS
    seen: EventView
    stake_usd: float
    rules: Check
    price_blind: bool = False
    rationale_first: bool = False
    """Whether an entry has its rationale before its probability, in schema and words."""

    @property
    def schema(self) -> ToolSchema:
        """Return the tool that hands in an answer."""
        return _REASONED_SCHEMA if self.rationale_first else SCHEMA

    @property
    def shape(self) -> str:
        """Return an example answer."""
        return _REASONED_SHAPE if self.rationale_first else SHAPE

    def reasoned(self) -> "EventForm":
        """Return the form whose entries have their rationale before their probability."""
        return replace(self, rationale_first=True)

    @property
    def enough_tokens(self) -> int:
        """Return how many tokens a short answer takes."""
        return 600 + 200 * len(self.seen.event.markets)

    @property
    def question(self) -> str:
        """Return the event's title and its markets' questions."""
        event = self.seen.event
        return "\n".join((event.title, *(market.question for market in event.markets)))

    @property
    def market_ids(self) -> Sequence[str]:
        """Return the ids of the event's markets."""
        return [market.id for market in self.seen.event.markets]

    def words(self, *, history: Callable[[str], tuple[PricePoint, ...]], untrusted: Callable[[str], str]) -> Words:
        """Return the text on the event for a model."""
        return event_words(
            self.seen,
            self.stake_usd,
            price_blind=self.price_blind,
            rationale_first=self.rationale_first,
            history=history,
            untrusted=untrusted,
        )

    def parse(self, answer: object) -> Decision:
        """Return the decision of an answer; AnswerError says what breaks a rule at the quotes of the view."""
        decision = parse_answer(answer, self.seen)
        self.check(decision)
        return decision

    def check(self, decision: Decision) -> None:
        """Raise `AnswerError` for a decision that breaks a rule; for a price-blind bot the message has no prices."""
        try:
            self.rules(decision, self.seen, self.seen.prices)
        except AnswerError:
            if not self.price_blind:
                raise
            self.rules(decision, self.seen, {key: _mask(price) for key, price in self.seen.prices.items()})
            # Without the cause, which mentions the price.
            raise AnswerComplaint(self._barred_complaint(decision)) from None

    def _barred_complaint(self, decision: Decision) -> str:
        """Return a complaint that names the markets whose orders cannot be booked at their prices."""
        outcomes = self.seen.outcomes
        barred = [
            mark_foreign(repr(outcomes[order.instrument][0].id))
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


def _mask(price: Price) -> Price:
    """Return a price that is as usable, but reveals nothing."""
    return replace(price, mid=0.5) if 0.0 < price.mid < 1.0 else price
