"""Polymarket as a venue."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from predibot.contracts import Assumption, OpenVenue, PayloadReader, VenuePlugin, VenueRequest, VenueSettings
from predibot.domain.event import Event, Skip

GAMMA_URL, CLOB_URL = "https://gamma-api.polymarket.com", "https://clob.polymarket.com"


def _open(asked: VenueRequest) -> OpenVenue:
    # A client costs a tenth of a second, which only those pay who ask it.
    from contextlib import ExitStack

    from predibot.venues.polymarket.client import Polymarket

    now = asked.live_instant()
    gamma_url, clob_url = _urls(asked.settings)
    closing = ExitStack()
    venue = closing.enter_context(
        Polymarket(
            gamma_url=gamma_url,
            clob_url=clob_url,
            clock=asked.clock,
            deadline_seconds=asked.settings.call_deadline_seconds,
            list_deadline_seconds=asked.settings.list_deadline_seconds,
            paces=asked.paces,
        )
    )
    return OpenVenue(asked.spec, venue, now, closing)


def _urls(settings: VenueSettings) -> tuple[str, str]:
    return settings.urls.get("gamma_url", GAMMA_URL), settings.urls.get("clob_url", CLOB_URL)


def _probes(settings: VenueSettings) -> Mapping[str, str]:
    """Return the very lists that are read: a host as a whole says nothing of one that is to be switched off."""
    gamma_url, clob_url = (url.rstrip("/") for url in _urls(settings))
    return {"gamma": f"{gamma_url}/events/keyset?closed=false&limit=1", "clob": f"{clob_url}/time"}


def _assumptions(settings: VenueSettings) -> Iterator[Assumption]:
    from predibot.venues.polymarket.assumptions import assumptions

    return assumptions(*_urls(settings))


def _event(payload: object, quoted_at: datetime) -> tuple[Event | None, tuple[Skip, ...]]:
    from predibot.venues.polymarket.parse import parse_event

    return parse_event(payload, quoted_at=quoted_at)


def _id(payload: object) -> str:
    from predibot.venues.polymarket.parse import payload_id

    return payload_id(payload)


def _without_results(payload: str) -> str:
    from predibot.venues.polymarket.parse import stored_without_results

    return stored_without_results(payload)


def _no_first(payload: object) -> set[str]:
    from predibot.venues.polymarket.parse import no_first_of

    return no_first_of(payload)


PAYLOADS = PayloadReader(_event, _id, _without_results, _no_first)
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
