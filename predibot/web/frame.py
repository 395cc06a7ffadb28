"""What stands around every page: the menu, the banner, and the colours of bots."""

from datetime import timedelta

from sqlalchemy import Connection, select

from predibot.ledger.read.accounts.statement import names_of_accounts
from predibot.ledger.read.details.events import count_shown
from predibot.ledger.schema.tables import CohortRow
from predibot.ledger.schema.upsert import table_of
from predibot.ledger.write.slots import read_schedules
from predibot.plugins.venues import venue_or_defaults
from predibot.reports.study import studies
from predibot.web.cache import LedgerCache, colours

_STALE = timedelta(days=8)
"""The data of a weekly schedule that missed no slot is never older."""
_cohorts = table_of(CohortRow)


def menu(cache: LedgerCache) -> dict[str, list[tuple[str, str]]]:
    """Return address and name of each page that a ledger has something for: `main` at the top, `more` at the foot."""
    runs = cache.runs()
    on_events = len(cache.bots("event"))
    with_runs = {run.venue_name for run in runs}
    main = (
        (True, "/", "Leaderboard"),
        (bool(runs), "/decisions", "Decisions"),
        (on_events > 0, "/events", "Events"),
        (on_events > 1, "/compare", "Compare"),
        (bool(cache.read(names_of_accounts)), "/accounts", "Accounts"),
        (cache.read(_has_cohorts), "/cohorts", "Cohorts"),
        *((each.data_set in with_runs, f"/{each.data_set}", each.menu) for each in studies().values() if each.menu),
        (bool(runs) or bool(cache.read(read_schedules)), "/status", "Status"),
        (True, "/methods", "How it is scored"),
    )
    more = (
        (bool(runs), "/today", "Today"),
        (on_events > 0, "/calibration", "Calibration"),
        (bool(cache.read(colours)), "/curves", "Over time"),
        (cache.read(count_shown) > 0, "/news", "News"),
        (on_events > 0, "/graph", "Related events"),
        (bool(runs), "/runs", "Runs"),
    )
    entries = {"main": main, "more": more}
    return {place: [(address, name) for is_there, address, name in of if is_there] for place, of in entries.items()}


def banner(cache: LedgerCache) -> str:
    """Return what a reader must know before any number: that the world is invented or past, or how old the data is."""
    counted = [run for run in cache.runs() if not run.void]
    if not counted:
        return ""
    newest = max(counted, key=lambda run: run.slot_at)
    venue = venue_or_defaults(newest.venue)
    if venue.invented:
        return "A simulated world: events, prices and news are invented."
    if not venue.live:
        return "A replay: the bots decided on the past, as of each day shown."
    age = cache.clock() - newest.as_of
    return f"Not up to date: the newest run is {age.days} days old." if age > _STALE else ""


def _has_cohorts(connection: Connection) -> bool:
    return connection.execute(select(_cohorts.c.id).limit(1)).first() is not None
