"""Manifold as a venue."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from predibot.contracts import Assumption, OpenVenue, PayloadReader, VenuePlugin, VenueRequest, VenueSettings
from predibot.domain.event import Event, Skip

MANIFOLD_URL = "https://api.manifold.markets"
CURRENCY = "MANA"


def _open(asked: VenueRequest) -> OpenVenue:
    # A client costs a tenth of a second, which only those pay who ask it.
    from contextlib import ExitStack

    from predibot.venues.manifold.client import Manifold

    now = asked.live_instant()
    closing = ExitStack()
    venue = closing.enter_context(
        Manifold(
            url=_url(asked.settings),
            clock=asked.clock,
            deadline_seconds=asked.settings.call_deadline_seconds,
            list_deadline_seconds=asked.settings.list_deadline_seconds,
            paces=asked.paces,
        )
    )
    return OpenVenue(asked.spec, venue, now, closing)


def _url(settings: VenueSettings) -> str:
    return settings.urls.get("manifold_url", MANIFOLD_URL)


def _probes(settings: VenueSettings) -> Mapping[str, str]:
    return {"manifold": f"{_url(settings).rstrip('/')}/v0/search-markets?term=&limit=1"}


def _assumptions(settings: VenueSettings) -> Iterator[Assumption]:
    from predibot.venues.manifold.assumptions import assumptions

    return assumptions(_url(settings))


def _event(payload: object, quoted_at: datetime) -> tuple[Event | None, tuple[Skip, ...]]:
    from predibot.venues.manifold.parse import parse_event

    return parse_event(payload, quoted_at=quoted_at)


def _id(payload: object) -> str:
    from predibot.venues.manifold.parse import payload_id

    return payload_id(payload)


def _without_results(payload: str) -> str:
    from predibot.venues.manifold.parse import stored_without_results

    return stored_without_results(payload)


PAYLOADS = PayloadReader(_event, _id, _without_results)
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
