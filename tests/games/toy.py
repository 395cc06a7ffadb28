"""A toy game with an account: buy, sell or hold one share whose price is above one dollar."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from predibot.domain.account import Account, JournalRow
from predibot.domain.account_past import AccountPast
from predibot.domain.chat import ToolSchema
from predibot.domain.decision import BookedOrder, Booking, Decision, Order, OrderSide, Subject
from predibot.domain.event import Event
from predibot.domain.price import Instrument, Price, PricePoint
from predibot.errors import AnswerError, UsageError
from predibot.games.accounts import value_usd
from predibot.games.answers import AnswerComplaint, Words, final_answer, quoted, read_json
from predibot.games.fills import FillModel
from predibot.games.game import Game

SHARE = Instrument("toy", "equity", "ACME")
SIDES: dict[str, OrderSide] = {"BUY": "buy", "SELL": "sell"}
FIELDS = frozenset({"action", "amount"})


@dataclass(frozen=True, slots=True)
class Holding:
    """What a bot is shown: its account, and the price of the share."""

    account: Account
    price: Price
    at: datetime


@dataclass(frozen=True, slots=True)
class ToyForm:
    """BUY for dollars, SELL shares, or HOLD."""

    seen: Holding
    rules: Callable[[Decision, Holding], object]

    @property
    def schema(self) -> ToolSchema:
        """Return the tool by which an answer is handed in."""
        properties = {"action": {"type": "string", "enum": ["BUY", "SELL", "HOLD"]}, "amount": {"type": "number"}}
        return final_answer("Buy for dollars, sell shares, or hold.", properties)

    @property
    def shape(self) -> str:
        """Return an answer as it is shown."""
        return '{"action": "HOLD"}'

    @property
    def fields(self) -> Collection[str]:
        """Return the names of the fields an answer may have."""
        return FIELDS

    @property
    def enough_tokens(self) -> int:
        """Return how many tokens a short answer takes."""
        return 100

    def words(self, *, history: Callable[[str], tuple[PricePoint, ...]], untrusted: Callable[[str], str]) -> Words:
        """Return what a model is told."""
        account, held = self.seen.account, self.seen.account.position(SHARE).shares
        view = f"# Your account\n\n${account.cash_usd:g} and {held:g} shares at ${self.seen.price.mid:g}."
        ask = "BUY with an amount in dollars, SELL with an amount in shares, or HOLD."
        return Words(
            task="You own an account and trade one share.",
            view=f"{view}\n\n{untrusted('ACME makes everything.')}",
            steps=(ask,),
            entries="with your action",
            ask=ask,
            report_about="on the share",
            report="Say what to do.",
            extract_about="about one share",
            extract_from="take the action from it.",
            extract_view=view,
            extract=ask,
        )

    def parse(self, answer: object) -> Decision:
        """Return the decision an answer says."""
        data = read_json(answer, FIELDS) if isinstance(answer, str) else answer
        if not isinstance(data, Mapping) or data.get("action") not in ("BUY", "SELL", "HOLD"):
            said = data.get("action") if isinstance(data, Mapping) else data
            raise AnswerComplaint(f"action is {quoted(said)}; give BUY, SELL or HOLD.")
        if data["action"] == "HOLD":
            return Decision()
        side = SIDES[data["action"]]
        amount = data.get("amount")
        if isinstance(amount, bool) or not isinstance(amount, int | float):
            raise AnswerComplaint(f"amount is {quoted(amount)}; give a number.")
        decision = Decision(orders=(Order(SHARE, float(amount), "usd" if side == "buy" else "shares", side),))
        self.rules(decision, self.seen)
        return decision


@dataclass(frozen=True, slots=True)
class BuyOrHold(Game):
    """$100 for one share; money is never borrowed."""

    @property
    def name(self) -> str:
        """Return the word recipes use."""
        return "buy_or_hold"

    @property
    def stake_usd(self) -> float:
        """Return what an account begins with."""
        return 100.0

    @property
    def scores(self) -> tuple[str, ...]:
        """Return what bots are scored by."""
        return ("value",)

    def subjects(self, events: Sequence[Event]) -> tuple[Subject, ...]:
        """Return the one portfolio there is, whatever is on the venue."""
        return (Subject("portfolio", SHARE.id),)

    def view(
        self,
        subject: Subject,
        events: Sequence[Event],
        *,
        venue: str,
        account: Account | None = None,
        past: AccountPast | None = None,
    ) -> Holding:
        """Return the account at the price that the venue's one market shows."""
        if subject.kind != "portfolio" or account is None:
            raise UsageError(f"{subject.kind} {subject.id!r} is no portfolio with an account")
        (event,) = events
        quote = event.markets[0].quote
        assert quote is not None and quote.price is not None
        return Holding(account, Price(quote.at, 100.0 * quote.price.yes), quote.at)

    def form(self, view: Holding, *, price_blind: bool = False) -> ToyForm:
        """Return how an answer is asked for."""
        return ToyForm(view, self._check)

    def book(
        self,
        answer: Decision,
        view: Holding,
        account: Account | None,
        quotes: Mapping[Instrument, Price],
        fills: FillModel,
    ) -> Booking:
        """Return the orders with their fills, and what is to be written into the account."""
        assert account is not None
        self._check(answer, view)
        booked: list[BookedOrder] = []
        journal: list[JournalRow] = []
        for order in answer.orders:
            fill = fills.fill(order, quotes[SHARE]) if SHARE in quotes else None
            if fill is None:
                booked.append(BookedOrder(order, status="pending", note="nobody offers it"))
                continue
            booked.append(BookedOrder(order, (fill,)))
            journal.append(JournalRow("fill", view.at, fill.cash_usd, SHARE, fill.shares))
            if fill.fee_usd:
                journal.append(JournalRow("fee", view.at, -fill.fee_usd))
        left_usd = math.fsum((account.cash_usd, *(row.cash_usd for row in journal)))
        return Booking(orders=tuple(booked), journal=tuple(journal), unallocated_usd=left_usd)

    def worth_usd(self, account: Account, price: Price) -> float:
        """Return what an account is worth, which is its score."""
        return value_usd(account, {SHARE: price})

    def _check(self, answer: Decision, view: Holding) -> None:
        if answer.forecasts or answer.labels:
            raise AnswerError("only orders are taken; leave the rest out")
        for order in answer.orders:
            most = view.account.cash_usd if order.side == "buy" else view.account.position(SHARE).shares
            if not 0.0 < order.amount <= most:
                raise AnswerError(f"you can {order.side} at most {most:g}, and asked for {order.amount:g}; lower it")
