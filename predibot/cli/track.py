"""`predibot track`: new prices and resolutions of every market the ledger knows."""

from predibot.cli import options, output
from predibot.cli.ending import DONE


def track(
    venue: options.LookBackVenue = None,
    as_of: options.AsOf = None,
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    json: options.Json = False,
    *,
    log: options.Log,
) -> None:
    """Store what is new; what could not be read is an error after the rest is stored."""
    from predibot.api.track import track as track_part
    from predibot.domain.clock import short_instant
    from predibot.reports.table import document
    from predibot.scoring.records.part import Part

    report = track_part(Part(venue=venue, as_of=as_of), output.caller(log), ledger=ledger)
    if json:
        names = "as_of markets new_observations=observations new_resolutions=resolutions notes"
        output.print_document(document(report, names), exit_code=DONE)
        return
    console = output.report_console()
    console.print(
        f"{report.markets} markets as of {short_instant(report.as_of)}: "
        f"{report.observations} new prices, {report.resolutions} new resolutions"
    )
    for note in report.notes:
        console.print(f"note: {note}", markup=False)
