"""How the runs of a part of what was decided are chosen in the ledger."""

from sqlalchemy import ColumnElement, Connection, select

from predibot.ledger.write.decisions import bots
from predibot.ledger.write.runs import live_venues, runs
from predibot.scoring.records.part import Part


def runs_in(connection: Connection, part: Part) -> list[ColumnElement[bool]]:
    """Return by what runs are chosen; which of their decisions, a category tells besides."""
    chosen = [
        None if part.since is None else runs.c.slot_at >= part.since,
        None if part.until is None else runs.c.slot_at < part.until,
        None if part.mode is None else runs.c.venue.in_(specs_of_mode(connection, part.mode)),
    ]
    return [each for each in chosen if each is not None]


def by_recipe_and_bots(part: Part) -> list[ColumnElement[bool]]:
    """Return by what decisions of runs are chosen besides."""
    of_recipe = [] if part.recipe is None else [runs.c.recipe == part.recipe]
    return [*of_recipe, *([bots.c.name.in_(part.bots)] if part.bots else [])]


def specs_of_mode(connection: Connection, mode: str) -> tuple[str, ...]:
    """Return the venues of the runs of a mode, as they were asked for."""
    live = live_venues(connection)
    if mode == "live":
        return live
    every = connection.execute(select(runs.c.venue).distinct()).scalars()
    return tuple(each for each in every if each not in live)
