"""Comments: a collected data set of labelled comments as a venue of text tasks."""

from datetime import datetime
from pathlib import Path

from predibot.contracts import OpenVenue, PayloadReader, VenuePlugin, VenueRequest
from predibot.domain.event import Event, Skip
from predibot.errors import VenueMissing
from predibot.text_tasks.tasks import without_truth


def _folder(argument: str) -> Path:
    """Return where a data set lies; the same folder is the same venue, however it is written and from wherever."""
    folder = Path(argument).expanduser().resolve()
    if not argument or not (folder / "comments.jsonl").is_file():
        raise VenueMissing(
            f"there is no data set of comments in {folder}. Look at the path, or make one with `predibot collect "
            "comments PLATFORM FOLDER`"
        )
    return folder


def _open(asked: VenueRequest) -> OpenVenue:
    from predibot.venues.comments.data_set import CommentsVenue

    venue = CommentsVenue(_folder(asked.argument))
    return OpenVenue(asked.spec, venue, asked.as_of or venue.last_at)


def _event(payload: object, read_at: datetime) -> tuple[Event | None, tuple[Skip, ...]]:
    return None, (Skip("event", "", "a text is no event"),)


VENUE = VenuePlugin(
    _open,
    live=False,
    usage="comments:FOLDER",
    needs_argument=True,
    check=lambda argument: str(_folder(argument)),
    payloads=PayloadReader(_event, lambda _: "", without_truth),
    # Of the hosts that comments are collected from, besides those of a venue of markets.
    urls=("data_url",),
)
