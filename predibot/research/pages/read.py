"""A reading: a fetched page as text, with its title and its date."""

import hashlib
import time
from dataclasses import dataclass

from predibot.research.pages.deadline import Deadline
from predibot.research.pages.fetch import Page
from predibot.research.pages.parser_messages import PageDate, Source
from predibot.research.pages.parser_pool import PARSERS, ParserPool


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
    source = Source(page.content_type, page.charset, page.final_url, seconds, page.body, page.last_modified_at)
    parsed = parsers.parse(source, deadline)
    sha256 = hashlib.sha256(page.body).hexdigest()
    return Reading(page.final_url, parsed.title, parsed.text, parsed.date, sha256, parsed.links)
