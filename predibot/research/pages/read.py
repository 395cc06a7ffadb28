"""A reading: a fetched page as text, with its title and its date."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from predibot.research.deadline import Deadline, in_time
from predibot.research.pages.decode_body import decoded
from predibot.research.pages.errors import PageUnreadable
from predibot.research.pages.fetch import Page
from predibot.research.pages.html_text import bounded, cleaned, main_text, page_title
from predibot.research.pages.pdf_text import pdf_text
from predibot.research.pages.publication_date import PageDate, date_of_headers, date_of_html

READING_SECONDS = 20.0
"""For turning one page into text; real ones take a tenth of a second."""

MAX_TEXT_CHARACTERS = 500_000
"""Of a page; no agent can afford to read more, and cutting it into parts takes seconds."""

T = TypeVar("T")


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


def reading_of(page: Page, monotonic: Callable[[], float]) -> Reading:
    """Return a page as text.

    Raises:
        PageUnreadable: If there is no text in it, or reading takes too long.
    """
    deadline = Deadline.after(READING_SECONDS, monotonic)
    if page.content_type == "application/pdf":
        text = _bounded(partial(pdf_text, page.body, deadline))
        return _reading(page, "", text, date_of_headers(page.last_modified_at))
    characters, _charset = decoded(page.body, page.charset)
    if page.content_type == "text/plain":
        return _reading(page, "", cleaned(characters), date_of_headers(page.last_modified_at))
    return _bounded(partial(_of_html, page, bounded(characters)))


def _of_html(page: Page, html: str) -> Reading:
    """Return what an HTML page says; where it gives no date, the server may."""
    date = date_of_html(html, page.final_url)
    if not date.proves and page.last_modified_at is not None:
        date = date_of_headers(page.last_modified_at)
    return _reading(page, page_title(html), main_text(html, page.final_url), date)


def _reading(page: Page, title: str, text: str, date: PageDate) -> Reading:
    if not text:
        raise PageUnreadable("the page holds no text; take another source")
    if len(text) > MAX_TEXT_CHARACTERS:
        text = f"{text[:MAX_TEXT_CHARACTERS]}\n[the page goes on; {len(text) - MAX_TEXT_CHARACTERS:,} characters more]"
    return Reading(page.final_url, title, text, date, hashlib.sha256(page.body).hexdigest())


def _bounded(call: Callable[[], T]) -> T:
    """Return what a parser returns, or give it up: hostile files keep one busy for minutes."""
    try:
        # The first page of a PDF may itself take for ever, so waiting ends a little after its deadline.
        return in_time(call, READING_SECONDS + 1.0)
    except TimeoutError as error:
        raise PageUnreadable(f"reading the page takes more than {READING_SECONDS:g} s; take another source") from error
