"""`predibot score`: how good anybody's forecasts are, or how anybody's account did, from a file."""

import sys
from contextlib import nullcontext
from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from predibot.cli import options, output
from predibot.cli.ending import DONE, FAILED
from predibot.cli.options import argument, flag, option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from predibot.jobs.score_files.forecasts import Layout
    from predibot.jobs.score_files.score import EquityReport, FileRefused, SettledForecasts
    from predibot.scoring.evaluation.evaluation import Evaluation
    from predibot.scoring.evaluation.pairs import Pair
    from predibot.scoring.metrics.pooling import PoolingMethod


@dataclass(frozen=True, slots=True)
class _ForecastOptions:
    """Options that a file of forecasts alone takes."""

    pool: Annotated[
        str | None,
        option("--pool", "METHODS", "also pool all: mean, median, trimmed_mean, soft_trimmed_mean, log_odds"),
    ] = None
    extremize: Annotated[float | None, option("--extremize", "X", "what the log-odds of pools are multiplied by")] = (
        None
    )
    columns: options.FileColumns = None
    wide: Annotated[bool, flag("--wide", "one row a question, and one column a forecaster, named in the header")] = (
        False
    )
    compare: Annotated[
        tuple[str, str] | None, option("--compare", "A B", "say in one line which of two forecasters is better")
    ] = None

    def list_given(self) -> "Iterator[str]":
        named = (self.pool, self.extremize, self.columns, self.wide or None, self.compare)
        options_of = ("--pool", "--extremize", "--columns", "--wide", "--compare")
        return (option for option, value in zip(options_of, named, strict=True) if value is not None)

    @property
    def layout(self) -> "Layout | None":
        """Return the layout that they describe; None where the file's own names say it."""
        from predibot.jobs.score_files.forecasts import Layout

        named = self.columns is not None or self.wide
        return Layout(options.parse_columns(self.columns), wide=self.wide) if named else None


def score(
    *,
    files: Annotated[
        list[str],
        argument("FILE...", "a CSV, JSON or Parquet file; - for standard input; of ForecastBench several sets"),
    ],
    equity: Annotated[bool, flag("--equity", "the file has the columns date and value: growth and risk")] = False,
    of_forecasts: _ForecastOptions,
    strict: Annotated[bool, flag("--strict", "score nothing if any row is bad")] = False,
    file_format: Annotated[
        str | None,
        option("--format", "FORMAT", "csv, json, jsonl, parquet or forecastbench; left out: what it looks like"),
    ] = None,
    convention: options.Convention = "predibot",
    periods_per_year: Annotated[
        float | None, option("--periods-per-year", "N", "of an account's values; left out: by their dates")
    ] = None,
    risk_free_rate: Annotated[
        float | None, option("--risk-free-rate", "RATE", "a year's, 0.04 for 4 %; left out: the convention's")
    ] = None,
    resamples: options.Resamples = 10_000,
    seed: options.Seed = 0,
    how: options.Output,
    verbose: options.Verbose = False,
) -> int:
    """Read the file, list its bad rows, and score the rest."""
    from predibot.jobs.score_files.forecastbench import FORMAT, read_sets
    from predibot.jobs.score_files.score import (
        FileRefused,
        compare_forecasters,
        read_settled_forecasts,
        score_equity,
        score_forecasts,
    )
    from predibot.jobs.score_files.table_file import TABLE_FORMATS, open_table_file
    from predibot.reports.terminal.evaluation_screen import SCORED
    from predibot.scoring.evaluation.evaluation import WANTED, Question
    from predibot.scoring.inference.uncertainty import Uncertainty

    output.set_up_logs(verbose=verbose)
    how.check()
    compare = of_forecasts.compare
    _check_options(equity, of_forecasts, csv=how.csv, years=periods_per_year, rate=risk_free_rate)
    layout = of_forecasts.layout
    known = options.parse_convention(convention)
    pools = _parse_pools(of_forecasts.pool)
    _check_format(file_format, len(files), has_columns=equity or layout is not None)
    wanted = next((each for each in TABLE_FORMATS if each == file_format), None)
    try:
        with (
            nullcontext(read_sets(files, sys.stdin).table())
            if file_format == FORMAT
            else open_table_file(files[0], wanted, sys.stdin)
        ) as table:
            if equity:
                account = score_equity(
                    table, known, periods_per_year=periods_per_year, risk_free_rate=risk_free_rate, strict=strict
                )
                _print_equity(account, json=how.json)
                return DONE
            asked = Question(
                convention=known,
                uncertainty=Uncertainty(seed=seed, resamples=resamples),
                wanted=WANTED if how.json or compare is not None else SCORED,
            )
            settled = read_settled_forecasts(
                table,
                layout,
                pools=pools,
                extremize=1.0 if of_forecasts.extremize is None else of_forecasts.extremize,
                strict=strict,
            )
            if compare is not None:
                _print_comparison(settled, compare_forecasters(settled, compare, asked), json=how.json)
            else:
                _print_forecasts(settled, score_forecasts(settled, asked), how)
            return DONE
    except FileRefused as error:
        return _refuse(error, as_json=how.json)


def _check_options(
    equity: bool, of_forecasts: _ForecastOptions, *, csv: bool, years: float | None, rate: float | None
) -> None:
    """Refuse options that would be ignored, and numbers out of range."""
    if equity:
        for option in (*of_forecasts.list_given(), *(["--csv"] if csv else ())):
            raise typer.BadParameter(f"{option} is for forecasts, not for --equity")
    for option, number in (("--periods-per-year", years), ("--risk-free-rate", rate)):
        if number is not None and not equity:
            raise typer.BadParameter(f"{option} is for --equity")
    if of_forecasts.compare is not None and csv:
        raise typer.BadParameter("--compare says one line and --csv prints a table; ask for one")
    if of_forecasts.extremize is not None and of_forecasts.pool is None:
        raise typer.BadParameter("--extremize is of pools; say which with --pool")
    for option, number in (("--extremize", of_forecasts.extremize), ("--periods-per-year", years)):
        if number is not None and not 0.0 < number < inf:
            raise typer.BadParameter(f"{option} is {number!r}; it must be above zero")
    if rate is not None and not isfinite(rate):
        raise typer.BadParameter(f"--risk-free-rate is {rate!r}; write 0.04 for 4 %")


def _check_format(file_format: str | None, files: int, *, has_columns: bool) -> None:
    """Refuse an unknown format, and what does not go with one."""
    from predibot.jobs.score_files.forecastbench import FORMAT
    from predibot.jobs.score_files.table_file import TABLE_FORMATS

    if file_format is not None:
        options.one_of("--format", file_format, (*TABLE_FORMATS, FORMAT))
    if file_format != FORMAT and files > 1:
        raise typer.BadParameter(f"{files} files; give one, or sets of ForecastBench with --format {FORMAT}")
    if file_format == FORMAT and has_columns:
        raise typer.BadParameter(f"--format {FORMAT} says what the columns are; leave --columns, --wide, --equity out")


def _parse_pools(pool: str | None) -> "tuple[PoolingMethod, ...]":
    from predibot.scoring.metrics.pooling import PoolingMethod

    known: tuple[PoolingMethod, ...] = get_args(PoolingMethod)
    wanted = [options.one_of("--pool", name, known) for name in options.split_names(pool)]
    return tuple(method for name in wanted for method in known if method == name)


def _print_forecasts(settled: "SettledForecasts", evaluation: "Evaluation", how: options.Output) -> None:
    from predibot.reports.terminal.evaluation_screen import print_file_scores
    from predibot.reports.terminal.score import bad_row_lines, bad_rows_document, print_bad_rows
    from predibot.reports.views.evaluation import evaluation_document

    file = settled.found.file
    if how.json:
        counted = {"rows": file.rows, "open": sum(settled.found.n_open.values())}
        output.print_document({**evaluation_document(evaluation), **counted, **bad_rows_document(file)})
        return
    if not how.csv:
        print_file_scores(output.report_console(), evaluation, every_row=how.every)
        print_bad_rows(output.report_console(), file)
        return
    output.print_evaluation(evaluation, how)
    for line in bad_row_lines(file):
        output.say(line)


def _print_comparison(settled: "SettledForecasts", pair: "Pair", *, json: bool) -> None:
    from predibot.reports.terminal.score import bad_row_lines, bad_rows_document, comparison_document, comparison_line

    file = settled.found.file
    if json:
        output.print_document({**comparison_document(pair), "rows": file.rows, **bad_rows_document(file)})
        return
    for line in bad_row_lines(file):
        output.say(line)
    output.report_console().print(comparison_line(pair), soft_wrap=True, markup=False, highlight=False)


def _print_equity(found: "EquityReport", *, json: bool) -> None:
    from predibot.reports.terminal.score import bad_rows_document, equity_document, print_bad_rows, print_equity

    if json:
        output.print_document({**equity_document(found), **bad_rows_document(found.file)})
        return
    print_equity(output.report_console(), found)
    print_bad_rows(output.report_console(), found.file)


def _refuse(error: "FileRefused", *, as_json: bool) -> int:
    """Report why a file is not scored, with its bad rows."""
    from predibot.reports.terminal.score import bad_row_lines, bad_rows_document

    if not as_json:
        for line in bad_row_lines(error.file):
            output.say(line)
        raise error
    reason = {"kind": error.kind, "message": str(error)}
    output.print_document({"error": reason, **bad_rows_document(error.file)}, exit_code=FAILED)
    return FAILED
