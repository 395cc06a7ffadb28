"""How decisions ended: what their markets paid, what is still open, and what their bets gained."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, case, func, select

from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import bets, decisions, forecasts
from predibot.ledger.write.prices_and_resolutions import resolutions

_revision = resolutions.alias()
_newest = select(func.max(_revision.c.revision)).where(_revision.c.market_row == resolutions.c.market_row)
payouts = (
    select(*resolutions.c["market_row", "payout_yes", "settled_at"])
    .where(resolutions.c.revision == _newest.scalar_subquery())
    .subquery("payouts")
)
"""What each settled market paid, by its last revision; a payout of NULL gave the stakes back."""


def _gain_per_dollar(price: Any, payout: Any) -> Any:
    return payout / func.nullif(price, 0.0) - 1.0


_gain = func.sum(
    case(
        (bets.c.booked_usd > 0.0, bets.c.booked_usd * _gain_per_dollar(bets.c.price_yes, payouts.c.payout_yes)),
        else_=-bets.c.booked_usd * _gain_per_dollar(1.0 - bets.c.price_yes, 1.0 - payouts.c.payout_yes),
    )
)
_open = (
    select(forecasts.c.decision_id)
    .outerjoin(payouts, payouts.c.market_row == forecasts.c.market_row)
    .where(payouts.c.market_row.is_(None))
)
_by_gain = (
    select(bets.c.decision_id)
    .join(payouts, payouts.c.market_row == bets.c.market_row)
    .join(decisions, decisions.c.id == bets.c.decision_id)
    .join(subjects, subjects.c.id == decisions.c.subject_row)
    .where(subjects.c.kind == "event")
    .group_by(bets.c.decision_id)
)
OUTCOMES: Mapping[str, ColumnElement[bool]] = {
    "open": decisions.c.id.in_(_open),
    "settled": decisions.c.id.in_(select(forecasts.c.decision_id)) & decisions.c.id.not_in(_open),
    "gained": decisions.c.id.in_(_by_gain.having(_gain > 0.0)),
    "lost": decisions.c.id.in_(_by_gain.having(_gain < 0.0)),
}
"""Conditions on decisions on events: a market is open, all are settled, or what the settled bets gained or lost."""
