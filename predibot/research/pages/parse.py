"""Parsing: the bytes of an untrusted page to its text, title and date; done in a child process only."""

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from predibot.research.pages.deadline import Deadline
from predibot.research.pages.decode_body import decoded
from predibot.research.pages.errors import Obstacle, PageUnreadable
from predibot.research.pages.html_text import bounded, cleaned, main_text, page_title, tree_of
from predibot.research.pages.parser_child import answer_questions
from predibot.research.pages.parser_messages import (
    MAX_TEXT_CHARACTERS,
    MAX_TITLE_CHARACTERS,
    PageDate,
    PageSource,
    Parsed,
    refusal_fields,
)
from predibot.research.pages.pdf_text import pdf_text
from predibot.research.pages.publication_date import date_of_file, date_of_html
from predibot.research.pages.raw_text.links import links_of
from predibot.research.pages.walls import wall_of

_LIBRARIES = ("bs4", "htmldate", "lxml.html", "pypdf", "trafilatura")
MAX_SENTENCES = 50_000
"""Of a page, and lines; cutting half a million one-letter ones into parts takes seconds."""
_SENTENCE_ENDS = re.compile(r"\n|[.!?\u3002\uff01\uff1f]\s")


def serve(data_bytes: int) -> None:
    """Answer what pages say.

    Args:
        data_bytes: Of memory, everything but libraries.
    """
    answer_questions(data_bytes, _LIBRARIES, lambda source: [_answer(source)])


def _answer(source: PageSource) -> Sequence[bytes]:
    """Return what is said of a page; what no library should raise ends the process, which is an answer too."""
    try:
        return parsed(source).fields()
    except PageUnreadable as error:
        return refusal_fields(Obstacle(str(error)))
    except MemoryError:
        return refusal_fields(Obstacle.TOO_MUCH_MEMORY)


def parsed(source: PageSource) -> Parsed:
    """Return a page as text.

    Raises:
        PageUnreadable: If there is no text in it, or a wall instead.
        MemoryError: If that takes more memory than there may be.
    """
    if source.content_type == "application/pdf":
        text = pdf_text(source.body, Deadline.after(source.seconds, time.monotonic))
        return _bounded("", text, date_of_file(source.last_modified_at, text))
    characters, _charset = decoded(source.body, source.charset)
    if source.content_type == "text/plain":
        text = cleaned(characters)
        return _bounded("", text, date_of_file(source.last_modified_at, text))
    html = bounded(characters)
    text = main_text(html, source.url)
    if (wall := wall_of(html, text)) is not None:
        raise PageUnreadable(wall)
    return replace(
        _bounded(page_title(html), text, date_of_html(html, source.url, text)), links=_links(html, source.url)
    )


def _links(html: str, url: str) -> str:
    """Return the links of a page, one a line."""
    tree = tree_of(html)
    found = {} if tree is None else links_of(tree, url)
    return "\n".join(cleaned(f"{words}: {address}").replace("\n", " ") for address, words in found.items())


def _bounded(title: str, text: str, date: PageDate) -> Parsed:
    """Return as much of a page as is shown."""
    if not text:
        raise PageUnreadable(Obstacle.NO_TEXT)
    last = next(islice(_SENTENCE_ENDS.finditer(text), MAX_SENTENCES - 1, None), None)
    most = MAX_TEXT_CHARACTERS if last is None else min(last.start(), MAX_TEXT_CHARACTERS)
    if len(text) > most:
        text = f"{text[:most]}\n[the page goes on; {len(text) - most:,} characters more]"
    return Parsed(title[:MAX_TITLE_CHARACTERS], text, date)
