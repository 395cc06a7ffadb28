"""Normalisation: probabilities of markets that exclude each other, made to add up; a note keeps the bot's own."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from predibot.domain.decision import Decision
from predibot.domain.event import Event, Market
from predibot.games.answers import number_of
from predibot.related.coherence.bounds import cover_everything, span_of

Normalise = Literal["exclusive"]
_NOTE = 'said before normalise = "exclusive": '


def normalise_exclusive(answer: Decision, event: Event) -> Decision:
    """Return a decision whose probabilities keep the rule that at most one of some markets pays YES.

    A group's probabilities that add up to more than 1 are divided by their sum. Those that add up to less are too, if
    one of the group must pay YES: its questions name ranges that cover all numbers, or one market pays where no other
    does, and no open market of the group is left out. Bets stay as they are. A group with a market without a
    probability in [0, 1] stays as it is; the game complains about it.
    """
    stated = {each.market_id: number_of(each.probability) for each in answer.forecasts}
    said, played = dict[str, float](), dict[str, float]()
    for name in dict.fromkeys(market.exclusive_group for market in event.markets if market.exclusive_group):
        group = [market for market in event.markets if market.exclusive_group == name]
        numbers = {market.id: p for market in group if (p := stated.get(market.id)) is not None and 0.0 <= p <= 1.0}
        total = sum(numbers.values())
        is_off = total > 1.0 or (0.0 < total < 1.0 and _must_pay(name, group, event))
        if len(group) > 1 and len(numbers) == len(group) and is_off:
            said |= numbers
            played |= {market_id: p / total for market_id, p in numbers.items()}
    if not said:
        return answer
    forecasts = tuple(
        replace(each, probability=played.get(each.market_id, each.probability)) for each in answer.forecasts
    )
    return replace(answer, forecasts=forecasts, notes=(*answer.notes, f"{_NOTE}{json.dumps(said)}"))


def _must_pay(name: str, group: Sequence[Market], event: Event) -> bool:
    if any(each.exclusive_group == name for each in event.left_out):
        return False
    spans = [span_of(market.question) for market in group]
    known = [span for span in spans if span is not None]
    return any(market.is_other for market in group) or (len(known) == len(group) and cover_everything(known))


def said_before(notes: Sequence[str]) -> Mapping[str, float]:
    """Return a bot's probabilities by market id before normalisation; raise `ValueError` for a malformed note."""
    found = dict[str, float]()
    for note in notes:
        if note.startswith(_NOTE):
            stated = json.loads(note.removeprefix(_NOTE))
            numbers = {str(name): number_of(each) for name, each in stated.items()} if isinstance(stated, dict) else {}
            if not numbers or not all(each is not None and 0.0 <= each <= 1.0 for each in numbers.values()):
                raise ValueError("a note on normalised probabilities holds none")
            found |= {name: each for name, each in numbers.items() if each is not None}
    return found
