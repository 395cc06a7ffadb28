"""Clients of a sandbox's server, as predibot has them: of its venue, and of its search."""

from datetime import datetime

from predibot.research.search.providers.http_providers import HttpSearch, ProviderRequests
from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT, minute_of
from predibot.sandbox.world.world import World
from predibot.venues.polymarket.client import Polymarket


def venue_of(server: SandboxServer, now: datetime = SANDBOX_OPENS_AT) -> Polymarket:
    return Polymarket(
        gamma_url=server.gamma_url, clob_url=server.clob_url, name="sandbox", live=False, clock=lambda: now
    )


def search_of(server: SandboxServer) -> HttpSearch:
    return HttpSearch("searxng", lambda: server.now, server.search_url, http=ProviderRequests(deadline_seconds=30))


def open_numbers(world: World) -> list[int]:
    """Return the numbers of the events that are open when the sandbox opens."""
    opens = minute_of(SANDBOX_OPENS_AT)
    return [number for number in world.maybe_open_numbers(opens) if not world.event(number, opens).is_closed]
