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
