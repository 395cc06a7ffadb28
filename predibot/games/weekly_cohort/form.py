"""The answer form of a cohort: the tool that hands in an answer, and the parser of it."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from predibot.domain.decision import Decision, Forecast, Order
from predibot.domain.price import Instrument, PricePoint
from predibot.games.answers import (
    REASONING,
    AnswerComplaint,
    Words,
    final_answer,
    join_complaints,
    quoted,
    read_object,
    reasoning_complaints,
    show_value,
)
from predibot.games.game import AnswerForm
from predibot.games.outcomes import side_of_yes
from predibot.games.weekly_cohort.execution import check
from predibot.games.weekly_cohort.methodology import MIN_BET_USD
from predibot.games.weekly_cohort.view import CohortMarket, CohortView
from predibot.games.weekly_cohort.words import cohort_words

ACTION, BETS, SELLS, PROBABILITIES = "action", "bets", "sells", "probabilities"
ACTIONS = ("BET", "SELL", "HOLD")
_BET_FIELDS = ("market_id", "side", "amount")
_SELL_FIELDS = ("position_id", "percentage")
FIELDS = frozenset({ACTION, BETS, SELLS, REASONING, PROBABILITIES, *_BET_FIELDS, *_SELL_FIELDS})
_TOP = (ACTION, BETS, SELLS, REASONING, PROBABILITIES)
MAX_ENTRIES = 500
_LISTED_SIDES = 12


def parse_answer(answer: object, view: CohortView) -> Decision:
    """Return the decision of an answer: an object, or its JSON text, which also shows a field that is given twice.

    A second sale of a position is a part of what the first one leaves. Raises `AnswerError` if it is wrong or breaks a
    rule at the view's prices; the message says what to fix.
    """
    data = read_object(answer, FIELDS, f"{ACTION} and {REASONING}")
    complaints = list(_field_complaints(data))
    action = data.get(ACTION)
    orders, notes = list[Order](), list[str]()
    if action == "BET":
        orders = list(_bets(data.get(BETS), view, complaints))
    elif action == "SELL":
        orders = list(_sales(data.get(SELLS), view, complaints, notes))
    forecasts = tuple(_forecasts(data.get(PROBABILITIES), view, complaints))
    if complaints:
        raise AnswerComplaint(join_complaints(complaints))
    decision = Decision(forecasts, tuple(orders), rationale=data.get(REASONING, ""), notes=tuple(notes))
    check(decision, view)
    return decision


def _field_complaints(data: Mapping[Any, Any]) -> Iterator[str]:
    """Yield complaints about the fields of an answer, apart from the entries of its lists."""
    for name in data:
        if name not in _TOP:
            yield f"the field {quoted(name)} is unknown; take it out, the fields are {', '.join(_TOP)}"
    action = data.get(ACTION)
    if ACTION not in data:
        yield f"{ACTION} is missing; give one of {', '.join(ACTIONS)}"
    elif not isinstance(action, str) or action not in ACTIONS:
        yield f"{ACTION} is {quoted(action)}; give one of {', '.join(ACTIONS)}, in capitals"
    yield from reasoning_complaints(data.get(REASONING, ""))
    for name, wanted in ((BETS, "BET"), (SELLS, "SELL")):
        # An empty list beside another action is harmless: some models send every field.
        if isinstance(action, str) and action in ACTIONS and action != wanted and data.get(name, []) not in ([], None):
            yield f"{name} stands beside {ACTION} {action}; take it out, or make the {ACTION} {wanted}"


def _entries(
    said: object, name: str, of: tuple[str, ...], complaints: list[str]
) -> Iterator[tuple[int, Mapping[Any, Any]]]:
    """Yield the entries of a list that are objects with the right fields, numbered from 1."""
    one = f"objects with {', '.join(of)}"
    if said is None:
        complaints.append(f"{name} is missing; give a list of {one}")
    elif not isinstance(said, list):
        complaints.append(f"{name} is {quoted(said)}; give a list of {one}")
    elif not said:
        complaints.append(f"{name} is empty; name at least one, or answer HOLD")
    elif len(said) > MAX_ENTRIES:
        complaints.append(f"{name} has {len(said):,} entries; give at most {MAX_ENTRIES}")
    else:
        for number, entry in enumerate(said, 1):
            if not isinstance(entry, Mapping):
                complaints.append(f"entry {number} of {name} is {quoted(entry)}; give an object with {', '.join(of)}")
                continue
            wrong = [f"{field} of entry {number} of {name} is missing" for field in of if field not in entry]
            wrong += [
                f"the field {quoted(field)} of entry {number} of {name} is unknown; take it out"
                for field in entry
                if field not in of
            ]
            complaints += wrong
            if not wrong:
                yield number, entry


def _bets(said: object, view: CohortView, complaints: list[str]) -> Iterator[Order]:
    markets = view.by_id
    for number, entry in _entries(said, BETS, _BET_FIELDS, complaints):
        where = f"of entry {number} of {BETS}"
        market_id, side, amount = (entry[field] for field in _BET_FIELDS)
        market = markets.get(market_id) if isinstance(market_id, str) else None
        if not isinstance(market_id, str) or not market_id:
            complaints.append(f"market_id {where} is {quoted(market_id)}; give the market's id as text, in quotes")
        elif market is None:
            complaints.append(f"market {quoted(market_id)} {where} is not shown; give an id from the list of markets")
        outcome = None if market is None or not isinstance(side, str) else market.outcome(side)
        if not isinstance(side, str) or not side.strip() or (market is not None and outcome is None):
            complaints.append(f"side {where} is {quoted(side)}; give {_sides(market)}")
        if isinstance(amount, bool) or not isinstance(amount, int | float):
            complaints.append(f"amount {where} is {_describe(amount)}; give dollars as a number, without quotes")
        elif outcome is not None:
            yield Order(outcome.instrument, amount, "usd", "buy")


def _sales(said: object, view: CohortView, complaints: list[str], notes: list[str]) -> Iterator[Order]:
    positions = {position.id: position for position in view.positions}
    sold = defaultdict[Instrument, float](float)
    for number, entry in _entries(said, SELLS, _SELL_FIELDS, complaints):
        where = f"of entry {number} of {SELLS}"
        position_id, percentage = (entry[field] for field in _SELL_FIELDS)
        position = positions.get(position_id) if isinstance(position_id, str) else None
        if not isinstance(position_id, str) or not position_id:
            complaints.append(
                f"position_id {where} is {quoted(position_id)}; give the position's id as text, in quotes"
            )
        elif position is None:
            known = f"your positions are {', '.join(positions)}" if positions else "you hold none"
            complaints.append(f"position {quoted(position_id)} {where} is not one of yours; {known}")
        if isinstance(percentage, bool) or not isinstance(percentage, int | float):
            complaints.append(f"percentage {where} is {_describe(percentage)}; give a number from 1 to 100")
        elif not 1 <= percentage <= 100:
            complaints.append(f"percentage {where} is {show_value(percentage)}; give a number from 1 to 100")
        elif position is not None:
            # A part of what earlier entries leave.
            left = position.shares - sold[position.outcome.instrument]
            shares = left if percentage == 100 else left * (percentage / 100)
            if shares <= 0.0:
                complaints.append(f"position {position.id} {where} is sold whole before; take this entry out")
                continue
            sold[position.outcome.instrument] += shares
            notes.append(f"sells {percentage:g} % of {position.id}")
            yield Order(position.outcome.instrument, shares, "shares", "sell")


def _forecasts(said: object, view: CohortView, complaints: list[str]) -> Iterator[Forecast]:
    if said is None:
        return
    if not isinstance(said, Mapping) or len(said) > MAX_ENTRIES:
        complaints.append(f"{PROBABILITIES} is {quoted(said)}; give an object with a number for each market id")
        return
    markets = view.by_id
    for market_id, probability in said.items():
        name = f"the probability of market {quoted(market_id)}"
        market = markets.get(market_id) if isinstance(market_id, str) else None
        if market is None:
            complaints.append(f"{name} is of none that is shown; take it out")
        elif len(market.outcomes) != 2:
            complaints.append(f"{name} is of one with {len(market.outcomes)} outcomes; give it for YES or NO ones only")
        elif isinstance(probability, bool) or not isinstance(probability, int | float) or not 0 <= probability <= 1:
            complaints.append(f"{name} is {_describe(probability)}; give a number between 0 and 1")
        else:
            # A forecast is of the first outcome, which is not YES where the venue lists No first.
            is_first = side_of_yes(market.market) == "YES"
            yield Forecast(market.id, float(probability) if is_first else 1.0 - probability)


def _sides(market: CohortMarket | None) -> str:
    if market is None or len(market.outcomes) == 2:
        return "YES or NO, in capitals"
    names = [quoted(outcome.side) for outcome in market.outcomes]
    more = f" or one of {len(names) - _LISTED_SIDES} more" if len(names) > _LISTED_SIDES else ""
    return f"one of its outcomes by name, {', '.join(names[:_LISTED_SIDES])}{more}"


def _describe(value: object) -> str:
    return f"the text {quoted(value)}" if isinstance(value, str) else show_value(value)


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


SYSTEM_HOLD = "held by the system"
"""The start of the note on a HOLD that no bot decided."""


@dataclass(frozen=True, slots=True)
class CohortForm(AnswerForm):
    """The prompt and the parser for an answer in a cohort."""

    schema: ClassVar = SCHEMA
    shape: ClassVar = SHAPE
    fields: ClassVar[Collection[str]] = FIELDS
    enough_tokens: ClassVar = 2_000
    seen: CohortView
    price_blind: bool = False

    @property
    def question(self) -> str:
        """Return the questions of the markets."""
        return "\n".join(each.market.question for each in self.seen.markets)

    @property
    def market_ids(self) -> Sequence[str]:
        """Return the ids of the markets."""
        return [each.market.id for each in self.seen.markets]

    def words(self, *, history: Callable[[str], tuple[PricePoint, ...]], untrusted: Callable[[str], str]) -> Words:
        """Return the text for a model; it shows no history of prices."""
        return cohort_words(self.seen, price_blind=self.price_blind, untrusted=untrusted)

    def parse(self, answer: object) -> Decision:
        """Return the decision of an answer; AnswerError says what breaks a rule at the prices of the view."""
        return parse_answer(answer, self.seen)
