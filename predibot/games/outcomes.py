"""Outcomes: what can be bought of a market, its name in answers, and its price."""

from dataclasses import dataclass

from predibot.domain.event import Event, Market, prices_of
from predibot.domain.price import SIDES, Instrument, Price, Side
from predibot.domain.untrusted_text import title_line

_YES_NO = ("yes", "no")


@dataclass(frozen=True, slots=True)
class Outcome:
    """One outcome of a market."""

    side: str
    """Its name in answers: YES or NO in a market with two outcomes, else the outcome's name."""
    label: str
    """The venue's name of it."""
    instrument: Instrument
    price: Price | None = None
    """None where it is not quoted, or no longer traded."""

    @property
    def is_buyable(self) -> bool:
        """Return whether it can be bought: at a price of exactly 0 or 1 nothing is left to forecast."""
        return self.price is not None and 0.0 < self.price.mid < 1.0


def is_binary(market: Market) -> bool:
    """Return whether a market has two outcomes: one pays what the other does not."""
    return len(market.outcomes) == 2


def side_of_yes(market: Market) -> Side:
    """Return the side of the token that answers call YES: the first outcome, unless the venue lists No before Yes.

    Examples:
        >>> from predibot.domain.event import MarketRef
        >>> side_of_yes(Market(MarketRef("1"), "Rain?", ("No", "Yes")))
        'NO'
    """
    labels = tuple(title_line(label).casefold() for label in market.outcomes)
    return "NO" if labels == _YES_NO[::-1] else "YES"


def outcomes_of(market: Market, venue: str) -> tuple[Outcome, ...]:
    """Return the outcomes of a market, YES first where there are two, else in the venue's order. With more than two, an
    outcome named No is like the others, and repeated names get their number in front. A closed market has no prices.
    """
    return _binary_outcomes(market, venue) if is_binary(market) else _named_outcomes(market, venue)


def _binary_outcomes(market: Market, venue: str) -> tuple[Outcome, ...]:
    prices = {} if market.closed else prices_of(Event(market.id, "", (market,)), venue)
    is_reversed = side_of_yes(market) == "NO"
    sides: tuple[Side, ...] = SIDES[::-1] if is_reversed else SIDES
    found = []
    for said, place in zip(SIDES, sides, strict=True):
        instrument = market.ref.instrument(venue, place)
        found.append(Outcome(said, market.outcomes[SIDES.index(place)], instrument, prices.get(instrument)))
    return tuple(found)


def _named_outcomes(market: Market, venue: str) -> tuple[Outcome, ...]:
    labels = [title_line(label) for label in market.outcomes]
    # A name that begins with # could be taken for the number of another outcome.
    distinct = len(set(labels)) == len(labels) and all(label and label[0] != "#" for label in labels)
    found = []
    for number, label in enumerate(labels):
        quote = market.outcome_quotes[number] if number < len(market.outcome_quotes) else None
        entry = None if quote is None or market.closed else quote.price
        price = None
        if quote is not None and entry is not None:
            depth = quote.depth
            bids, asks = ((), ()) if depth is None else (depth.bids, depth.asks)
            best = (quote.bid, quote.ask, entry.source, bids, asks)
            price = Price(quote.at, entry.yes, *best, market.fees, quote.displayed)
        side = label if distinct else f"{number + 1}: {label}"
        found.append(Outcome(side, market.outcomes[number], market.ref.outcome(venue, number), price))
    return tuple(found)
