"""Conditions on runs and decisions, and on how these ended: the part of a ledger that a reader asks for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, case, func, or_, select

from predibot.domain.decision import ITEM_SUBJECTS
from predibot.domain.replicates import split_replicate
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import bets, bots, decisions, forecasts
from predibot.ledger.write.prices_and_resolutions import resolutions
from predibot.ledger.write.runs import live_venues, runs
from predibot.scoring.records.part import Part

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


def run_conditions(connection: Connection, part: Part) -> list[ColumnElement[bool]]:
    """Return the conditions on runs of a part; `of_category` has those on events."""
    is_live = None if part.mode is None else runs.c.venue.in_(live_venues(connection))
    chosen = [
        None if part.since is None else runs.c.slot_at >= part.since,
        None if part.until is None else runs.c.slot_at < part.until,
        is_live if part.mode == "live" or is_live is None else ~is_live,
    ]
    return [each for each in chosen if each is not None]


def recipe_and_bot_conditions(part: Part) -> list[ColumnElement[bool]]:
    """Return the conditions on recipe and bots of a part."""
    of_recipe = [] if part.recipe is None else [runs.c.recipe == part.recipe]
    return [*of_recipe, *([is_bot(bots.c.name, part.bots)] if part.bots else [])]


def is_bot(column: ColumnElement[str], names: Sequence[str]) -> ColumnElement[bool]:
    """Return the condition that a column names one of some bots or a replicate of one."""
    # Only a name that a recipe can give has replicates; a foreign ledger may hold others.
    given = (name for name in names if split_replicate(f"{name}#1")[1])
    return or_(column.in_(names), *(column.startswith(f"{name}#", autoescape=True) for name in given))


@dataclass(frozen=True, slots=True)
class RowFilter(Part):
    """Which decisions and forecasts to read."""

    run: str | None = None
    void: bool = False
    """Whether void runs are read too."""
    venue_name: str | None = None
    """The venue's own name, which runs on one world share even if the specs in their `venue` differ."""
    event: str | None = None
    events: Sequence[str] | None = None
    subject: str | None = None
    """Id of a subject, an event or not."""
    status: str | None = None
    outcome: str | None = None
    """One of `OUTCOMES`."""
    items: bool = True
    """Whether labels of a study's items are read too."""
    rows: Sequence[int] | None = None
    """Row numbers of decisions."""

    def conditions(self, connection: Connection) -> list[ColumnElement[bool]]:
        """Return the conditions on decisions, runs and bots."""
        chosen = [
            *run_conditions(connection, self),
            *recipe_and_bot_conditions(self),
            None if self.run is None else runs.c.key == self.run,
            None if self.as_of is None else decisions.c.decided_at <= self.as_of,
            None if self.void else runs.c.voided_at.is_(None),
            None if self.event is None else _is_about([self.event], "event"),
            None if self.events is None else _is_about(self.events, "event"),
            None if self.subject is None else _is_about([self.subject]),
            None if self.items else subjects.c.kind.not_in(ITEM_SUBJECTS),
            None if self.status is None else decisions.c.status == self.status,
            None if self.outcome is None else OUTCOMES[self.outcome],
            None if self.venue is None else runs.c.venue == self.venue,
            None if self.venue_name is None else runs.c.venue_name == self.venue_name,
            None if self.rows is None else decisions.c.id.in_(self.rows),
        ]
        return [each for each in chosen if each is not None]


def _is_about(ids: Sequence[str], *kinds: str) -> ColumnElement[bool]:
    """Return the condition on the subjects of decisions, written so that their index is used."""
    of_kind = [subjects.c.kind.in_(kinds)] if kinds else []
    return decisions.c.subject_row.in_(select(subjects.c.id).where(subjects.c.subject_id.in_(ids), *of_kind))
