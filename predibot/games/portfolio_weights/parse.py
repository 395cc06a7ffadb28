"""The answer about a portfolio: untrusted text, parsed once into a decision or refused with what to fix."""

from collections.abc import Collection, Iterator, Mapping

from predibot.domain.account_past import CASH
from predibot.domain.decision import Decision, Forecast
from predibot.games.answers import (
    REASONING,
    AnswerComplaint,
    joined,
    number_of,
    quoted,
    read_json,
    reasoning_complaints,
)
from predibot.games.portfolio_weights.terms import PortfolioTerms
from predibot.games.portfolio_weights.view import PortfolioView
from predibot.games.portfolio_weights.weights import applied_weights, stated_weights, unknown_ids

ALLOCATIONS, PROBABILITIES = "allocations", "probabilities"
FIELDS = frozenset({REASONING, ALLOCATIONS, PROBABILITIES})
"""What an answer may have fields of."""
MAX_ENTRIES = 1_000


def parse_answer(answer: object, view: PortfolioView, terms: PortfolioTerms, *, fields: Collection[str]) -> Decision:
    """Return the decision that an answer says.

    Args:
        answer: What the model handed in: an object, or its JSON text, which also shows what
            an object cannot any more, such as a field that is given twice.
        view: What it is about; an asset that is not named has no weight.
        terms: What becomes of weights that no account can have.
        fields: The names that a complaint may repeat.

    Raises:
        AnswerError: The message names everything that is wrong, and says what to fix.
    """
    data = read_json(answer, fields) if isinstance(answer, str) else answer
    if not isinstance(data, Mapping):
        raise AnswerComplaint(f"the answer is {quoted(data)}; hand in an object with {REASONING} and {ALLOCATIONS}.")
    said = data.get(ALLOCATIONS)
    complaints = [*_field_complaints(data)]
    forecasts, wrong = _forecasts(data.get(PROBABILITIES), view)
    complaints += wrong
    weights = None
    if isinstance(said, Mapping) and 0 < len(said) <= MAX_ENTRIES:
        stated, wrong = stated_weights(said)
        complaints += wrong
        if not wrong:
            weights, wrong = applied_weights(
                stated,
                view.assets,
                [market.market.id for market in view.markets],
                overweight=terms.overweight,
                both_sides=terms.both_sides,
            )
            complaints += wrong
    if complaints or weights is None:
        raise AnswerComplaint(joined(complaints))
    orders = view.orders(weights.applied, weights.asked)
    return Decision(forecasts, orders, rationale=data.get(REASONING, ""), notes=weights.notes)


def _field_complaints(data: Mapping[object, object]) -> Iterator[str]:
    """Yield what is wrong with the fields of an answer, apart from what is in them."""
    for name in data:
        if name not in FIELDS:
            yield f"the field {quoted(name)} is unknown; take it out, the fields are {', '.join(sorted(FIELDS))}"
    yield from reasoning_complaints(data.get(REASONING, ""))
    said = data.get(ALLOCATIONS)
    example = f'for all in cash it is {{"{CASH}": 1}}'
    if ALLOCATIONS not in data:
        yield f"{ALLOCATIONS} is missing; give each asset that you want its weight, {example}"
    elif not isinstance(said, Mapping):
        yield f"{ALLOCATIONS} is {quoted(said)}; give an object with a weight for each asset, {example}"
    elif not said:
        yield f"{ALLOCATIONS} is empty; give each asset that you want its weight, {example}"
    elif len(said) > MAX_ENTRIES:
        yield f"{ALLOCATIONS} has {len(said):,} entries; name only what is shown"


def _forecasts(said: object, view: PortfolioView) -> tuple[tuple[Forecast, ...], list[str]]:
    """Return the stated probabilities, in the order of the markets, and what is wrong with them."""
    if said is None:
        return (), []
    if not isinstance(said, Mapping) or len(said) > MAX_ENTRIES:
        wanted = "give an object with a number for each market id, or leave it out"
        return (), [f"{PROBABILITIES} is {quoted(said)}; {wanted}"]
    # Of a share nothing comes out that has a probability.
    ids = [market.market.id for market in view.markets if not market.market.is_share]
    complaints = list(unknown_ids(said, ids))
    found = []
    for market_id in ids:
        if market_id not in said:
            continue
        probability = number_of(said[market_id])
        if probability is None or not 0.0 <= probability <= 1.0:
            what = f"the probability of market {quoted(market_id)} is {quoted(said[market_id])}"
            complaints.append(f"{what}; give a number between 0 and 1{_percent_hint(probability)}")
        else:
            found.append(Forecast(market_id, probability))
    return tuple(found), complaints


def _percent_hint(probability: float | None) -> str:
    if probability is None or not 1.0 < probability <= 100.0:
        return ""
    return f"; for {probability:g} percent write {probability / 100:g}"
