"""The sandbox as a venue: open at one of its instants, or as a past of many."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import ClassVar

from predibot.contracts import Loopback, OpenVenue, VenueRequest
from predibot.domain.clock import format_instant
from predibot.errors import UsageError
from predibot.sandbox.server.options import SandboxOptions, parse_options
from predibot.sandbox.server.server import SandboxAddresses, SandboxServer
from predibot.sandbox.world.calendar import SANDBOX_BEGINS_AT, SANDBOX_ENDS_AT, SANDBOX_OPENS_AT
from predibot.sandbox.world.world import World
from predibot.venues.manifold.client import Manifold
from predibot.venues.polymarket.client import Polymarket

NAME, MANA_NAME = "sandbox", "sandbox_mana"


@dataclass(frozen=True, slots=True)
class SimulatedPast:
    """A sandbox whose world is kept from one instant to the next."""

    first_at: ClassVar = SANDBOX_OPENS_AT
    last_at: ClassVar = SANDBOX_ENDS_AT
    request: VenueRequest
    world: World
    folder: None = None

    scripted_models: str = f"{NAME}/"

    @property
    def spec(self) -> str:
        """Return the spec that runs keep."""
        return self.request.spec

    @property
    def venue_name(self) -> str:
        """Return the venue whose dialect it speaks."""
        return self.spec.partition(":")[0]

    def known_until(self) -> datetime:
        """Return when its world ends."""
        return SANDBOX_ENDS_AT

    def check(self, instant: datetime) -> None:
        """Refuse an instant outside of the world."""
        check_in_sandbox(instant)

    def open_at(self, instant: datetime) -> OpenVenue:
        """Return the sandbox at an instant."""
        return open_sandbox_venue(self.request, now=instant, world=self.world)

    def cut_at(self, instant: datetime) -> OpenVenue:
        """Return a sandbox whose world differs after an instant."""
        world = sandbox_world(self.request.argument, altered_after=instant)
        return open_sandbox_venue(self.request, now=instant, world=world)


def check_in_sandbox(instant: datetime) -> None:
    """Raise `UsageError` for an instant before the world begins or after it ends."""
    if not SANDBOX_BEGINS_AT <= instant <= SANDBOX_ENDS_AT:
        raise UsageError(
            f"the sandbox's world lasts from {format_instant(SANDBOX_BEGINS_AT)} to {format_instant(SANDBOX_ENDS_AT)}; "
            f"{format_instant(instant)} is outside. Name an instant in it"
        )


def sandbox_options(argument: str) -> SandboxOptions:
    """Return the options in an argument; raise `UsageError` if they are wrong."""
    with _usage_errors(argument):
        return parse_options(argument)


def sandbox_world(argument: str, *, altered_after: datetime | None = None) -> World:
    """Return the world of an argument; `altered_after` as in `SandboxOptions`. Raises `UsageError` if there can be
    none.
    """
    options = sandbox_options(argument)
    with _usage_errors(argument):
        return options.world(altered_after=altered_after)


def open_sandbox_venue(request: VenueRequest, *, now: datetime, world: World | None = None) -> OpenVenue:
    """Open a sandbox at an instant of its world, by default in a new world from the options. Raises `UsageError` if the
    options are wrong, or the instant is outside of the world.
    """
    check_in_sandbox(now)
    options = sandbox_options(request.argument)
    closing = ExitStack()
    server = SandboxAddresses(options.port)
    if options.port is None or world is not None:
        world = sandbox_world(request.argument) if world is None else world
        server = closing.enter_context(SandboxServer(world, now=now, options=options))
    speaks: Callable[..., Manifold | Polymarket] = (
        partial(Manifold, url=server.mana_url, name=MANA_NAME)
        if request.spec.partition(":")[0] == MANA_NAME
        else partial(Polymarket, gamma_url=server.gamma_url, clob_url=server.clob_url, name=NAME)
    )
    venue = speaks(
        live=False,
        clock=lambda: now,
        deadline_seconds=request.settings.call_deadline_seconds,
        list_deadline_seconds=request.settings.list_deadline_seconds,
    )
    closing.enter_context(venue)
    loopback = Loopback(server.search_url, server.chat_url, server.address)
    return OpenVenue(request.spec, venue, now, closing, loopback)


@contextmanager
def _usage_errors(argument: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise UsageError(f"--venue {NAME}:{argument[:100]}: {error}") from None
