"""The messages between a parser and its parent: plain fields of bytes, checked on arrival."""

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Self, cast, get_args

from predibot.research.pages.errors import Obstacle
from predibot.research.pages.html_text import INVISIBLE

MAX_TEXT_CHARACTERS = 500_000
"""No agent can afford more, and cutting it into parts takes seconds."""
MAX_TITLE_CHARACTERS = 1_000
MAX_NOTE_CHARACTERS = 100
"""For the line at the end of a shortened text."""
MAX_QUESTION_BYTES = 64_000_000
"""More than any policy allows to fetch."""
MAX_LINKS_CHARACTERS = 100_000
MAX_ANSWER_BYTES = 4 * (MAX_TEXT_CHARACTERS + MAX_TITLE_CHARACTERS + MAX_LINKS_CHARACTERS) + 10_000
READY = b"ready"
_MAX_FIELDS = 9
_DATE = re.compile(r"\d{1,4}-\d\d-\d\d(T\d\d:\d\dZ)?", re.ASCII)
_LENGTH = struct.Struct(">I")

Confidence = Literal["stated", "found", "guessed", "unknown"]
"""`stated`: by the page's own data. `found`: in its address. `guessed`: some date in its text, or one that the text
contradicts. Only the first two are proof.
"""
Read = Callable[[int], bytes]
"""Returns exactly so many bytes, or raises."""


@dataclass(frozen=True, slots=True)
class PageSource:
    """A fetched page for its parser."""

    content_type: str
    charset: str | None
    url: str
    seconds: float
    """The time left for parsing; after that the parser is killed."""
    body: bytes
    last_modified_at: datetime | None = None
    """As the server states it."""

    def fields(self) -> tuple[bytes, ...]:
        """Return the source as fields."""
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
class StatedInstant:
    """A date of a page, to the second or to the day."""

    text: str
    """A day in ISO 8601, or an instant in UTC."""
    latest_at: datetime
    """The last instant it can mean: the end of a day, in the furthest west without a zone."""


@dataclass(frozen=True, slots=True)
class PageDate:
    """What is known of a page's date."""

    published: StatedInstant | None
    modified: StatedInstant | None
    confidence: Confidence

    @property
    def proves(self) -> bool:
        """Return whether the date is proof."""
        return self.confidence in ("stated", "found")

    @property
    def latest_at(self) -> datetime | None:
        """Return the latest instant when the page can have been written or changed."""
        return max((dated.latest_at for dated in (self.published, self.modified) if dated is not None), default=None)


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """A page as text, with its title and its own date."""

    title: str
    text: str
    date: PageDate
    links: str = ""
    """A link a line: its words and its address."""

    def fields(self) -> tuple[bytes, ...]:
        """Return the page as fields."""
        date = self.date
        dates = (*_date_fields(date.published), *_date_fields(date.modified))
        return tuple(field.encode() for field in ("parsed", self.title, self.text, date.confidence, *dates, self.links))


def parse_answer(fields: Sequence[bytes]) -> "ParsedPage | Obstacle":
    """Parse a parser's answer; raise `ValueError` if no honest parser would give it."""
    kind, *rest = (field.decode() for field in fields)
    if kind == "unreadable" and len(rest) == 1 and rest[0] in Obstacle.__members__:
        return Obstacle[rest[0]]
    if kind != "parsed" or len(rest) != 8:
        raise ValueError("neither a page nor why there is none")
    title, text, confidence, *dates, links = rest
    if len(title) > MAX_TITLE_CHARACTERS or not 0 < len(text) <= MAX_TEXT_CHARACTERS + MAX_NOTE_CHARACTERS:
        raise ValueError("more text than a page has, or none")
    if len(links) > MAX_LINKS_CHARACTERS:
        raise ValueError("more links than a page has")
    if any(map(INVISIBLE.search, (text, title, links))) or "\n" in title:
        raise ValueError("characters that a page does not have")
    return ParsedPage(
        title, text, PageDate(_parse_instant(*dates[:2]), _parse_instant(*dates[2:]), _confidence(confidence)), links
    )


def refusal_fields(reason: Obstacle) -> tuple[bytes, ...]:
    """Return an obstacle as fields."""
    return b"unreadable", reason.name.encode()


def pack_fields(fields: Sequence[bytes]) -> Iterator[bytes]:
    """Yield the bytes of fields: their number, their lengths, then each field."""
    yield b"".join(_LENGTH.pack(number) for number in (len(fields), *map(len, fields)))
    yield from fields


def read_fields(read: Read, *, max_bytes: int) -> tuple[bytes, ...]:
    """Return packed fields of at most so many bytes together; raise `ValueError` before reading more."""
    (count,) = _LENGTH.unpack(read(_LENGTH.size))
    if not 0 < count <= _MAX_FIELDS:
        raise ValueError(f"{count} fields")
    lengths = [_LENGTH.unpack(read(_LENGTH.size))[0] for _ in range(count)]
    if sum(lengths) > max_bytes:
        raise ValueError(f"{sum(lengths)} bytes")
    return tuple(read(length) for length in lengths)


def _date_fields(date: StatedInstant | None) -> tuple[str, str]:
    return ("", "") if date is None else (date.text, date.latest_at.isoformat())


def _parse_instant(text: str, latest_at: str) -> StatedInstant | None:
    if not text and not latest_at:
        return None
    at = datetime.fromisoformat(latest_at)
    if at.tzinfo is None or not _DATE.fullmatch(text):
        raise ValueError("no date that a page has")
    return StatedInstant(text, at)


def _confidence(text: str) -> Confidence:
    if text not in get_args(Confidence):
        raise ValueError("no confidence that there is")
    return cast(Confidence, text)
