"""`predibot record`: write an archive from a live venue."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from predibot.cli import options, output

if TYPE_CHECKING:
    from predibot.jobs.caller import Caller


def record(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="the archive; made where it does not exist")],
    venue: Annotated[str | None, options.venue("that of a recipe that names none")] = None,
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
    *,
    log: options.Log,
) -> None:
    """Add a snapshot, later prices and resolutions to an archive, or daily prices to a folder of stocks."""
    caller = output.caller(log)
    if stocks is not None:
        _record_stocks(folder, stocks, venue, tickers, as_of, days, caller, json=json)
        return
    from predibot.api.record import record as record_venue
    from predibot.errors import UsageError
    from predibot.reports.figures import things
    from predibot.reports.terminal.terminal import print_line
    from predibot.reports.terminal.text import plain

    if tickers is not None:
        raise UsageError("--tickers goes with --stocks; add --stocks tiingo, or leave it out")
    report = record_venue(folder, caller, venue=venue, as_of=as_of, events=events, days=days)
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
    caller: "Caller",
    *,
    json: bool,
) -> None:
    """Record stocks, and say what is new."""
    from predibot.api.record_stocks import record_stocks
    from predibot.errors import UsageError
    from predibot.reports.figures import things
    from predibot.reports.terminal.terminal import print_line
    from predibot.reports.terminal.text import plain

    if venue is not None:
        raise UsageError("--stocks and --venue are two things to record; leave one out")
    names = [name.strip() for name in (tickers or "").split(",") if name.strip()]
    report = record_stocks(folder, caller, provider=provider, tickers=names, as_of=as_of, days=days)
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
