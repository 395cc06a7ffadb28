"""Pairs: a data set of pairs of questions, labelled by how their markets moved, as a venue of text tasks."""

from datetime import datetime

from predibot.contracts import OpenVenue, PayloadReader, VenuePlugin, VenueRequest
from predibot.domain.event import Event, Skip
from predibot.studies.beliefbench.pairs import PAIR_FILES, shown_alone
from predibot.studies.data_set import DataSet, DataSetKind

PAIRS = DataSetKind(
    "pairs", PAIR_FILES, "about", lambda row: str(row.as_of), "predibot collect pairs archive:FOLDER FOLDER"
)


def _open(asked: VenueRequest) -> OpenVenue:
    venue = DataSet(PAIRS.folder(asked.argument), PAIRS)
    return OpenVenue(asked.spec, venue, asked.as_of or venue.last_at)


def _event(payload: object, read_at: datetime) -> tuple[Event | None, tuple[Skip, ...]]:
    return None, (Skip("event", "", "a pair of questions is no event"),)


VENUE = VenuePlugin(
    _open,
    live=False,
    usage="pairs:FOLDER",
    needs_argument=True,
    check=lambda argument: str(PAIRS.folder(argument)),
    payloads=PayloadReader(_event, lambda _: "", shown_alone),
)
