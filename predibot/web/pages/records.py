"""The pages of runs, of the lists of accounts and cohorts, and of schedules."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row

from predibot.domain.spelling import count_noun
from predibot.errors import UsageError
from predibot.jobs.accounts.cohorts import list_cohorts
from predibot.jobs.histories.ledger import ledger_history
from predibot.jobs.status import COUNTED, STALE, status_of
from predibot.ledger.read.accounts.statement import names_of_accounts
from predibot.ledger.read.standing import costs_of_runs, open_markets
from predibot.ledger.schema.tables import SlotRow
from predibot.ledger.write.slots import read_schedules, read_slots
from predibot.reports.accounts.cohort_statement import list_grid
from predibot.reports.pictures.series import Scatter, ledger_pictures
from predibot.reports.study import Study, StudyPicture, StudyTables
from predibot.reports.table import Table
from predibot.reports.terminal.boards.accounts import board_grid
from predibot.reports.terminal.status import headline, status_lines
from predibot.reports.terminal.study_tables import table_grid
from predibot.reports.views.schedule import schedule_document
from predibot.web.cache import LedgerCache
from predibot.web.drawing import Dots, curves_of, dots_of
from predibot.web.pages.items import item_ids
from predibot.web.pages.page import WebPage, alike_neighbours, grids_page, paginate, records
from predibot.web.pages.today import decisions_under_way

_SLOTS = 20
_LATE = timedelta(minutes=5)
"""Slots that began later than this are shown."""


def runs_page(cache: LedgerCache, page_: int = 1) -> WebPage:
    """Return a part of the list of runs, newest first, and which slots of schedules went wrong lately."""
    shown = paginate(cache.runs(), page_, "/runs")
    keys = tuple(each.run for each in shown["rows"])
    since = cache.clock() - COUNTED

    def read(connection: Connection) -> tuple[Mapping[tuple[str, datetime | None], Row[Any]], list[SlotRow]]:
        found = [
            each
            for schedule in read_schedules(connection)
            for each in read_slots(connection, schedule.recipe, since)
            if each.status not in ("done", "running") or (each.late is not None and each.late > _LATE)
        ]
        return costs_of_runs(connection, keys), sorted(found, key=lambda each: each.slot_at, reverse=True)

    costs, slots = cache.compute("costs", keys, lambda: cache.store.run_read(read))
    return WebPage(
        "runs",
        {**shown, "costs": costs, "slots": slots[:_SLOTS], "all_slots": len(slots), "days": COUNTED.days},
        {"slots": records(slots), "runs": records(cache.runs())},
    )


def accounts_page(cache: LedgerCache) -> WebPage:
    """Return the accounts of all bots: what they are worth over time, and the board of each game."""
    names = list(dict.fromkeys(cache.store.run_read(names_of_accounts)))
    try:
        history = cache.compute_on_part(ledger_history) if names else None
    except UsageError:
        # All runs are void.
        history = None
    charts = [
        drawn
        for name, picture in (ledger_pictures(history) if history is not None else ())
        if name.startswith("account-value")
        for drawn in curves_of(picture, cache.colour)
    ]
    grids = [board_grid(each) for each in (history.evaluation.accounts if history is not None else ())]
    return WebPage("accounts", {"names": names, "charts": charts, "grids": grids})


def cohorts_page(cache: LedgerCache) -> WebPage:
    """Return all weekly cohorts."""
    try:
        found = list_cohorts(cache.store, clock=cache.clock)
    except UsageError:
        # The menu leads here, even if nothing was played.
        found = ()
    weeks = list(dict.fromkeys(each.name for each in found))
    return grids_page("Weekly cohorts", [list_grid(found)], weeks=weeks)


def study_page(study: Study, cache: LedgerCache, run: str = "", items: bool = True) -> WebPage:
    """Return the tables of a run of a study, or of the latest; without columns of ids of items, if these are hidden."""
    keys = study.runs(cache.store)
    # The menu leads here, even if nothing was played.
    found = None
    if keys:
        found = cache.compute("study", (study.name, run), lambda: study.read(cache.store, run_key=run or None))
    title, grids, notes, items_of = study.heading, list[Table](), tuple[str, ...](), ""
    drawn, dots = list[tuple[StudyPicture, str]](), list[Dots]()
    if isinstance(found, StudyTables):
        title, notes = f"{title}: Run {found.run}", found.notes
        items_of = found.run if item_ids(cache, found.run) else ""
        grids = [table_grid(study, each) for each in found.tables]
        if not items:
            ids = frozenset(item_ids(cache, found.run))
            grids = [_without_ids(each, ids) for each in grids]
        drawn = [(each, each.svg()) for each in found.drawings]
        scatters = (picture for _, picture in found.pictures if isinstance(picture, Scatter))
        dots = [dots_of(panel, picture.across) for picture in scatters for panel in picture.panels]
    path = f"/{study.data_set}"
    return grids_page(title, grids, runs=keys, runs_path=path, notes=notes, drawn=drawn, dots=dots, items_of=items_of)


def status_page(cache: LedgerCache) -> WebPage:
    """Return the status of the schedules."""
    status = status_of(cache.store, cache.clock)
    rows = [_flatten(schedule_document(each)) for each in status.schedules]
    shown = {
        "status": status,
        "headline": headline(status),
        "lines": list(status_lines(status)),
        "under_way": decisions_under_way(cache),
    }
    return WebPage("status", shown, {"schedules": lambda: iter(rows)})


def _without_ids(grid: Table, ids: Collection[str]) -> Table:
    named = [column.header for place, column in enumerate(grid.columns) if any(row[place] in ids for row in grid.rows)]
    return grid.without(*named)


def published_status_page(cache: LedgerCache) -> WebPage:
    """Return when a site was made, from when its data is, and on which days something failed."""
    counted = [run for run in cache.runs() if not run.void]
    newest = max(counted, key=lambda run: run.slot_at)
    since = newest.slot_at - COUNTED
    found = defaultdict[date, list[str]](list)
    for run in counted:
        if run.failed and run.slot_at > since:
            every = run.recorded + run.refused + run.failed + run.abstained
            found[run.slot_at.date()].append(f"{run.recipe}: {run.failed:,} of {count_noun(every, 'decision')} failed")

    def read(connection: Connection) -> list[SlotRow]:
        listed = (read_slots(connection, each.recipe, since) for each in read_schedules(connection))
        return [each for slots in listed for each in slots if each.status in ("missed", "failed")]

    for slot in cache.store.run_read(read):
        why = f", {slot.reason}" if slot.reason else ""
        found[slot.slot_at.date()].append(f"{slot.recipe} at {slot.slot_at:%H:%M} {slot.status}{why}")
    tracked = cache.store.run_read(lambda connection: open_markets(connection, now=cache.clock(), stale=STALE))
    return WebPage(
        "published",
        {
            "on": cache.clock().date(),
            "newest": newest,
            "tracked_until": tracked.tracked_until,
            "days": COUNTED.days,
            "failed_days": len(found),
            "failed": alike_neighbours(found),
        },
    )


def _flatten(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document without nested ones; their values get both names, joined by `_`."""
    found = dict[str, Any]()
    for name, value in document.items():
        inner = _flatten(value) if isinstance(value, dict) else None
        found |= {name: value} if inner is None else {f"{name}_{key}": each for key, each in inner.items()}
    return found
