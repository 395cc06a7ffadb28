"""How the runs of a part of what was decided are chosen in the ledger."""

from sqlalchemy import ColumnElement, Connection

from predibot.ledger.write.decisions import bots
from predibot.ledger.write.runs import live_venues, runs
from predibot.scoring.records.part import Part


def runs_in(connection: Connection, part: Part) -> list[ColumnElement[bool]]:
    """Return by what runs are chosen; which of their decisions, a category tells besides."""
    is_live = None if part.mode is None else runs.c.venue.in_(live_venues(connection))
    chosen = [
        None if part.since is None else runs.c.slot_at >= part.since,
        None if part.until is None else runs.c.slot_at < part.until,
        is_live if part.mode == "live" or is_live is None else ~is_live,
    ]
    return [each for each in chosen if each is not None]


def by_recipe_and_bots(part: Part) -> list[ColumnElement[bool]]:
    """Return by what decisions of runs are chosen besides."""
    of_recipe = [] if part.recipe is None else [runs.c.recipe == part.recipe]
    return [*of_recipe, *([bots.c.name.in_(part.bots)] if part.bots else [])]
