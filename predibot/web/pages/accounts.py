"""The pages of accounts and of weekly cohorts."""

from dataclasses import dataclass

from predibot.jobs.accounts.cohorts import statements_of_cohort
from predibot.jobs.accounts.statement import account_statements
from predibot.ledger.read.accounts.as_of import holdings_over_time
from predibot.ledger.read.accounts.statement import AccountStatement
from predibot.plugins.venues import venue_or_defaults
from predibot.reports import figures
from predibot.reports.accounts.cohort_statement import cohort_statement_grids
from predibot.reports.accounts.statement import statement_grids
from predibot.reports.table import Table
from predibot.web.cache import LedgerCache
from predibot.web.chart import Chart, ChartPoint, Line, Scale, chart_of
from predibot.web.drawing import StackedShares, shares_of
from predibot.web.pages.page import WebPage
from predibot.web.rendering import line

_MOST_VALUATIONS = 160


@dataclass(frozen=True, slots=True)
class AccountView:
    """An account as its page shows it."""

    statement: AccountStatement
    currency: str
    title: str
    value: Chart | None
    held: StackedShares | None
    grids: tuple[Table, ...]


def account_page(cache: LedgerCache, bot: str, cohort: str = "") -> WebPage:
    """Return a bot's accounts whole, or that of a cohort."""
    found = account_statements(cache.store, bot, recipe=None, cohort=cohort or None)
    accounts = [_account_view(cache, each) for each in found]
    grids = [grid for each in accounts for grid in each.grids if grid.rows]
    return WebPage("account", {"bot": bot, "cohort": cohort, "accounts": accounts, "grids": grids})


def cohort_page(cache: LedgerCache, week: str) -> WebPage:
    """Return a weekly cohort's members, values and positions."""
    found = statements_of_cohort(cache.store, week, clock=cache.clock)
    members = dict.fromkeys(each.bot_id for one in found for each in one.cohort.members)
    grids = []
    for each in found:
        with figures.in_currency(venue_or_defaults(each.cohort.venue).currency):
            grids += [grid for grid in cohort_statement_grids(each) if grid.rows]
    return WebPage("cohort", {"week": week, "members": list(members), "grids": grids})


def _account_view(cache: LedgerCache, statement: AccountStatement) -> AccountView:
    name = statement.name
    of_week = f", cohort {line(name.subject)}" if statement.cohort is not None else ""
    title = f"{line(name.game)} of {line(name.recipe)}, {name.mode}{of_week}"
    held = cache.store.run_read(lambda connection: holdings_over_time(connection, name.row, _MOST_VALUATIONS))
    currency = venue_or_defaults(name.venue).currency
    with figures.in_currency(currency):
        text = f"in {figures.money_noun()}; the line is what was paid in"
        grids = statement_grids(statement)
    worth = Line(
        statement.name.bot,
        [ChartPoint(each.at.timestamp(), each.value_usd) for each in held],
        cache.colour(statement.name.bot),
    )
    value = chart_of([worth], f"Value: {title}", text, Scale(figures.ratio, statement.account.paid_in_usd))
    # Valuations of zero or less have no shares.
    shares = [
        (each.at, [("cash", each.cash_usd / whole), *((line(what), worth / whole) for what, worth in each.worth)])
        for each in held
        if (whole := each.value_usd) > 0.0
    ]
    return AccountView(statement, currency, title, value, shares_of(shares, "without a price", "cash"), grids)
