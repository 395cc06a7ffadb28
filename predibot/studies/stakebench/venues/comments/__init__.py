"""Comments: a collected data set of labelled comments as a venue of text tasks."""

from collections.abc import Iterator
from dataclasses import replace

from predibot.contracts import Assumption, VenueSettings
from predibot.studies.data_set import DataSetKind, data_set_venue
from predibot.studies.stakebench.data_set import FILES
from predibot.studies.stakebench.tasks import Item
from predibot.venues.manifold import MANIFOLD_URL
from predibot.venues.polymarket import CLOB_URL, GAMMA_URL

HOSTS = {
    "gamma_url": GAMMA_URL,
    "data_url": "https://data-api.polymarket.com",
    "clob_url": CLOB_URL,
    "manifold_url": MANIFOLD_URL,
}
"""The hosts of comments, by the names of their addresses in `predibot.toml`."""
COMMENTS = DataSetKind(
    "comments", FILES, "comments", lambda row: str(row.at), "predibot collect comments PLATFORM FOLDER"
)


def _assumptions(settings: VenueSettings) -> Iterator[Assumption]:
    from predibot.studies.stakebench.venues.comments.assumptions import assumptions

    urls = {name: settings.urls.get(name, HOSTS[name]) for name in ("gamma_url", "data_url", "manifold_url")}
    return assumptions(**urls)


VENUE = replace(
    data_set_venue(COMMENTS, Item, "a text"),
    # Hosts that comments are collected from, and no venue of markets has.
    urls=("data_url",),
    assumptions=_assumptions,
)
