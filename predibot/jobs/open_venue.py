"""Opening a venue by the name a user gives it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from predibot.domain.clock import format_instant
from predibot.domain.spelling import did_you_mean
from predibot.errors import UsageError
from predibot.sandbox.world.calendar import SANDBOX_BEGINS_AT, SANDBOX_ENDS_AT, SANDBOX_OPENS_AT

if TYPE_CHECKING:
    from predibot.config import Settings
    from predibot.contracts import Venue
    from predibot.sandbox.server.options import SandboxOptions
    from predibot.sandbox.world.world import World

Clock = Callable[[], datetime]
Purpose = Literal["decide", "look_back"]
KINDS = ("polymarket", "archive", "sandbox")


class ArchiveMissing(UsageError):
    """The folder of an archive is not there: it was moved, or never was."""


@dataclass(frozen=True, slots=True)
class Loopback:
    """Where a sandbox answers besides its venue: its search engine, its forecasters, its pages."""

    search_url: str
    chat_url: str
    address: tuple[str, int]


@dataclass(frozen=True, slots=True)
class OpenVenue(AbstractContextManager["OpenVenue"]):
    """A venue, the words it was asked for with, and the instant it is looked at."""

    spec: str
    venue: "Venue"
    now: datetime
    """The run's instant when deciding, the evaluation's when looking back."""
    closing: ExitStack = field(repr=False)
    loopback: Loopback | None = None
    """Only of a sandbox."""

    @property
    def may_recover(self) -> bool:
        """Return whether it may answer otherwise a minute later; a recording never does."""
        return self.venue.live or self.loopback is not None

    def __enter__(self) -> Self:
        """Return the open venue itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close connections and servers."""
        self.closing.close()


def open_venue(spec: str, settings: "Settings", *, as_of: datetime | None, purpose: Purpose, clock: Clock) -> OpenVenue:
    """Open `polymarket`, `archive:<folder>` or `sandbox[:options]` as of an instant.

    Without an instant a live venue is looked at now. An archive is decided on at
    its last snapshot and looked back on now; the sandbox has its own clock, which
    stands at the opening of its world for deciding and at its end for looking back.

    Raises:
        UsageError: If there is no such venue, or it cannot be asked about the instant.
    """
    check_spec(spec)
    kind, _, argument = spec.partition(":")
    if kind == "polymarket":
        return _open_polymarket(spec, settings, as_of=as_of, purpose=purpose, clock=clock)
    if kind == "archive":
        return _open_archive(_archive_folder(argument), as_of=as_of, purpose=purpose, clock=clock)
    opens_at = SANDBOX_OPENS_AT if purpose == "decide" else SANDBOX_ENDS_AT
    return open_sandbox_venue(spec, settings, now=as_of or opens_at)


def check_spec(spec: str) -> None:
    """Refuse a venue that does not exist, without opening one.

    Raises:
        UsageError: If there is no such venue, or no such archive.
    """
    kind, _, argument = spec.partition(":")
    if kind == "archive":
        _archive_folder(argument)
    elif kind == "sandbox":
        sandbox_options(spec)
    elif spec != "polymarket":
        raise UsageError(
            f"no venue {spec[:100]!r}. An archive is written archive:<folder>. {did_you_mean(kind, KINDS)}"
        )


def venue_name(spec: str) -> str:
    """Return whose instruments a venue has: an archive is a recording of Polymarket."""
    return "sandbox" if spec.partition(":")[0] == "sandbox" else "polymarket"


def look_back_at(spec: str, as_of: datetime | None, clock: Clock) -> datetime:
    """Return the instant a venue is looked back on from: the one asked for, the sandbox's end, or now."""
    return as_of or (SANDBOX_ENDS_AT if venue_name(spec) == "sandbox" else clock())


def _open_polymarket(
    spec: str, settings: "Settings", *, as_of: datetime | None, purpose: Purpose, clock: Clock
) -> OpenVenue:
    from predibot.venues.polymarket.client import Polymarket

    if purpose == "decide" and as_of is not None:
        raise UsageError(
            f"{spec} is live: it answers for now, not for {format_instant(as_of)}. "
            "Leave out --as-of, or decide on a recording with --venue archive:<folder>"
        )
    if as_of is not None and as_of > clock():
        raise UsageError(f"{format_instant(as_of)} is still to come. Leave out --as-of, or name an earlier instant")
    closing = ExitStack()
    venue = closing.enter_context(
        Polymarket(
            gamma_url=str(settings.gamma_url),
            clob_url=str(settings.clob_url),
            clock=clock,
            call_deadline_seconds=settings.call_deadline_seconds,
            list_deadline_seconds=settings.list_deadline_seconds,
        )
    )
    return OpenVenue(spec, venue, as_of or clock(), closing)


def _archive_folder(argument: str) -> Path:
    """Return where an archive lies; the same folder is the same venue, however it is written and from wherever."""
    if not argument:
        raise UsageError("which archive? Write --venue archive:<folder>")
    folder = Path(argument).expanduser().resolve()
    if not folder.is_dir():
        raise ArchiveMissing(f"there is no archive folder {folder}. Look at the path, or name another with --venue")
    return folder


def _open_archive(folder: Path, *, as_of: datetime | None, purpose: Purpose, clock: Clock) -> OpenVenue:
    from predibot.venues.archive.reader import Archive

    archive = Archive(folder)
    now = as_of or (archive.instants[-1] if purpose == "decide" else clock())
    return OpenVenue(f"archive:{folder}", archive, now, ExitStack())


def check_in_sandbox(instant: datetime) -> None:
    """Refuse an instant at which there is no sandbox.

    Raises:
        UsageError: If its world has not begun yet, or has ended.
    """
    if not SANDBOX_BEGINS_AT <= instant <= SANDBOX_ENDS_AT:
        raise UsageError(
            f"the sandbox's world lasts from {format_instant(SANDBOX_BEGINS_AT)} to {format_instant(SANDBOX_ENDS_AT)}; "
            f"{format_instant(instant)} is outside. Name an instant in it"
        )


def sandbox_options(spec: str) -> "SandboxOptions":
    """Return the options in `sandbox[:options]`.

    Raises:
        UsageError: If they are not options of a sandbox.
    """
    # A simulated world costs a tenth of a second, which only those pay who play in it.
    from predibot.sandbox.server.options import parse_options

    with _told(spec):
        return parse_options(spec.partition(":")[2])


def sandbox_world(spec: str, *, altered_after: datetime | None = None) -> "World":
    """Return the world that `sandbox[:options]` names.

    Args:
        spec: As a user gives it.
        altered_after: What becomes known after this instant comes out in another way; all before it is the same.

    Raises:
        UsageError: If the options are not those of a sandbox, or no world can be made of them.
    """
    from predibot.sandbox.world.world import World

    options = sandbox_options(spec)
    with _told(spec):
        return World.from_seed(
            options.seed, events=options.events, markets=options.markets, altered_after=altered_after
        )


def open_sandbox_venue(spec: str, settings: "Settings", *, now: datetime, world: "World | None" = None) -> OpenVenue:
    """Open `sandbox[:options]` at an instant of its world.

    Args:
        spec: As a user gives it.
        settings: How patient to be.
        now: Where its clock stands.
        world: Left out, that of the options is made anew.

    Raises:
        UsageError: If the options are none, or the instant is outside of the world.
    """
    from predibot.sandbox.server.server import open_sandbox
    from predibot.venues.polymarket.client import Polymarket

    check_in_sandbox(now)
    closing = ExitStack()
    server = closing.enter_context(
        open_sandbox(sandbox_options(spec), now=now, world=sandbox_world(spec) if world is None else world)
    )
    venue = closing.enter_context(
        Polymarket(
            gamma_url=server.gamma_url,
            clob_url=server.clob_url,
            name="sandbox",
            live=False,
            clock=lambda: now,
            call_deadline_seconds=settings.call_deadline_seconds,
            list_deadline_seconds=settings.list_deadline_seconds,
        )
    )
    loopback = Loopback(server.search_url, server.chat_url, server.address)
    return OpenVenue(spec, venue, now, closing, loopback)


@contextmanager
def _told(spec: str) -> Iterator[None]:
    """Tell what is wrong with the options of a sandbox."""
    try:
        yield
    except ValueError as error:
        raise UsageError(f"--venue {spec[:100]}: {error}") from None
