"""The layout of a market archive: which file holds what, and reading one without leaving the folder.

```
snapshots/<UTC instant, 2026-02-13T192613Z>/events.json   event objects as the venue wrote them
prices/<token id>.json                                    {"history": [{"t": unix seconds, "p": price}, ...]}
venue.json                                                {"venue": name}; without it, the default venue
resolutions.json                                          {condition id: {"resolved_at": ..., "payouts": [yes, no]}}
```

A market without a condition id stands there under its own id. Payouts are one an outcome, in the order of the
snapshots, or the word `refund`. A resolution may also be a list of revisions, each with `effective_at`.

All functions raise `VenueChanged` for a malformed file or a link out of the archive, and `VenueUnavailable` for what
cannot be read.
"""

import json
import re
import stat
from datetime import UTC, datetime
from pathlib import Path

from predibot.domain.untrusted_text import MAX_JSON_VALUES, has_too_many_values
from predibot.errors import VenueChanged, VenueUnavailable
from predibot.plain_file import NotPlain, names_in, plain_bytes
from predibot.plugins.venues import default_venue
from predibot.venues import fields

SNAPSHOTS = "snapshots"
PRICES = "prices"
EVENTS_FILE = "events.json"
RESOLUTIONS_FILE = "resolutions.json"
VENUE_FILE = "venue.json"
MAX_NAME_CHARACTERS = 80
MAX_FILE_BYTES = 64 * 2**20
MAX_FILES = 500_000
MAX_WIDE_FILE_BYTES = 32 * 2**20
"""With one character beyond U+FFFF, a text takes four bytes a character in memory."""
_WIDE = re.compile(rb"[\xf0-\xf4]")
_NO_FIRST = re.compile(r'\[[\s\\]*"\s*no[\s\\]*"\s*,', re.IGNORECASE)
_INSTANT_FORMAT = "%Y-%m-%dT%H%M%SZ"
Row = tuple[datetime, object]
"""An instant and a price that is not checked yet."""
Series = tuple[Row, ...]
FileKey = tuple[int, int, int, int]
"""Device, number, size and last change: the same for all links to a file."""
_TOKEN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_INSTANT_NAME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{6}Z")


class BrokenFile(VenueChanged):
    """A file of the archive is malformed."""


def snapshot_name(instant: datetime) -> str:
    """Return the folder name of a snapshot at an instant of whole seconds."""
    return instant.astimezone(UTC).strftime(_INSTANT_FORMAT)


def snapshot_instant(name: str) -> datetime | None:
    """Return the instant of a snapshot's folder name; None for other names."""
    if not _INSTANT_NAME.fullmatch(name):
        return None
    try:
        return datetime.strptime(name, _INSTANT_FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None


def snapshot_file(folder: Path, instant: datetime) -> Path:
    """Return the path of a snapshot's events."""
    return folder / SNAPSHOTS / snapshot_name(instant) / EVENTS_FILE


def price_file(folder: Path, token_id: str) -> Path | None:
    """Return the path of a token's prices; None for a name that is no token id and could lead elsewhere."""
    return folder / PRICES / f"{token_id}.json" if _TOKEN_NAME.fullmatch(token_id) else None


def price_files(folder: Path) -> tuple[Path, ...]:
    """Return the paths of all prices by name, without other files; raise `VenueError` as `check_inside`."""
    return tuple(sorted(entry for entry in _list_folder(folder, PRICES) if price_file(folder, entry.stem) == entry))


def _list_folder(folder: Path, name: str) -> list[Path]:
    check_inside(folder, folder / name)
    try:
        return [folder / name / each for each in names_in(folder / name, MAX_FILES)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise VenueUnavailable(f"{folder} cannot be read: {error}; fix its permissions") from error


def file_key(folder: Path, path: Path) -> FileKey | None:
    """Return the key of a file, None where there is no file; raise `VenueError` as `check_inside`."""
    try:
        found = path.lstat()
        if stat.S_ISLNK(found.st_mode):
            check_inside(folder, path)
            found = path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise VenueUnavailable(f"{path} cannot be read: {error}; fix its permissions or the archive") from error
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def check_inside(folder: Path, path: Path) -> None:
    """Raise `VenueChanged` for a path that a link leads out of the archive, `VenueUnavailable` if it is unreadable."""
    try:
        inside = path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError) as error:
        raise VenueUnavailable(f"{path} cannot be followed: {error}; fix the archive") from error
    if not inside:
        raise VenueChanged(f"{path} is a link that leads out of the archive {folder}; replace it by the file itself")


def read_json(folder: Path, path: Path) -> object | None:
    """Return the content of a file, None where there is no file.

    Raises `VenueUnavailable` if it cannot be read, and `VenueChanged` if it is malformed or outside of the archive.
    """
    check_inside(folder, path)
    try:
        return fields.loads(_read_text(path))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise VenueUnavailable(f"{path} cannot be read: {error}; fix its permissions or the archive") from error
    except ValueError as error:
        raise BrokenFile(f"{path} is not whole JSON: {error}; take it out or record it again") from error


def may_list_no_first(folder: Path, path: Path) -> bool:
    """Return whether a market of a snapshot may list No before Yes; much faster than parsing it."""
    check_inside(folder, path)
    return _NO_FIRST.search(_read_text(path)) is not None


def _read_text(path: Path) -> str:
    content = _read_bytes(path)
    return content.decode(json.detect_encoding(content), "surrogatepass")


def _read_bytes(path: Path) -> bytes:
    """Return the bytes of a file; a stranger's archive may try to hang us or to fill the memory."""
    try:
        content = plain_bytes(path, MAX_FILE_BYTES)
    except NotPlain as error:
        raise BrokenFile(f"{path} cannot be read: {error}; take it out, or record it again, less at once") from None
    if len(content) > MAX_WIDE_FILE_BYTES and _WIDE.search(content):
        raise BrokenFile(
            f"{path} is larger than {MAX_WIDE_FILE_BYTES // 2**20} MiB and has emoji or other wide characters; "
            "write them as escapes of JSON, as `predibot record FOLDER` does, or take it out"
        )
    if has_too_many_values(content):
        raise BrokenFile(f"{path} holds more than {MAX_JSON_VALUES:,} values; take it out or record less at once")
    return content


def read_venue_name(folder: Path) -> str:
    """Return the name of the recorded venue; archives of an older predibot do not state it.

    Raises `VenueError` as `read_json`, and for a file that names no venue.
    """
    said = read_json(folder, folder / VENUE_FILE)
    if said is None:
        return default_venue()
    name = said.get("venue") if isinstance(said, dict) else None
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME_CHARACTERS:
        raise BrokenFile(
            f'{folder / VENUE_FILE} is not {{"venue": name}}; write the name of the venue that was recorded'
        )
    return name


def snapshot_instants(folder: Path) -> tuple[datetime, ...]:
    """Return when snapshots were taken, oldest first; unfinished ones have other names.

    Raises `VenueError` as `price_files`.
    """
    instants = (snapshot_instant(entry.name) for entry in _list_folder(folder, SNAPSHOTS))
    return tuple(sorted(instant for instant in instants if instant is not None))


def read_series(folder: Path, path: Path) -> Series:
    """Return the rows of a price file by instant, unchecked; of two at one instant the last counts.

    Raises `VenueError` as `read_json`, and for rows without readable times.
    """
    payload = read_json(folder, path)
    if payload is None:
        return ()
    rows = payload.get("history") if isinstance(payload, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise BrokenFile(f'{path} is not {{"history": [{{"t", "p"}}]}}; take it out of the archive or record it again')
    try:
        series = {fields.unix_instant(row.get("t")): row.get("p") for row in rows}
    except ValueError as error:
        raise BrokenFile(f"{path} has a point at no readable time: {error}; record it again") from error
    return tuple(sorted(series.items(), key=lambda row: row[0]))
