"""Parsing the bytes of an untrusted page into text, title, date and links; only in a child process."""

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
from predibot.research.pages.decode_body import decode_text
from predibot.research.pages.errors import Deadline, Obstacle, PageUnreadable
from predibot.research.pages.html_text import clean_text, hush, limit_html, main_text, page_title, tree_of
from predibot.research.pages.parser_child import answer_questions
from predibot.research.pages.parser_messages import (
    MAX_TEXT_CHARACTERS,
    MAX_TITLE_CHARACTERS,
    PageDate,
    PageSource,
    ParsedPage,
    refusal_fields,
)

if TYPE_CHECKING:
    from lxml.html import HtmlElement  # type: ignore[import-untyped]

_LIBRARIES = ("bs4", "htmldate", "lxml.html", "pypdf", "trafilatura")
MAX_SENTENCES = 50_000
"""Lines count too; cutting half a million one-letter ones into parts takes seconds."""
_SENTENCE_ENDS = re.compile(r"\n|[.!?\u3002\uff01\uff1f]\s")
MAX_LINKS = 200
_WORDS_CHARACTERS, _URL_CHARACTERS = 120, 300
MAX_PDF_PAGES = 100
MAX_PDF_CHARACTERS = 1_000_000


def serve(data_bytes: int) -> None:
    """Answer the parent's questions; `data_bytes` limit this process's memory without libraries."""
    answer_questions(data_bytes, _LIBRARIES, lambda source: [_answer_fields(source)])


def _answer_fields(source: PageSource) -> Sequence[bytes]:
    """Parse a page; errors that no library should raise end the process, which is an answer too."""
    try:
        return parse_page(source).fields()
    except PageUnreadable as error:
        return refusal_fields(Obstacle(str(error)))
    except MemoryError:
        return refusal_fields(Obstacle.TOO_MUCH_MEMORY)


def parse_page(source: PageSource) -> ParsedPage:
    """Return a page as text; raise `PageUnreadable` for a wall or no text, `MemoryError` if it needs too much."""
    if source.content_type == "application/pdf":
        text = pdf_text(source.body, Deadline.after(source.seconds, time.monotonic))
        return _shorten("", text, date_of_file(source.last_modified_at, text))
    characters, _charset = decode_text(source.body, source.charset)
    if source.content_type == "text/plain":
        text = clean_text(characters)
        return _shorten("", text, date_of_file(source.last_modified_at, text))
    html = limit_html(characters)
    text = main_text(html, source.url)
    if (wall := wall_of(html, text)) is not None:
        raise PageUnreadable(wall)
    return replace(
        _shorten(page_title(html), text, date_of_html(html, source.url, text)), links=_links_text(html, source.url)
    )


def _links_text(html: str, url: str) -> str:
    tree = tree_of(html)
    found = {} if tree is None else links_of(tree, url)
    return "\n".join(clean_text(f"{words}: {address}").replace("\n", " ") for address, words in found.items())


def _shorten(title: str, text: str, date: PageDate) -> ParsedPage:
    if not text:
        raise PageUnreadable(Obstacle.NO_TEXT)
    last = next(islice(_SENTENCE_ENDS.finditer(text), MAX_SENTENCES - 1, None), None)
    most = MAX_TEXT_CHARACTERS if last is None else min(last.start(), MAX_TEXT_CHARACTERS)
    if len(text) > most:
        text = f"{text[:most]}\n[the page goes on; {len(text) - most:,} characters more]"
    return ParsedPage(title[:MAX_TITLE_CHARACTERS], text, date)


def pdf_text(body: bytes, deadline: Deadline) -> str:
    """Return the text of a PDF's first pages, with a note if pages were left out.

    The deadline is checked between pages; a single page may pass it. Raises `PageUnreadable` for a file that is no PDF,
    is locked, or has no text, and `MemoryError` for one that needs too much memory.
    """
    # Costs 0.2 s to import, and few pages are PDF.
    from pypdf.errors import PyPdfError

    hush("pypdf")
    # Errors of pypdf on broken files.
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
    """Yield the text of each page, and a note if it ends early."""
    from pypdf import PasswordType, PdfReader

    try:
        reader = PdfReader(io.BytesIO(body))
    except NotImplementedError as error:
        # Locked by certificates, or by a seller's scheme.
        raise PageUnreadable(Obstacle.SEALED_PDF) from error
    # Most locks only forbid printing or copying, and open without a password.
    if reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED:
        raise PageUnreadable(Obstacle.LOCKED_PDF)
    characters = 0
    for number, page in enumerate(reader.pages):
        late = number > 0 and deadline.monotonic() > deadline.at
        if number == MAX_PDF_PAGES or characters > MAX_PDF_CHARACTERS or late:
            yield f"[the text ends here, after {number} of {len(reader.pages)} pages]"
            return
        text = clean_text(page.extract_text())
        characters += len(text)
        yield text


def links_of(tree: "HtmlElement", url: str) -> dict[str, str]:
    """Return the words of a page's links by address, in order: at most `MAX_LINKS` web addresses, without places of the
    page.
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
