"""How the runs of a part of what was decided are chosen in the ledger."""

from sqlalchemy import ColumnElement, Connection, select

from predibot.ledger.write.runs import live_venues, runs
from predibot.scoring.records.narrowing import Narrowing


def runs_in(connection: Connection, only: Narrowing) -> list[ColumnElement[bool]]:
    """Return by what runs are chosen; which of their decisions, a category tells besides."""
    chosen = [
        None if only.since is None else runs.c.slot_at >= only.since,
        None if only.until is None else runs.c.slot_at < only.until,
        None if only.mode is None else runs.c.venue.in_(specs_of_mode(connection, only.mode)),
    ]
    return [each for each in chosen if each is not None]


def specs_of_mode(connection: Connection, mode: str) -> tuple[str, ...]:
    """Return the venues of the runs of a mode, as they were asked for."""
    live = live_venues(connection)
    if mode == "live":
        return live
    every = connection.execute(select(runs.c.venue).distinct()).scalars()
    return tuple(each for each in every if each not in live)
