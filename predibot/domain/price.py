"""Prices: what has a price, what was quoted, and which price of a quote counts."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Literal

Side = Literal["YES", "NO"]
PriceSourceName = Literal["mid", "displayed", "last", "history"]

SIDES: tuple[Side, Side] = ("YES", "NO")
BINARY_OUTCOME = "binary_outcome"
"""The kind of an instrument that pays at most one dollar."""
EQUITY = "equity"

MAX_SPREAD = 0.10
MIN_SIDE_PRICE = 0.001
MAX_DEPTH_LEVELS = 20
"""Levels kept of each side of a book."""
_SPREAD_TOLERANCE = 1e-9


def highest_price(kind: str) -> float:
    """Return the most that an instrument of a kind can cost."""
    return 1.0 if kind == BINARY_OUTCOME else math.inf


@dataclass(frozen=True, slots=True, order=True)
class Instrument:
    """One thing that has a price: an outcome of a market, an equity."""

    venue: str
    kind: str
    id: str

    @property
    def price_bound(self) -> tuple[float, float]:
        """Return the least and the most that a share can cost."""
        return 0.0, highest_price(self.kind)


@dataclass(frozen=True, slots=True)
class EntryPrice:
    """The YES price that a decision is booked at, and its source."""

    yes: float
    """For a share, its own price."""
    source: PriceSourceName
    kind: str = BINARY_OUTCOME

    @property
    def usable(self) -> bool:
        """Return whether a bet can be booked at it: strictly between 0 and the most its kind can cost."""
        return 0.0 < self.yes < highest_price(self.kind)

    def of(self, side: Side) -> float:
        """Return the price of one side, in [0, 1]."""
        return self.yes if side == "YES" else 1.0 - self.yes


@dataclass(frozen=True, slots=True)
class FeeSchedule:
    """The fee of a taker: rate * (p (1 - p)) ** exponent dollars a share."""

    rate: float
    exponent: float = 1.0

    def share_usd(self, price: float) -> float:
        """Return the fee of one share at a price in [0, 1]."""
        return self.rate * (price * (1.0 - price)) ** self.exponent if self.rate else 0.0

    @property
    def words(self) -> str:
        """Return the fee in words, with its figure at a price of one half.

        Examples:
            >>> FeeSchedule(0.05).words
            '0.05 * c * (1 - c) dollars for a share that costs c, 0.0125 at c = 0.5'
        """
        power = f" ** {self.exponent:g}" if self.exponent != 1.0 else ""
        product = f"(c * (1 - c)){power}" if power else "c * (1 - c)"
        figure = f"{self.share_usd(0.5):.3g} at c = 0.5"
        return f"{self.rate:g} * {product} dollars for a share that costs c, {figure}" if self.rate else "none"


@dataclass(frozen=True, slots=True)
class Level:
    """An offer of shares at a price."""

    price: float
    shares: float

    def __post_init__(self) -> None:
        """Refuse an impossible offer."""
        if not (0.0 <= self.price < math.inf and 0.0 < self.shares < math.inf):
            raise ValueError(f"a level of {self.shares!r} shares at {self.price!r} is no offer")


@dataclass(frozen=True, slots=True)
class Depth:
    """The book of YES, the best level first on both sides."""

    bids: tuple[Level, ...] = ()
    asks: tuple[Level, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a side that is not in order."""
        for name, levels, sign in (("bids", self.bids, -1.0), ("asks", self.asks, 1.0)):
            if any(sign * worse.price < sign * better.price for better, worse in pairwise(levels)):
                raise ValueError(f"the {name} do not have the best level first")

    @property
    def for_no(self) -> "Depth":
        """Return the same book for NO: a bid for YES at p is an offer of NO at 1 - p."""
        return Depth(_mirror(self.asks), _mirror(self.bids))


def _mirror(levels: tuple[Level, ...]) -> tuple[Level, ...]:
    return tuple(Level(1.0 - level.price, level.shares) for level in levels)


_MONEY_SIGNS = {"USD": "$", "MANA": "M$"}


def money_sign(currency: str) -> str:
    """Return the sign before amounts of a currency.

    Examples:
        >>> money_sign("MANA"), money_sign("EUR")
        ('M$', 'EUR ')
    """
    if not isinstance(currency, str):
        raise ValueError(f"a currency is a name, got {currency!r:.60}")
    return _MONEY_SIGNS.get(currency, f"{currency} ")


QUOTE_PRICES = ("bid", "ask", "displayed", "last", "history")
"""The fields of a `Quote` that are prices of YES."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A venue's prices of YES, or of a share, at an instant; None where one is unknown."""

    at: datetime
    bid: float | None = None
    ask: float | None = None
    displayed: float | None = None
    last: float | None = None
    history: float | None = None
    """A point of the price history, where the listing itself is too old."""
    depth: Depth | None = None
    """The levels beyond the best bid and ask; None where the venue showed no book."""
    kind: str = BINARY_OUTCOME

    def __post_init__(self) -> None:
        """Refuse prices that its kind cannot have."""
        for name in QUOTE_PRICES:
            price = getattr(self, name)
            if price is None or (0.0 <= price <= highest_price(self.kind) and price < math.inf):
                continue
            bound = "a price of YES is in [0, 1]" if self.kind == BINARY_OUTCOME else "a price is 0 or more, and finite"
            raise ValueError(f"{name} is {price!r}, {bound}")

    @property
    def mid(self) -> float | None:
        """Return the middle of bid and ask, None where one is missing or they are too far apart to mean something."""
        if self.bid is None or self.ask is None or self.bid <= 0.0 or self.ask >= highest_price(self.kind):
            return None
        # A spread of exactly ten cents comes out as 0.10000000000000003.
        if not 0.0 <= self.ask - self.bid <= MAX_SPREAD + _SPREAD_TOLERANCE:
            return None
        return (self.bid + self.ask) / 2.0

    @property
    def price(self) -> EntryPrice | None:
        """Return the price of YES: the first there is of mid, displayed, last trade and history."""
        return next((EntryPrice(yes, source, self.kind) for source, yes in self.by_source.items()), None)

    @property
    def by_source(self) -> Mapping[PriceSourceName, float]:
        """Return the known prices of YES by source; the first one counts."""
        every: dict[PriceSourceName, float | None] = {
            "mid": self.mid,
            "displayed": self.displayed,
            "last": self.last,
            "history": self.history,
        }
        return {source: yes for source, yes in every.items() if yes is not None}

    @property
    def for_no(self) -> "Quote":
        """Return the same quote for NO: a bid for YES at p is an offer of NO at 1 - p."""
        ask, bid, displayed, last = (
            None if price is None else 1.0 - price for price in (self.bid, self.ask, self.displayed, self.last)
        )
        return Quote(self.at, bid, ask, displayed, last, depth=None if self.depth is None else self.depth.for_no)


@dataclass(frozen=True, slots=True)
class Price:
    """The worth of one instrument at an instant, and what buying and selling it costs."""

    at: datetime
    mid: float
    """Accounts are valued at it: the middle of the book, or its substitute."""
    bid: float | None = None
    ask: float | None = None
    source: PriceSourceName = "mid"
    bids: tuple[Level, ...] = ()
    """The best level first; empty where no book was seen."""
    asks: tuple[Level, ...] = ()
    fees: FeeSchedule | None = None
    """None where the venue states none; then nothing is charged."""
    displayed: float | None = None
    """The price that the venue displays, which `mid` need not be."""

    def __post_init__(self) -> None:
        """Refuse what cannot be a price."""
        for name in ("mid", "bid", "ask", "displayed"):
            price = getattr(self, name)
            if price is not None and not 0.0 <= price < math.inf:
                raise ValueError(f"{name} is {price!r}; a price is a finite number of 0 or more")


@dataclass(frozen=True, slots=True)
class PricePoint:
    """The price of an instrument at an instant."""

    at: datetime
    price: float
    volume_shares: float | None = None
    """Shares traded on the day of a close; None where nobody states it."""


@dataclass(frozen=True, slots=True)
class PricePath:
    """The recorded prices of one instrument, oldest first."""

    instrument: Instrument
    points: tuple[PricePoint, ...] = ()

    def __post_init__(self) -> None:
        """Refuse points that are out of order, or prices that the instrument cannot have."""
        instants = [point.at for point in self.points]
        if any(later <= earlier for earlier, later in pairwise(instants)):
            raise ValueError(f"the prices of {self.instrument.id} are not in order of time")
        least, most = self.instrument.price_bound
        if any(not least <= point.price <= most for point in self.points):
            raise ValueError(f"a price of {self.instrument.id} is outside [{least:g}, {most:g}]")


CorporateActionKind = Literal["split", "dividend", "delisting"]


@dataclass(frozen=True, slots=True)
class CorporateAction:
    """A change of what a share is, from the first close on its date."""

    kind: CorporateActionKind
    effective_at: datetime
    value: float | None
    """New shares for an old one, dollars a share, or a delisted share's payout; None where no payout is stated."""

    def __post_init__(self) -> None:
        """Refuse values that its kind cannot have."""
        if self.value is None and self.kind == "delisting":
            return
        least = "above 0" if self.kind == "split" else "0 or more"
        if self.value is None or not (0.0 <= self.value < math.inf) or (self.kind == "split" and not self.value):
            raise ValueError(f"the value of a {self.kind} is {self.value!r}; it is {least}")


def split_factor(
    actions: Iterable[CorporateAction], after: datetime, until: datetime, *, inclusive: bool = True
) -> float:
    """Return how many shares one share of `after` has become by `until`.

    Unless `inclusive`, splits at `until` itself do not count.
    """
    ratios = (
        each.value
        for each in actions
        if each.kind == "split" and (after < each.effective_at < until or (inclusive and each.effective_at == until))
    )
    return math.prod(ratio for ratio in ratios if ratio is not None)


def adjust_points(
    points: Sequence[PricePoint], actions: Sequence[CorporateAction], *, until: datetime
) -> tuple[PricePoint, ...]:
    """Return raw closes made comparable: in shares of `until`, less the dividends paid since; volumes in such shares.

    Args:
        points: Oldest first.
        actions: Those after `until` are ignored.

    Source:
        The method of CRSP: prices before a split are divided by it; prices before an
        ex-date are multiplied by 1 less the dividend over the last close before it.
    """
    known = [each for each in actions if each.effective_at <= until]
    adjusted, factor, split, left = list[PricePoint](), 1.0, 1.0, sorted(known, key=lambda each: each.effective_at)
    for point in reversed(points):
        while left and left[-1].effective_at > point.at:
            each = left.pop()
            if each.kind == "split" and each.value:
                factor, split = factor / each.value, split * each.value
            elif each.kind == "dividend" and each.value is not None:
                # Convert dollars a new share into dollars a share of `point`: a split may lie between.
                ratio = split_factor(actions, point.at, each.effective_at, inclusive=False)
                factor *= max(0.0, 1.0 - each.value * ratio / point.price) if point.price else 1.0
        volume = None if point.volume_shares is None else point.volume_shares * split
        adjusted.append(PricePoint(point.at, point.price * factor, volume))
    return tuple(reversed(adjusted))
