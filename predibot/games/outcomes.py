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
    prices = {} if market.closed else prices_of(Event(market.id, "", (market,)), venue)
    instruments = market.instruments(venue)
    named = [(label, each, prices.get(each)) for label, each in zip(market.outcomes, instruments, strict=True)]
    if is_binary(market):
        in_order = named[::-1] if side_of_yes(market) == "NO" else named
        return tuple(Outcome(side, *each) for side, each in zip(SIDES, in_order, strict=True))
    labels = [title_line(label) for label in market.outcomes]
    # A name that begins with # could be taken for the number of another outcome.
    distinct = len(set(labels)) == len(labels) and all(label and label[0] != "#" for label in labels)
    sides = labels if distinct else [f"{number}: {label}" for number, label in enumerate(labels, 1)]
    return tuple(Outcome(side, *each) for side, each in zip(sides, named, strict=True))
