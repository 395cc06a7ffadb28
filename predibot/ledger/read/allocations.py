"""Allocations: the weights and probabilities that the bots of a run decided on, for those that pool them."""

from collections import defaultdict
from collections.abc import Mapping

from sqlalchemy import Connection, select

from predibot.domain.decision import Decision, Forecast, Order, Subject
from predibot.domain.price import Instrument
from predibot.ledger.schema.tables import (
    BotRow,
    DecisionRow,
    ForecastRow,
    InstrumentRow,
    MarketRow,
    OrderRow,
    SubjectRow,
)
from predibot.ledger.schema.upsert import table_of

bots, decisions, subjects = table_of(BotRow), table_of(DecisionRow), table_of(SubjectRow)
forecasts, orders = table_of(ForecastRow), table_of(OrderRow)
instruments, markets = table_of(InstrumentRow), table_of(MarketRow)


def allocations_of(connection: Connection, run_id: int, subject: Subject) -> Mapping[str, Decision]:
    """Return what each bot of a run that has a decision on a subject wanted to hold, by bot, as it was applied."""
    query = (
        select(decisions.c.id, bots.c.name)
        .join(bots, bots.c.id == decisions.c.bot_id)
        .join(subjects, subjects.c.id == decisions.c.subject_row)
        .where(
            decisions.c.run_id == run_id,
            decisions.c.status == "recorded",
            subjects.c.kind == subject.kind,
            subjects.c.subject_id == subject.id,
        )
    )
    decided = {decision_id: bot for decision_id, bot in connection.execute(query)}
    weights: dict[int, list[Order]] = defaultdict(list)
    named = (instruments.c.venue, instruments.c.kind, instruments.c.instrument_id)
    ordered = (
        select(orders.c.decision_id, orders.c.amount, *named)
        .join(instruments, instruments.c.id == orders.c.instrument_row)
        .where(orders.c.decision_id.in_(decided), orders.c.unit == "weight")
        .order_by(orders.c.decision_id, orders.c.number)
    )
    for decision_id, amount, *name in connection.execute(ordered):
        weights[decision_id].append(Order(Instrument(*name), amount, "weight"))
    said: dict[int, list[Forecast]] = defaultdict(list)
    stated = (
        select(forecasts.c.decision_id, markets.c.market_id, forecasts.c.probability, forecasts.c.confidence)
        .join(markets, markets.c.id == forecasts.c.market_row)
        .where(forecasts.c.decision_id.in_(decided))
        .order_by(forecasts.c.decision_id, forecasts.c.market_row)
    )
    for decision_id, *forecast in connection.execute(stated):
        said[decision_id].append(Forecast(*forecast))
    return {bot: Decision(tuple(said[row]), tuple(weights[row])) for row, bot in decided.items()}
