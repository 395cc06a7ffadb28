"""The sandbox as a venue: a simulated world behind a server on this machine."""

from predibot.contracts import OpenVenue, Past, VenuePlugin, VenueRequest
from predibot.sandbox.world.calendar import SANDBOX_ENDS_AT, SANDBOX_OPENS_AT
from predibot.venues.polymarket import PAYLOADS

# Importing the simulated world takes a tenth of a second, so it happens late.


def _check(argument: str) -> str:
    from predibot.venues.sandbox.past import sandbox_options

    sandbox_options(argument)
    return argument


def _open(request: VenueRequest) -> OpenVenue:
    from predibot.venues.sandbox.past import open_sandbox_venue

    opens_at = SANDBOX_OPENS_AT if request.purpose == "decide" else SANDBOX_ENDS_AT
    return open_sandbox_venue(request, now=request.as_of or opens_at)


def _past(request: VenueRequest) -> Past:
    from predibot.venues.sandbox.past import SimulatedPast, sandbox_world

    return SimulatedPast(request, sandbox_world(request.argument))


VENUE = VenuePlugin(
    _open,
    live=False,
    invented=True,
    usage="sandbox[:seed=7,...]",
    check=_check,
    past=_past,
    ends_at=SANDBOX_ENDS_AT,
    # It speaks Polymarket's dialect.
    payloads=PAYLOADS,
)
