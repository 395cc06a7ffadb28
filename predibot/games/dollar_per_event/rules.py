"""The rules of one dollar an event: how much may be bet on its markets, and how bets are booked."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from predibot.domain.account import Account
from predibot.domain.account_past import AccountPast
from predibot.domain.decision import BookedBet, BookedOrder, Booking, Decision, MarketDecision, Order, Subject
from predibot.domain.event import Event, EventView, Market
from predibot.domain.price import EntryPrice, Instrument, Price
from predibot.errors import UsageError
from predibot.games.answers import AnswerComplaint, mark_foreign, number_of
from predibot.games.dollar_per_event.complaints import decision_complaints, quoted_price, short_repr
from predibot.games.dollar_per_event.form import EventForm
from predibot.games.fills import FillModel
from predibot.games.game import Game

Overstake = Literal["refuse", "scale"]

STAKE_TOLERANCE_USD = 1e-6
UNALLOCATED_TOLERANCE_USD = 0.01


@dataclass(frozen=True, slots=True)
class DollarPerEvent(Game):
    """$1 an event: absolute bets add up to at most 1, the rest stays unallocated."""

    name: ClassVar = "dollar_per_event"
    stake_usd: ClassVar = 1.0
    scores: ClassVar = ("forecasts", "returns")
    overstake: Overstake = "refuse"
    """Bets of more than $1 are refused with a complaint, or all scaled down to 1."""

    def subjects(self, events: Sequence[Event]) -> tuple[Subject, ...]:
        """Return one subject an event."""
        return tuple(Subject("event", event.id) for event in events)

    def view(
        self,
        subject: Subject,
        events: Sequence[Event],
        *,
        venue: str,
        account: Account | None = None,
        past: AccountPast | None = None,
    ) -> EventView:
        """Return the event of a subject; there is no account."""
        event = next((event for event in events if Subject("event", event.id) == subject), None)
        if event is None:
            raise UsageError(f"{subject.kind} {subject.id!r} is no event of this run; game {self.name!r} plays those")
        return EventView(event, venue)

    @property
    def view_fields(self) -> Mapping[str, bool]:
        """Return the field that asks for the rationale before the probability."""
        return {"rationale_first": False}

    def form(self, view: EventView, *, price_blind: bool = False) -> EventForm:
        """Return the form of an answer about the event."""
        return EventForm(view, self.stake_usd, self._book_at, price_blind)

    def book(
        self,
        answer: Decision,
        view: EventView,
        account: Account | None,
        quotes: Mapping[Instrument, Price],
        fills: FillModel,
    ) -> Booking:
        """Return the booking of a decision: one order a bet, filled whole.

        A market without a quote and without a bet is recorded at the price of the view. Raises `AnswerError` if the
        decision breaks a rule; the message names every complaint and what to fix.
        """
        event, lines = view.event, _lines(answer, view)
        prices = {market.id: price for market in event.markets if (price := _price(market, view, quotes)) is not None}
        complaints = [
            *decision_complaints(answer, lines, view, quotes, prices),
            *self._money_complaints(lines, answer.unallocated_usd),
        ]
        if complaints:
            numbered = [f"({number}) {text}" for number, text in enumerate(complaints, start=1)]
            raise AnswerComplaint("; ".join(numbered) if len(complaints) > 1 else complaints[0])
        asked_usd = _total_usd(lines)
        # With "refuse", no excess above the tolerance gets here.
        is_scaled = self.overstake == "scale" and asked_usd > self.stake_usd + STAKE_TOLERANCE_USD
        scale = self.stake_usd / asked_usd if is_scaled else 1.0
        bets = tuple(
            BookedBet(said.market_id, float(said.bet_usd), said.bet_usd * scale, prices[said.market_id])
            for said in lines
        )
        orders = view.orders({bet.market_id: bet.booked_usd for bet in bets})
        booked = tuple(_book_order(order, quotes[order.instrument], fills) for order in orders)
        staked_usd = math.fsum(abs(bet.booked_usd) for bet in bets)
        return Booking(bets, booked, unallocated_usd=max(0.0, self.stake_usd - staked_usd), scale=scale)

    def _book_at(self, answer: Decision, view: EventView, quotes: Mapping[Instrument, Price]) -> Booking:
        return self.book(answer, view, None, quotes, FillModel("mid"))

    def _money_complaints(self, lines: Sequence[MarketDecision], stated: object) -> Iterator[str]:
        """Yield complaints about the sum of the bets and the stated rest."""
        staked_usd = _total_usd(lines)
        excess_usd = staked_usd - self.stake_usd
        if not math.isfinite(staked_usd):
            yield "the bets add up to more than can be counted; lower them to $1.00 in total"
            return
        if excess_usd > STAKE_TOLERANCE_USD and self.overstake == "refuse":
            yield (
                f"staked {_usd(staked_usd)} of {_usd(self.stake_usd)}; lower the bets by {_usd(excess_usd)} in total"
            )
            return
        if stated is None or any(number_of(said.bet_usd) is None for said in lines):
            return
        rest_usd = max(0.0, -excess_usd)
        stated_usd = number_of(stated)
        if stated_usd is None:
            yield f"unallocated is {short_repr(stated)}, not a number; state {_usd(rest_usd)} or leave it out"
        elif abs(stated_usd - rest_usd) > UNALLOCATED_TOLERANCE_USD:
            yield (
                f"unallocated is stated as {_usd(stated_usd)}, but the bets leave {_usd(rest_usd)}; "
                "state that, or leave it out, or fix the bets"
            )


def _lines(answer: Decision, view: EventView) -> tuple[MarketDecision, ...]:
    """Return the forecast and the bet on each market in one; the first order on a market counts."""
    bets_usd: dict[str, float] = {}
    outcomes = view.outcomes
    for order in answer.orders:
        if order.instrument in outcomes:
            market, side = outcomes[order.instrument]
            is_said_so = side == "YES" or number_of(order.amount) is None
            bets_usd.setdefault(market.id, order.amount if is_said_so else -order.amount)
    return tuple(
        said
        if isinstance(said, MarketDecision)
        else MarketDecision(
            said.market_id, said.probability, bets_usd.get(said.market_id, 0.0), said.confidence, said.rationale
        )
        for said in answer.forecasts
    )


def _price(market: Market, view: EventView, quotes: Mapping[Instrument, Price]) -> EntryPrice | None:
    """Return the price a market is recorded at: the quoted one, else that of the view."""
    found = quoted_price(market, view, quotes)
    return market.quote.price if found is None and market.quote is not None else found


def _book_order(order: Order, price: Price, fills: FillModel) -> BookedOrder:
    # Scores charge the fees of bets; this game books none.
    fill = fills.fill(order, replace(price, fees=None))
    if fill is None:
        raise AnswerComplaint(f"nobody offers {mark_foreign(order.instrument.id)} now; set its bet to 0")
    return BookedOrder(order, (fill,))


def _total_usd(lines: Sequence[MarketDecision]) -> float:
    return sum(abs(bet_usd) for said in lines if (bet_usd := number_of(said.bet_usd)) is not None)


def _usd(amount_usd: float) -> str:
    """Return dollars in cents, or more exactly where cents would hide the amount."""
    in_cents = round(amount_usd, 2)
    return f"${amount_usd:.2f}" if abs(in_cents - amount_usd) < STAKE_TOLERANCE_USD / 2 else f"${amount_usd:.7g}"
