"""The rules of a portfolio of weights: its subject, its view, the form of an answer, and the booking of its orders."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import ClassVar

from predibot.domain.account import Account
from predibot.domain.account_past import CASH, AccountPast
from predibot.domain.chat import ToolSchema
from predibot.domain.decision import BookedOrder, Booking, Decision, Forecast, Order, Subject
from predibot.domain.event import Event, prices_of
from predibot.domain.price import Instrument, Price, PricePoint
from predibot.domain.terms import ModelSettings
from predibot.errors import UsageError
from predibot.games.answers import (
    REASONING,
    AnswerComplaint,
    Words,
    final_answer,
    join_complaints,
    number_of,
    quoted,
    read_object,
    reasoning_complaints,
    show_value,
)
from predibot.games.fills import FillModel
from predibot.games.game import AnswerForm, Game
from predibot.games.portfolio_weights.terms import PortfolioTerms, apply_weights, parse_weights, unknown_ids
from predibot.games.portfolio_weights.view import MarketView, PortfolioView, portfolio_words
from predibot.games.rebalance import rebalance
from predibot.selection import SelectionRules

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


UNIVERSE_MARKETS = 10
PORTFOLIO = Subject("portfolio", "weights")


@dataclass(frozen=True, slots=True)
class PortfolioWeights(PortfolioTerms, Game):
    """An account of $500, or $1,000 for stocks, held in cash and in weights over outcomes of trending markets."""

    name: ClassVar = "portfolio_weights"
    scores: ClassVar = ("value",)
    news_window: ClassVar = (timedelta(days=3), timedelta(days=1))
    """News is shown from three days to one day before the decision."""
    model_settings: ClassVar = ModelSettings(temperature=0.3, max_tokens=16_000)

    @property
    def trades_at_closes(self) -> bool:
        """Return whether it is of stocks."""
        return self.is_stocks

    def select(self, rules: SelectionRules) -> SelectionRules:
        """Return the rules for its universe: the stocks, or ten open markets by 24-hour volume, one an event."""
        return replace(
            rules,
            only=(*self.tickers, *self.benchmarks),
            ends_within_days="any",
            min_hours_left="any",
            exclude=(),
            min_volume_24h_usd=0.0,
            rank_by="market_volume_24h",
            max_markets=1,
            events=UNIVERSE_MARKETS,
        )

    def subjects(self, events: Sequence[Event]) -> tuple[Subject, ...]:
        """Return the only portfolio."""
        return (PORTFOLIO,)

    def view(
        self,
        subject: Subject,
        events: Sequence[Event],
        *,
        venue: str,
        account: Account | None = None,
        past: AccountPast | None = None,
    ) -> PortfolioView:
        """Return the account with the markets that it may buy; closed ones have no price."""
        if subject != PORTFOLIO or account is None:
            raise UsageError(f"{subject.kind} {subject.id!r} is no portfolio with an account; {PORTFOLIO.id!r} is one")
        known = AccountPast() if past is None else past
        markets = tuple(
            MarketView(
                event.id,
                event.title,
                market,
                yes=market.ref.instrument(venue, "YES"),
                no=market.ref.instrument(venue, "NO"),
                in_universe=market.id not in known.outside,
                sector=event.tags[0].label if market.is_share and event.tags else "",
            )
            for event in events
            for market in event.markets
            if event.id not in self.benchmarks
        )
        benchmarks = {
            market.id: market.ref.instrument(venue, "YES")
            for event in events
            for market in event.markets
            if event.id in self.benchmarks and not market.closed
        }
        # Nobody offers a price on a closed market.
        open_ = (replace(event, markets=tuple(each for each in event.markets if not each.closed)) for event in events)
        prices = {named: price for event in open_ for named, price in prices_of(event, venue).items()}
        instants = [price.at for price in (*prices.values(), *known.last_prices.values())]
        at = known.at or max(instants, default=None)
        if at is None:
            raise UsageError("no market of the portfolio was ever quoted, so nothing can be decided")
        return PortfolioView(at, account, markets, known, prices, benchmarks)

    def form(self, view: PortfolioView, *, price_blind: bool = False) -> PortfolioForm:
        """Return the form of an answer."""
        return PortfolioForm(view, self, price_blind)

    def book(
        self,
        answer: Decision,
        view: PortfolioView,
        account: Account | None,
        quotes: Mapping[Instrument, Price],
        fills: FillModel,
    ) -> Booking:
        """Return the booking of a decision: pending orders, or with `fill = "same"` their trades.

        An order in weight holds or sells an asset; no order at all leaves every share as it is. Raises `AnswerError` if
        the decision breaks a rule; the message names every complaint and what to fix.
        """
        account = view.account if account is None else account
        orders, scale = self._apply_rules(answer, view)
        if not orders or self.fill == "next":
            booked = tuple(BookedOrder(order, status="pending", asked=order.asked) for order in orders)
            return Booking(orders=booked, unallocated_usd=account.cash_usd, scale=scale)
        targets = {order.instrument: order.amount for order in orders}
        closed = {named for each in view.markets if each.market.closed for named in (each.yes, each.no)}
        offered = {named: price for named, price in quotes.items() if named not in closed}
        held = {named: price.mid for named, price in view.marks.items() if named in account.positions}
        frozen = {named: mid for named, mid in held.items() if named not in offered}
        booking = rebalance(account, targets, offered, fills, at=view.at, frozen=frozen)
        asked = {order.instrument: order.asked for order in orders}
        return replace(
            booking,
            orders=tuple(replace(each, asked=asked.get(each.order.instrument)) for each in booking.orders),
            scale=booking.scale * scale,
        )

    def _apply_rules(self, answer: Decision, view: PortfolioView) -> tuple[tuple[Order, ...], float]:
        """Return the orders with the weights after the game's rules, and the factor these put on them."""
        names = {instrument: name for name, instrument in view.assets.items()}
        names |= {instrument: name for name, instrument in view.benchmarks.items()}
        names |= {held: held.id for held in view.account.positions if held not in names}
        complaints = [*_order_complaints(answer, names), *_forecast_complaints(answer, view)]
        if complaints:
            raise AnswerComplaint(join_complaints(complaints))
        stated = {names[order.instrument]: float(order.amount) for order in answer.orders}
        market_ids = [market.market.id for market in view.markets]
        weights, complaints = apply_weights(
            stated, stated.keys(), market_ids, overweight=self.overweight, both_sides=self.both_sides
        )
        if complaints:
            raise AnswerComplaint(join_complaints(complaints))
        orders = tuple(
            replace(
                order,
                amount=weights.applied[names[order.instrument]],
                asked=order.amount if order.asked is None else order.asked,
            )
            for order in answer.orders
        )
        return orders, weights.scale


def _order_complaints(answer: Decision, names: Mapping[Instrument, str]) -> Iterator[str]:
    if answer.labels:
        yield "it has labels, which this game has no use for; leave them out"
    ordered = Counter(order.instrument for order in answer.orders)
    for instrument, times in ordered.items():
        if instrument not in names:
            yield f"an order is on {quoted(str(instrument.id))}, no asset of this portfolio; take it out"
        elif times > 1:
            yield f"{quoted(names[instrument])} is ordered {times} times; keep one order"
    for order in answer.orders:
        name = quoted(names.get(order.instrument, str(order.instrument.id)))
        if order.unit != "weight" or order.side != "buy":
            yield f"{name}: its order is to {order.side} in {order.unit}; order the weight that it shall have"
        weight = number_of(order.amount)
        if weight is None or weight < 0.0:
            yield f"{name}: its weight is {show_value(order.amount)}; give a number from 0 to 1"


def _forecast_complaints(answer: Decision, view: PortfolioView) -> Iterator[str]:
    known = {market.market.id for market in view.markets}
    said = Counter(str(forecast.market_id) for forecast in answer.forecasts)
    for forecast in answer.forecasts:
        name = quoted(str(forecast.market_id))
        probability = number_of(forecast.probability)
        if forecast.market_id not in known:
            yield f"market {name} is none of this portfolio; take its probability out"
        elif said[str(forecast.market_id)] > 1:
            yield f"market {name} has {said[str(forecast.market_id)]} probabilities; keep one"
        elif probability is None or not 0.0 <= probability <= 1.0:
            yield f"market {name}: the probability is {show_value(forecast.probability)}; give a number from 0 to 1"
