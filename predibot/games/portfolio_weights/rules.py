"""The rules of a portfolio of weights: its subject, its view, and the booking of its orders."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import ClassVar

from predibot.domain.account import Account
from predibot.domain.account_past import AccountPast
from predibot.domain.decision import BookedOrder, Booking, Decision, Order, Subject
from predibot.domain.event import Event, prices_of
from predibot.domain.price import Instrument, Price
from predibot.domain.terms import ModelSettings
from predibot.errors import UsageError
from predibot.games.answers import AnswerComplaint, join_complaints, number_of, quoted, show_value
from predibot.games.fills import FillModel
from predibot.games.game import Game
from predibot.games.portfolio_weights.form import PortfolioForm
from predibot.games.portfolio_weights.terms import PortfolioTerms
from predibot.games.portfolio_weights.view import MarketView, PortfolioView
from predibot.games.portfolio_weights.weights import apply_weights
from predibot.games.rebalance import rebalance
from predibot.selection import SelectionRules

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
