"""The game of one dollar an event: what may be staked on its markets, and how it is booked."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from predibot.domain.decision import BookedBet, Booking, Decision, Fill, MarketDecision
from predibot.domain.event import Event, Market
from predibot.domain.price import MIN_SIDE_PRICE, EntryPrice, Quote, Side
from predibot.errors import AnswerError

Overstake = Literal["refuse", "scale"]

STAKE_TOLERANCE_USD = 1e-6
UNALLOCATED_TOLERANCE_USD = 0.01
MAX_CONFIDENCE = 10.0


@dataclass(frozen=True, slots=True)
class DollarPerEvent:
    """$1 an event: the absolute bets add up to at most 1, what is left stays unallocated."""

    overstake: Overstake = "refuse"
    """What happens to bets of more than $1: a complaint, or all are scaled down to 1."""

    @property
    def name(self) -> str:
        """Return the word recipes use."""
        return "dollar_per_event"

    @property
    def stake_usd(self) -> float:
        """Return the dollars a bot may bet on one event."""
        return 1.0

    def book(self, decision: Decision, event: Event, quotes: Mapping[str, Quote], *, venue: str) -> Booking:
        """Return the booking of a decision: one fill a non-zero bet, at the quote's price of its side.

        Args:
            decision: With every market of the event exactly once.
            event: With the markets the run plays.
            quotes: By market id. A zero bet on a market without one is
                recorded at the price the bot was shown.
            venue: The name the instruments carry.

        Raises:
            AnswerError: If the decision breaks a rule; the message names every
                complaint and what to mend.
        """
        prices = {market.id: price for market in event.markets if (price := _price(market, quotes)) is not None}
        complaints = [
            *_roll_call(decision, event),
            *(text for said in decision.markets for text in _complaints(said, event, quotes, prices)),
            *self._money_complaints(decision),
        ]
        if complaints:
            raise AnswerError(_joined(complaints))
        scale = self._scale(_staked_usd(decision))
        bets = tuple(
            _booked(said, said.bet_usd * scale, _market(event, said), prices[said.market_id], venue)
            for said in decision.markets
        )
        booked_usd = math.fsum(abs(bet.booked_usd) for bet in bets)
        return Booking(bets, unallocated_usd=max(0.0, self.stake_usd - booked_usd), scale=scale)

    def _scale(self, staked_usd: float) -> float:
        overstaked = staked_usd > self.stake_usd + STAKE_TOLERANCE_USD
        return self.stake_usd / staked_usd if overstaked and self.overstake == "scale" else 1.0

    def _money_complaints(self, decision: Decision) -> Iterator[str]:
        """Yield what is wrong with the sum of the bets and with what is said to be left."""
        staked_usd = _staked_usd(decision)
        excess_usd = staked_usd - self.stake_usd
        if not math.isfinite(staked_usd):
            yield "the bets add up to more than can be counted; lower them to $1.00 in total"
            return
        if excess_usd > STAKE_TOLERANCE_USD and self.overstake == "refuse":
            yield (
                f"staked {_usd(staked_usd)} of {_usd(self.stake_usd)}; lower the bets by {_usd(excess_usd)} in total"
            )
            return
        stated = decision.unallocated_usd
        if stated is None or any(_number(said.bet_usd) is None for said in decision.markets):
            return
        rest_usd = max(0.0, -excess_usd)
        stated_usd = _number(stated)
        if stated_usd is None:
            yield f"unallocated is {_seen(stated)}, not a number; state {_usd(rest_usd)} or leave it out"
        elif abs(stated_usd - rest_usd) > UNALLOCATED_TOLERANCE_USD:
            yield (
                f"unallocated is stated as {_usd(stated_usd)}, but the bets leave {_usd(rest_usd)}; "
                "state that, or leave it out, or mend the bets"
            )


def _roll_call(decision: Decision, event: Event) -> Iterator[str]:
    """Yield a complaint for each market of the event that is not decided on exactly once."""
    asked = {market.id for market in event.markets}
    said = Counter(str(said.market_id) for said in decision.markets)
    for market_id, times in said.items():
        if market_id not in asked:
            yield f"market {market_id[:80]!r} is not one of this event; take it out"
        elif times > 1:
            yield f"market {market_id!r} is decided {times} times; keep one"
    for market in event.markets:
        if market.id not in said:
            yield f"market {market.id!r} is missing; add its probability and its bet, which may be 0"


def _complaints(
    said: MarketDecision, event: Event, quotes: Mapping[str, Quote], prices: Mapping[str, EntryPrice]
) -> Iterator[str]:
    """Yield what is wrong with what was said about one market."""
    name = f"market {str(said.market_id)[:80]!r}"
    yield from (f"{name}: {text}" for text in _probability_complaints(said.probability))
    if said.confidence is not None:
        confidence = _number(said.confidence)
        if confidence is None or not 0.0 <= confidence <= MAX_CONFIDENCE:
            yield f"{name}: the confidence is {_seen(said.confidence)}; give a number from 0 to 10 or leave it out"
    bet_usd = _number(said.bet_usd)
    if bet_usd is None:
        yield f"{name}: the bet is {_seen(said.bet_usd)}; give dollars as a number, negative for NO, 0 for no bet"
        return
    market = event.market(said.market_id)
    if market is not None:
        yield from (f"{name}: {text}" for text in _bet_complaints(bet_usd, market, quotes, prices))


def _probability_complaints(value: object) -> Iterator[str]:
    probability = _number(value)
    if probability is None:
        yield f"the probability is {_seen(value)}; give a number from 0 to 1"
    elif 1.0 < probability <= 100.0:
        hint = f"{probability:g} % is {probability / 100:g}"
        yield f"the probability is {probability:g}; give a number from 0 to 1, {hint}"
    elif not 0.0 <= probability <= 1.0:
        yield f"the probability is {probability:g}; give a number from 0 to 1"


def _bet_complaints(
    bet_usd: float, market: Market, quotes: Mapping[str, Quote], prices: Mapping[str, EntryPrice]
) -> Iterator[str]:
    if bet_usd == 0.0:
        if market.id not in prices:
            yield "it has no price at all, so nothing can be said about it"
        return
    price = quotes[market.id].price if market.id in quotes else None
    side = _side(bet_usd)
    if market.closed:
        yield "it is closed; set its bet to 0"
    elif price is None or not price.usable:
        yield "it has no usable quote now; set its bet to 0"
    elif price.of(side) < MIN_SIDE_PRICE:
        seen = f"{side} is priced at {price.of(side):.2g}, below {MIN_SIDE_PRICE:g}"
        yield f"{seen}; set its bet to 0 or bet on the other side"


def _price(market: Market, quotes: Mapping[str, Quote]) -> EntryPrice | None:
    """Return the price a market is recorded at: the quote's, or else the one the bot was shown."""
    found = quotes[market.id].price if market.id in quotes else None
    if found is None and market.quote is not None:
        return market.quote.price
    return found


def _market(event: Event, said: MarketDecision) -> Market:
    """Return the market something was said about; the roll call has seen to it that there is one."""
    return next(market for market in event.markets if market.id == said.market_id)


def _booked(said: MarketDecision, booked_usd: float, market: Market, price: EntryPrice, venue: str) -> BookedBet:
    """Return a bet as it is booked: |b| / s0 shares of its side, or nothing where it is zero."""
    if booked_usd == 0.0:
        return BookedBet(market.id, asked_usd=float(said.bet_usd), booked_usd=0.0, price=price)
    side = _side(booked_usd)
    cost_usd, side_price = abs(booked_usd), price.of(side)
    fill = Fill(
        instrument=market.ref.instrument(venue, side),
        shares=cost_usd / side_price,
        price=side_price,
        fee_usd=0.0,
        cash_usd=-cost_usd,
    )
    return BookedBet(market.id, asked_usd=float(said.bet_usd), booked_usd=booked_usd, price=price, fills=(fill,))


def _side(bet_usd: float) -> Side:
    return "YES" if bet_usd > 0 else "NO"


def _staked_usd(decision: Decision) -> float:
    """Return the sum of the absolute bets, as far as they are numbers."""
    return sum(abs(bet_usd) for said in decision.markets if (bet_usd := _number(said.bet_usd)) is not None)


def _number(value: object) -> float | None:
    """Return a finite number as a float; None for anything else, booleans and text included."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _seen(value: object) -> str:
    """Return what somebody said instead of a fitting number, cut to a length for a message."""
    return repr(value)[:40]


def _usd(amount_usd: float) -> str:
    """Return dollars in cents, or more exactly where cents would hide the amount."""
    in_cents = round(amount_usd, 2)
    return f"${amount_usd:.2f}" if abs(in_cents - amount_usd) < STAKE_TOLERANCE_USD / 2 else f"${amount_usd:.7g}"


def _joined(complaints: list[str]) -> str:
    if len(complaints) == 1:
        return complaints[0]
    return "; ".join(f"({number}) {text}" for number, text in enumerate(complaints, start=1))
