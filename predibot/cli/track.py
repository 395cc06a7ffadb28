"""`predibot track`: new prices and resolutions of every market the ledger knows."""

from typing import TYPE_CHECKING

import typer

from predibot.cli import options, output
from predibot.cli.command import Command
from predibot.cli.ending import DONE

if TYPE_CHECKING:
    from predibot.jobs.track import TrackReport


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("track", cls=Command, help="collect new prices and resolutions of the ledger's markets")(track)


def track(
    venue: options.LookBackVenue = None,
    as_of: options.AsOf = None,
    ledger: options.Ledger = None,
    json: options.Json = False,
    verbose: options.Verbose = False,
) -> None:
    """Store what is new; what could not be read is an error after the rest is stored."""
    from predibot.config import load_settings
    from predibot.errors import VenueUnavailable
    from predibot.jobs.evaluate import asked_venues
    from predibot.jobs.open_venue import open_venue
    from predibot.jobs.track import TrackReport
    from predibot.jobs.track import track as track_all
    from predibot.ledger.store import Store
    from predibot.ledger.url import DEFAULT_LEDGER

    output.set_up_logs(verbose=verbose)
    settings = load_settings()
    with Store.open(ledger or DEFAULT_LEDGER, create=False) as store, output.progress(verbose=verbose) as listener:
        output.say(f"ledger: {store.address}")
        reports = []
        for spec in asked_venues(store, venue).specs:
            with open_venue(spec, settings, as_of=as_of, purpose="look_back", clock=options.wall_clock) as opened:
                own = venue is None
                reports.append(
                    track_all(store=store, opened=opened, settings=settings, listener=listener, own_runs=own)
                )
    report = TrackReport.sum_of(reports)
    if report.incomplete:
        raise VenueUnavailable(f"{'; '.join(report.notes)}. The rest is stored; run `predibot track` again")
    _show(report, as_json=json)


def _show(report: "TrackReport", *, as_json: bool) -> None:
    from predibot.domain.clock import format_instant

    document = {
        "as_of": format_instant(report.as_of),
        "markets": report.markets,
        "new_observations": report.observations,
        "new_resolutions": report.resolutions,
        "notes": list(report.notes),
    }
    if as_json:
        output.print_document(document, exit_code=DONE)
        return
    console = output.report_console()
    console.print(
        f"{report.markets} markets as of {document['as_of']}: "
        f"{report.observations} new prices, {report.resolutions} new resolutions"
    )
    for note in report.notes:
        console.print(f"note: {note}", markup=False)
