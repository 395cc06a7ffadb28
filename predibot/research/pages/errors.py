"""Why a page is not shown: one tree, named by what the reader should do next.

```
PageError
├── AddressRefused    visit another address; this one is never fetched
├── PageUnavailable   try again later, or another source
├── PageUnreadable    take another source; this one is no page that can be read
├── PageWalled        take another source; this one shows a wall instead of its text
└── PageTooLate       take an older source; this one may know the future
```

A message is a plain sentence without a trailing full stop; an agent reads it after `error:`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from predibot.errors import PredibotError


class PageError(PredibotError):
    """Anything that keeps a page from being shown."""


class AddressRefused(PageError):
    """The address is malformed, private, blocked, or leads to one that is."""


class PageUnavailable(PageError):
    """The server could not be reached, was too slow, or answered with an error."""


class PageUnreadable(PageError):
    """The answer is too large, broken, of another type, or has no text."""


class PageWalled(PageError):
    """The page demands something of its reader first: a script, a proof, a consent, a subscription."""


class PageTooLate(PageError):
    """In a replay: the page is newer than the replayed instant, or cannot prove that it is not."""


class Obstacle(StrEnum):
    """Why a page has no text to show; a parser, which reads untrusted bytes, can say nothing else."""

    NO_TEXT = "the page holds no text; take another source"
    BROKEN_PDF = "the PDF is broken; take another source"
    LOCKED_PDF = "the PDF is locked with a password; take another source"
    SEALED_PDF = "the PDF is locked by a certificate or a seller's own scheme, not a password; take another source"
    PICTURES = "the PDF holds pictures of pages and no text; take another source"
    TOO_MUCH_MEMORY = "reading the page takes too much memory; take another source"
    NO_SUCH_PAGE = "there is no such page; see how the address is written, or take another source"
    NEEDS_SCRIPT = "the page shows nothing without JavaScript; take another source"
    ROBOT_CHECK = "the page asks whether its reader is a robot; take another source"
    CONSENT = "the page shows nothing before its reader agrees to cookies; take another source"
    SUBSCRIPTION = "the page is for subscribers or members; take another source"
    OTHER_REGION = "the page is not shown in this country; take another source"


WALLS = frozenset({
    Obstacle.NEEDS_SCRIPT, Obstacle.ROBOT_CHECK, Obstacle.CONSENT, Obstacle.SUBSCRIPTION,
    Obstacle.OTHER_REGION,
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Deadline:
    """The end of a piece of work."""

    seconds: float
    """The time for the whole work."""
    at: float
    monotonic: Callable[[], float]

    @classmethod
    def after(cls, seconds: float, monotonic: Callable[[], float]) -> "Deadline":
        """Return the deadline that many seconds from now."""
        return cls(seconds, monotonic() + seconds, monotonic)

    def left_seconds(self) -> float:
        """Return the time left, more than zero, or raise `PageUnavailable`."""
        left = self.at - self.monotonic()
        if left <= 0.0:
            raise self.timeout_error()
        return left

    def timeout_error(self) -> PageUnavailable:
        """Return the error for a passed deadline."""
        return PageUnavailable(f"the page was not there after {self.seconds:g} s; try another source")
