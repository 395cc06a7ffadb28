"""Parsing: the bytes of an untrusted page to its text, title and date; done in a child process only."""

import io
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urljoin

from predibot.research.pages.content.publication_date import date_of_file, date_of_html
from predibot.research.pages.content.walls import wall_of
from predibot.research.pages.deadline import Deadline
from predibot.research.pages.decode_body import decoded
from predibot.research.pages.errors import Obstacle, PageUnreadable
from predibot.research.pages.html_text import bounded, cleaned, hush, main_text, page_title, tree_of
from predibot.research.pages.parser_child import answer_questions
from predibot.research.pages.parser_messages import (
    MAX_TEXT_CHARACTERS,
    MAX_TITLE_CHARACTERS,
    PageDate,
    PageSource,
    Parsed,
    refusal_fields,
)

if TYPE_CHECKING:
    from lxml.html import HtmlElement  # type: ignore[import-untyped]

MAX_LINKS = 200
_WORDS_CHARACTERS, _URL_CHARACTERS = 120, 300


def links_of(tree: "HtmlElement", url: str) -> dict[str, str]:
    """Return the words of a page's links by their addresses, in the order of the page.

    Args:
        tree: The page.
        url: Where it is from; its own places are left out.

    Returns:
        At most `MAX_LINKS`, whole addresses of the web only.
    """
    found: dict[str, str] = {}
    base = next((each.strip() for each in tree.xpath("//base/@href")), "")
    for link in tree.iter("a"):
        try:
            address = urldefrag(urljoin(urljoin(url, base), (link.get("href") or "").strip())).url
        except ValueError:
            continue
        words = " ".join(link.text_content().split())[:_WORDS_CHARACTERS]
        if address.startswith(("http://", "https://")) and len(address) <= _URL_CHARACTERS and address != url and words:
            found.setdefault(address, words)
        if len(found) == MAX_LINKS:
            break
    return found


MAX_PAGES = 100
MAX_CHARACTERS = 1_000_000


def pdf_text(body: bytes, deadline: Deadline) -> str:
    """Return the text of a PDF's first pages, a line a line.

    Args:
        body: The file.
        deadline: Looked at between pages; a single page may pass it.

    Returns:
        Text that says so where pages were left out.

    Raises:
        PageUnreadable: If it is no PDF, is locked, or holds no text.
        MemoryError: If that takes more than there may be.
    """
    # Costs 0.2 s to import, and few pages are PDF.
    from pypdf.errors import PyPdfError

    hush("pypdf")
    # What pypdf ends in on broken files beside its own errors.
    failures = (
        PyPdfError, ValueError, TypeError, LookupError, AttributeError, AssertionError,
        ArithmeticError, RecursionError, NotImplementedError, OSError, ImportError,
    )  # fmt: skip
    try:
        text = "\n".join(_page_texts(body, deadline))
    except failures as error:
        raise PageUnreadable(Obstacle.BROKEN_PDF) from error
    if not text.strip():
        raise PageUnreadable(Obstacle.PICTURES)
    return text


def _page_texts(body: bytes, deadline: Deadline) -> Iterator[str]:
    """Yield the text of page after page, and a note where it ends early."""
    from pypdf import PasswordType, PdfReader

    try:
        reader = PdfReader(io.BytesIO(body))
    except NotImplementedError as error:
        # By certificates, or by a scheme that a seller's own reader opens.
        raise PageUnreadable(Obstacle.SEALED_PDF) from error
    # Most locks only forbid to print or copy, and open with no password.
    if reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED:
        raise PageUnreadable(Obstacle.LOCKED_PDF)
    characters = 0
    for number, page in enumerate(reader.pages):
        late = number > 0 and deadline.monotonic() > deadline.at
        if number == MAX_PAGES or characters > MAX_CHARACTERS or late:
            yield f"[the text ends here, after {number} of {len(reader.pages)} pages]"
            return
        text = cleaned(page.extract_text())
        characters += len(text)
        yield text


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
