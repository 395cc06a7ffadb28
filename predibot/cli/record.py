"""`predibot record`: write an archive from a live venue."""

from pathlib import Path
from typing import Annotated

import typer

from predibot.cli import options, output
from predibot.cli.command import Command


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("record", cls=Command, help="write a venue's raw answers as an archive to replay later")(record)


def record(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="the archive; made where it does not exist")],
    venue: Annotated[
        str, typer.Option("--venue", metavar="VENUE", help="polymarket or sandbox[:seed=7,...]")
    ] = "polymarket",
    as_of: options.AsOf = None,
    events: Annotated[
        int, typer.Option("--events", metavar="N", min=0, help="how many, most traded first; 0 for all")
    ] = 100,
    days: Annotated[
        float, typer.Option("--days", metavar="DAYS", min=0.0, help="of price history, for markets that are new")
    ] = 30.0,
    json: options.Json = False,
    verbose: options.Verbose = False,
) -> None:
    """Add a snapshot, later prices and resolutions to an archive."""
    from predibot.config import load_settings
    from predibot.errors import VenueUnavailable
    from predibot.jobs.open_venue import open_venue
    from predibot.jobs.record import record as record_all
    from predibot.reports.figures import things
    from predibot.reports.terminal.terminal import print_line
    from predibot.reports.terminal.text import plain

    output.set_up_logs(verbose=verbose)
    settings = load_settings()
    with (
        open_venue(venue, settings, as_of=as_of, purpose="decide", clock=options.wall_clock) as opened,
        output.progress(verbose=verbose) as listener,
    ):
        report = record_all(
            folder,
            opened=opened,
            settings=settings,
            events=events,
            days=days,
            clock=options.wall_clock,
            listener=listener,
        )
    if report.incomplete:
        raise VenueUnavailable(f"{'; '.join(report.notes)}. The rest is written; run `predibot record` again")
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
