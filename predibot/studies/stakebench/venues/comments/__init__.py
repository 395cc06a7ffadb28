"""Comments: a collected data set of labelled comments as a venue of text tasks."""

from collections.abc import Iterator
from datetime import datetime

from predibot.contracts import Assumption, OpenVenue, PayloadReader, VenuePlugin, VenueRequest, VenueSettings
from predibot.domain.event import Event, Skip
from predibot.studies.data_set import DataSet, DataSetKind
from predibot.studies.stakebench.data_set import FILES
from predibot.studies.stakebench.tasks import without_truth
from predibot.venues.manifold import MANIFOLD_URL
from predibot.venues.polymarket import CLOB_URL, GAMMA_URL

HOSTS = {
    "gamma_url": GAMMA_URL,
    "data_url": "https://data-api.polymarket.com",
    "clob_url": CLOB_URL,
    "manifold_url": MANIFOLD_URL,
}
"""Whom comments are collected from, by the names of their addresses in `predibot.toml`."""
COMMENTS = DataSetKind(
    "comments", FILES, "comments", lambda row: str(row.at), "predibot collect comments PLATFORM FOLDER"
)


def _open(asked: VenueRequest) -> OpenVenue:
    venue = DataSet(COMMENTS.folder(asked.argument), COMMENTS)
    return OpenVenue(asked.spec, venue, asked.as_of or venue.last_at)


def _event(payload: object, read_at: datetime) -> tuple[Event | None, tuple[Skip, ...]]:
    return None, (Skip("event", "", "a text is no event"),)


def _assumptions(settings: VenueSettings) -> Iterator[Assumption]:
    from predibot.studies.stakebench.venues.comments.assumptions import assumptions

    urls = {name: settings.urls.get(name, HOSTS[name]) for name in ("gamma_url", "data_url", "manifold_url")}
    return assumptions(**urls)


VENUE = VenuePlugin(
    _open,
    live=False,
    usage="comments:FOLDER",
    needs_argument=True,
    check=lambda argument: str(COMMENTS.folder(argument)),
    payloads=PayloadReader(_event, lambda _: "", without_truth),
    # Of the hosts that comments are collected from, besides those of a venue of markets.
    urls=("data_url",),
    assumptions=_assumptions,
)
