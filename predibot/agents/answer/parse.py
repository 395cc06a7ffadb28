"""The answer of an agent: untrusted text, parsed once into a decision or refused with what to mend.

Nothing is repaired and nothing has a default: what is not said is missing, and
what is said wrongly comes back as a complaint that a model can act on.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from predibot.agents.answer.complaints import AnswerComplaint, complaints_of, is_field, joined, listed, quoted
from predibot.domain.chat import ToolSchema
from predibot.domain.decision import Decision, MarketDecision, ReasonKind
from predibot.domain.event import Event
from predibot.errors import AnswerError

MAX_REPAIRS = 3
"""How often an answer may be handed in again after a complaint."""
MAX_ANSWER_CHARACTERS = 100_000
MAX_TEXT_CHARACTERS = 4_000
MAX_MARKETS = 500
PROBABILITY_NAMES = ("estimated_probability", "odds")
"""The second is the older name, which some prompts and models still use."""
DECISIONS_NAMES = ("market_decisions", "market_investment_decisions")
RATIONALE_NAMES = ("rationale", "summary")
"""The second of these are the names that PrediBench uses."""
ABSTAIN = "abstain"
MAX_REASON_CHARACTERS = 480

FINAL_ANSWER = ToolSchema(
    "final_answer",
    "Hand in your decision, once, alone. It is checked; a complaint says what to mend. "
    "It is market_decisions and unallocated_capital, or else abstain and nothing beside it.",
    {
        "type": "object",
        "properties": {
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
            "unallocated_capital": {"type": "number", "description": "Dollars that are not bet."},
            ABSTAIN: {"type": "string", "description": "Why you can say nothing at all. Leave it out else."},
        },
    },
)

Check = Callable[[Decision], None]
"""Raises AnswerError where a decision breaks a rule of its game."""


class LoopEnded(Exception):
    """Leaves the talk with a model without a decision; the text says why."""

    def __init__(self, reason: str, kind: ReasonKind = "bot") -> None:
        """Keep the reason and its kind."""
        super().__init__(reason)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class LoopResult:
    """How talking to a model ended: with a decision that holds, or with the reason why there is none."""

    decision: Decision | None
    reason: str = ""
    notes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    """Addresses that the model says it read by itself."""
    kind: ReasonKind = "bot"
    """Of the reason."""


class _Wire(BaseModel):
    """What a model sends: nothing is converted, nothing is ignored."""

    model_config = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)


class _MarketAnswer(_Wire):
    market_id: str
    estimated_probability: float = Field(ge=0, le=1, allow_inf_nan=False)
    bet: float = Field(allow_inf_nan=False)
    confidence: float = Field(ge=0, le=10, allow_inf_nan=False)
    rationale: str = Field(pattern=r"\S", max_length=MAX_TEXT_CHARACTERS)

    def to_domain(self) -> MarketDecision:
        """Return the forecast and the bet that were said."""
        return MarketDecision(self.market_id, self.estimated_probability, self.bet, self.confidence, self.rationale)


class _Answer(_Wire):
    market_decisions: list[_MarketAnswer] = Field(max_length=MAX_MARKETS)
    unallocated_capital: float = Field(ge=0, allow_inf_nan=False)
    rationale: str = Field(default="", max_length=MAX_TEXT_CHARACTERS)

    def to_domain(self) -> Decision:
        """Return the decision that was said."""
        markets = tuple(market.to_domain() for market in self.market_decisions)
        return Decision(markets, unallocated_usd=self.unallocated_capital, rationale=self.rationale)


def parse_answer(answer: object, event: Event) -> Decision:
    """Return the decision that an answer says.

    Args:
        answer: What the model handed in: an object with `market_decisions`
            and `unallocated_capital`, or its JSON text, which also shows what
            an object cannot any more, such as a field that is given twice.
        event: What it is about; every market of it must be answered, once.

    Raises:
        AnswerError: If anything in it is missing, unknown, of a wrong kind or
            out of range; the message names each and says what to mend. What is
            staked in total, and where, is the game's to judge.
    """
    data = read_json(answer) if isinstance(answer, str) else answer
    if not isinstance(data, Mapping):
        fields = "market_decisions and unallocated_capital"
        raise AnswerComplaint(f"the answer is {quoted(data)}; hand in an object with {fields}.")
    complaints = [*_both_names((data,), DECISIONS_NAMES), *_both_names((data,), RATIONALE_NAMES)]
    data = _one_name(_one_name(data, DECISIONS_NAMES), RATIONALE_NAMES)
    items = data.get("market_decisions")
    if isinstance(items, list) and len(items) <= MAX_MARKETS:
        complaints += [*_both_names(items, PROBABILITY_NAMES), *_roll_call(items, event)]
        data = {**data, "market_decisions": [_entry(item) for item in items]}
    try:
        parsed = _Answer.model_validate(data)
    except ValidationError as error:
        raise AnswerComplaint(joined([*complaints_of(error, items), *complaints])) from None
    if complaints:
        raise AnswerComplaint(joined(complaints))
    return parsed.to_domain()


def abstention_of(answer: object) -> str | None:
    """Return why an answer abstains, or None for one that does not.

    Raises:
        AnswerError: If it abstains and decides at once, or does not say why.
    """
    if not isinstance(answer, Mapping) or ABSTAIN not in answer:
        return None
    if len(answer) > 1:
        raise AnswerError(f"{ABSTAIN} stands beside other fields; hand in a decision without it, or it alone.")
    reason = answer[ABSTAIN]
    if not isinstance(reason, str) or not reason.strip():
        raise AnswerComplaint(f"{ABSTAIN} is {quoted(reason)}; say why, as text, or hand in a decision without it.")
    return " ".join(reason.split())[:MAX_REASON_CHARACTERS]


def abstained(reason: str) -> str:
    """Return how it is stored that a model abstained by itself, which no limit did."""
    return f"the model abstained: {reason}"


def read_json(text: str) -> object:
    """Return what a text says that is JSON and nothing else.

    Raises:
        AnswerError: If it is too long, too deep or not JSON, holds NaN or
            infinity, or gives a field twice, which most readers would settle
            in silence.
    """
    if len(text) > MAX_ANSWER_CHARACTERS:
        raise AnswerError(f"the answer has {len(text):,} characters; keep it below {MAX_ANSWER_CHARACTERS:,}.")
    try:
        found: object = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_no_duplicates)
    except RecursionError:
        raise AnswerError("the answer is nested too deep; hand in one JSON object as described.") from None
    except ValueError as error:
        # Python's own words on a number of 5,000 digits are about a setting of Python.
        why = str(error).partition(" (")[0]
        raise AnswerError(f"the answer is not JSON ({why}); hand in one JSON object and nothing else.") from None
    return found


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            # Any other name may be the words of a page, and there is no answer yet by which they could be told.
            raise ValueError(f"{name if is_field(name) else 'a field'} is given twice")
        found[name] = value
    return found


def _entry(item: object) -> object:
    return _one_name(item, PROBABILITY_NAMES) if isinstance(item, Mapping) else item


def _one_name(item: Mapping[Any, Any], names: tuple[str, str]) -> dict[Any, Any]:
    """Return an object with one of its fields under the newer of two names; both at once are told elsewhere."""
    newer, older = names
    rest = {name: value for name, value in item.items() if name != older}
    return rest if newer in item or older not in item else {**rest, newer: item[older]}


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
