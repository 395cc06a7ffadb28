"""A recording as a past: opened once for all instants, and cut off at one of them."""

import shutil
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from predibot.contracts import OpenVenue
from predibot.domain.clock import format_instant
from predibot.errors import UsageError, VenueChanged
from predibot.venues import fields
from predibot.venues.archive import layout
from predibot.venues.archive.reader import Archive
from predibot.venues.archive.resolutions import known_at


def write_cut(folder: Path, into: Path, instant: datetime) -> None:
    """Write an archive without anything that is later than an instant.

    Asked as of the instant or an earlier one, it answers as the whole archive
    does. A price file or a resolution that cannot be read is taken over as it
    is: nobody learns anything from it, and its complaint stays the same.

    Args:
        folder: The archive; only read.
        into: An empty folder; what has nothing later in it is a hard link where the disk allows that.
        instant: The last that is kept.

    Raises:
        UsageError: If the cut cannot be written.
        VenueError: If the archive cannot be read.
    """
    try:
        for taken_at in layout.snapshot_instants(folder):
            if taken_at <= instant:
                _place(folder, layout.snapshot_file(folder, taken_at), layout.snapshot_file(into, taken_at))
        _place(folder, folder / layout.VENUE_FILE, into / layout.VENUE_FILE)
        for path in layout.price_files(folder):
            _cut_prices(folder, path, into / layout.PRICES / path.name, instant)
        _cut_resolutions(folder, into, instant)
    except OSError as error:
        raise UsageError(f"{into} cannot be written: {error}; make room there, or set TMPDIR") from error


def _place(folder: Path, path: Path, target: Path) -> None:
    """Put a file into the cut as it is, where there is one."""
    layout.check_inside(folder, path)
    if not path.is_file():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        target.hardlink_to(path)
    except OSError:
        # Another disk, or a file of somebody else.
        shutil.copyfile(path, target)


def _cut_prices(folder: Path, path: Path, target: Path, instant: datetime) -> None:
    try:
        series = layout.read_series(folder, path)
    except VenueChanged:
        _place(folder, path, target)
        return
    if not series or series[-1][0] <= instant:
        _place(folder, path, target)
        return
    history = [{"t": at.timestamp(), "p": price} for at, price in series if at <= instant]
    _write(target, {"history": history})


def _cut_resolutions(folder: Path, into: Path, instant: datetime) -> None:
    path = folder / layout.RESOLUTIONS_FILE
    stored = layout.read_json(folder, path)
    if not isinstance(stored, dict):
        _place(folder, path, into / layout.RESOLUTIONS_FILE)
        return
    cut = {condition_id: _known_by(row, instant) for condition_id, row in stored.items()}
    _write(into / layout.RESOLUTIONS_FILE, {condition_id: row for condition_id, row in cut.items() if row is not None})


def _known_by(stored: object, instant: datetime) -> object | None:
    """Return what was known of one market by an instant, or None where that is nothing."""
    rows = stored if isinstance(stored, list) else [stored]
    try:
        kept = [row for row in rows if known_at(row) <= instant]
    except ValueError:
        return stored
    return kept or None


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(fields.dumps(value), encoding="utf-8")


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
