"""Manifold as a venue."""

from collections.abc import Iterator, Mapping

from predibot.contracts import Assumption, OpenVenue, VenuePlugin, VenueRequest, VenueSettings
from predibot.venues.payloads import late_payloads

MANIFOLD_URL = "https://api.manifold.markets"
CURRENCY = "MANA"


def _open(request: VenueRequest) -> OpenVenue:
    # Importing the client takes a tenth of a second, so it happens late.
    from predibot.venues.http import open_live
    from predibot.venues.manifold.client import Manifold

    return open_live(request, Manifold, url=_url(request.settings))


def _url(settings: VenueSettings) -> str:
    return settings.urls.get("manifold_url", MANIFOLD_URL)


def _probes(settings: VenueSettings) -> Mapping[str, str]:
    return {"manifold": f"{_url(settings).rstrip('/')}/v0/search-markets?term=&limit=1"}


def _assumptions(settings: VenueSettings) -> Iterator[Assumption]:
    from predibot.venues.manifold.assumptions import assumptions

    return assumptions(_url(settings))


PAYLOADS = late_payloads("predibot.venues.manifold.parse")
VENUE = VenuePlugin(
    _open,
    live=True,
    payloads=PAYLOADS,
    urls=("manifold_url",),
    probes=_probes,
    assumptions=_assumptions,
    currency=CURRENCY,
    lists_by="volume_24h",
)
