"""An archive as a past: open once for all instants, and cut off at one of them."""

import shutil
import tempfile
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

from predibot.contracts import OpenVenue
from predibot.errors import UsageError, VenueChanged
from predibot.venues import fields
from predibot.venues.archive import layout
from predibot.venues.archive.reader import Archive
from predibot.venues.archive.resolutions import revision_instant


def write_cut(folder: Path, into: Path, instant: datetime) -> None:
    """Write an archive without anything later than an instant into an empty folder.

    Up to the instant it answers as the whole archive does. A malformed price file or resolution is copied as it is, so
    that its complaint stays the same. Files without anything later become hard links where the disk allows it. Raises
    `UsageError` if the cut cannot be written, and `VenueError` if the archive cannot be read.
    """
    try:
        for taken_at in layout.snapshot_instants(folder):
            if taken_at <= instant:
                _link_or_copy(folder, layout.snapshot_file(folder, taken_at), layout.snapshot_file(into, taken_at))
        _link_or_copy(folder, folder / layout.VENUE_FILE, into / layout.VENUE_FILE)
        for path in layout.price_files(folder):
            _cut_prices(folder, path, into / layout.PRICES / path.name, instant)
        _cut_resolutions(folder, into, instant)
    except OSError as error:
        raise UsageError(f"{into} cannot be written: {error}; make room there, or set TMPDIR") from error


def _link_or_copy(folder: Path, path: Path, target: Path) -> None:
    layout.check_inside(folder, path)
    if not path.is_file():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        target.hardlink_to(path)
    except OSError:
        # Another disk, or another user's file.
        shutil.copyfile(path, target)


def _cut_prices(folder: Path, path: Path, target: Path, instant: datetime) -> None:
    try:
        series = layout.read_series(folder, path)
    except VenueChanged:
        _link_or_copy(folder, path, target)
        return
    if not series or series[-1][0] <= instant:
        _link_or_copy(folder, path, target)
        return
    history = [{"t": at.timestamp(), "p": price} for at, price in series if at <= instant]
    _write(target, {"history": history})


def _cut_resolutions(folder: Path, into: Path, instant: datetime) -> None:
    path = folder / layout.RESOLUTIONS_FILE
    stored = layout.read_json(folder, path)
    if not isinstance(stored, dict):
        _link_or_copy(folder, path, into / layout.RESOLUTIONS_FILE)
        return
    cut = {condition_id: _keep_known(row, instant) for condition_id, row in stored.items()}
    _write(into / layout.RESOLUTIONS_FILE, {condition_id: row for condition_id, row in cut.items() if row is not None})


def _keep_known(stored: object, instant: datetime) -> object | None:
    rows = stored if isinstance(stored, list) else [stored]
    try:
        kept = [row for row in rows if revision_instant(row) <= instant]
    except ValueError:
        return stored
    return kept or None


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(fields.dumps(value), encoding="utf-8")


class RecordedPast(Archive):
    """A market archive, which answers each instant as of then."""

    scripted_models = ""

    def __init__(self, spec: str, folder: Path) -> None:
        """Open an archive; errors as those of `Archive`."""
        super().__init__(folder)
        self.spec = spec
        self.venue_name = self.name
        self.first_at, self.last_at = self.instants[0], self.instants[-1]

    def open_at(self, instant: datetime) -> OpenVenue:
        """Return the archive as of an instant."""
        return OpenVenue(self.spec, self, instant)

    def cut_at(self, instant: datetime) -> OpenVenue:
        """Return a temporary copy of the archive without anything later."""
        with ExitStack() as closing:
            folder = Path(closing.enter_context(tempfile.TemporaryDirectory(prefix="predibot-cut-"))).resolve()
            write_cut(self.folder, folder, instant)
            kind = self.spec.partition(":")[0]
            return OpenVenue(f"{kind}:{folder}", Archive(folder), instant, closing.pop_all())
