"""The answer form of a portfolio of weights: the text for a model, and the parser of its answer."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from predibot.domain.account_past import CASH
from predibot.domain.chat import ToolSchema
from predibot.domain.decision import Decision, Forecast
from predibot.domain.price import PricePoint
from predibot.games.answers import (
    REASONING,
    AnswerComplaint,
    Words,
    as_block,
    final_answer,
    join_complaints,
    number_of,
    quoted,
    read_object,
    reasoning_complaints,
)
from predibot.games.game import AnswerForm
from predibot.games.portfolio_weights.terms import BothSides, Filling, FillName, Overweight, PortfolioTerms
from predibot.games.portfolio_weights.view import PortfolioView, portfolio_json, view_text
from predibot.games.portfolio_weights.weights import apply_weights, parse_weights, unknown_ids

ALLOCATIONS, PROBABILITIES = "allocations", "probabilities"
FIELDS = frozenset({REASONING, ALLOCATIONS, PROBABILITIES})
MAX_ENTRIES = 1_000


def parse_answer(answer: object, view: PortfolioView, terms: PortfolioTerms, *, fields: Collection[str]) -> Decision:
    """Return the decision of an answer: an object, or its JSON text, which also shows a field that is given twice.

    An asset that is not named has no weight. A complaint may repeat only the names in `fields`. Raises `AnswerError`
    that names everything wrong, and says what to fix.
    """
    data = read_object(answer, fields, f"{REASONING} and {ALLOCATIONS}")
    said = data.get(ALLOCATIONS)
    complaints = [*_field_complaints(data)]
    forecasts, wrong = _forecasts(data.get(PROBABILITIES), view)
    complaints += wrong
    weights = None
    if isinstance(said, Mapping) and 0 < len(said) <= MAX_ENTRIES:
        stated, wrong = parse_weights(said)
        complaints += wrong
        if not wrong:
            weights, wrong = apply_weights(
                stated,
                view.assets,
                [market.market.id for market in view.markets],
                overweight=terms.overweight,
                both_sides=terms.both_sides,
            )
            complaints += wrong
    if complaints or weights is None:
        raise AnswerComplaint(join_complaints(complaints))
    orders = view.orders(weights.applied, weights.asked)
    return Decision(forecasts, orders, rationale=data.get(REASONING, ""), notes=weights.notes)


def _field_complaints(data: Mapping[object, object]) -> Iterator[str]:
    """Yield complaints about the fields of an answer, apart from their values."""
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
    if said is None:
        return (), []
    if not isinstance(said, Mapping) or len(said) > MAX_ENTRIES:
        wanted = "give an object with a number for each market id, or leave it out"
        return (), [f"{PROBABILITIES} is {quoted(said)}; {wanted}"]
    # A share has no outcome to forecast.
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


SHAPE = f"""{{
  "{REASONING}": "...",
  "{ALLOCATIONS}": {{"512_Yes": 0.2, "730_No": 0.3, "{CASH}": 0.5}},
  "{PROBABILITIES}": {{"512": 0.7, "730": 0.1}}
}}"""
STOCK_SHAPE = f"""{{
  "{REASONING}": "...",
  "{ALLOCATIONS}": {{"AAPL": 0.2, "XOM": 0.3, "{CASH}": 0.5}}
}}"""


@dataclass(frozen=True, slots=True)
class PortfolioForm(AnswerForm):
    """The prompt and the parser for an answer about a portfolio."""

    seen: PortfolioView
    terms: PortfolioTerms
    price_blind: bool = False
    """Whether prices, and what follows from them, are left out of the text; complaints never mention any."""

    @property
    def schema(self) -> ToolSchema:
        """Return the tool that hands in an answer."""
        share = {"type": "number", "description": "Its share of the portfolio, between 0 and 1."}
        assets = [*self.seen.assets, CASH]
        return final_answer(
            f"Hand in your decision, once, alone. It is checked; a complaint says what to mend. "
            f"It is {REASONING} and {ALLOCATIONS}, or else abstain and nothing beside it.",
            {
                REASONING: {"type": "string", "description": "Why, in a few sentences."},
                ALLOCATIONS: {
                    "type": "object",
                    "description": f"The weight of each asset that you want, {CASH} included; together 1.",
                    "properties": dict.fromkeys(assets, share),
                },
            }
            | ({} if self.terms.is_stocks else {PROBABILITIES: self._probabilities}),
        )

    @property
    def question(self) -> str:
        """Return the titles of the events and the questions of the markets."""
        return "\n".join(
            dict.fromkeys(text for each in self.seen.markets for text in (each.event_title, each.market.question))
        )

    @property
    def market_ids(self) -> Sequence[str]:
        """Return the ids of the markets."""
        return [each.market.id for each in self.seen.markets]

    @property
    def _probabilities(self) -> dict[str, object]:
        return {
            "type": "object",
            "description": "By market id, the probability of YES, between 0 and 1; you may leave it out.",
            "properties": {market.market.id: {"type": "number"} for market in self.seen.markets},
        }

    @property
    def shape(self) -> str:
        """Return an example answer for the model, in JSON."""
        return STOCK_SHAPE if self.terms.is_stocks else SHAPE

    @property
    def fields(self) -> Collection[str]:
        """Return the names of an answer's fields, and of the assets whose names contain no word of the venue."""
        ours = {
            market.asset(side)
            for market in self.seen.markets
            for side in market.sides
            if self.terms.is_stocks or not any(map(str.isalpha, market.market.id))
        }
        return FIELDS | ours | {CASH}

    @property
    def enough_tokens(self) -> int:
        """Return how many tokens a short answer takes."""
        return 800 + 60 * len(self.seen.markets)

    def words(self, *, history: Callable[[str], tuple[PricePoint, ...]], untrusted: Callable[[str], str]) -> Words:
        """Return the text on the portfolio for a model."""
        return portfolio_words(
            self.seen, self.terms, price_blind=self.price_blind, history=history, untrusted=untrusted
        )

    def parse(self, answer: object) -> Decision:
        """Return the decision of an answer, with the weights after the rules; AnswerError says what to fix."""
        return parse_answer(answer, self.seen, self.terms, fields=self.fields)


_FILLING: Mapping[Filling, str] = {
    "next": "Your weights are traded at the prices of the next step, not at those shown, and then held.",
    "same": "Your weights are traded at once, at the prices of now, and then held until you decide again.",
}
_FILLS: Mapping[FillName, str] = {
    "mid": "Trades are made at the middle price, with the venue's fees where it states any.",
    "quote": "You buy at the ask and sell at the bid, with the venue's fees where it states any.",
    "book": "You buy and sell what the order book holds, with the venue's fees; what it does not hold is not traded.",
}
_OVERWEIGHT: Mapping[Overweight, str] = {
    "scale": "Weights that add up to more than 1 are scaled down together, to 1.",
    "refuse": "Weights that add up to more than 1 are refused.",
}
_BOTH_SIDES: Mapping[BothSides, str] = {
    "refuse": "Give no weight to both sides of one market.",
    "net": "Of both sides of one market only the difference is held.",
}


_OBJECTIVE = (
    "What counts is what the portfolio gains over many steps, measured against how much it swings and falls on the "
    "way. Gain more than equal weights in everything would."
)
_MARKETS = (
    "YES of a market is worth holding only if your probability of YES is above its price by more than a trade costs, "
    "and NO only if it is below the price by more than that; in between, hold neither. The larger the difference, the "
    f"more weight it can bear. Spread the weights, so that no single answer decides all, and leave the rest in {CASH}."
)
_STOCKS = (
    "A stock's price holds what is known already: give a stock more weight only if you expect it to gain more than "
    f"the others by more than a trade costs. Spread the weights over kinds of business, and hold {CASH} where you "
    "expect a fall."
)


def portfolio_words(
    view: PortfolioView,
    terms: PortfolioTerms,
    *,
    price_blind: bool,
    history: Callable[[str], tuple[PricePoint, ...]],
    untrusted: Callable[[str], str],
) -> Words:
    """Return the text on a portfolio for a model; strangers' words are bounded and inside the fence."""
    is_stocks = terms.is_stocks
    asset, things = ("stock", "stocks") if is_stocks else ("asset", "markets")
    wanted = (
        f"Give each {asset} that you want to hold its weight, its share of the whole portfolio, between 0 and 1, and "
        f"{CASH} the rest; what you hold and do not name is sold. {(rules := _rules(terms))}"
    )
    probabilities = "You may also give the probability of YES of any market, by its id, between 0 and 1."
    shown = untrusted(view_text(view, is_stocks=is_stocks, price_blind=price_blind, history=history))
    traded = "Every change of a weight is a trade: make it only for a gain above its costs."
    against = "with the reasons and what speaks against them"
    asked_too = "" if is_stocks else f"{probabilities}\n"
    block = as_block(portfolio_json(view, is_stocks=is_stocks, price_blind=price_blind))
    names = as_block(portfolio_json(view, is_stocks=is_stocks, price_blind=True))
    return Words(
        task=f"You manage a portfolio that began with ${terms.stake_usd:g} of imaginary money, and now decide what "
        f"share of it to hold in each {'of some US stocks' if is_stocks else 'side of some prediction markets'}, and "
        "in cash.",
        view=f"# Your portfolio and the {things}\n\n{_meaning(is_stocks=is_stocks, price_blind=price_blind)}\n\n"
        f"{shown}\n\nThe same {things} as JSON:\n\n{untrusted(block)}",
        steps=(
            "For every stock ask what its price does not say yet."
            if is_stocks
            else "For every market ask how likely YES is, and whether the price says something else.",
            wanted,
            traded if is_stocks else f"{traded} {probabilities}",
        ),
        entries=f"with a weight for every {asset} that you want to hold, and for {CASH}",
        ask=f"{wanted}\n{asked_too}Say in your reasoning what you go by: your position, the price history, the news.",
        report_about=f"on these {things} and on what to hold of them",
        report=f"Say in numbers which weight each {'stock, by its ticker' if is_stocks else 'asset, by its name'} "
        f"above, and {CASH} should have, {against}"
        f"{'' if is_stocks else ', and for every market the probability of YES between 0 and 1'}. {rules}",
        extract_about=f"about a portfolio of {len(view.markets)} {things}",
        extract_from=f"take weights{'' if is_stocks else ' and probabilities'} from the report as they stand.\n"
        'Where the report gives no weight at all, answer with {"abstain": "it gives no weights"} instead.',
        extract_view=f"The {things}{'' if is_stocks else ' and the names of their assets'}:\n\n{untrusted(names)}",
        extract=f"The weights are shares of one, {CASH} included."
        + ("" if is_stocks else " Where the report gives no probability for a market, leave it out."),
        objective=f"{_OBJECTIVE} {_STOCKS if is_stocks else _MARKETS}",
    )


def _rules(terms: PortfolioTerms) -> str:
    both, overweight = _BOTH_SIDES[terms.both_sides], _OVERWEIGHT[terms.overweight]
    said = [f"All weights together, {CASH} included, add up to 1; what you leave over stays in {CASH}."]
    if not terms.is_stocks:
        return " ".join([*said, both, overweight, _FILLING[terms.fill], _FILLS[terms.fills]])
    when = "first close after your decision" if terms.fill == "next" else "last close, the one that is shown"
    said += [overweight, f"Your weights are traded at the {when}, in parts of shares too, and then held."]
    costs = [
        *([f"{terms.fee_bps / 100:g} % of its money as a fee"] if terms.fee_bps else []),
        *([f"{terms.spread_bps / 200:g} % of its price as half the spread"] if terms.spread_bps else []),
    ]
    return " ".join([*said, *([f"Every trade costs {' and '.join(costs)}."] if costs else [])])


def _meaning(*, is_stocks: bool, price_blind: bool) -> str:
    """Return what an account can own, and what its price means."""
    if is_stocks:
        return "A split changes how many shares you hold, a dividend is paid into your cash; nothing is sold short."
    priced = (
        "Prices are not shown: say what you think, not what others think."
        if price_blind
        else "The price of YES is what the market expects it to pay; NO costs one minus that."
    )
    return (
        "Each market is a question; its first outcome is YES, its second NO. A share of its Yes asset pays $1 if the "
        "answer is YES, a share of its No asset pays $1 if it is NO; if the market is cancelled or split, both pay "
        f"what its rules say, such as $0.5. {priced}"
    )
