"""Runs, accounts, cohorts and schedules: what the commands of their names print."""

from predibot.errors import UsageError
from predibot.jobs.accounts.cohorts import cohorts_of, every_cohort
from predibot.jobs.accounts.statement import account_statements
from predibot.jobs.status import status_of
from predibot.ledger.read.account_statement import names_of_accounts
from predibot.reports.accounts.statement import statement_grids
from predibot.reports.cohorts.statement import cohort_statement_grids, list_grid
from predibot.reports.views.schedule import status_document
from predibot.web.pages.page import Page, grids_page, paged, records
from predibot.web.rendering import line
from predibot.web.shelf import Shelf


def runs_page(shelf: Shelf, page_: int = 1) -> Page:
    """Return a part of the list of runs, newest first."""
    return Page("runs", paged(shelf.runs(), page_, "/runs"), {"runs": records(shelf.runs())})


def accounts_page(shelf: Shelf) -> Page:
    """Return who has accounts."""
    return Page("accounts", {"names": list(dict.fromkeys(shelf.store.run_read(names_of_accounts)))})


def account_page(shelf: Shelf, bot: str, cohort: str = "") -> Page:
    """Return a bot's accounts whole, or that of a cohort."""
    found = account_statements(shelf.store, bot, recipe=None, cohort=cohort or None)
    return grids_page(f"Accounts of {line(bot)}", [grid for each in found for grid in statement_grids(each)])


def cohorts_page(shelf: Shelf) -> Page:
    """Return all weekly cohorts."""
    try:
        found = every_cohort(shelf.store, clock=shelf.clock)
    except UsageError:
        # The menu leads here, whatever was played.
        found = ()
    weeks = list(dict.fromkeys(each.cohort.name for each in found))
    return grids_page("Weekly cohorts", [list_grid(found)], weeks=weeks)


def cohort_page(shelf: Shelf, week: str) -> Page:
    """Return a weekly cohort's members, values and positions."""
    found = cohorts_of(shelf.store, week, clock=shelf.clock)
    return grids_page(f"Cohort {line(week)}", [grid for each in found for grid in cohort_statement_grids(each)])


def status_page(shelf: Shelf) -> Page:
    """Return how schedules stand."""
    return Page("status", {"document": status_document(status_of(shelf.store, shelf.clock))})
