"""What the bots of a run decided on a subject, for those that pool or judge them."""

from collections import defaultdict
from collections.abc import Mapping

from sqlalchemy import Connection, and_, select

from predibot.domain.decision import Decision, Forecast, Label, Order, Subject
from predibot.domain.price import Instrument
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import bots, decisions, forecasts, labels, orders
from predibot.ledger.write.events import instruments, markets
from predibot.ledger.write.runs import with_decisions


def decisions_on(connection: Connection, run_id: int, subject: Subject) -> Mapping[str, Decision]:
    """Return what each bot of a run decided on a subject, by bot; who said nothing that was taken is absent.

    Of orders those in weight, as they were applied.
    """
    statement = (
        with_decisions(decisions.c.id, bots.c.name, decisions.c.rationale, decisions.c.unallocated_usd, labels.c.label)
        .outerjoin(labels, and_(labels.c.decision_id == decisions.c.id, labels.c.number == 1))
        .where(
            decisions.c.run_id == run_id,
            decisions.c.status == "recorded",
            subjects.c.kind == subject.kind,
            subjects.c.subject_id == subject.id,
        )
    )
    decided = connection.execute(statement).all()
    rows = [row.id for row in decided]
    weights: dict[int, list[Order]] = defaultdict(list)
    named = (instruments.c.venue, instruments.c.kind, instruments.c.instrument_id)
    ordered = (
        select(orders.c.decision_id, orders.c.amount, *named)
        .join(instruments, instruments.c.id == orders.c.instrument_row)
        .where(orders.c.decision_id.in_(rows), orders.c.unit == "weight")
        .order_by(orders.c.decision_id, orders.c.number)
    )
    for decision_id, amount, *name in connection.execute(ordered):
        weights[decision_id].append(Order(Instrument(*name), amount, "weight"))
    said: dict[int, list[Forecast]] = defaultdict(list)
    stated = (
        select(forecasts.c.decision_id, markets.c.market_id, forecasts.c.probability, forecasts.c.confidence)
        .join(markets, markets.c.id == forecasts.c.market_row)
        .where(forecasts.c.decision_id.in_(rows))
        .order_by(forecasts.c.decision_id, forecasts.c.market_row)
    )
    for decision_id, *forecast in connection.execute(stated):
        said[decision_id].append(Forecast(*forecast))
    return {
        row.name: Decision(
            tuple(said[row.id]),
            tuple(weights[row.id]),
            () if row.label is None else (Label(subject.id, row.label),),
            rationale=row.rationale,
            unallocated_usd=row.unallocated_usd,
        )
        for row in decided
    }
