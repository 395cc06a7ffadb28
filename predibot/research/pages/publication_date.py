"""The date of a page: when it was published and last changed, and how sure that is."""

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Literal

from predibot.research.pages.html_text import hush

Confidence = Literal["stated", "found", "guessed", "unknown"]
"""`stated`: the page's own data say so. `found`: by its address or its markup.
`guessed`: some date in its text. Only the first two prove anything."""

_LAST_DAY = "2100-01-01"
_LATEST_ZONE = timedelta(hours=12)
"""A time without a zone may be as far west as this."""
_PUBLISHED = frozenset({
    "article:published_time", "og:published_time", "datepublished", "publish-date", "pubdate", "publication_date",
    "dc.date.issued", "dcterms.created", "citation_publication_date", "parsely-pub-date", "sailthru.date",
})  # fmt: skip
_MODIFIED = frozenset({"article:modified_time", "og:updated_time", "datemodified", "last-modified", "dcterms.modified"})
_META = re.compile(r"<(?:meta|time)\b[^>]{1,600}>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"(?<![\w:-])([\w:-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_JSON_LD = re.compile(r"<script\b[^>]{0,200}?application/ld\+json[^>]{0,200}>", re.IGNORECASE)
_ARTICLE = re.compile(r"article|posting|report|webpage|review", re.IGNORECASE)
_MAX_JSON_LD = 20
_MAX_DEPTH = 6
_FAILURES = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)


@dataclass(frozen=True, slots=True)
class Dated:
    """An instant as a page gives it, to the second or to the day."""

    text: str
    """Short ISO: a day, or an instant in UTC."""
    latest_at: datetime
    """The last instant it can mean: of a day its end, without a zone the furthest west."""


@dataclass(frozen=True, slots=True)
class PageDate:
    """What is known of when a page was written."""

    published: Dated | None
    modified: Dated | None
    confidence: Confidence

    @property
    def proves(self) -> bool:
        """Return whether it says for sure when the page was written."""
        return self.confidence in ("stated", "found")

    @property
    def latest_at(self) -> datetime | None:
        """Return the last instant at which the page can have been written or changed."""
        return max((dated.latest_at for dated in (self.published, self.modified) if dated is not None), default=None)


def date_of_html(html: str, url: str) -> PageDate:
    """Return the date of an HTML page: from its data, else its address and markup, else its text.

    Args:
        html: Decoded.
        url: Its address, which often has the day in it.
    """
    stated = [*_in_meta(html), *_in_json_ld(html)]
    published = next((dated for kind, dated in stated if kind == "published"), None)
    changes = [dated for kind, dated in stated if kind == "modified"]
    modified = max(changes, key=lambda dated: dated.latest_at, default=None)
    if published is not None or modified is not None:
        return PageDate(published, modified, "stated")
    for confidence, extensive in _SEARCHES:
        found = _by_htmldate(html, url, extensive=extensive)
        if found is not None:
            return PageDate(found, None, confidence)
    return PageDate(None, None, "unknown")


def date_of_headers(last_modified_at: datetime | None) -> PageDate:
    """Return the date of a file: what the server says of when it last changed."""
    if last_modified_at is None:
        return PageDate(None, None, "unknown")
    return PageDate(None, Dated(f"{last_modified_at.astimezone(UTC):%Y-%m-%dT%H:%MZ}", last_modified_at), "stated")


_SEARCHES: tuple[tuple[Confidence, bool], ...] = (("found", False), ("guessed", True))


def dated(text: object) -> Dated | None:
    """Return the instant a page's data name, or None if it is none.

    Examples:
        >>> dated("2026-02-13").latest_at.isoformat(), dated("2026-02-13T10:00:00+01:00").text
        ('2026-02-14T12:00:00+00:00', '2026-02-13T09:00Z')
    """
    if not isinstance(text, str):
        return None
    stripped = unescape(text).strip()
    try:
        at = datetime.fromisoformat(stripped)
        if ":" not in stripped:
            return Dated(f"{at:%Y-%m-%d}", at.replace(tzinfo=UTC) + timedelta(days=1) + _LATEST_ZONE)
        if at.tzinfo is None:
            return Dated(f"{at:%Y-%m-%d}", at.replace(tzinfo=UTC) + _LATEST_ZONE)
        utc = at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return Dated(f"{utc:%Y-%m-%dT%H:%MZ}", utc)


def _in_meta(html: str) -> Iterator[tuple[str, Dated]]:
    """Yield what meta tags and marked times say."""
    for tag in _META.findall(html):
        said = {name.lower(): first or second or third for name, first, second, third in _ATTRIBUTE.findall(tag)}
        name = (said.get("property") or said.get("name") or said.get("itemprop") or "").lower()
        when = dated(said.get("content") or said.get("datetime"))
        if when is not None and name in _PUBLISHED:
            yield "published", when
        elif when is not None and name in _MODIFIED:
            yield "modified", when


def _in_json_ld(html: str) -> Iterator[tuple[str, Dated]]:
    """Yield what the page's linked data say about articles."""
    for start in itertools.islice(_JSON_LD.finditer(html), _MAX_JSON_LD):
        try:
            value = json.loads(html[start.end() : html.index("</script", start.end())])
        except (ValueError, RecursionError):
            continue
        for thing in _things(value, _MAX_DEPTH):
            for key, kind in (("datePublished", "published"), ("dateModified", "modified")):
                when = dated(thing.get(key))
                if when is not None and _ARTICLE.search(str(thing.get("@type", ""))):
                    yield kind, when


def _things(value: object, depth: int) -> Iterator[dict[str, object]]:
    """Yield every object of linked data, the outermost first."""
    if depth == 0:
        return
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _things(inner, depth - 1)


def _by_htmldate(html: str, url: str, *, extensive: bool) -> Dated | None:
    """Return the day htmldate finds."""
    from htmldate import find_date

    hush("htmldate")
    try:
        # Left to itself it passes over days after today, which in a simulated world are ordinary.
        found = find_date(html, url=url, extensive_search=extensive, original_date=True, max_date=_LAST_DAY)
        return dated(found)
    except _FAILURES:
        return None
