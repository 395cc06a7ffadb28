"""Why a page is not shown: one tree, named by what the reader should do next.

```
PageError
├── AddressRefused    visit another address; this one is never fetched
├── PageUnavailable   try again later, or another source
├── PageUnreadable    take another source; this one is no page that can be read
└── PageTooLate       take an older source; this one may know the future
```

A message is a plain sentence without a trailing full stop; an agent reads it after `error:`.
"""

from enum import StrEnum

from predibot.errors import PredibotError


class PageError(PredibotError):
    """Anything that keeps a page from being shown."""


class AddressRefused(PageError):
    """The address is malformed, private, blocked, or leads to one that is."""


class PageUnavailable(PageError):
    """The server could not be reached, was too slow, or answered with an error."""


class PageUnreadable(PageError):
    """The answer is too large, broken, of another type, or holds no text."""


class PageTooLate(PageError):
    """In a replay: the page is newer than the replayed instant, or cannot prove that it is not."""


class Unreadable(StrEnum):
    """Why there is no text in what came: all that a parser, which reads untrusted bytes, can say of it."""

    NO_TEXT = "the page holds no text; take another source"
    BROKEN_PDF = "the PDF is broken; take another source"
    LOCKED_PDF = "the PDF is locked with a password; take another source"
    PICTURES = "the PDF holds pictures of pages and no text; take another source"
    TOO_MUCH_MEMORY = "reading the page takes too much memory; take another source"
