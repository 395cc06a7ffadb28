"""A reading: a fetched page as text, with its title and its date."""

import hashlib
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass

from predibot.research.pages.deadline import Deadline
from predibot.research.pages.fetch import Page
from predibot.research.pages.parser_messages import PageDate, PageSource, Parsed
from predibot.research.pages.parser_pool import PARSERS, ParserPool

_MOST_KEPT, _MOST_CHARACTERS = 256, 20_000_000
_kept: "OrderedDict[str, Parsed]" = OrderedDict()
"""Pages that were parsed lately, by what their parser got: bots of a recipe read the same ones."""
_keeping = threading.Lock()


@dataclass(frozen=True, slots=True)
class Reading:
    """What an agent is shown of a page, and what the record keeps of it."""

    url: str
    """Where the page was in the end."""
    title: str
    text: str
    """A paragraph a line, without control characters."""
    date: PageDate
    body_sha256: str
    """Of the page as fetched."""
    links: str
    """One a line: words and address."""


def reading_of(page: Page, parsers: ParserPool = PARSERS) -> Reading:
    """Return a page as text.

    Args:
        page: As fetched; none of its bytes are looked at in this process.
        parsers: What parses it.

    Raises:
        PageUnreadable: If there is no text in it, or reading takes too much time or memory.
        PageWalled: If it shows a wall instead of its text.
        PageUnavailable: If no parser can be had in time.
    """
    deadline = Deadline.after(parsers.limits.seconds, time.monotonic)
    seconds = parsers.limits.seconds
    source = PageSource(page.content_type, page.charset, page.final_url, seconds, page.body, page.last_modified_at)
    parsed = _parsed(source, parsers, deadline)
    sha256 = hashlib.sha256(page.body).hexdigest()
    return Reading(page.final_url, parsed.title, parsed.text, parsed.date, sha256, parsed.links)


def _parsed(source: PageSource, parsers: ParserPool, deadline: Deadline) -> Parsed:
    """Return what a page says, parsed once while it is kept; what cannot be read is tried each time."""
    key = hashlib.sha256(repr([hashlib.sha256(each).digest() for each in source.fields()]).encode()).hexdigest()
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
