"""What `predibot score` shows of a file: its bad rows, two forecasters compared, or an account's growth and risk."""

from collections.abc import Iterator

from rich.console import Console

from predibot.jobs.score_files.score import EquityReport
from predibot.jobs.score_files.table import FileRows
from predibot.reports import figures
from predibot.reports.table import Column, Document, Table, document
from predibot.reports.terminal.terminal import plain, print_grid, print_line, print_lines, print_notes
from predibot.reports.views.leaderboard import more_events_text
from predibot.scoring.evaluation.pairs import Pair
from predibot.scoring.evaluation.verdict import Finding, Verdict, pair_verdict

_SHOWN_ROWS = 20


def bad_rows_document(file: FileRows) -> Document:
    """Return the number of bad rows, and those listed, by `line`, or by `row` of a Parquet file."""
    listed = [{file.place: row.number, "reason": row.reason} for row in file.bad_rows]
    return {"n_bad_rows": file.n_bad_rows, "bad_rows": listed}


def bad_row_lines(file: FileRows) -> Iterator[str]:
    """Yield a harmless line for each of the first twenty bad rows.

    Examples:
        >>> from predibot.jobs.score_files.table import BadRow
        >>> file = FileRows("f.csv", "line")
        >>> file.add(BadRow(3, "probability is '70%'; write 0.7"))
        >>> list(bad_row_lines(file))
        ["bad row: line 3: probability is '70%'; write 0.7"]
    """
    for row in file.bad_rows[:_SHOWN_ROWS]:
        yield f"bad row: {file.place} {row.number}: {plain(row.reason)}"
    if file.n_bad_rows > _SHOWN_ROWS:
        listed = "them all" if file.n_bad_rows == len(file.bad_rows) else f"the first {len(file.bad_rows):,}"
        yield f"bad rows: {file.n_bad_rows - _SHOWN_ROWS:,} more; --json has {listed}"


def print_bad_rows(console: Console, file: FileRows) -> None:
    """Print the bad rows after a report; nothing if all rows are good."""
    if file.bad_rows:
        console.print()
    print_lines(console, bad_row_lines(file))


def comparison_document(pair: Pair) -> Document:
    """Return the comparison as JSON has it."""
    verdict = pair_verdict(pair)
    return {
        "comparison": {
            **document(pair, "first second metric n clusters difference low high p_value"),
            "verdict": str(verdict.finding),
            "better": _better(pair, verdict),
            "events_needed": needed_document(verdict),
            "text": comparison_line(pair),
        }
    }


def needed_document(verdict: Verdict) -> Document | None:
    """Return how many more events a claim takes as JSON has it; None where unknown."""
    return document(verdict, "events=events_needed more_than=needed.more_than") if verdict.needed else None


def comparison_line(pair: Pair) -> str:
    """Return the verdict in words."""
    verdict = pair_verdict(pair)
    first, second = plain(pair.first), plain(pair.second)
    if pair.difference is None:
        return f"{first} and {second} answered no question both: nothing can be compared."
    better, much = _better(pair, verdict), _by_how_much(pair, pair.difference)
    if better is not None:
        other = second if better == pair.first else first
        return f"{plain(better)} beats {other}: {much}."
    if verdict.finding is Finding.NEVER_DIFFERED:
        return f"{first} and {second} never differed on {_where(pair)}: more events would change nothing."
    few = " (fewer than 30 prove nothing)" if verdict.finding is Finding.TOO_FEW_EVENTS else ""
    more = f"; {text} would tell" if (text := more_events_text(verdict)) else ""
    return f"{first} cannot be told from {second}: {much}{few}{more}."


def _better(pair: Pair, verdict: Verdict) -> str | None:
    who = {Finding.FIRST_IS_BETTER: pair.first, Finding.SECOND_IS_BETTER: pair.second}
    return who.get(verdict.finding)


def _by_how_much(pair: Pair, difference: float) -> str:
    lower = pair.first if difference <= 0.0 else pair.second
    # Seen from the one who is ahead.
    ends = [end if lower == pair.second else -end for end in (pair.low, pair.high) if end is not None]
    interval = f" (95% {min(ends):.4f} to {max(ends):.4f})" if ends else ""
    chance = "" if pair.p_value is None else f", p {'< 0.001' if pair.p_value < 0.001 else f'= {pair.p_value:.3f}'}"
    return f"the Brier score of {plain(lower)} is {abs(difference):.4f} lower{interval}{chance}, on {_where(pair)}"


def _where(pair: Pair) -> str:
    return f"{figures.things(pair.n, 'question')} of {figures.things(pair.clusters, 'event')} that both answered"


def equity_document(found: EquityReport) -> Document:
    """Return the JSON document; a figure without a value is None."""
    return {
        **document(found, "convention=convention.name periods_basis=periods.basis first_at last_at"),
        **document(found.score),
        "rows": found.file.rows,
        "notes": list(found.notes),
    }


def print_equity(console: Console, found: EquityReport) -> None:
    """Print what the figures are made of, the figures, one a line, and the notes."""
    score = found.score
    print_line(
        console,
        f"{plain(found.file.label)}: {figures.count(score.n_values)} values "
        f"from {figures.instant(found.first_at)} to {figures.instant(found.last_at)}",
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


def _figures(found: EquityReport) -> Iterator[tuple[str, str]]:
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
    return figures.MISSING if value is None else f"{100.0 * value:,.2f}%"
