"""Buy or hold: a hundred dollars for YES of the first market there is, or of the one that is held."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from predibot.domain.account import Account, JournalRow
from predibot.domain.account_past import AccountPast
from predibot.domain.decision import BookedOrder, Booking, Decision, Order, Subject
from predibot.domain.event import Event
from predibot.domain.price import Instrument, Price
from predibot.errors import AnswerError, UsageError
from predibot.games.cohorts import CohortRules
from predibot.games.fills import FillModel


@dataclass(frozen=True, slots=True)
class Fund:
    """What a bot is shown."""

    account: Account
    share: Instrument
    at: datetime


@dataclass(frozen=True, slots=True)
class FundForm:
    """BUY for dollars, or HOLD; as much of a form as its own strategy takes."""

    view: Fund

    def parse(self, answer: Any) -> Decision:
        """Return the decision an answer says."""
        if answer["action"] == "HOLD":
            return Decision()
        return Decision(orders=(Order(self.view.share, answer["usd"]),))


@dataclass(frozen=True, slots=True)
class BuyOrHold:
    """A hundred dollars; money is never borrowed."""

    name, stake_usd, scores = "buy_or_hold", 100.0, ("value",)
    weekly: bool = False
    """Whether a fund begins each week, of which the latest two buy."""

    @property
    def cohorts(self) -> CohortRules | None:
        """Return how the funds of a week go on."""
        return CohortRules(latest=2, least_cash_usd=30.0) if self.weekly else None

    def subjects(self, events: Sequence[Event]) -> tuple[Subject, ...]:
        """Return the one portfolio there is."""
        return (Subject("portfolio", "fund"),)

    def view(
        self,
        subject: Subject,
        events: Sequence[Event],
        *,
        venue: str,
        account: Account | None = None,
        past: AccountPast | None = None,
    ) -> Fund:
        """Return the account, and what can be bought."""
        if account is None:
            raise UsageError(f"{subject.kind} {subject.id!r} has no account")
        market = events[0].markets[0]
        assert market.quote is not None
        held = next(iter(account.positions), None)
        return Fund(account, held or market.ref.instrument(venue, "YES"), market.quote.at)

    def form(self, view: Fund, *, price_blind: bool = False) -> FundForm:
        """Return how an answer is read."""
        return FundForm(view)

    def book(
        self,
        answer: Decision,
        view: Fund,
        account: Account | None,
        quotes: Mapping[Instrument, Price],
        fills: FillModel,
    ) -> Booking:
        """Return the orders with their fills, and what is to be written into the account."""
        assert account is not None
        booked, journal = [], []
        for order in answer.orders:
            if not 0.0 < order.amount <= account.cash_usd:
                raise AnswerError(f"you have ${account.cash_usd:g}, and asked for ${order.amount:g}; lower it")
            fill = fills.fill(order, quotes[order.instrument])
            assert fill is not None
            booked.append(BookedOrder(order, (fill,)))
            journal.append(JournalRow("fill", view.at, fill.cash_usd, order.instrument, fill.shares))
        left_usd = math.fsum((account.cash_usd, *(row.cash_usd for row in journal)))
        return Booking(orders=tuple(booked), journal=tuple(journal), unallocated_usd=left_usd)
