"""Recorded markets as a venue."""

from pathlib import Path

from predibot.contracts import OpenVenue, Past, VenuePlugin, VenueRequest
from predibot.errors import VenueMissing


def _archive_folder(argument: str) -> Path:
    folder = Path(argument).expanduser().resolve()
    if not argument or not folder.is_dir():
        raise VenueMissing(f"there is no archive folder {folder}. Look at the path, or name another with --venue")
    return folder


def _open(request: VenueRequest) -> OpenVenue:
    from predibot.venues.archive.reader import Archive

    archive = Archive(_archive_folder(request.argument))
    now = request.as_of or (archive.instants[-1] if request.purpose == "decide" else request.clock())
    return OpenVenue(request.spec, archive, now)


def _past(request: VenueRequest) -> Past:
    from predibot.venues.archive.reader import RecordedPast

    return RecordedPast(request.spec, _archive_folder(request.argument))


def _venue_name(argument: str) -> str:
    from predibot.venues.archive.layout import read_venue_name

    return read_venue_name(_archive_folder(argument))


VENUE = VenuePlugin(
    _open,
    live=False,
    usage="archive:FOLDER",
    needs_argument=True,
    check=lambda argument: str(_archive_folder(argument)),
    past=_past,
    instruments_of=_venue_name,
)
