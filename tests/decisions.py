"""What decisions on events say, and how they are booked: short forms for tests."""

from collections.abc import Mapping

from predibot.domain.decision import Booking, Decision, Forecast, MarketDecision
from predibot.domain.event import Event, EventView, prices_of
from predibot.domain.price import Quote
from predibot.games.dollar_per_event import DollarPerEvent
from predibot.games.fills import FillModel


def book(
    game: DollarPerEvent, said: Decision, on: Event, quotes: Mapping[str, Quote], *, venue: str = "polymarket"
) -> Booking:
    """Return the booking of a decision on an event, whole and at the mid."""
    return game.book(said, EventView(on, venue), None, prices_of(on, venue, quotes), FillModel("mid"))


def bets_usd(decision: Decision, on: Event, *, venue: str = "") -> list[float]:
    """Return the bet on each market of an event in order: positive on YES, negative on NO."""
    view = EventView(on, venue)
    of = {order.instrument: order.amount for order in decision.orders}
    yes = [of.get(view.instrument(market, "YES"), 0.0) for market in on.markets]
    return [bought - of.get(view.instrument(m, "NO"), 0.0) for bought, m in zip(yes, on.markets, strict=True)]


def as_orders(decision: Decision, on: Event, *, venue: str = "") -> Decision:
    """Return a decision of the short form with its bets as orders."""
    bets = {said.market_id: said.bet_usd for said in decision.forecasts if isinstance(said, MarketDecision)}
    forecasts = tuple(Forecast(s.market_id, s.probability, s.confidence, s.rationale) for s in decision.forecasts)
    return Decision(forecasts, EventView(on, venue).orders(bets), unallocated_usd=decision.unallocated_usd)


def taken(answer: object) -> Decision:
    """Return an answer that has to be a decision."""
    assert isinstance(answer, Decision)
    return answer
