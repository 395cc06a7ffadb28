"""Polymarket as a venue."""

from collections.abc import Iterator, Mapping

from predibot.contracts import Assumption, OpenVenue, VenuePlugin, VenueRequest, VenueSettings
from predibot.venues.payloads import late_payloads

GAMMA_URL, CLOB_URL = "https://gamma-api.polymarket.com", "https://clob.polymarket.com"


def _open(request: VenueRequest) -> OpenVenue:
    # Importing the client takes a tenth of a second, so it happens late.
    from predibot.venues.http import open_live
    from predibot.venues.polymarket.client import Polymarket

    gamma_url, clob_url = _urls(request.settings)
    return open_live(request, Polymarket, gamma_url=gamma_url, clob_url=clob_url)


def _urls(settings: VenueSettings) -> tuple[str, str]:
    return settings.urls.get("gamma_url", GAMMA_URL), settings.urls.get("clob_url", CLOB_URL)


def _probes(settings: VenueSettings) -> Mapping[str, str]:
    """Return the lists that predibot reads: a host may answer while its list is switched off."""
    gamma_url, clob_url = (url.rstrip("/") for url in _urls(settings))
    return {"gamma": f"{gamma_url}/events/keyset?closed=false&limit=1", "clob": f"{clob_url}/time"}


def _assumptions(settings: VenueSettings) -> Iterator[Assumption]:
    from predibot.venues.polymarket.assumptions import assumptions

    return assumptions(*_urls(settings))


PAYLOADS = late_payloads("predibot.venues.polymarket.parse")
VENUE = VenuePlugin(
    _open,
    live=True,
    payloads=PAYLOADS,
    urls=("gamma_url", "clob_url"),
    probes=_probes,
    assumptions=_assumptions,
    is_default=True,
    recorded_by=frozenset({"predibench"}),
)
