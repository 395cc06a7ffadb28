"""Recording a venue in one call."""

from datetime import datetime
from pathlib import Path

from predibot.errors import VenueUnavailable
from predibot.jobs.commands.caller import Caller
from predibot.jobs.open_venue import open_venue
from predibot.jobs.record import RecordReport, record
from predibot.plugins.venues import default_venue


def record_as_asked(
    folder: Path, caller: Caller, *, venue: str | None, as_of: datetime | None, events: int, days: float
) -> RecordReport:
    """Write a snapshot of a venue's most traded events, and what is new about all markets of the archive.

    Raises:
        VenueUnavailable: If some prices could not be read, after the rest is written.
        PredibotError: As `record`; or if the venue cannot be opened.
    """
    settings = caller.settings()
    with (
        open_venue(venue or default_venue(), settings, as_of=as_of, purpose="decide", clock=caller.clock) as opened,
        caller.progress() as listener,
    ):
        report = record(
            folder,
            opened=opened,
            settings=settings,
            events=events,
            days=days,
            clock=caller.clock,
            listener=listener,
        )
    if report.incomplete:
        raise VenueUnavailable(f"{'; '.join(report.notes)}. The rest is written; run `predibot record` again")
    return report
