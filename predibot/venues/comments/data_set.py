"""A folder of labelled comments and windows, read line by line."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from pydantic import TypeAdapter, ValidationError

from predibot.contracts import ResolutionPage
from predibot.domain.event import Event, EventPage, MarketRef
from predibot.domain.price import Instrument, PricePath, Quote
from predibot.errors import UsageError, VenueChanged, VenueMissing
from predibot.text_tasks.data_set import FILES

_BLOCK = 1 << 20


class CommentsVenue:
    """A data set that a run of text tasks is drawn from; it has texts, and no markets that are traded."""

    name: ClassVar = "comments"
    live: ClassVar = False

    def __init__(self, folder: Path) -> None:
        """Read the data set of a folder; nothing is read before it is asked for."""
        self.folder = folder

    @cached_property
    def digest(self) -> str:
        """Return the SHA-256 of the files, each with its name."""
        whole = hashlib.sha256()
        for name in sorted(FILES):
            of_file = hashlib.sha256()
            with self._open(name) as file:
                while block := file.read(_BLOCK):
                    of_file.update(block)
            whole.update(f"{name} {of_file.hexdigest()}\n".encode())
        return whole.hexdigest()

    @cached_property
    def last_at(self) -> datetime:
        """Return the instant of the last comment, as of which the data set is played."""
        last = max((row.at for row in self.rows("comments")), default=None)
        if last is None:
            raise UsageError(f"{self.folder / 'comments.jsonl'} has no comment; collect some")
        return datetime.fromisoformat(last)

    def rows(self, name: str) -> Iterator[Any]:
        """Yield the rows of a file.

        Raises:
            VenueChanged: If a line is no row of it.
            VenueMissing: If there is no such file.
        """
        kind: TypeAdapter[Any] = TypeAdapter(FILES[name])
        with self._open(name) as file:
            for number, line in enumerate(file, start=1):
                try:
                    yield kind.validate_json(line)
                except ValidationError as error:
                    first = error.errors(include_url=False)[0]
                    where = "".join(f"{part}: " for part in first["loc"])
                    what = f"{self.folder / name}.jsonl, line {number}: {where}{first['msg']}"
                    what = what.replace("Value error, ", "")
                    raise VenueChanged(f"{what}. Collect the comments again") from None

    def _open(self, name: str) -> Any:
        try:
            return (self.folder / f"{name}.jsonl").open("rb")
        except OSError as error:
            raise VenueMissing(f"{self.folder / name}.jsonl cannot be read: {error.strerror}") from None

    def events(self, as_of: datetime, *, enough: Callable[[Sequence[Event]], bool] | None = None) -> EventPage:
        """Return no event: texts are drawn by the game."""
        return EventPage(())

    def event(self, event_id: str, as_of: datetime) -> Event:
        """Refuse, as there is no event."""
        raise UsageError(f"a data set of comments has no event {event_id[:60]!r}")

    def price_path(self, instrument: Instrument, *, start: datetime, until: datetime) -> PricePath:
        """Return no price."""
        return PricePath(instrument)

    def resolutions(self, markets: Sequence[MarketRef], *, as_of: datetime) -> ResolutionPage:
        """Return nothing: no market of the run is open."""
        return ResolutionPage({})

    def quotes(self, event: Event) -> Mapping[str, Quote]:
        """Return no quote."""
        return {}
