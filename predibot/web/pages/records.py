"""Runs, accounts, cohorts and schedules: what the commands of their names print."""

from predibot.errors import UsageError
from predibot.jobs.accounts.cohorts import every_cohort
from predibot.jobs.status import status_of
from predibot.ledger.read.account_statement import names_of_accounts
from predibot.reports.cohorts.statement import list_grid
from predibot.reports.views.schedule import status_document
from predibot.web.pages.page import Page, grids_page, paged, records
from predibot.web.shelf import Shelf


def runs_page(shelf: Shelf, page_: int = 1) -> Page:
    """Return a part of the list of runs, newest first."""
    return Page("runs", paged(shelf.runs(), page_, "/runs"), {"runs": records(shelf.runs())})


def accounts_page(shelf: Shelf) -> Page:
    """Return who has accounts."""
    return Page("accounts", {"names": list(dict.fromkeys(shelf.store.run_read(names_of_accounts)))})


def cohorts_page(shelf: Shelf) -> Page:
    """Return all weekly cohorts."""
    try:
        found = every_cohort(shelf.store, clock=shelf.clock)
    except UsageError:
        # The menu leads here, whatever was played.
        found = ()
    weeks = list(dict.fromkeys(each.cohort.name for each in found))
    return grids_page("Weekly cohorts", [list_grid(found)], weeks=weeks)


def status_page(shelf: Shelf) -> Page:
    """Return how schedules stand."""
    return Page("status", {"document": status_document(status_of(shelf.store, shelf.clock))})
