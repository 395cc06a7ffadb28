"""Cohorts: all of them, those of one Sunday, and archiving them."""

from datetime import datetime
from functools import partial

from sqlalchemy import Connection, func, select

from predibot.domain.clock import short_instant
from predibot.domain.spelling import did_you_mean
from predibot.errors import UsageError
from predibot.games.cohorts import cohort_start
from predibot.jobs.open_venue import Clock
from predibot.ledger.read.accounts.cohort_statement import CohortStatement, cohort_statements
from predibot.ledger.read.accounts.cohorts import StoredCohort, cohorts_as_of, read_cohorts
from predibot.ledger.schema.values import LAST_INSTANT
from predibot.ledger.store import Store
from predibot.ledger.write.accounts import archive_cohorts, journal, unarchive_cohorts, valuations
from predibot.ledger.write.ledger_receipts import add_ledger_receipt
from predibot.ledger.write.prices_and_resolutions import resolutions

_INSTANTS = (journal.c.at, valuations.c.at, resolutions.c.effective_at)


def list_cohorts(
    store: Store, *, recipe: str | None = None, as_of: datetime | None = None, clock: Clock
) -> tuple[StoredCohort, ...]:
    """Return all cohorts of a ledger, or of a recipe, archived ones too.

    `as_of` None is now, or if all are replayed the end of what is stored.
    """
    with store.read() as connection, store.blame_rows():
        _find_cohorts(connection, store, None, recipe)
        return cohorts_as_of(connection, as_of or _default_instant(connection, clock), recipe=recipe)


def statements_of_cohort(
    store: Store, name: str, *, recipe: str | None = None, as_of: datetime | None = None, clock: Clock
) -> tuple[CohortStatement, ...]:
    """Return the statement of each cohort of a Sunday, one for each recipe, game, mode and methodology.

    Raises:
        UsageError: If the name is no Sunday, such as `2026-03-01`, or there is no such cohort by the instant.
    """
    cohort_start(name)
    with store.read() as connection, store.blame_rows():
        _find_cohorts(connection, store, name, recipe)
        at = as_of or _default_instant(connection, clock)
        found = cohort_statements(connection, name, at, recipe=recipe)
    if not found:
        raise UsageError(f"the cohort {name} had not started at {short_instant(at)}; ask for a later instant")
    return found


def archive_or_restore(
    store: Store, name: str, reason: str | None, *, recipe: str | None = None, at: datetime
) -> tuple[tuple[StoredCohort, ...], int]:
    """Archive the cohorts of a Sunday, or count them in scores again; return them and the number of changes.

    They are counted again if `reason` is None. UsageError is raised if there is no such cohort, or several recipes have
    it and `recipe` is None.
    """
    cohort_start(name)
    if reason is not None and not reason.strip():
        raise UsageError("a cohort is archived for a reason; say which")

    def work(connection: Connection) -> tuple[tuple[StoredCohort, ...], int]:
        found = _find_cohorts(connection, store, name, recipe)
        recipes = sorted({each.recipe for each in found})
        if len(recipes) > 1:
            raise UsageError(f"{' and '.join(recipes)} have a cohort {name} each; say whose with --recipe")
        rows = [each.row for each in found]
        change = unarchive_cohorts if reason is None else partial(archive_cohorts, reason=reason.strip(), at=at)
        changed = change(connection, rows)
        if changed:
            add_ledger_receipt(connection, now=at, changed={"cohorts.archived": [(row,) for row in rows]})
        return found, changed

    return store.run_write(work)


def _find_cohorts(
    connection: Connection, store: Store, name: str | None, recipe: str | None
) -> tuple[StoredCohort, ...]:
    every = read_cohorts(connection, LAST_INSTANT)
    found = tuple(each for each in every if name in (None, each.name) and recipe in (None, each.recipe))
    if found:
        return found
    if not every:
        raise UsageError(f"the ledger {store.address} has no cohorts. Play a game of weekly cohorts first")
    if recipe is not None and recipe not in {each.recipe for each in every}:
        raise UsageError(f"recipe {recipe!r} has no cohorts. {did_you_mean(recipe, [each.recipe for each in every])}")
    names = sorted({each.name for each in every if recipe in (None, each.recipe)})
    shown = ", ".join(names[-5:])
    raise UsageError(f"there is no cohort {name}; the latest of {len(names)} are {shown}")


def _default_instant(connection: Connection, clock: Clock) -> datetime:
    """Return now, or if all cohorts are replayed the instant of the last booking, valuation or resolution."""
    if any(each.mode == "live" for each in read_cohorts(connection, LAST_INSTANT)):
        return clock()
    ends = [connection.execute(select(func.max(column))).scalar() for column in _INSTANTS]
    return max((at for at in ends if at is not None), default=clock())
