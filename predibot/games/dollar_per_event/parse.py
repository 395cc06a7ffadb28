"""The answer about an event: untrusted text, parsed once into a decision or refused with what to fix."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from predibot.domain.decision import Decision, Forecast
from predibot.domain.event import Event, EventView
from predibot.games.answers import ABSENT, AnswerComplaint, decoded, final_answer, joined, listed, quoted, read_json
from predibot.games.dollar_per_event.complaints import FIELDS, complaints_of

MAX_TEXT_CHARACTERS = 4_000
MAX_MARKETS = 500
PROBABILITY_NAMES = ("estimated_probability", "odds")
"""The second is the older name, which some prompts and models still use."""
DECISIONS_NAMES = ("market_decisions", "market_investment_decisions")
RATIONALE_NAMES = ("rationale", "summary")
"""The second of these are the names that PrediBench uses."""

SCHEMA = final_answer(
    "Hand in your decision, once, alone. It is checked; a complaint says what to mend. "
    "It is market_decisions and unallocated_capital, or else abstain and nothing beside it.",
    {
        "market_decisions": {
            "type": "array",
            "description": "One entry for every market.",
            "items": {
                "type": "object",
                "properties": {
                    "market_id": {"type": "string"},
                    "estimated_probability": {"type": "number", "description": "Of YES, between 0 and 1."},
                    "bet": {"type": "number", "description": "Dollars: positive buys YES, negative NO, 0 none."},
                    "confidence": {"type": "number", "description": "0 to 10."},
                    "rationale": {"type": "string", "description": "A sentence or two why."},
                },
                "required": ["market_id", "estimated_probability", "bet", "confidence", "rationale"],
            },
        },
        "unallocated_capital": {
            "type": "number",
            "description": "Dollars not bet; what is left where left out.",
        },
    },
)
SHAPE = """{
  "market_decisions": [
    {"market_id": "...", "estimated_probability": 0.5, "bet": 0.0, "confidence": 5, "rationale": "..."}
  ],
  "unallocated_capital": 1.0
}"""
"""An answer as it is shown to a model."""


class _Wire(BaseModel):
    """What a model sends: nothing is converted, nothing is ignored."""

    model_config = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)


class _MarketAnswer(_Wire):
    market_id: str
    estimated_probability: float = Field(ge=0, le=1, allow_inf_nan=False)
    bet: float = Field(allow_inf_nan=False)
    confidence: float = Field(ge=0, le=10, allow_inf_nan=False)
    rationale: str = Field(pattern=r"\S", max_length=MAX_TEXT_CHARACTERS)

    def to_domain(self) -> Forecast:
        """Return the forecast that was said."""
        return Forecast(self.market_id, self.estimated_probability, self.confidence, self.rationale)


class _Answer(_Wire):
    market_decisions: list[_MarketAnswer] = Field(max_length=MAX_MARKETS)
    unallocated_capital: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    rationale: str | None = Field(default=None, max_length=MAX_TEXT_CHARACTERS)

    def to_domain(self, view: EventView) -> Decision:
        """Return the decision that was said, with an order for each bet."""
        forecasts = tuple(market.to_domain() for market in self.market_decisions)
        orders = view.orders({market.market_id: market.bet for market in self.market_decisions})
        return Decision(forecasts, orders, unallocated_usd=self.unallocated_capital, rationale=self.rationale or "")


def parse_answer(answer: object, view: EventView) -> Decision:
    """Return the decision that an answer says.

    Args:
        answer: What the model handed in: an object with `market_decisions`
            and `unallocated_capital`, or its JSON text, which also shows what
            an object cannot any more, such as a field that is given twice.
        view: What it is about; every market of it must be answered, once.

    Raises:
        AnswerError: If anything in it is missing, unknown, of a wrong kind or
            out of range; the message names each and says what to fix. What is
            staked in total, and where, is the game's to judge.
    """
    data = read_json(answer, FIELDS) if isinstance(answer, str) else answer
    if not isinstance(data, Mapping):
        fields = "market_decisions and unallocated_capital"
        raise AnswerComplaint(f"the answer is {quoted(data)}; hand in an object with {fields}.")
    data = _filled(_filled(data, DECISIONS_NAMES), RATIONALE_NAMES)
    complaints = [*_both_names((data,), DECISIONS_NAMES), *_both_names((data,), RATIONALE_NAMES)]
    data = _one_name(_one_name(data, DECISIONS_NAMES), RATIONALE_NAMES)
    items = data.get("market_decisions")
    if isinstance(items, list) and len(items) <= MAX_MARKETS:
        items = [_filled(item, PROBABILITY_NAMES) if isinstance(item, Mapping) else item for item in items]
        complaints += [*_both_names(items, PROBABILITY_NAMES), *_roll_call(items, view.event)]
        named = [_one_name(item, PROBABILITY_NAMES) if isinstance(item, Mapping) else item for item in items]
        data = {**data, "market_decisions": named}
    try:
        parsed = _Answer.model_validate(data)
    except ValidationError as error:
        raise AnswerComplaint(joined([*complaints_of(error, items), *complaints])) from None
    if complaints:
        raise AnswerComplaint(joined(complaints))
    return parsed.to_domain(view)


def _filled(item: Mapping[Any, Any], names: tuple[str, str]) -> Mapping[Any, Any]:
    """Return an object without the older of two names where it is left empty beside the newer one."""
    newer, older = names
    is_empty = newer in item and item.get(older) in ABSENT
    return {name: value for name, value in item.items() if name != older} if is_empty else item


def _one_name(item: Mapping[Any, Any], names: tuple[str, str]) -> dict[Any, Any]:
    """Return an object with one of its fields under the newer of two names; both at once are told elsewhere."""
    newer, older = names
    rest = {name: value for name, value in item.items() if name != older}
    if newer in item or older not in item:
        return rest
    said = item[older]
    # The newer name has been decoded by the reader of answers, which knows the schema.
    return {**rest, newer: decoded(said) if names is DECISIONS_NAMES and isinstance(said, str) else said}


def _both_names(entries: Sequence[object], names: tuple[str, str]) -> Iterator[str]:
    for item in entries:
        if isinstance(item, Mapping) and all(name in item for name in names):
            who = f"market {quoted(item.get('market_id'))}" if names is PROBABILITY_NAMES else "the answer"
            yield f"{who} gives both {' and '.join(names)}; give the first only"


def _roll_call(entries: Sequence[object], event: Event) -> Iterator[str]:
    """Yield what is wrong with which markets are answered; ids that are no text are told elsewhere."""
    known = [market.id for market in event.markets]
    answered = [item.get("market_id") for item in entries if isinstance(item, Mapping)]
    ids = [market_id for market_id in answered if isinstance(market_id, str)]
    for market_id in dict.fromkeys(ids):
        if market_id not in known:
            yield f"market {quoted(market_id)} is not of this event; its markets are {listed(known)}"
        elif ids.count(market_id) > 1:
            yield f"market {quoted(market_id)} is answered {ids.count(market_id)} times; answer it once"
    for market_id in known:
        if market_id not in ids:
            yield f"market {quoted(market_id)} is missing; add its probability and its bet, which may be 0"
