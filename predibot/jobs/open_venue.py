"""Opening a venue by its spec."""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from predibot.contracts import OpenVenue, Paces, Past, Purpose, VenueRequest
from predibot.domain.clock import short_instant
from predibot.errors import UsageError
from predibot.ledger.schema.values import FIRST_INSTANT, LAST_INSTANT
from predibot.plugins.registry import own_code
from predibot.plugins.venues import check_venue_spec, parse_venue_spec, venue_or_defaults

if TYPE_CHECKING:
    # Not imported at run time: commands that only look back start faster.
    from predibot.config import Settings

Clock = Callable[[], datetime]


def open_venue(
    spec: str,
    settings: "Settings",
    *,
    as_of: datetime | None,
    purpose: Purpose,
    clock: Clock,
    paces: Paces | None = None,
    only: tuple[str, ...] = (),
) -> OpenVenue:
    """Open a venue as of an instant; `only` are the ids of the only events that a recipe plays.

    Without an instant a live venue is looked at now. An archive decides at its last snapshot and looks back from now;
    the sandbox decides at the opening of its world and looks back from its end. UsageError is raised if there is no
    such venue, it cannot answer for the instant, or no ledger could hold what is done then.
    """
    if as_of is not None:
        check_instant(as_of)
    request_spec = check_venue_spec(spec)
    argument = request_spec.partition(":")[2]
    request = VenueRequest(request_spec, argument, settings, clock, as_of, purpose, paces, only)
    with own_code(f"venue {request_spec} cannot be opened"):
        return parse_venue_spec(spec)[0].open(request)


def check_instant(instant: datetime) -> None:
    """Raise `UsageError` for an instant that no row of a ledger may have."""
    if not FIRST_INSTANT <= instant < LAST_INSTANT:
        years = f"{FIRST_INSTANT.year} to {LAST_INSTANT.year - 1}"
        raise UsageError(f"a ledger holds the years {years}, and {short_instant(instant)} is outside; name another")


def open_past(spec: str, settings: "Settings", clock: Clock) -> Past:
    """Open the past of a venue; raise `UsageError` if there is none, or it is live and cannot answer for its past."""
    found = parse_venue_spec(spec)[0]
    past = found.past
    if past is None and not found.live:
        raise UsageError(f"venue {spec} does not say what it can be replayed from; use `decide --as-of` instead")
    if past is None:
        raise UsageError(f"{spec} is live: nobody can ask it what it said in the past. {found.replayed_from}")
    with own_code(f"venue {spec} cannot be opened"):
        request_spec = check_venue_spec(spec)
        return past(VenueRequest(request_spec, request_spec.partition(":")[2], settings, clock))


def look_back_at(spec: str, as_of: datetime | None, clock: Clock) -> datetime:
    """Return the instant to look back from: the given one, the end of the venue's world, or now."""
    return as_of or venue_or_defaults(spec).ends_at or clock()
