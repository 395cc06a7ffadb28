"""Events and their markets, as a venue listed them at an instant."""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from predibot.domain.decision import Order
from predibot.domain.price import BINARY_OUTCOME, EQUITY, SIDES, Depth, FeeSchedule, Instrument, Price, Quote, Side
from predibot.errors import PluginError
from predibot.rows import grouped

OTHER_WORDS = "YES only where no other market of its event is YES; markets may be added to that event"


@dataclass(frozen=True, slots=True)
class Tag:
    """A label a venue puts on an event."""

    label: str
    slug: str


@dataclass(frozen=True, slots=True)
class MarketRef:
    """Enough to ask a venue about a market that it no longer lists."""

    id: str
    condition_id: str | None = None
    token_ids: tuple[str, ...] = ()
    kind: str = BINARY_OUTCOME

    @property
    def resolution_key(self) -> str:
        """Return the id of its resolution in recordings."""
        return self.condition_id or self.id

    @property
    def is_share(self) -> bool:
        """Return whether it is a share, which has no sides."""
        return self.kind == EQUITY

    def instrument(self, venue: str, side: Side) -> Instrument:
        """Return the instrument of one side: its token, or the market's id where it has no token yet."""
        if self.is_share:
            return Instrument(venue, self.kind, self.id)
        index = 0 if side == "YES" else 1
        token = self.token_ids[index] if len(self.token_ids) > index else f"{self.id}:{side}"
        return Instrument(venue, BINARY_OUTCOME, token)

    def outcome(self, venue: str, number: int) -> Instrument:
        """Return the instrument of one outcome of a market with more than two, counted from 0."""
        token = self.token_ids[number] if len(self.token_ids) > number else f"{self.id}:{number}"
        return Instrument(venue, BINARY_OUTCOME, token)


@dataclass(frozen=True, slots=True)
class OrderTerms:
    """The orders that a venue says it accepts on a market; None where it does not say."""

    accepted: bool | None = None
    price_step: float | None = None
    """The least step between prices. It may be finer near 0 and 1, and then gives the price away."""
    least_shares: float | None = None
    """For an order that waits in the book; one that takes an offer may be smaller."""

    @property
    def words(self) -> str:
        """Return the step in words, empty where it is not stated; the least size does not apply to bets here."""
        return "" if self.price_step is None else f"prices in steps of {self.price_step:g}"


@dataclass(frozen=True, slots=True)
class Market:
    """A question; its first outcome is YES in our code whatever its label is."""

    ref: MarketRef
    question: str
    outcomes: tuple[str, ...]
    description: str = ""
    closes_at: datetime | None = None
    closed: bool | None = False
    """None where the venue does not say."""
    volume_1wk_usd: float | None = None
    quote: Quote | None = None
    fees: FeeSchedule | None = None
    """None where the venue states none."""
    exclusive_group: str = ""
    """Its group in its event: at most one market of a group pays YES. Empty where the venue names none."""
    volume_24h_usd: float | None = None
    volume_usd: float | None = None
    outcome_quotes: tuple[Quote | None, ...] = ()
    """For a market with more than two outcomes: the quote of each as if it were a YES of its own, in order."""
    orders: OrderTerms = OrderTerms()
    is_other: bool = False
    """Whether it pays if no other market of its group does; the venue may still add markets to the group."""
    opened_at: datetime | None = None
    """When it could first be traded, if the venue says so."""

    @property
    def id(self) -> str:
        """Return the venue's id of the market."""
        return self.ref.id

    @property
    def is_share(self) -> bool:
        """Return whether it is a share: its only outcome, quoted itself, and no question."""
        return self.ref.is_share

    @property
    def is_named(self) -> bool:
        """Return whether it has more than two outcomes, each with its own name and price, and no YES and NO."""
        return len(self.outcomes) > 2

    @property
    def is_tradable(self) -> bool:
        """Return whether the venue says that it can be traded."""
        return not self.closed and self.orders.accepted is not False

    @property
    def quotes(self) -> tuple[Quote, ...]:
        """Return its quotes: the one of YES, or those of its named outcomes."""
        listed = self.outcome_quotes if self.is_named else (self.quote,)
        return tuple(quote for quote in listed if quote is not None)

    @property
    def is_priced(self) -> bool:
        """Return whether any of its outcomes has a price."""
        return any(quote.price is not None for quote in self.quotes)

    def instruments(self, venue: str) -> tuple[Instrument, ...]:
        """Return the instruments of its outcomes, in their order; YES and NO unless the outcomes are named."""
        if self.is_named:
            return tuple(self.ref.outcome(venue, number) for number in range(len(self.outcomes)))
        if self.is_share:
            return (self.ref.instrument(venue, "YES"),)
        return tuple(self.ref.instrument(venue, side) for side in SIDES)

    def with_quotes(self, quotes: Mapping[str, Quote]) -> "Market":
        """Return the market with only these quotes, by market id, or by instrument id if it has over two outcomes."""
        if not self.is_named:
            return replace(self, quote=quotes.get(self.id))
        return replace(self, quote=None, outcome_quotes=tuple(quotes.get(each.id) for each in self.instruments("")))


def exclusive_lines(markets: Iterable[Market]) -> list[str]:
    """Return a line for each group of several of these markets: at most one of a group pays YES."""
    groups = grouped((market.exclusive_group, market.id) for market in markets)
    found = (ids for group, ids in groups.items() if group and len(ids) > 1)
    # All are not listed: twenty ids say nothing more.
    return ["at most one of these markets is YES" + f": {', '.join(ids)}" * (len(groups) > 1) for ids in found]


@dataclass(frozen=True, slots=True)
class UnplayedMarkets:
    """Open markets of an event that a run does not play, all of one exclusive group or of none."""

    markets: int
    exclusive_group: str = ""
    price_yes: float | None = None
    """The sum of their prices of YES when the run chose its markets; None where one has no price."""


@dataclass(frozen=True, slots=True)
class Event:
    """A group of markets about one thing."""

    id: str
    title: str
    markets: tuple[Market, ...]
    slug: str = ""
    description: str = ""
    tags: tuple[Tag, ...] = ()
    closes_at: datetime | None = None
    closed: bool | None = False
    archived: bool = False
    volume_24h_usd: float | None = None
    volume_1wk_usd: float | None = None
    payload: str = field(default="", repr=False, compare=False)
    """The venue's own JSON, frozen with a run so that a selection can be traced to its grounds."""
    left_out: tuple[UnplayedMarkets, ...] = ()

    def market(self, market_id: str) -> Market | None:
        """Return the market with this id, or None."""
        return next((market for market in self.markets if market.id == market_id), None)


@dataclass(frozen=True, slots=True)
class EventView:
    """An event as a bot sees it: the markets that the run plays, each with a quote, and their venue."""

    event: Event
    venue: str = ""
    at: datetime | None = None
    """The instant at which a bot sees it; None outside of a decision."""

    @property
    def prices(self) -> dict[Instrument, Price]:
        """Return the prices of both outcomes of each quoted market."""
        return prices_of(self.event, self.venue)

    @property
    def outcomes(self) -> dict[Instrument, tuple[Market, Side]]:
        """Return the market and the side of each instrument that can be ordered."""
        return {self.instrument(market, side): (market, side) for market in self.event.markets for side in SIDES}

    def instrument(self, market: Market, side: Side) -> Instrument:
        """Return the outcome of a market that pays if the answer is this side."""
        return market.ref.instrument(self.venue, side)

    def orders(self, bets_usd: Mapping[str, float]) -> tuple[Order, ...]:
        """Return the orders for bets by market id: positive buys YES, negative NO; raise `PluginError` if unknown."""
        markets = {market.id: market for market in self.event.markets}
        if unknown := [market_id for market_id in bets_usd if market_id not in markets]:
            raise PluginError(f"a bet is on market {str(unknown[0])[:80]!r}, which is not one of event {self.event.id}")
        return tuple(
            Order(self.instrument(markets[market_id], "YES" if bet_usd > 0 else "NO"), abs(bet_usd))
            for market_id, bet_usd in bets_usd.items()
            if bet_usd != 0.0
        )


def prices_of(event: Event, venue: str, quotes: Mapping[str, Quote] | None = None) -> dict[Instrument, Price]:
    """Return the price of each quoted outcome; NO costs one dollar less the price of YES.

    Of more than two outcomes each has its own price; their sum is the venue's concern. `quotes` are as
    `Market.with_quotes` takes them, by default the event's own.
    """
    found = {}
    for market in event.markets:
        if quotes is not None:
            market = market.with_quotes(quotes)
        quoted = market.outcome_quotes if market.is_named else (market.quote,) * 2
        sides: Iterable[Side] = itertools.repeat("YES") if market.is_named else SIDES
        for instrument, quote, side in zip(market.instruments(venue), quoted, sides, strict=False):
            if quote is not None and (entry := quote.price) is not None:
                shown = quote if side == "YES" else quote.for_no
                depth = shown.depth or Depth()
                best = (shown.bid, shown.ask, entry.source, depth.bids, depth.asks)
                found[instrument] = Price(quote.at, entry.of(side), *best, market.fees, shown.displayed)
    return found


@dataclass(frozen=True, slots=True)
class Skip:
    """Something on a venue's list that could not be read, and why."""

    kind: str
    """`event`, `market` or `resolution`."""
    id: str
    reason: str
    event_id: str | None = None


@dataclass(frozen=True, slots=True)
class EventPage:
    """The events of a venue as of an instant, what could not be read, and whether the list is whole."""

    events: tuple[Event, ...]
    skipped: tuple[Skip, ...] = ()
    complete: bool = True
    notes: tuple[str, ...] = ()
