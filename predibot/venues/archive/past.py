"""A recording as a past: opened once for all instants, and cut off at one of them."""

import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from predibot.contracts import OpenVenue
from predibot.domain.clock import format_instant
from predibot.errors import UsageError
from predibot.venues.archive.reader import Archive
from predibot.venues.archive.truncate import write_cut


@dataclass(frozen=True, slots=True)
class RecordedPast:
    """A market archive: it answers each instant as of then."""

    spec: str
    archive: Archive
    scripted_models: str = ""

    @property
    def venue_name(self) -> str:
        """Return whose markets were recorded."""
        return self.archive.name

    @property
    def folder(self) -> Path:
        """Return where the archive lies."""
        return self.archive.folder

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
        return OpenVenue(self.spec, self.archive, instant)

    def cut_at(self, instant: datetime) -> OpenVenue:
        """Return a copy of the archive in a temporary folder, without anything later."""
        with ExitStack() as closing:
            folder = Path(closing.enter_context(tempfile.TemporaryDirectory(prefix="predibot-cut-"))).resolve()
            write_cut(self.folder, folder, instant)
            kind = self.spec.partition(":")[0]
            return OpenVenue(f"{kind}:{folder}", Archive(folder), instant, closing.pop_all())
