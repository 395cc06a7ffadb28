"""Parsing: the bytes of an untrusted page to its text, title and date; done in a child process only."""

import time

from predibot.research.deadline import Deadline
from predibot.research.pages.decode_body import decoded
from predibot.research.pages.errors import PageUnreadable, Unreadable
from predibot.research.pages.html_text import bounded, cleaned, main_text, page_title
from predibot.research.pages.parser_messages import MAX_TEXT_CHARACTERS, MAX_TITLE_CHARACTERS, Parsed, Source
from predibot.research.pages.pdf_text import pdf_text
from predibot.research.pages.publication_date import PageDate, date_of_html

_UNDATED = PageDate(None, None, "unknown")


def parsed(source: Source) -> Parsed:
    """Return a page as text.

    Raises:
        PageUnreadable: If there is no text in it.
        MemoryError: If that takes more memory than there may be.
    """
    if source.content_type == "application/pdf":
        return _bounded("", pdf_text(source.body, Deadline.after(source.seconds, time.monotonic)), _UNDATED)
    characters, _charset = decoded(source.body, source.charset)
    if source.content_type == "text/plain":
        return _bounded("", cleaned(characters), _UNDATED)
    html = bounded(characters)
    date = date_of_html(html, source.url)
    return _bounded(page_title(html), main_text(html, source.url), date)


def _bounded(title: str, text: str, date: PageDate) -> Parsed:
    """Return as much of a page as is shown."""
    if not text:
        raise PageUnreadable(Unreadable.NO_TEXT)
    if len(text) > MAX_TEXT_CHARACTERS:
        text = f"{text[:MAX_TEXT_CHARACTERS]}\n[the page goes on; {len(text) - MAX_TEXT_CHARACTERS:,} characters more]"
    return Parsed(title[:MAX_TITLE_CHARACTERS], text, date)
