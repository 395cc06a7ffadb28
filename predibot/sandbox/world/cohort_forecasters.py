"""The forecasters of the sandbox in a weekly cohort: how they read its prompt, and bet, sell and hold. A cohort shows
no news, so its prompt tells nothing beyond prices. Only `sharp` learns from its server what insiders know.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Draw = Callable[..., float]
"""A number in (0, 1) that some words determine."""
InsiderChances = Callable[[str], Sequence[float] | None]
"""The insiders' chance of each outcome of a market, of YES alone where there are two; None for no market."""

_CASH = re.compile(r"^cash: \$(-?[0-9,.]+)", re.MULTILINE)
_POSITION = re.compile(r"^(p[0-9]+) \| ([^|]+) \| ([^|]+) \| ([0-9.]+)(.*)$", re.MULTILINE)
_HEADER = re.compile(r"^markets, as id \| question \| [^\n]*\n", re.MULTILINE)
_NAMED = re.compile(r"(?:(#[0-9]+)=)?(.*) ([0-9.]+|no price)")
_LEAST_EDGE = 0.03
_BETS = 5
_LEAST_USD = 50.0
_SHARE = 0.25
"""The share of the cash that all bets of an answer may take together."""


@dataclass(frozen=True, slots=True)
class PromptOutcome:
    """An outcome of the prompt, with its price."""

    market_id: str
    side: str
    price: float
    number: int


@dataclass(frozen=True, slots=True)
class PromptPosition:
    """A position of the account."""

    id: str
    market_id: str
    side: str
    can_be_sold: bool


@dataclass(frozen=True, slots=True)
class PromptCohort:
    """The cohort of a prompt."""

    cash_usd: float
    positions: tuple[PromptPosition, ...]
    outcomes: tuple[PromptOutcome, ...]
    """Outcomes with a price strictly between 0 and 1."""


def read_cohort(prompt: str) -> PromptCohort | None:
    """Return the cohort of a prompt; None for a prompt about something else."""
    header, cash = _HEADER.search(prompt), _CASH.search(prompt)
    if header is None or cash is None:
        return None
    positions = tuple(
        PromptPosition(position, market_id, side, "cannot be sold" not in rest)
        for position, market_id, side, _, rest in _POSITION.findall(prompt[: header.start()])
    )
    outcomes = list[PromptOutcome]()
    for line in prompt[header.end() :].splitlines():
        cells = line.split(" | ")
        if len(cells) < 6:
            break
        if len(cells) == 6:
            outcomes += _parse_outcomes(cells[0], cells[3])
    return PromptCohort(float(cash.group(1).replace(",", "")), positions, tuple(outcomes))


def cohort_answer(
    name: str, cohort: PromptCohort, drawn: Draw, informed: InsiderChances, *, said: str
) -> dict[str, object]:
    """Return a forecaster's answer in a cohort; `said` begins the reasoning."""
    if name == "lazy":
        return {"action": "HOLD", "reasoning": f"{said} Prices are right."}
    if name == "sharp":
        return _sharp_answer(cohort, informed, said)
    if (
        name == "restless"
        and drawn("sells") < 0.5
        and (held := [each for each in cohort.positions if each.can_be_sold])
    ):
        sells = [{"position_id": each.id, "percentage": 1 + int(99 * drawn("part", each.id))} for each in held[:_BETS]]
        return {"action": "SELL", "sells": sells, "reasoning": f"{said} Something else, please."}
    favourites = name == "gullible"
    ranked = sorted(
        cohort.outcomes, key=lambda each: -each.price if favourites else drawn("bet", each.market_id, each.side)
    )
    count = 1 if name == "overconfident" else 3
    return _bet_answer(cohort, ranked[:count], f"{said} A feeling.", {})


def wrong_cohort_answers(cohort: PromptCohort) -> dict[str, dict[str, object]]:
    """Return answers that every cohort refuses, by what is wrong."""
    market_id, side = (cohort.outcomes[0].market_id, cohort.outcomes[0].side) if cohort.outcomes else ("?", "YES")

    def bet(**changes: object) -> dict[str, object]:
        return {"action": "BET", "bets": [{"market_id": market_id, "side": side, "amount": 100.0, **changes}]}

    def sell(percentage: float) -> dict[str, object]:
        position = cohort.positions[0].id if cohort.positions else "p1"
        return {"action": "SELL", "sells": [{"position_id": position, "percentage": percentage}]}

    return {
        "not_a_number": bet(amount=math.nan),
        "text_amount": bet(amount="100"),
        "too_much": bet(amount=3_000.0),
        "blank_side": bet(side=""),
        "unknown_market": bet(market_id=f"{market_id}-other"),
        "sells_nothing": sell(0),
        "sells_too_much": sell(101),
    }


def _parse_outcomes(market_id: str, cell: str) -> list[PromptOutcome]:
    yes = _parse_price(cell.rpartition(": ")[2])
    if yes is not None:
        return [PromptOutcome(market_id, "YES", yes, 0), PromptOutcome(market_id, "NO", 1.0 - yes, 1)]
    found = []
    parts = cell.split("; ")
    # A shortened list hides the place of a name, unless it states its number.
    is_whole = not re.fullmatch(r"[0-9]+ more", parts[-1])
    for place, part in enumerate(parts):
        named = _NAMED.fullmatch(part)
        price = None if named is None else _parse_price(named.group(3))
        if named is not None and price is not None:
            number = int(named.group(1)[1:]) - 1 if named.group(1) else place if is_whole else -1
            found.append(PromptOutcome(market_id, named.group(1) or named.group(2), price, number))
    return found


def _parse_price(text: str) -> float | None:
    try:
        price = float(text)
    except ValueError:
        return None
    return price if 0.0 < price < 1.0 else None


def _sharp_answer(cohort: PromptCohort, informed: InsiderChances, said: str) -> dict[str, object]:
    """Return bets where prices are below the insiders' chances, else sales where they are above."""
    chances = {each: chance for each in cohort.outcomes if (chance := _chance(each, informed)) is not None}
    edges = {each: chance - each.price for each, chance in chances.items()}
    best = sorted(edges, key=lambda each: -edges[each])
    best = [each for each in best[:_BETS] if edges[each] >= _LEAST_EDGE]
    probabilities = {
        each.market_id: round(chance if each.side == "YES" else 1.0 - chance, 4)
        for each, chance in chances.items()
        if each in best and each.side in ("YES", "NO")
    }
    answer = _bet_answer(cohort, best, f"{said} Those who know more would pay more.", probabilities)
    if answer["action"] == "BET":
        return answer
    by_name = {(each.market_id, each.side): edge for each, edge in edges.items()}
    sells = [
        {"position_id": each.id, "percentage": 100}
        for each in cohort.positions
        if each.can_be_sold and by_name.get((each.market_id, each.side), 0.0) < -_LEAST_EDGE
    ]
    if sells:
        return {"action": "SELL", "sells": sells, "reasoning": f"{said} These are worth less than their price."}
    return answer


def _chance(outcome: PromptOutcome, informed: InsiderChances) -> float | None:
    known = informed(outcome.market_id)
    if known is None:
        return None
    if outcome.side in ("YES", "NO") and len(known) == 1:
        return known[0] if outcome.side == "YES" else 1.0 - known[0]
    return known[outcome.number] if 0 <= outcome.number < len(known) else None


def _bet_answer(
    cohort: PromptCohort, wanted: Sequence[PromptOutcome], said: str, probabilities: dict[str, float]
) -> dict[str, object]:
    """Return equal bets on as many outcomes as the cash allows; HOLD without any."""
    most_usd = _SHARE * cohort.cash_usd
    chosen = wanted[: max(0, int(most_usd / _LEAST_USD))]
    if not chosen:
        return {"action": "HOLD", "reasoning": said}
    amount_usd = math.floor(100.0 * most_usd / len(chosen)) / 100.0
    bets = [{"market_id": each.market_id, "side": each.side, "amount": amount_usd} for each in chosen]
    answer: dict[str, object] = {"action": "BET", "bets": bets, "reasoning": said}
    return answer | ({"probabilities": probabilities} if probabilities else {})
