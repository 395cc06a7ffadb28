"""The client of a venue, pointed at a sandbox's server."""

from datetime import datetime

from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT
from predibot.venues.polymarket.client import Polymarket


def venue_of(server: SandboxServer, now: datetime = SANDBOX_OPENS_AT) -> Polymarket:
    return Polymarket(
        gamma_url=server.gamma_url, clob_url=server.clob_url, name="sandbox", live=False, clock=lambda: now
    )
