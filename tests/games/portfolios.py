"""Portfolios of two or three questions, as games are shown them."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from predibot.domain.account import Account, Position
from predibot.domain.account_past import AccountPast
from predibot.domain.decision import Decision
from predibot.domain.event import Event, Market, MarketRef
from predibot.domain.price import Instrument, Quote
from predibot.games.portfolio_weights import PortfolioView, PortfolioWeights

AT = datetime(2026, 3, 1, tzinfo=UTC)
VENUE = "sandbox"


def market_of(name: str, price_yes: float | None, **given: Any) -> Market:
    """Return a market called by its id, without a quote where it has no price."""
    quote = None if price_yes is None else Quote(AT, displayed=price_yes)
    return Market(MarketRef(name), f"Will {name} happen?", ("Yes", "No"), quote=quote, **given)


def events_of(prices_yes: Mapping[str, float | None]) -> tuple[Event, ...]:
    """Return an event for each market, by what its YES costs."""
    return tuple(Event(f"event-{name}", f"About {name}", (market_of(name, yes),)) for name, yes in prices_yes.items())


def side(name: str, of: str = "YES") -> Instrument:
    """Return the instrument of one side of a market."""
    return Instrument(VENUE, "binary_outcome", f"{name}:{of}")


def view_of(
    prices_yes: Mapping[str, float | None] | None = None,
    *,
    game: PortfolioWeights | None = None,
    held: Mapping[Instrument, Position] | None = None,
    cash_usd: float = 500.0,
    past: AccountPast | None = None,
) -> PortfolioView:
    """Return a view of markets A at 0.30 and B at 0.60, or of others, with an account."""
    game = PortfolioWeights() if game is None else game
    events = events_of({"A": 0.3, "B": 0.6} if prices_yes is None else prices_yes)
    past = replace(AccountPast() if past is None else past, at=AT)
    account = Account(cash_usd=cash_usd, positions=dict(held or {}), paid_in_usd=500.0)
    return game.view(game.subjects(events)[0], events, venue=VENUE, account=account, past=past)


def parsed(allocations: object, view: PortfolioView | None = None, game: PortfolioWeights | None = None) -> Decision:
    """Return the decision of an answer with these weights."""
    game = PortfolioWeights() if game is None else game
    return game.form(view_of() if view is None else view).parse({"reasoning": "because", "allocations": allocations})


def weights_of(decision: Decision, view: PortfolioView | None = None) -> dict[str, float]:
    """Return the weights of a decision by asset, CASH included, to six digits."""
    names = {instrument: name for name, instrument in (view_of() if view is None else view).assets.items()}
    weights = {names[order.instrument]: round(order.amount, 6) for order in decision.orders}
    return {**weights, "CASH": round(1.0 - sum(order.amount for order in decision.orders), 6)}
