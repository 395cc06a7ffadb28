"""The past: a recording or a simulated world, looked at from one of its instants after the other."""

import tempfile
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from predibot.config import Settings
from predibot.domain.clock import format_instant
from predibot.errors import UsageError
from predibot.jobs.open_venue import Clock, OpenVenue, check_in_sandbox, open_sandbox_venue, open_venue, sandbox_world
from predibot.jobs.replay.file_guard import Seal
from predibot.sandbox.world.calendar import SANDBOX_ENDS_AT, SANDBOX_OPENS_AT
from predibot.venues.archive.reader import Archive
from predibot.venues.archive.truncate import write_cut

if TYPE_CHECKING:
    from predibot.sandbox.world.world import World


class Past(Protocol):
    """A venue that can be looked at as of any instant it knows."""

    @property
    def spec(self) -> str:
        """Return the words that runs keep of it."""
        ...

    @property
    def first_at(self) -> datetime:
        """Return the first instant that decisions are made at where nobody names one."""
        ...

    @property
    def last_at(self) -> datetime:
        """Return the last such instant."""
        ...

    def known_until(self) -> datetime:
        """Return the instant of the last that it knows."""
        ...

    def check(self, instant: datetime) -> None:
        """Refuse an instant that nothing is known of.

        Raises:
            UsageError: It names the first that something is known of.
        """
        ...

    def open_at(self, instant: datetime) -> OpenVenue:
        """Return the venue as of an instant; closing it leaves the past as it is."""
        ...

    def cut_at(self, instant: datetime) -> OpenVenue:
        """Return a venue that is the same up to an instant, and has none of what came after it."""
        ...

    def seal(self) -> AbstractContextManager[object]:
        """Return what keeps this process from reading whatever the whole past is kept in, each time it is entered."""
        ...


def open_past(spec: str, settings: Settings, clock: Clock) -> Past:
    """Return the past behind the name of a venue.

    Raises:
        UsageError: If there is no such venue, or it is live and cannot be asked about its past.
    """
    kind = spec.partition(":")[0]
    if kind == "polymarket":
        raise UsageError(
            f"{spec} is live: nobody can ask it what it said in the past. Record it with `predibot record FOLDER`, "
            "and replay with --venue archive:FOLDER"
        )
    if kind == "sandbox":
        return SimulatedPast(spec, settings, sandbox_world(spec))
    with open_venue(spec, settings, as_of=None, purpose="decide", clock=clock) as opened:
        # What is none of the three was refused there.
        return RecordedPast(opened.spec, settings, clock, Archive(Path(opened.spec.partition(":")[2])))


@dataclass(frozen=True, slots=True)
class RecordedPast:
    """A market archive, opened once for all instants: it answers each of them as of then."""

    spec: str
    settings: Settings
    clock: Clock
    archive: Archive

    @property
    def folder(self) -> Path:
        """Return where the archive lies."""
        return Path(self.spec.partition(":")[2])

    @property
    def first_at(self) -> datetime:
        """Return when the first snapshot was taken."""
        return self.archive.instants[0]

    @property
    def last_at(self) -> datetime:
        """Return when the last snapshot was taken."""
        return self.archive.instants[-1]

    def known_until(self) -> datetime:
        """Return the instant of the last snapshot, price or resolution."""
        return self.archive.known_until()

    def check(self, instant: datetime) -> None:
        """Refuse an instant before the first snapshot."""
        if instant < self.first_at:
            raise UsageError(
                f"{self.folder} has no snapshot at or before {format_instant(instant)}; "
                f"its first is of {format_instant(self.first_at)}"
            )

    def open_at(self, instant: datetime) -> OpenVenue:
        """Return the archive as of an instant."""
        return OpenVenue(self.spec, self.archive, instant, ExitStack())

    def cut_at(self, instant: datetime) -> OpenVenue:
        """Return a copy of the archive in a temporary folder, without anything later."""
        with ExitStack() as closing:
            folder = Path(closing.enter_context(tempfile.TemporaryDirectory(prefix="predibot-cut-")))
            write_cut(self.folder, folder, instant)
            cut = open_venue(f"archive:{folder}", self.settings, as_of=instant, purpose="decide", clock=self.clock)
            return OpenVenue(cut.spec, cut.venue, instant, closing.pop_all())

    def seal(self) -> AbstractContextManager[object]:
        """Return a seal on the archive's folder."""
        return Seal(self.folder)


@dataclass(frozen=True, slots=True)
class SimulatedPast:
    """A sandbox, whose world remembers from one instant to the next what was worked out before."""

    spec: str
    settings: Settings
    world: "World"

    @property
    def first_at(self) -> datetime:
        """Return when the world opens."""
        return SANDBOX_OPENS_AT

    @property
    def last_at(self) -> datetime:
        """Return when it ends."""
        return SANDBOX_ENDS_AT

    def known_until(self) -> datetime:
        """Return when it ends."""
        return SANDBOX_ENDS_AT

    def check(self, instant: datetime) -> None:
        """Refuse an instant outside of the world."""
        check_in_sandbox(instant)

    def open_at(self, instant: datetime) -> OpenVenue:
        """Return the sandbox with its clock at an instant."""
        return open_sandbox_venue(self.spec, self.settings, now=instant, world=self.world)

    def cut_at(self, instant: datetime) -> OpenVenue:
        """Return a sandbox that goes on in another way after an instant: none of what came then is left."""
        world = sandbox_world(self.spec, altered_after=instant)
        return open_sandbox_venue(self.spec, self.settings, now=instant, world=world)

    def seal(self) -> AbstractContextManager[object]:
        """Return what does nothing: a simulated world is kept nowhere."""
        return nullcontext()
