"""`predibot score`: how good anybody's forecasts are, or how anybody's account did, from a file."""

import sys
from contextlib import nullcontext
from math import inf, isfinite
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from predibot.cli import options, output
from predibot.cli.ending import DONE, FAILED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from predibot.jobs.score_files.score import EquityReport, FileRefused, SettledForecasts
    from predibot.scoring.evaluation.evaluation import Evaluation
    from predibot.scoring.evaluation.pairs import Pair
    from predibot.scoring.metrics.pooling import PoolingMethod


def score(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", help="a CSV, JSON or Parquet file; - for standard input; of ForecastBench several sets"
        ),
    ],
    equity: Annotated[
        bool, typer.Option("--equity", help="the file has the columns date and value: growth and risk")
    ] = False,
    pool: Annotated[
        str | None,
        typer.Option(
            "--pool", metavar="METHODS", help="also pool all: mean, median, trimmed_mean, soft_trimmed_mean, log_odds"
        ),
    ] = None,
    extremize: Annotated[
        float | None, typer.Option("--extremize", metavar="X", help="what the log-odds of pools are multiplied by")
    ] = None,
    columns: options.FileColumns = None,
    wide: Annotated[
        bool, typer.Option("--wide", help="one row a question, and one column a forecaster, named in the header")
    ] = False,
    compare: Annotated[
        tuple[str, str] | None,
        typer.Option("--compare", metavar="A B", help="say in one line which of two forecasters is better"),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="score nothing if any row is bad")] = False,
    file_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="csv, json, jsonl, parquet or forecastbench; left out: what it looks like",
        ),
    ] = None,
    convention: options.Convention = "predibot",
    periods_per_year: Annotated[
        float | None,
        typer.Option("--periods-per-year", metavar="N", help="of an account's values; left out: by their dates"),
    ] = None,
    risk_free_rate: Annotated[
        float | None,
        typer.Option("--risk-free-rate", metavar="RATE", help="a year's, 0.04 for 4 %; left out: the convention's"),
    ] = None,
    resamples: options.Resamples = 10_000,
    seed: options.Seed = 0,
    *,
    how: options.Output,
    verbose: options.Verbose = False,
) -> int:
    """Read the file, list its bad rows, and score the rest."""
    from predibot.jobs.score_files.forecastbench import FORMAT, read_sets
    from predibot.jobs.score_files.forecasts import Layout
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
    for_forecasts = {
        "--pool": pool is not None,
        "--extremize": extremize is not None,
        "--columns": columns is not None,
        "--wide": wide,
        "--compare": compare is not None,
        "--csv": how.csv,
    }
    _check_options(equity, for_forecasts, pool=pool, extremize=extremize, years=periods_per_year, rate=risk_free_rate)
    if compare is not None and how.csv:
        raise typer.BadParameter("--compare says one line and --csv prints a table; ask for one")
    layout = Layout(options.parse_columns(columns), wide=wide) if columns is not None or wide else None
    known = options.parse_convention(convention)
    pools = _parse_pools(pool)
    if file_format is not None:
        options.one_of("--format", file_format, (*TABLE_FORMATS, FORMAT))
    if file_format != FORMAT and len(files) > 1:
        raise typer.BadParameter(f"{len(files)} files; give one, or sets of ForecastBench with --format {FORMAT}")
    if file_format == FORMAT and (equity or layout is not None):
        raise typer.BadParameter(f"--format {FORMAT} says what the columns are; leave --columns, --wide, --equity out")
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
                table, layout, pools=pools, extremize=1.0 if extremize is None else extremize, strict=strict
            )
            if compare is not None:
                _print_comparison(settled, compare_forecasters(settled, compare, asked), json=how.json)
            else:
                _print_forecasts(settled, score_forecasts(settled, asked), how)
            return DONE
    except FileRefused as error:
        return _refuse(error, as_json=how.json)


def _check_options(
    equity: bool,
    for_forecasts: "Mapping[str, bool]",
    *,
    pool: str | None,
    extremize: float | None,
    years: float | None,
    rate: float | None,
) -> None:
    """Refuse options that would be ignored, and numbers out of range."""
    for_equity = {"--periods-per-year": years is not None, "--risk-free-rate": rate is not None}
    for option, given in (for_forecasts if equity else for_equity).items():
        if given:
            raise typer.BadParameter(f"{option} is for {'forecasts, not for --equity' if equity else '--equity'}")
    if extremize is not None and pool is None:
        raise typer.BadParameter("--extremize is of pools; say which with --pool")
    for option, number in (("--extremize", extremize), ("--periods-per-year", years)):
        if number is not None and not 0.0 < number < inf:
            raise typer.BadParameter(f"{option} is {number!r}; it must be above zero")
    if rate is not None and not isfinite(rate):
        raise typer.BadParameter(f"--risk-free-rate is {rate!r}; write 0.04 for 4 %")


def _parse_pools(pool: str | None) -> "tuple[PoolingMethod, ...]":
    from predibot.scoring.metrics.pooling import PoolingMethod

    known: tuple[PoolingMethod, ...] = get_args(PoolingMethod)
    wanted = [options.one_of("--pool", name, known) for name in options.split_names(pool)]
    return tuple(method for name in wanted for method in known if method == name)


def _print_forecasts(settled: "SettledForecasts", evaluation: "Evaluation", how: options.Output) -> None:
    from predibot.reports.terminal.evaluation_screen import print_file_scores
    from predibot.reports.terminal.score import bad_row_lines, bad_rows_document, print_bad_rows
    from predibot.reports.views.evaluation_json import evaluation_document

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
