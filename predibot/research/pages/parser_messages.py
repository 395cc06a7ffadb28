"""What a page's parser is asked and answers: plain fields of bytes, checked on arrival."""

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Self, cast, get_args

from predibot.research.pages.errors import Obstacle
from predibot.research.pages.html_text import INVISIBLE

MAX_TEXT_CHARACTERS = 500_000
"""Of a page; no agent can afford to read more, and cutting it into parts takes seconds."""
MAX_TITLE_CHARACTERS = 1_000
MAX_NOTE_CHARACTERS = 100
"""The line at the end of a text that was cut."""
MAX_QUESTION_BYTES = 64_000_000
"""More than any policy lets be fetched."""
MAX_LINKS_CHARACTERS = 100_000
MAX_ANSWER_BYTES = 4 * (MAX_TEXT_CHARACTERS + MAX_TITLE_CHARACTERS + MAX_LINKS_CHARACTERS) + 10_000
READY = b"ready"
_MAX_FIELDS = 9
_DATE = re.compile(r"\d{1,4}-\d\d-\d\d(T\d\d:\d\dZ)?", re.ASCII)
_LENGTH = struct.Struct(">I")

Confidence = Literal["stated", "found", "guessed", "unknown"]
"""`stated`: the page's own data say so. `found`: its address does.
`guessed`: some date in its text, or one that its text speaks against. Only the first two prove anything."""
Read = Callable[[int], bytes]
"""Returns exactly so many bytes, or raises."""


@dataclass(frozen=True, slots=True)
class PageSource:
    """A fetched page as its parser gets it."""

    content_type: str
    charset: str | None
    """As the header says it."""
    url: str
    seconds: float
    """What is left of the time for reading it; after that the parser is killed."""
    body: bytes
    last_modified_at: datetime | None = None
    """As the server says it."""

    def fields(self) -> tuple[bytes, ...]:
        """Return it as fields."""
        changed = self.last_modified_at.isoformat() if self.last_modified_at else ""
        texts = (self.content_type, self.charset or "", self.url, repr(self.seconds), changed)
        return (*(text.encode() for text in texts), self.body)

    @classmethod
    def of(cls, fields: Sequence[bytes]) -> Self:
        """Return a source from its fields."""
        content_type, charset, url, seconds, changed = (field.decode() for field in fields[:5])
        last_modified_at = datetime.fromisoformat(changed) if changed else None
        return cls(content_type, charset or None, url, float(seconds), fields[5], last_modified_at)


@dataclass(frozen=True, slots=True)
class Dated:
    """An instant as a page gives it, to the second or to the day."""

    text: str
    """Short ISO: a day, or an instant in UTC."""
    latest_at: datetime
    """The last instant it can mean: of a day its end, without a zone the furthest west."""


@dataclass(frozen=True, slots=True)
class PageDate:
    """What is known of when a page was written."""

    published: Dated | None
    modified: Dated | None
    confidence: Confidence

    @property
    def proves(self) -> bool:
        """Return whether it says for sure when the page was written."""
        return self.confidence in ("stated", "found")

    @property
    def latest_at(self) -> datetime | None:
        """Return the last instant at which the page can have been written or changed."""
        return max((dated.latest_at for dated in (self.published, self.modified) if dated is not None), default=None)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A page as text, with its title and the date that its own content gives."""

    title: str
    text: str
    """A paragraph a line, without control characters."""
    date: PageDate
    links: str = ""
    """The page's links, one a line: its words and its address."""

    def fields(self) -> tuple[bytes, ...]:
        """Return it as fields."""
        date = self.date
        dates = (*_date_fields(date.published), *_date_fields(date.modified))
        return tuple(field.encode() for field in ("parsed", self.title, self.text, date.confidence, *dates, self.links))


def answer_of(fields: Sequence[bytes]) -> "Parsed | Obstacle":
    """Return what a parser answers.

    Raises:
        ValueError: If it is nothing that an honest parser answers.
    """
    kind, *said = (field.decode() for field in fields)
    if kind == "unreadable" and len(said) == 1 and said[0] in Obstacle.__members__:
        return Obstacle[said[0]]
    if kind != "parsed" or len(said) != 8:
        raise ValueError("neither a page nor why there is none")
    title, text, confidence, *dates, links = said
    if len(title) > MAX_TITLE_CHARACTERS or not 0 < len(text) <= MAX_TEXT_CHARACTERS + MAX_NOTE_CHARACTERS:
        raise ValueError("more text than a page has, or none")
    if len(links) > MAX_LINKS_CHARACTERS:
        raise ValueError("more links than a page has")
    if any(map(INVISIBLE.search, (text, title, links))) or "\n" in title:
        raise ValueError("characters that a page does not have")
    return Parsed(title, text, PageDate(_dated(*dates[:2]), _dated(*dates[2:]), _confidence(confidence)), links)


def refusal_fields(reason: Obstacle) -> tuple[bytes, ...]:
    """Return as fields why a page cannot be read."""
    return b"unreadable", reason.name.encode()


def packed(fields: Sequence[bytes]) -> Iterator[bytes]:
    """Yield the bytes of fields: how many there are, how long each is, then each."""
    yield b"".join(_LENGTH.pack(number) for number in (len(fields), *map(len, fields)))
    yield from fields


def read_fields(read: Read, *, max_bytes: int) -> tuple[bytes, ...]:
    """Return the fields that were packed.

    Args:
        read: Where from.
        max_bytes: Of all together; nothing is read of more.

    Raises:
        ValueError: If there are more, or more bytes, than there can be.
    """
    (count,) = _LENGTH.unpack(read(_LENGTH.size))
    if not 0 < count <= _MAX_FIELDS:
        raise ValueError(f"{count} fields")
    lengths = [_LENGTH.unpack(read(_LENGTH.size))[0] for _ in range(count)]
    if sum(lengths) > max_bytes:
        raise ValueError(f"{sum(lengths)} bytes")
    return tuple(read(length) for length in lengths)


def _date_fields(date: Dated | None) -> tuple[str, str]:
    return ("", "") if date is None else (date.text, date.latest_at.isoformat())


def _dated(text: str, latest_at: str) -> Dated | None:
    if not text and not latest_at:
        return None
    at = datetime.fromisoformat(latest_at)
    if at.tzinfo is None or not _DATE.fullmatch(text):
        raise ValueError("no date that a page has")
    return Dated(text, at)


def _confidence(text: str) -> Confidence:
    if text not in get_args(Confidence):
        raise ValueError("no confidence that there is")
    return cast(Confidence, text)
