"""The equity report: what an account's curve says of growth and risk, on a screen and as a document."""

from collections.abc import Iterator

from rich.console import Console

from predibot.domain.clock import format_instant
from predibot.jobs.score_files.score import ScoredEquity
from predibot.reports import figures
from predibot.reports.document import Document, document
from predibot.reports.table import Column, Table
from predibot.reports.terminal.grid import print_grid
from predibot.reports.terminal.terminal import print_line, print_notes
from predibot.reports.terminal.text import plain


def equity_document(found: ScoredEquity) -> Document:
    """Return the JSON document; a figure without a value is None."""
    return {
        **document(found, "convention=convention.name periods_basis=periods.basis first_at last_at"),
        **document(found.score),
        "rows": found.file.rows,
        "notes": list(found.notes),
    }


def print_equity(console: Console, found: ScoredEquity) -> None:
    """Print the figures, one a line, under what they were made of, and the notes."""
    score = found.score
    print_line(
        console,
        f"{plain(found.file.label)}: {figures.count(score.n_values)} values "
        f"from {format_instant(found.first_at)} to {format_instant(found.last_at)}",
    )
    print_line(
        console,
        f"convention {found.convention.name} · {found.periods.per_year:g} periods a year ({found.periods.basis}) · "
        f"ddof {score.ddof} · risk-free rate {_share(score.risk_free_rate)} a year",
    )
    console.print()
    columns = (Column("figure", kind="text"), Column("value"))
    print_grid(console, Table("Growth and risk", columns, tuple(_figures(found))))
    print_notes(console, found.notes)


def _figures(found: ScoredEquity) -> Iterator[tuple[str, str]]:
    score = found.score
    yield "first value", f"{score.first_value:,.2f}"
    yield "last value", f"{score.last_value:,.2f}"
    yield "returns", figures.count(score.n_returns)
    yield "cumulative return", figures.signed_percent(score.cumulative_return)
    yield "annualised return", figures.signed_percent(score.annualized_return)
    yield "volatility, annual", _share(score.volatility)
    yield "Sharpe ratio", figures.ratio(score.sharpe)
    yield "Sortino ratio", figures.ratio(score.sortino)
    yield "maximum drawdown", _share(score.max_drawdown)
    yield "Calmar ratio", figures.ratio(score.calmar)
    yield "win rate", figures.percent(score.win_rate)
    yield f"value at risk of a period, {_share(score.value_at_risk_level)}", figures.signed_percent(score.value_at_risk)
    yield "longest losing run, periods", figures.count(score.longest_losing_run)


def _share(value: float | None) -> str:
    """Return a share in percent, in hundredths of it.

    Examples:
        >>> _share(0.1234), _share(None)
        ('12.34%', '–')
    """
    return figures.MISSING if value is None else f"{100.0 * value:,.2f}%"
