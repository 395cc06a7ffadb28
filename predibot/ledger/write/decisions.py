"""Decisions in the ledger: stored whole with all their parts, in one transaction."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Subquery, and_, bindparam, case, delete, func, insert, select

from predibot.domain.decision import BookedOrder, Booking, Decision, ReasonKind, Source, Status
from predibot.domain.event import Event, Market
from predibot.domain.price import QUOTE_PRICES, Depth, Instrument, Level, Price, Quote, Side
from predibot.ledger.schema.tables import (
    BotRow,
    DecisionRow,
    FillRow,
    ForecastRow,
    LabelRow,
    MarketRow,
    OrderRow,
    QuoteRow,
    SourceRow,
)
from predibot.ledger.schema.upsert import table_of
from predibot.ledger.write.accounts import add_to_journal, lock_account, require_account
from predibot.ledger.write.claims import MAX_RETRIES, Claim, attempts, end_claim, subjects, tasks
from predibot.ledger.write.events import Catalogue, instrument_rows, instruments, market_rows
from predibot.ledger.write.runs import runs, with_decisions
from predibot.ledger.write.turns import add_decision_rows, fields_of, fill_rows, replace_pending
from predibot.rows import grouped

decisions, forecasts, orders = table_of(DecisionRow), table_of(ForecastRow), table_of(OrderRow)
fills, quotes, bots, markets = table_of(FillRow), table_of(QuoteRow), table_of(BotRow), table_of(MarketRow)
sources, labels = table_of(SourceRow), table_of(LabelRow)
ORDER_OF_FILL = and_(orders.c.decision_id == fills.c.decision_id, orders.c.number == fills.c.order_number)
"""Joins a fill with the order that it carried out."""


_NO = instruments.c.side == "NO"


def _signed_amount(amount: Any) -> Any:
    return case((_NO, -amount), else_=amount)


_BETS = select(
    orders.c.decision_id,
    instruments.c.market_row,
    _signed_amount(func.coalesce(orders.c.asked, orders.c.amount)).label("asked_usd"),
    _signed_amount(orders.c.amount).label("booked_usd"),
    orders.c.price.label("price_yes"),
    *orders.c["price_source", "number", "amount"],
    case((_NO, -1.0), else_=1.0).label("sign"),
).outerjoin(instruments, instruments.c.id == orders.c.instrument_row)
bets = _BETS.subquery("bets")
"""Orders as bets on markets, positive for YES; a decision on an event has no other orders."""


def of_same_market(one: Any, other: Any) -> ColumnElement[bool]:
    """Return whether rows of two tables are of one market of one decision, to join them by."""
    return and_(one.c.decision_id == other.c.decision_id, one.c.market_row == other.c.market_row)


def bets_of(decision_rows: Any) -> Subquery:
    """Return the bets of some decisions; of `bets` a database would read all those of the ledger."""
    return _BETS.where(orders.c.decision_id.in_(decision_rows)).subquery("bets_of")


OPENED_MODEL = case(
    (decisions.c.models_json == "[]", 0),
    (decisions.c.models_json.is_not(None), 1),
    # An older decision does not say; its bot does.
    else_=case((bots.c.model.is_not(None), 1), else_=0),
)
"""Whether a model was opened for a decision, to be selected beside it and its bot."""

_ABOUT = select(tasks.c.subject_row).where(tasks.c.id == bindparam("its_task")).scalar_subquery()
_ADD_DECISION = insert(decisions).values(subject_row=_ABOUT).returning(decisions.c.id)


@dataclass(frozen=True, slots=True)
class DecisionResult:
    """The result of one piece of work, with everything that is stored of it."""

    status: Status
    decided_at: datetime
    events: Sequence[Event] = ()
    """The events it is about: one for an event, any number for an account."""
    message: str = ""
    decision: Decision | None = None
    booking: Booking | None = None
    shown: Mapping[str, Quote] = field(default_factory=dict)
    booked: Mapping[str, Quote] = field(default_factory=dict)
    prices: Mapping[Instrument, Price] = field(default_factory=dict)
    """Prices at which the orders were booked; bets carry their own."""
    cost_usd: float | None = 0.0
    """Cost of this try; None where a part is unknown."""
    cost_known_usd: float = 0.0
    seconds: float = 0.0
    trace_sha256: str | None = None
    account_id: int | None = None
    """The account that its booking goes into; None in a game without accounts."""
    sources: tuple[Source, ...] = ()
    """Searches and pages in order, whatever the status."""
    models: tuple[str, ...] | None = None
    """Models opened for it; None where unknown."""
    reason_kind: ReasonKind | None = None
    """Why it abstained, or `answer` where no answer of a model could be used."""
    notes: tuple[str, ...] = ()
    """Remarks on how it was made; the decision's own stand before them."""
    could_cost: bool = False
    """Whether a lost try may have cost something; nothing is stored of it."""

    @property
    def was_paid(self) -> bool:
        """Return whether a model was asked or money spent."""
        return self.trace_sha256 is not None or self.cost_usd != 0.0


@dataclass(frozen=True, slots=True)
class StoredBet:
    """A bet with its forecast, as it is stored."""

    market_id: str
    bet_usd: float
    probability: float | None
    confidence: float | None
    price_yes: float


@dataclass(frozen=True, slots=True)
class StoredDecision:
    """A decision with its bets, as it is stored."""

    bot: str
    subject_id: str
    status: Status
    message: str
    unallocated_usd: float | None
    cost_usd: float | None
    """Cost of all its tries; None where a part is unknown."""
    cost_known_usd: float
    bets: tuple[StoredBet, ...]
    notes: tuple[str, ...] = ()
    reason_kind: ReasonKind | None = None
    """Why it abstained; None where an older predibot did not say."""
    failures: int = 0
    next_try_at: datetime | None = None
    """When a failed one is tried again unasked, at the earliest; None for at once, or never."""
    subject_kind: str = "event"

    @property
    def failed_for_good(self) -> bool:
        """Return whether it failed and is not tried again unasked."""
        return self.status == "failed" and (self.failures > MAX_RETRIES or self.reason_kind == "answer")


def store_decision(
    connection: Connection,
    held: Claim,
    finished: DecisionResult,
    *,
    run_id: int,
    bot_id: int,
    catalogue: Catalogue,
    now: datetime,
) -> None:
    """Store a decision and end its claim; all of it or, where the claim is lost, nothing.

    A repeated call with the same instant, because no answer came, changes nothing. ClaimLost is raised if somebody else
    has the claim now, or the account that it books into.
    """
    if finished.account_id is not None:
        lock_account(connection, finished.account_id)
    if not end_claim(
        connection, held, finished.status, message=finished.message, now=now, for_good=finished.reason_kind == "answer"
    ):
        return
    if held.attempt > 1:
        finished = _add_earlier_costs(connection, held, finished)
        _forget_attempt(connection, held)
    catalogue = _add_held_markets(connection, run_id, finished, catalogue)
    row = _decision_row(finished, held, run_id=run_id, bot_id=bot_id)
    decision_id = connection.execute(_ADD_DECISION, {**row, "its_task": held.task_id}).scalar_one()
    add_decision_rows(
        connection, SourceRow, decision_id, (fields_of(each, Source.__slots__) for each in finished.sources)
    )
    # Also for an abstention, which is compared with the market at these prices.
    add_decision_rows(connection, QuoteRow, decision_id, _quote_rows(finished, catalogue))
    if finished.account_id is not None:
        require_account(connection, finished.account_id, held)
    if finished.decision is None or finished.booking is None:
        return
    add_decision_rows(
        connection, ForecastRow, decision_id, _forecast_rows(finished.decision, finished.events, catalogue)
    )
    placed = [*_order_rows(connection, finished.decision, finished, catalogue)]
    add_decision_rows(connection, OrderRow, decision_id, (row for row, _ in placed))
    filled = [(n, fill) for n, (_, booked) in enumerate(placed, start=1) for fill in (booked.fills if booked else ())]
    add_decision_rows(connection, FillRow, decision_id, fill_rows(filled))
    add_decision_rows(
        connection,
        LabelRow,
        decision_id,
        (
            {"item_id": each.item_id, "label": each.label, "probabilities_json": json.dumps(dict(each.probabilities))}
            for each in finished.decision.labels
        ),
    )
    if finished.account_id is not None:
        replace_pending(connection, finished.account_id, but=decision_id, at=finished.decided_at)
        add_to_journal(connection, finished.account_id, finished.booking.journal, decision_id=decision_id)


def read_decisions(connection: Connection, run_id: int) -> tuple[StoredDecision, ...]:
    """Return the decisions of a run with their bets, by bot in order of entry, then by subject."""
    forecast = forecasts.c["probability", "confidence"]
    query: Select[Any] = (
        select(bets.c.decision_id, markets.c.market_id, bets.c.booked_usd, *forecast, bets.c.price_yes)
        .join(decisions, decisions.c.id == bets.c.decision_id)
        .join(subjects, subjects.c.id == decisions.c.subject_row)
        .join(markets, markets.c.id == bets.c.market_row)
        .outerjoin(forecasts, of_same_market(forecasts, bets))
        # An account's orders are no bets on events.
        .where(decisions.c.run_id == run_id, subjects.c.event_row.is_not(None))
        .order_by(bets.c.decision_id, bets.c.market_row)
    )
    bets_by = grouped((decision_id, StoredBet(*values)) for decision_id, *values in connection.execute(query))
    named = (bots.c.name.label("bot"), subjects.c.kind.label("subject_kind"), subjects.c.subject_id)
    rows = connection.execute(
        with_decisions(decisions, *named, tasks.c.failures, tasks.c.next_try_at)
        .join(tasks, tasks.c.id == decisions.c.task_id)
        .where(decisions.c.run_id == run_id)
        .order_by(bots.c.id, subjects.c.subject_id)
    ).mappings()
    taken = [name for name in StoredDecision.__slots__ if name not in ("bets", "notes")]
    return tuple(
        StoredDecision(
            **{name: row[name] for name in taken},
            bets=tuple(bets_by[row["id"]]),
            notes=tuple(json.loads(row["notes_json"])),
        )
        for row in rows
    )


def question_sha256(event: Event, market: Market) -> str:
    """Return the digest of a question, so that a later clarification of its rules shows."""
    asked = [event.title, event.description, market.question, market.description]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()


def _decision_row(finished: DecisionResult, held: Claim, *, run_id: int, bot_id: int) -> dict[str, Any]:
    decision, booking = finished.decision, finished.booking
    return {
        "task_id": held.task_id,
        "run_id": run_id,
        "bot_id": bot_id,
        **{name: getattr(finished, name) for name in DecisionResult.__slots__ if name in decisions.c},
        "rationale": decision.rationale if decision else "",
        "notes_json": json.dumps((*(decision.notes if decision else ()), *finished.notes)),
        "unallocated_usd": _unallocated_usd(booking),
        "stated_unallocated_usd": decision.unallocated_usd if decision else None,
        "scale": booking.scale if booking else 1.0,
        "models_json": None if finished.models is None else json.dumps(finished.models),
    }


def _unallocated_usd(booking: Booking | None) -> float | None:
    """Return what no order took; for an account in debt, or with a rounding error, that is nothing."""
    if booking is None or booking.unallocated_usd is None:
        return None
    return max(0.0, booking.unallocated_usd) if booking.journal or not booking.bets else booking.unallocated_usd


def _add_earlier_costs(connection: Connection, held: Claim, finished: DecisionResult) -> DecisionResult:
    """Return the result with the cost of all tries; an interrupted try makes it unknown."""
    stored = select(decisions.c.cost_usd, decisions.c.cost_known_usd).where(decisions.c.task_id == held.task_id)
    costs = [(finished.cost_usd, finished.cost_known_usd)]
    costs += [(usd, known_usd) for usd, known_usd in connection.execute(stored)]
    broken_off = select(attempts.c.number).where(
        attempts.c.task_id == held.task_id, attempts.c.outcome.in_(("interrupted", "lost"))
    )
    if finished.could_cost and connection.execute(broken_off).first() is not None:
        costs.append((None, 0.0))
    known = [usd for usd, _ in costs if usd is not None]
    return replace(
        finished,
        cost_usd=math.fsum(known) if len(known) == len(costs) else None,
        cost_known_usd=math.fsum(known_usd for _, known_usd in costs),
    )


def _forget_attempt(connection: Connection, held: Claim) -> None:
    """Delete the failed or abstained decision of an earlier attempt, with quotes and sources."""
    before = select(decisions.c.id).where(decisions.c.task_id == held.task_id)
    for table in (sources, quotes):
        connection.execute(delete(table).where(table.c.decision_id.in_(before)))
    connection.execute(delete(decisions).where(decisions.c.task_id == held.task_id))


def _add_held_markets(connection: Connection, run_id: int, finished: DecisionResult, catalogue: Catalogue) -> Catalogue:
    if all(market.id in catalogue.market_rows for event in finished.events for market in event.markets):
        return catalogue
    venue = connection.execute(select(runs.c.venue_name).where(runs.c.id == run_id)).scalar_one()
    return replace(catalogue, market_rows={**market_rows(connection, venue), **catalogue.market_rows})


def _forecast_rows(decision: Decision, events: Sequence[Event], catalogue: Catalogue) -> Iterator[dict[str, Any]]:
    asked = {market.id: question_sha256(event, market) for event in events for market in event.markets}
    for each in decision.forecasts:
        yield {
            "market_row": catalogue.market_rows[each.market_id],
            "probability": float(each.probability),
            "confidence": None if each.confidence is None else float(each.confidence),
            "rationale": each.rationale,
            "question_sha256": asked[each.market_id],
        }


def _order_rows(
    connection: Connection, decision: Decision, finished: DecisionResult, catalogue: Catalogue
) -> Iterator[tuple[dict[str, Any], BookedOrder | None]]:
    """Yield the row of each order, and its booking; a bet of nothing has none."""
    booking = finished.booking or Booking()
    if booking.bets:
        booked_on = {
            catalogue.market_of[catalogue.instrument_rows[each.order.instrument]]: each for each in booking.orders
        }
        for bet in booking.bets:
            market_row = catalogue.market_rows[bet.market_id]
            booked = booked_on.get(market_row)
            side, row = bet_as_order(bet.asked_usd, bet.booked_usd, bet.price.yes, bet.price.source)
            of_side = catalogue.outcome_rows[market_row, side]
            instrument_row = of_side if booked is None else catalogue.instrument_rows[booked.order.instrument]
            yield {**row, "instrument_row": instrument_row}, booked
        return
    for booked in booking.orders:
        order, price = booked.order, finished.prices.get(booked.order.instrument)
        amounts = {(each.instrument, each.side, each.unit): each.amount for each in decision.orders}
        asked = getattr(booked, "asked", None)
        if asked is None:
            asked = amounts.get((order.instrument, order.side, order.unit), order.amount)
        row = {
            "instrument_row": catalogue.instrument_rows.get(order.instrument)
            or instrument_rows(connection, [order.instrument])[order.instrument],
            "side": order.side,
            "unit": order.unit,
            "asked": None if asked == order.amount else asked,
            "amount": order.amount,
            "status": booked.status,
            "price": None if price is None else price.mid,
            "price_source": None if price is None else price.source,
            "note": booked.note or None,
        }
        yield row, booked


def bet_as_order(
    asked_usd: float, booked_usd: float, price_yes: float, price_source: str
) -> tuple[Side, dict[str, Any]]:
    """Return the side that a bet buys, or wanted to buy, and its order's row without the instrument."""
    side: Side = "NO" if (booked_usd or asked_usd) < 0.0 else "YES"
    sign = -1.0 if side == "NO" else 1.0
    return side, {
        "side": "buy",
        "unit": "usd",
        "asked": None if asked_usd == booked_usd else sign * asked_usd,
        "amount": sign * booked_usd,
        "status": "filled",
        "price": price_yes,
        "price_source": price_source,
        "note": None,
    }


def depth_json(quote: Quote) -> str | None:
    """Return the order book of a quote as its column has it, [price, shares] for each level; None without one."""
    if quote.depth is None:
        return None
    sides = {"bids": quote.depth.bids, "asks": quote.depth.asks}
    return json.dumps({name: [[level.price, level.shares] for level in levels] for name, levels in sides.items()})


def depth_from_json(text: str | None) -> Depth | None:
    """Return the order book in a column, None for none; raise `ValueError` if `depth_json` did not write it."""
    if text is None:
        return None
    try:
        sides = json.loads(text)
        return Depth(*(tuple(Level(*level) for level in sides[name]) for name in ("bids", "asks")))
    except (TypeError, KeyError) as error:
        raise ValueError(f"{text[:100]!r} is no order book") from error


def _quote_rows(finished: DecisionResult, catalogue: Catalogue) -> Iterator[dict[str, Any]]:
    for role, quoted in (("shown", finished.shown), ("booked", finished.booked)):
        for market_id, quote in quoted.items():
            named = {"market_row": catalogue.market_rows[market_id], "role": role, "depth_json": depth_json(quote)}
            yield named | fields_of(quote, ("at", *QUOTE_PRICES))
