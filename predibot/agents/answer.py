"""The answer of an agent: untrusted text, parsed once into a decision or refused with what to mend.

Nothing is repaired and nothing has a default: what is not said is missing, and
what is said wrongly comes back as a complaint that a model can act on.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from predibot.domain.decision import Decision, MarketDecision
from predibot.domain.event import Event
from predibot.errors import AnswerError

MAX_REPAIRS = 3
"""How often an answer may be handed in again after a complaint."""
MAX_ANSWER_CHARACTERS = 100_000
MAX_TEXT_CHARACTERS = 4_000
MAX_MARKETS = 500
MAX_COMPLAINTS = 12
_PROBABILITY_NAMES = ("estimated_probability", "odds")
"""The second is the older name, which some prompts and models still use."""
_FIELDS = ("market_id", *_PROBABILITY_NAMES, "bet", "confidence", "rationale")
_ANSWER_FIELDS = ("market_decisions", "unallocated_capital", "rationale")


Check = Callable[[Decision], None]
"""Raises AnswerError where a decision breaks a rule of its game."""


@dataclass(frozen=True, slots=True)
class LoopResult:
    """How talking to a model ended: with a decision that holds, or with the reason why there is none."""

    decision: Decision | None
    reason: str = ""
    notes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    """Addresses that the model says it read by itself."""


def parse_answer(answer: object, event: Event) -> Decision:
    """Return the decision that an answer says.

    Args:
        answer: What the model handed to `final_answer`: an object with
            `market_decisions` and `unallocated_capital`, or its JSON text.
        event: What it is about; every market of it must be answered, once.

    Raises:
        AnswerError: If anything in it is missing, unknown, of a wrong kind or
            out of range; the message names each and says what to mend. What is
            staked in total, and where, is the game's to judge.
    """
    data = _object(answer)
    complaints = [*_unknown_fields(data, _ANSWER_FIELDS, "the answer")]
    items = data.get("market_decisions")
    said = list(_items(items, complaints))
    complaints += _roll_call(said, event)
    markets = [_market_decision(item, complaints) for item in said]
    unallocated = _unallocated(data, complaints)
    rationale = _text(data.get("rationale", ""), "rationale of the answer", complaints)
    if complaints:
        raise AnswerError(_joined(complaints))
    return Decision(tuple(markets), unallocated_usd=unallocated, rationale=rationale)


def _object(answer: object) -> Mapping[str, Any]:
    if isinstance(answer, str):
        if len(answer) > MAX_ANSWER_CHARACTERS:
            raise AnswerError(f"the answer has {len(answer):,} characters; keep it below {MAX_ANSWER_CHARACTERS:,}")
        try:
            answer = json.loads(answer, parse_constant=_no_constant, object_pairs_hook=_no_duplicates)
        except (ValueError, RecursionError) as error:
            raise AnswerError(f"the answer is not JSON ({error}); hand in one JSON object") from None
    if not isinstance(answer, Mapping):
        raise AnswerError(f"the answer is {_seen(answer)}; hand in an object with {' and '.join(_ANSWER_FIELDS[:2])}")
    return answer


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{_seen(name)} is given twice")
        found[name] = value
    return found


def _items(items: object, complaints: list[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the entries that are objects, and complain about the rest."""
    if items is None:
        complaints.append("market_decisions is missing; give a list with one entry for every market")
        return
    if isinstance(items, str):
        complaints.append("market_decisions is text; give a list of objects, not its JSON in quotes")
        return
    if not isinstance(items, Sequence):
        complaints.append(f"market_decisions is {_seen(items)}; give a list with one entry for every market")
        return
    if len(items) > MAX_MARKETS:
        complaints.append(f"market_decisions has {len(items)} entries; give one for every market")
        return
    for number, item in enumerate(items, start=1):
        if isinstance(item, Mapping):
            yield item
        else:
            complaints.append(f"entry {number} of market_decisions is {_seen(item)}; give an object")


def _roll_call(said: Sequence[Mapping[str, Any]], event: Event) -> Iterator[str]:
    """Yield what is wrong with which markets are answered."""
    known = [market.id for market in event.markets]
    seen: set[str] = set()
    for item in said:
        market_id = item.get("market_id")
        if not isinstance(market_id, str):
            yield f"market_id is {_seen(market_id)}; give the id as text, one of {_listed(known)}"
        elif market_id not in known:
            yield f"market {_seen(market_id)} is not of this event; its markets are {_listed(known)}"
        elif market_id in seen:
            yield f"market {market_id} is answered twice; answer it once"
        else:
            seen.add(market_id)
    for market_id in known:
        if market_id not in seen:
            yield f"market {market_id} is missing; give its probability, and a bet of 0 if you do not want to bet"


def _market_decision(item: Mapping[str, Any], complaints: list[str]) -> MarketDecision:
    """Return what an entry says; where it says something wrong the result is not used."""
    market = _seen_id(item.get("market_id"))
    complaints.extend(_unknown_fields(item, _FIELDS, f"market {market}"))
    probability = _probability(item, market, complaints)
    bet_usd = _number(item, "bet", market, complaints, hint="dollars, positive for YES, negative for NO, 0 for none")
    confidence = _confidence(item, market, complaints)
    rationale = _text(item.get("rationale"), f"rationale of market {market}", complaints)
    return MarketDecision(market, probability, bet_usd, confidence, rationale)


def _probability(item: Mapping[str, Any], market: str, complaints: list[str]) -> float:
    given = [name for name in _PROBABILITY_NAMES if name in item]
    if len(given) > 1:
        complaints.append(f"market {market} gives both {' and '.join(given)}; give estimated_probability only")
    name = given[0] if given else _PROBABILITY_NAMES[0]
    before = len(complaints)
    value = _number(item, name, market, complaints, hint="the probability of YES, between 0 and 1")
    if len(complaints) == before and not 0.0 <= value <= 1.0:
        percent = f"; for {value:g} percent write {value / 100:g}" if 1.0 < value <= 100.0 else ""
        complaints.append(f"{name} of market {market} is {value:g}; give a number between 0 and 1{percent}")
    return value


def _confidence(item: Mapping[str, Any], market: str, complaints: list[str]) -> float:
    before = len(complaints)
    value = _number(item, "confidence", market, complaints, hint="0 to 10")
    if len(complaints) == before and not 0.0 <= value <= 10.0:
        complaints.append(f"confidence of market {market} is {value:g}; give a number between 0 and 10")
    return value


def _number(item: Mapping[str, Any], name: str, market: str, complaints: list[str], *, hint: str) -> float:
    """Return a finite number, or complain and return 0, which is then not used."""
    where = f"{name} of market {market}"
    if name not in item or item[name] is None:
        complaints.append(f"{where} is missing; give {hint}")
        return 0.0
    return _finite(item[name], where, complaints, hint=hint)


def _finite(value: object, where: str, complaints: list[str], *, hint: str) -> float:
    if isinstance(value, str):
        complaints.append(f"{where} is the text {_seen(value)}; {_number_hint(value)} ({hint})")
    elif isinstance(value, bool) or not isinstance(value, int | float):
        complaints.append(f"{where} is {_seen(value)}; give a number: {hint}")
    elif not _is_finite(value):
        complaints.append(f"{where} is {_seen(value)}; give a finite number: {hint}")
    else:
        return float(value)
    return 0.0


def _number_hint(text: str) -> str:
    """Return what to write instead of a text, where it can be told."""
    bare = text.strip().removesuffix("%").lstrip("$").strip()
    try:
        number = float(bare)
    except ValueError:
        return "give a number"
    if not math.isfinite(number):
        return "give a finite number"
    return f"write {number / 100:g}" if text.strip().endswith("%") else f"write {number:g} without quotes"


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _unallocated(data: Mapping[str, Any], complaints: list[str]) -> float | None:
    value = data.get("unallocated_capital")
    hint = "the dollars that are not bet"
    if value is None:
        complaints.append(f"unallocated_capital is missing; give {hint}")
        return None
    before = len(complaints)
    number = _finite(value, "unallocated_capital", complaints, hint=hint)
    if len(complaints) == before and number < 0:
        complaints.append(f"unallocated_capital is {number:g}; lower the bets until it is 0 or more")
    return number


def _text(value: object, where: str, complaints: list[str]) -> str:
    if value is None:
        complaints.append(f"{where} is missing; say in a sentence or two why")
        return ""
    if not isinstance(value, str):
        complaints.append(f"{where} is {_seen(value)}; give text")
        return ""
    if len(value) > MAX_TEXT_CHARACTERS:
        complaints.append(f"{where} has {len(value):,} characters; keep it below {MAX_TEXT_CHARACTERS:,}")
    return value


def _unknown_fields(data: Mapping[str, Any], known: Sequence[str], where: str) -> list[str]:
    unknown = [name for name in data if name not in known]
    if not unknown:
        return []
    return [f"{where} has the unknown field {_seen(unknown[0])}; the fields are {', '.join(known)}"]


def _seen(value: object) -> str:
    """Return a short text for what was seen, on one line."""
    text = repr(value) if isinstance(value, str | int | float | bool | None) else f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:59]}…"


def _seen_id(value: object) -> str:
    return value if isinstance(value, str) and len(value) <= 80 else _seen(value)


def _listed(ids: Sequence[str]) -> str:
    shown = ", ".join(ids[:20])
    return shown if len(ids) <= 20 else f"{shown} and {len(ids) - 20} more"


def _joined(complaints: Sequence[str]) -> str:
    shown = [f"{text}." for text in complaints[:MAX_COMPLAINTS]]
    if len(complaints) > MAX_COMPLAINTS:
        shown.append(f"{len(complaints) - MAX_COMPLAINTS} more complaints follow when these are mended.")
    return " ".join(shown)
