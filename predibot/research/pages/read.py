"""Reading a page: its text, title and date."""

import hashlib
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, replace

from predibot.research.pages.errors import Deadline
from predibot.research.pages.fetch import Page
from predibot.research.pages.parser_messages import PageSource, ParsedPage
from predibot.research.pages.parser_pool import PARSERS, ParserPool

_MOST_KEPT, _MOST_CHARACTERS = 256, 20_000_000
_kept: "OrderedDict[PageSource, ParsedPage]" = OrderedDict()
"""Recently parsed pages, by the parser's input with a digest as its body: a recipe's bots read the same pages."""
_keeping = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading(ParsedPage):
    """A page for an agent, and for the record; its text is a paragraph a line, without control characters."""

    url: str
    """After redirects."""
    body_sha256: str


def reading_of(page: Page, parsers: ParserPool = PARSERS) -> Reading:
    """Return a fetched page as text; this process looks at none of its bytes.

    Raises `PageUnavailable` and its kinds as `ParserPool.parse` does.
    """
    deadline = Deadline.after(parsers.limits.seconds, time.monotonic)
    seconds = parsers.limits.seconds
    source = PageSource(page.content_type, page.charset, page.final_url, seconds, page.body, page.last_modified_at)
    sha256 = hashlib.sha256(page.body).hexdigest()
    parsed = _parse_cached(source, sha256, parsers, deadline)
    return Reading(parsed.title, parsed.text, parsed.date, parsed.links, url=page.final_url, body_sha256=sha256)


def _parse_cached(source: PageSource, body_sha256: str, parsers: ParserPool, deadline: Deadline) -> ParsedPage:
    """Return the parsed page, from the cache if possible; failures are not cached."""
    key = replace(source, body=body_sha256.encode())
    with _keeping:
        found = _kept.get(key)
    found = found or parsers.parse(source, deadline)
    with _keeping:
        _kept[key] = found
        _kept.move_to_end(key)
        while (
            len(_kept) > _MOST_KEPT
            or sum(len(each.text) + len(each.links) for each in _kept.values()) > _MOST_CHARACTERS
        ):
            _kept.popitem(last=False)
    return found
