"""The tool that reads a web page: safely fetched, as text, in parts a model can afford."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from predibot.contracts import ToolError, ToolResult, ToolText, TraceWriter, VisitPage
from predibot.domain.clock import format_instant
from predibot.domain.trace import PageRefusedStep, PageVisitedStep, Step
from predibot.research.pages.chunks import focused_parts, mentions, parts_of
from predibot.research.pages.errors import (
    AddressRefused,
    PageError,
    PageTooLate,
    PageUnavailable,
    PageUnreadable,
    PageWalled,
)
from predibot.research.pages.fetch import FetchPolicy, Page, SafeFetcher, utc_now
from predibot.research.pages.html_text import main_text
from predibot.research.pages.parser_pool import PARSERS, ParserPool
from predibot.research.pages.read import Reading, reading_of
from predibot.research.search.blocked_domains import blocked_domains

__all__ = [
    "AddressRefused",
    "FetchPolicy",
    "Page",
    "PageError",
    "PageTooLate",
    "PageUnavailable",
    "PageUnreadable",
    "PageWalled",
    "SafeFetcher",
    "main_text",
    "make_visit_webpage",
    "visit_webpage",
]

KEPT_READINGS = 16
"""Pages a tool remembers, so that part 2 is of the same text as part 1."""
TITLE_CHARACTERS = 160
URL_CHARACTERS = 240
FOCUS_CHARACTERS = 500


def visit_webpage(url: str, part: int = 1, focus: str | None = None, links: bool = False) -> ToolResult:
    """Return the main text of a web page.

    Args:
        url: The whole address, beginning with https:// or http://.
        part: Which part of a long page, from 1.
        focus: What you look for, as a question or some words: the passages that have it come first.
        links: Whether to show the page's links instead of its text.
    """
    return make_visit_webpage()(url, part, focus, links)


def make_visit_webpage(
    policy: FetchPolicy | None = None,
    clock: Callable[[], datetime] = utc_now,
    trace: TraceWriter | None = None,
    *,
    fetch: Callable[[str], Page] | None = None,
    keep: Callable[[str], str] | None = None,
    parsers: ParserPool = PARSERS,
) -> VisitPage:
    """Return an agent's tool for reading web pages.

    The tool raises nothing that a page or an address can cause: such an answer
    is a `ToolError` of one sentence. It writes down `page_visited` for each page
    it shows, with the digests of its text and of what was fetched, and
    `page_refused` for each it does not, with the kind of the error;
    `PageTooLate` is what a replay counts.

    Args:
        policy: What may be fetched; None for the defaults, with the prediction markets blocked.
        clock: Says when a page was fetched.
        trace: Where visits are written down; None for nowhere.
        fetch: Replaces the fetcher that the policy would make.
        keep: Keeps the whole text of a page that is shown, and returns the
            SHA-256 it is found by; None keeps nothing.
        parsers: The child processes that read what was fetched.
    """
    held_to = policy or FetchPolicy(blocked_domains=blocked_domains())
    visitor = _Visitor(held_to, fetch or SafeFetcher(held_to, now=clock).fetch, trace, keep or text_digest, parsers)

    def visit_webpage(url: str, part: int = 1, focus: str | None = None, links: bool = False) -> ToolResult:
        """Return the main text of a web page.

        Args:
            url: The whole address, beginning with https:// or http://.
            part: Which part of a long page, from 1.
            focus: What you look for, as a question or some words: the passages that have it come first.
            links: Whether to show the page's links instead of its text.
        """
        return visitor.visit(url, part, focus, links)

    return visit_webpage


class _Visitor:
    """One agent's visits: what it may fetch, and what it has read so far."""

    def __init__(
        self,
        policy: FetchPolicy,
        fetch: Callable[[str], Page],
        trace: TraceWriter | None,
        keep: Callable[[str], str],
        parsers: ParserPool,
    ) -> None:
        self._policy = policy
        self._fetch = fetch
        self._trace = trace
        self._keep = keep
        self._parsers = parsers
        self._readings: OrderedDict[str, Reading] = OrderedDict()
        # Agents call several tools of one turn at once.
        self._lock = threading.Lock()

    def visit(self, url: str, part: int, focus: str | None, links: bool) -> ToolResult:
        """Return a part of a page or of its links, or why there is none."""
        try:
            reading = self._reading(url)
            if links:
                reading = replace(reading, text=self._links(reading))
            shown = _shown(reading, part, focus)
        except PageError as error:
            self._write(PageRefusedStep(str(url), error.kind, str(error)))
            return ToolError(f"{error}.")
        sha256 = self._keep(reading.text)
        date = reading.date
        self._write(
            PageVisitedStep(
                url=url,
                part=part,
                focus=focus,
                sha256=sha256,
                final_url=reading.url,
                title=reading.title,
                body_sha256=reading.body_sha256,
                published=date.published.text if date.published else None,
                modified=date.modified.text if date.modified else None,
                date_confidence=date.confidence,
            )
        )
        return ToolText(shown)

    def _links(self, reading: Reading) -> str:
        """Return the links of a page.

        Raises:
            PageTooLate: If an instant is replayed: menus and boxes lead to what is new today.
            PageUnreadable: If there are none.
        """
        if self._policy.as_of is not None:
            raise PageTooLate("the links of a page may be newer than the page; read its text")
        if not reading.links:
            raise PageUnreadable("the page has no links; read its text")
        return reading.links

    def _reading(self, url: str) -> Reading:
        """Return a page's text, fetched once."""
        if not isinstance(url, str) or not url.strip():
            raise AddressRefused("there is no address; write one, beginning with https://")
        with self._lock:
            known = self._readings.get(url)
        if known is None:
            # It starts while the page is being fetched.
            self._parsers.warm()
            known = reading_of(self._fetch(url), self._parsers)
            _require_past(known, self._policy.as_of)
        with self._lock:
            self._readings[url] = known
            self._readings.move_to_end(url)
            while len(self._readings) > KEPT_READINGS:
                self._readings.popitem(last=False)
        return known

    def _write(self, step: Step) -> None:
        if self._trace is not None:
            self._trace.write(step)


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text as UTF-8."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _require_past(reading: Reading, as_of: datetime | None) -> None:
    """Refuse, in a replay, what may have been written after the replayed instant.

    Raises:
        PageTooLate: If the page's date is later, or proves nothing.
    """
    if as_of is None:
        return
    latest_at = reading.date.latest_at
    if latest_at is None or not reading.date.proves:
        raise PageTooLate("the page does not prove that it is from before the replayed day; take a dated source")
    if latest_at > as_of:
        raise PageTooLate(
            f"the page may be from after {format_instant(as_of)}, the instant that is replayed; take an older source"
        )


def _shown(reading: Reading, part: int, focus: str | None) -> str:
    """Return a part of a reading under a heading that says what it is."""
    wanted = " ".join((focus or "").split())[:FOCUS_CHARACTERS]
    parts = focused_parts(reading.text, wanted) if wanted else parts_of(reading.text)
    if isinstance(part, bool) or not isinstance(part, int) or not 1 <= part <= len(parts):
        raise PageUnreadable(f"there is no part {part!r:.20}; the page has parts 1 to {len(parts)}")
    lines = [_heading(reading)]
    if wanted and not mentions(reading.text, wanted):
        lines.append("[nothing on the page has these words; its beginning follows]")
    lines.append(parts[part - 1])
    if len(parts) > 1:
        order = ", best passages first" if wanted else ""
        more = f"; part={part + 1} goes on" if part < len(parts) else ""
        lines.append(f"[part {part} of {len(parts)}{order}{more}]")
    return "\n".join(lines)


def _heading(reading: Reading) -> str:
    """Return title, address and date of a page on up to two lines."""
    date = reading.date
    if date.published is not None:
        said = f"published {date.published.text}" + ("" if date.confidence == "stated" else f" ({date.confidence})")
    else:
        said = f"changed {date.modified.text}" if date.modified is not None else "undated"
    title = f"{reading.title[:TITLE_CHARACTERS]}\n" if reading.title else ""
    return f"{title}{reading.url[:URL_CHARACTERS]} · {said}"
