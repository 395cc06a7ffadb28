"""`predibot record`: write an archive from a live venue."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from predibot.cli import options, output


def record(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="the archive; made where it does not exist")],
    venue: Annotated[
        str | None,
        typer.Option("--venue", metavar="VENUE", help="a venue: {venues}; left out: that of a recipe that names none"),
    ] = None,
    as_of: options.AsOf = None,
    events: Annotated[
        int, typer.Option("--events", metavar="N", min=0, help="how many, most traded first; 0 for all")
    ] = 100,
    days: Annotated[
        float, typer.Option("--days", metavar="DAYS", min=0.0, help="of price history, for markets that are new")
    ] = 30.0,
    stocks: Annotated[
        str | None,
        typer.Option(
            "--stocks",
            metavar="PROVIDER",
            help="daily prices of stocks instead, from tiingo or alpha_vantage, whose key is in the environment",
        ),
    ] = None,
    tickers: Annotated[
        str | None,
        typer.Option("--tickers", metavar="A,B", help="which stocks; left out: those of the folder"),
    ] = None,
    json: options.Json = False,
    verbose: options.Verbose = False,
    log_file: options.LogFile = None,
    log_json: options.LogJson = False,
) -> None:
    """Add a snapshot, later prices and resolutions to an archive, or daily prices to a folder of stocks."""
    if stocks is not None:
        _record_stocks(folder, stocks, venue, tickers, as_of, days, json, verbose, options.Log(log_file, log_json))
        return
    from predibot.errors import UsageError
    from predibot.jobs.commands.record import record_as_asked
    from predibot.reports.figures import things
    from predibot.reports.terminal.terminal import print_line
    from predibot.reports.terminal.text import plain

    if tickers is not None:
        raise UsageError("--tickers goes with --stocks; add --stocks tiingo, or leave it out")
    caller = output.caller(verbose=verbose, log=options.Log(log_file, log_json))
    report = record_as_asked(folder, caller, venue=venue, as_of=as_of, events=events, days=days)
    if json:
        output.print_document(
            {
                "snapshot": str(report.snapshot),
                "events": report.events,
                "markets": report.markets,
                "new_points": report.points,
                "new_resolutions": report.resolutions,
                "notes": list(report.notes),
            }
        )
        return
    console = output.report_console()
    print_line(
        console,
        f"{report.snapshot}: {things(report.events, 'event')}; {things(report.markets, 'market')} in the archive, "
        f"{things(report.points, 'new price')}, {things(report.resolutions, 'new resolution')}",
    )
    for note in report.notes:
        print_line(console, f"note: {plain(note)}")


def _record_stocks(
    folder: Path,
    provider: str,
    venue: str | None,
    tickers: str | None,
    as_of: datetime | None,
    days: float,
    json: bool,
    verbose: bool,
    log: options.Log,
) -> None:
    """Record stocks, and say what is new."""
    from predibot.errors import UsageError
    from predibot.jobs.commands.record_stocks import record_stocks_as_asked
    from predibot.reports.figures import things
    from predibot.reports.terminal.terminal import print_line
    from predibot.reports.terminal.text import plain

    if venue is not None:
        raise UsageError("--stocks and --venue are two things to record; leave one out")
    names = [name.strip() for name in (tickers or "").split(",") if name.strip()]
    caller = output.caller(verbose=verbose, log=log)
    report = record_stocks_as_asked(folder, caller, provider=provider, tickers=names, as_of=as_of, days=days)
    if json:
        output.print_document(
            {
                "folder": str(report.folder),
                "provider": report.provider,
                "tickers": list(report.tickers),
                "new_rows": report.rows,
                "new_actions": report.actions,
                "notes": list(report.notes),
            }
        )
        return
    console = output.report_console()
    print_line(
        console,
        f"{report.folder}: {things(len(report.tickers), 'stock')}; {things(report.rows, 'new daily price')}, "
        f"{things(report.actions, 'new action')}",
    )
    for note in report.notes:
        print_line(console, f"note: {plain(note)}")
