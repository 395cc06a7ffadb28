"""Data sets of studies as venues: a folder of JSON lines, read line by line."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from predibot.contracts import OpenVenue, PayloadReader, Venue, VenuePlugin, VenueRequest
from predibot.domain.event import Event, EventPage, Skip
from predibot.errors import UsageError, VenueChanged, VenueMissing
from predibot.plain_file import open_plain
from predibot.studies.label_game import LabelItem

_MOST_COMMAS = 10
"""In a folder's path."""
_MAX_LINE_BYTES = 32 << 20


@dataclass(frozen=True, slots=True)
class DataSetKind:
    """A kind of data sets, and the files of its folder."""

    name: str
    """The name of the venue."""
    files: Mapping[str, type]
    """The type of a line, by the file's name without its ending."""
    dated: str
    """The file whose rows have instants."""
    instant_of: Callable[[Any], str]
    """Returns the instant of a row; the data set is played as of the last one."""
    made_by: str

    def folders(self, argument: str) -> tuple[Path, ...]:
        """Return the absolute folders of a data set, so that one folder, or a set of them, is one venue.

        `argument` is a folder, or several with commas between them. Raises `VenueMissing` if one is none, and
        `UsageError` if one is named twice.
        """
        found, rest = list[Path](), argument.split(",")
        while rest:
            # A folder's own path may have commas, so the longest that is one is meant.
            joined = (n for n in range(min(len(rest), _MOST_COMMAS), 0, -1) if self._is_folder(",".join(rest[:n])))
            length = next(joined, 1)
            found.append(self._folder(",".join(rest[:length])))
            rest = rest[length:]
        if len({*found}) < len(found):
            raise UsageError(f"{argument[:200]!r} names a folder twice; name each once")
        return tuple(sorted(found))

    def _folder(self, name: str) -> Path:
        folder = Path(name).expanduser().resolve()
        if not self._is_folder(name):
            raise VenueMissing(
                f"there is no data set of {self.name} in {folder}. Look at the path, or make one with `{self.made_by}`"
            )
        return folder

    def _is_folder(self, name: str) -> bool:
        return bool(name) and (Path(name).expanduser() / f"{self.dated}.jsonl").is_file()


def data_set_venue(kind: DataSetKind, item: type[LabelItem], item_noun: str) -> VenuePlugin:
    """Return the venue of a kind of data sets; bots see its items without their hidden fields."""
    return VenuePlugin(
        partial(_open, kind),
        live=False,
        usage=f"{kind.name}:FOLDER",
        needs_argument=True,
        check=lambda argument: ",".join(map(str, kind.folders(argument))),
        payloads=PayloadReader(partial(_refuse_event, item_noun), lambda _: "", item.public_json),
    )


def _open(kind: DataSetKind, request: VenueRequest) -> OpenVenue:
    venue = DataSet(kind.folders(request.argument), kind)
    return OpenVenue(request.spec, venue, request.as_of or venue.last_at)


def _refuse_event(item_noun: str, payload: object, read_at: datetime) -> tuple[Event | None, tuple[Skip, ...]]:
    return None, (Skip("event", "", f"{item_noun} is no event"),)


class DataSet(Venue):
    """A data set as a venue; it has items, and no markets that are traded."""

    live = False

    def __init__(self, folders: Sequence[Path], kind: DataSetKind) -> None:
        """Open folders as one data set; files are read when needed."""
        self.folders, self.kind = folders, kind

    @property
    def name(self) -> str:
        """Return the kind's name."""
        return self.kind.name

    @cached_property
    def digest(self) -> str:
        """Return the SHA-256 of the files and their names; the order and the places of folders do not count."""
        found = sorted(map(self._digest, self.folders))
        return found[0] if len(found) == 1 else hashlib.sha256("\n".join(found).encode()).hexdigest()

    def _digest(self, folder: Path) -> str:
        whole = hashlib.sha256()
        for name in sorted(self.kind.files):
            with _open_lines(folder / f"{name}.jsonl") as file:
                whole.update(f"{name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
        return whole.hexdigest()

    @cached_property
    def last_at(self) -> datetime:
        """Return the last instant; the data set is played as of then."""
        last = max(map(self.kind.instant_of, self.rows(self.kind.dated)), default=None)
        if last is None:
            where = self.folders[0] / f"{self.kind.dated}.jsonl"
            raise UsageError(f"{where} has no line; make it with `{self.kind.made_by}`")
        return datetime.fromisoformat(last)

    def rows(self, name: str) -> Iterator[Any]:
        """Yield the rows of a file.

        Raises:
            VenueChanged: If a line is malformed.
            UsageError: If data sets of this kind have no such rows.
            VenueMissing: If there is no such file.
        """
        if name not in self.kind.files:
            raise UsageError(f"a data set of {self.name} has no {name}; name another venue, or another recipe")
        kind: TypeAdapter[Any] = TypeAdapter(self.kind.files[name])
        for folder in self.folders:
            yield from self._rows(folder / f"{name}.jsonl", kind)

    def _rows(self, path: Path, kind: TypeAdapter[Any]) -> Iterator[Any]:
        with _open_lines(path) as file:
            for number, line in enumerate(iter(partial(file.readline, _MAX_LINE_BYTES + 1), b""), start=1):
                try:
                    if len(line) > _MAX_LINE_BYTES:
                        raise VenueChanged(f"{path}, line {number} is longer than 32 MiB")
                    yield kind.validate_json(line)
                except ValidationError as error:
                    first = error.errors(include_url=False)[0]
                    where = ".".join(map(str, first["loc"])) or "the line"
                    reason = first["msg"].removeprefix("Value error, ")
                    what = f"{path}, line {number}: {where}: {reason}"
                    raise VenueChanged(f"{what}. Make the data set again: `{self.kind.made_by}`") from None

    def events(self, as_of: datetime, *, enough: Callable[[Sequence[Event]], bool] | None = None) -> EventPage:
        """Return no event: the game draws the items."""
        return EventPage(())

    def event(self, event_id: str, as_of: datetime) -> Event:
        """Refuse, as there is no event."""
        raise UsageError(f"a data set of {self.name} has no event {event_id[:60]!r}")


def _open_lines(path: Path) -> Any:
    try:
        return open_plain(path)
    except OSError as error:
        raise VenueMissing(f"{path} cannot be read: {error.strerror}") from None


def funnel_lines(funnel: Mapping[str, int]) -> Iterator[str]:
    """Yield a line for each stage."""
    width = max(map(len, funnel), default=0)
    for stage, n in funnel.items():
        yield f"{stage:<{width}}  {n:>12,}"
