"""The date of a page: when it was published and last changed, and how certain that is."""

import itertools
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from html import unescape
from typing import TYPE_CHECKING, Literal
from urllib.parse import urljoin, urlsplit

from predibot.research.pages.dates_in_text import find_days, is_younger, says_changed, was_changed
from predibot.research.pages.html_text import hush, main_text, page_title, pieces_of, tree_of
from predibot.research.pages.parser_messages import Confidence, PageDate, StatedInstant

if TYPE_CHECKING:
    from lxml.html import HtmlElement  # type: ignore[import-untyped]

_LAST_DAY = "2100-01-01"
_LATEST_ZONE = timedelta(hours=12)
"""A time without a zone may be as far west as this."""
# Names of meta tags without their marks: `article:published_time`, `article.published`, `DC.date.issued`.
_PUBLISHED = frozenset({
    "articlepublished", "articlepublishedtime", "articlepublisheddate", "articlepublicationdate", "articledate",
    "ogpublishedtime", "ogarticlepublishedtime", "ogpubdate", "ogpublishdate", "ogdatepublished", "datepublished",
    "publishdate", "publisheddate", "publishedtime", "publicationdate", "pubdate", "pdate", "releasedate", "date",
    "dcdate", "dcdateissued", "dcdatepublication", "dctermsdate", "dctermsissued", "citationdate",
    "citationpublicationdate", "citationonlinedate", "parselypubdate", "sailthrudate", "cxenseparserecspublishtime",
})  # fmt: skip
_MODIFIED = re.compile(
    r"(?:modified|updated)(?:date|time|timestamp|at|on)?$|(?:date|last)(?:modif|updat)|lastmod|lastpub|moddate|revised|"
    r"revisiondate|coverageendtime|datecreated|uploaddate"
)
_IN_ADDRESS = re.compile(r"(?<!\d)(20\d\d|19\d\d)([/_-]?)(\d\d?|[a-z]{3,9})\2(\d\d?)(?!\d)", re.IGNORECASE)
_ARTICLE = re.compile(r"article$|posting$|report$|webpage$|^\w*review$", re.IGNORECASE)
_BOX = re.compile(
    r"(?<![a-z])(?:related\w*|recommend(?:ed|ations?)?|teasers?|sidebar|(?<!elementor-)widgets?|comments?|promo|trending|popular|"
    r"mostread|most-read|read-more|more-(?:news|stories|from)|newsletter|latest)(?![a-z])",
    re.IGNORECASE,
)
"""Classes of elements with other pages' headlines or readers' comments."""
_COMMENTS = re.compile(r"(?<![a-z])(?:comments?|disqus)(?![a-z])", re.IGNORECASE)
_BESIDE = frozenset({"aside", "nav", "table"})
_PAGE = frozenset({"html", "body", "main", "article"})
_MARKED = (
    "//*[@datetime or self::time or contains(concat(' ', normalize-space(@class), ' '), ' updated ') or "
    "(@itemprop | @property[not(parent::meta)])[contains(., 'ate') or contains(., 'modif')]]"
)
"""Elements that may contain a date: microdata, RDFa, times, and microformats' `updated`."""
_UNSHOWN = frozenset({"script", "style", "noscript", "template", "select", "svg"})
_MAIL_DATE = re.compile(r"[A-Z][a-z]{2}, \d")
_UNIX_SECONDS = re.compile(r"1\d{9}(\d{3})?")
_IN_BROKEN_JSON = re.compile(r'"(date(?:Published|Modified))"\s*:\s*"([^"]{4,60})"', re.IGNORECASE)
_PARTS = ("liveBlogUpdate", "hasPart", "acceptedAnswer", "suggestedAnswer")
"""These have dates of their own, and are read with the article."""
_SAME_HOSTS = re.compile(r"^(?:www\d?|m|mobile|amp|edition)\.")
_SAME_PAGES = re.compile(r"(?:/amp|/index\.\w+|\.amp)?/?$|^/amp(?=/)")
_MAX_DATE_CHARACTERS = 100
_BYLINE_CHARACTERS, _MAX_HEADINGS = 80, 1_000
_ENTRY_CHARACTERS, _MAX_TIMES, _MAX_PIECES = 18, 1_000, 100
"""So many letters tell whether an entry is shown."""
_FAILURES = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)


_Address = tuple[str, str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class _Statement:
    kind: Literal["published", "modified"]
    at: StatedInstant | None
    """None if it cannot be parsed."""
    is_own: bool
    """Whether it certainly belongs to the article itself. Other dates prove nothing, and count if they are later."""


def date_of_html(html: str, url: str, text: str | None = None) -> PageDate:
    """Return the date of an HTML page: from its article's data or its address, else a guess.

    The latest of several dates counts. Neighbours' dates (a teaser's, a comment's, a table row's) are not the page's.
    The date is no proof in three cases: the text names a later day without announcing it, or says that it was changed
    on one, or the page's data have an unreadable date. `url` often contains the day; `text` is the shown text, None
    extracts it.
    """
    tree = tree_of(html)
    if tree is None:
        return PageDate(None, None, "unknown")
    text = main_text(html, url) if text is None else text
    statements = [*_meta_statements(tree), *_markup_statements(tree), *_json_ld_statements(tree, url)]
    statements += _shown_statements(tree, text)
    own_day = max((_day(each.at) for each in statements if each.is_own and each.at), default=date.min)
    # Drop whole days that people read: the article's own instants on such a day say more.
    statements = [each for each in statements if each.is_own or each.at is None or not _is_within(each.at, own_day)]
    in_address = _date_in_address(url)
    confidence: Confidence = "stated"
    # A site's front page has other pages' headlines, whatever its template states.
    is_front = urlsplit(url).path in ("", "/") and not urlsplit(url).query
    if is_front or not any(each.is_own and each.at for each in statements):
        statements, confidence = [each for each in statements if each.at and in_address], "found"
    published, modified = _latest(statements, "published"), _latest(statements, "modified")
    day = max((_day(dated) for dated in (published, modified) if dated), default=date.min)
    if in_address is not None and _day(in_address) > day:
        published, day = in_address, _day(in_address)
    if published is None and modified is None:
        guess = _guess_date(html, url)
        return PageDate(guess, None, "unknown" if guess is None else "guessed")
    visible = _visible_text(tree)
    if len(visible) < len(text):
        # The text comes from the data of a script, and so do its dates.
        visible += " ".join(script.text or "" for script in tree.iter("script"))
    if (
        any(each.at is None for each in statements)
        or is_younger("\n".join([page_title(html), *_headings(tree), text]), day)
        or was_changed(visible, day, is_known=modified is not None)
    ):
        confidence = "guessed"
    return PageDate(published, modified, confidence)


def date_of_file(last_modified_at: datetime | None, text: str) -> PageDate:
    """Return the date of a PDF or plain text: the server's, unless the text names a later day."""
    if last_modified_at is None:
        return PageDate(None, None, "unknown")
    changed = _of_instant(last_modified_at)
    return PageDate(None, changed, "guessed" if is_younger(text, _day(changed)) else "stated")


def parse_date(text: object) -> StatedInstant | None:
    """Parse a date in a page's data; return None if that fails.

    Examples:
        >>> parse_date("2026-02-13").latest_at.isoformat(), parse_date("2026-02-13T10:00:00+01:00").text
        ('2026-02-14T12:00:00+00:00', '2026-02-13T09:00Z')
        >>> parse_date("Fri, 13 Feb 2026 10:00:00 GMT").text, parse_date("13 February 2026, 10:00").text
        ('2026-02-13T10:00Z', '2026-02-13')
    """
    if not isinstance(text, str):
        return None
    stripped = unescape(text).strip()
    try:
        if _MAIL_DATE.match(stripped):
            at = parsedate_to_datetime(stripped)
        elif _UNIX_SECONDS.fullmatch(stripped):
            at = datetime.fromtimestamp(int(stripped[:10]), UTC)
        else:
            at = datetime.fromisoformat(stripped)
        if ":" not in stripped and at.tzinfo is None:
            return _of_day(at.date())
        if at.tzinfo is None:
            return StatedInstant(at.date().isoformat(), at.replace(tzinfo=UTC) + _LATEST_ZONE)
        return _of_instant(at)
    except (ValueError, OverflowError):
        days = [named.on for named in find_days(stripped[:_MAX_DATE_CHARACTERS]) if not named.is_month]
        return _of_day(max(days)) if days else None


def _of_instant(at: datetime) -> StatedInstant:
    utc = at.astimezone(UTC)
    return StatedInstant(f"{utc.date()}T{utc:%H:%M}Z", utc)


def _of_day(on: date) -> StatedInstant | None:
    try:
        return StatedInstant(
            on.isoformat(), datetime(on.year, on.month, on.day, tzinfo=UTC) + timedelta(days=1) + _LATEST_ZONE
        )
    except OverflowError:
        return None


def _day(dated: StatedInstant) -> date:
    return date.fromisoformat(dated.text[:10])


def _is_within(dated: StatedInstant, day: date) -> bool:
    """Return whether a date is a whole day, not after another day."""
    return _day(dated) <= day and dated == _of_day(_day(dated))


def _latest(statements: Iterable[_Statement], kind: str) -> StatedInstant | None:
    found = (each.at for each in statements if each.kind == kind and each.at is not None)
    return max(found, key=lambda dated: dated.latest_at, default=None)


def _statements(name: str, value: object, *, is_own: bool) -> Iterator[_Statement]:
    """Yield the statement of a field, if its name is one of a date."""
    plain = re.sub(r"[^a-z]", "", name.lower())
    if value is not None and value != "":
        if plain in _PUBLISHED:
            yield _Statement("published", parse_date(value), is_own)
        elif _MODIFIED.search(plain):
            yield _Statement("modified", parse_date(value), is_own)


def _date_in_address(url: str) -> StatedInstant | None:
    """Return the latest day in an address's path."""
    found = []
    for year, mark, month, day in _IN_ADDRESS.findall(urlsplit(url).path):
        if mark or (len(month), len(day)) == (2, 2):
            written = f"{day} {month} {year}" if month.isalpha() else f"{year}-{month}-{day}"
            found += [_of_day(named.on) for named in find_days(written)]
    return max(filter(None, found), key=_day, default=None)


def _meta_statements(tree: "HtmlElement") -> Iterator[_Statement]:
    for tag in tree.iter("meta"):
        yield from _statements(
            tag.get("property") or tag.get("name") or tag.get("http-equiv") or "", tag.get("content"), is_own=True
        )


def _markup_statements(tree: "HtmlElement") -> Iterator[_Statement]:
    """Yield dates in microdata, and unmarked times in the article."""
    found: list[tuple[HtmlElement, _Statement]] = []
    for element in tree.xpath(_MARKED):
        home = _article_of(element)
        if home is None:
            continue
        title = element.get("title") or ""
        value = (
            element.get("content")
            or element.get("datetime")
            or (title if parse_date(title) else element.text_content())
        )
        is_own = home is not tree or element.getparent().tag in ("head", "body")
        names = (element.get("itemprop") or element.get("property") or "").split()
        for name in names:
            found += [(home, statement) for statement in _statements(name.rpartition(":")[2], value, is_own=is_own)]
        is_shown = home is not tree or says_changed(element.getparent().text or "") or _is_near_title(element)
        if not names and is_shown and (at := parse_date(value)):
            found.append((home, _Statement("modified", at, is_own=False)))
    for element in tree.xpath("//*[contains(@itemtype, '/Answer')]//*[@datetime]"):
        yield _Statement("modified", parse_date(element.get("datetime")), is_own=False)
    homes = {home for home, _said in found}
    titled = {home for home in homes if home.find(".//h1") is not None}
    outermost = [home for home in titled if titled.isdisjoint(home.iterancestors())]
    # Several articles without the title are a list; a single one beside it is a neighbour.
    is_list = len(outermost) > 1 if titled else len(homes) > 1 or tree.find(".//h1") is not None
    for home, statement in found:
        if home in titled or not titled:
            yield replace(statement, is_own=statement.is_own and not is_list)


def _shown_statements(tree: "HtmlElement", text: str) -> Iterator[_Statement]:
    """Yield the times of entries that the text shows, wherever they stand: those of a live page have no article."""
    shown = "".join(text.split())
    for element in tree.xpath("//time | //abbr[@title] | //*[@datetime]")[:_MAX_TIMES]:
        at = parse_date(element.get("datetime") or element.get("title") or element.text_content())
        for outer in itertools.islice(element.iterancestors(), 2):
            if at is None or outer.tag in _PAGE:
                break
            pieces = ("".join(piece.split()) for piece in itertools.islice(outer.itertext(), _MAX_PIECES))
            words = max(pieces, key=len, default="")[:_ENTRY_CHARACTERS]
            if len(words) == _ENTRY_CHARACTERS:
                if words in shown:
                    yield _Statement("modified", at, is_own=False)
                break


def _article_of(element: "HtmlElement") -> "HtmlElement | None":
    """Return the article that an element is in, or the page; None if it belongs to a neighbour."""
    home = scope = None
    for outer in element.iterancestors():
        if outer.tag in _BESIDE or _is_box(outer):
            return None
        if scope is None and outer.get("itemscope") is not None:
            scope = outer
            if (kind := outer.get("itemtype")) and not _ARTICLE.search(kind.rstrip("/ ")):
                return None
        if home is None and (outer is scope or outer.tag in ("article", "main")):
            home = outer
    return element.getroottree().getroot() if home is None else home


def _is_box(element: "HtmlElement") -> bool:
    if element.tag in _PAGE:
        return False
    names = f"{element.get('class') or ''} {element.get('id') or ''}"
    return _BOX.search(names) is not None and element.find(".//h1") is None


def _is_near_title(element: "HtmlElement") -> bool:
    near = [outer for outer in itertools.islice(element.iterancestors(), 2) if outer.tag not in ("body", "html")]
    return any(outer.find(".//h1") is not None for outer in near)


def _headings(tree: "HtmlElement") -> Iterator[str]:
    """Yield titles with the lines below them, and captions of pictures: the main text lacks them."""
    for heading in itertools.islice(tree.iter("title", "h1", "figcaption"), _MAX_HEADINGS):
        if _article_of(heading) is not None:
            yield " ".join(heading.text_content().split())
            below = itertools.islice(heading.itersiblings("div", "p", "span"), 2 if heading.tag == "h1" else 0)
            lines = (" ".join(line.text_content().split()) for line in below)
            yield from (line for line in lines if len(line) < _BYLINE_CHARACTERS)


def _is_beside(element: "HtmlElement") -> bool:
    """Return whether an element is outside of the article: comments, or a box of other pages."""
    if _COMMENTS.search(f"{element.get('class') or ''} {element.get('id') or ''}") and element.tag not in _PAGE:
        return True
    is_box = element.tag in ("aside", "nav") or _is_box(element)
    return is_box and not any(outer.tag == "article" for outer in element.iterancestors())


def _visible_text(tree: "HtmlElement") -> str:
    """Return the text of a page without the elements beside the article."""
    shown = pieces_of(tree, lambda element: element.tag in _UNSHOWN or _is_beside(element))
    return " ".join(" ".join(piece for _element, piece in shown).split())


def _json_ld_statements(tree: "HtmlElement", url: str) -> Iterator[_Statement]:
    """Yield the dates of the article in the page's linked data; it is the one with the page's address."""
    things: list[tuple[dict[str, object], bool]] = []
    for script in tree.iter("script"):
        if "ld+json" not in (script.get("type") or "").lower():
            continue
        try:
            things += _linked_objects(json.loads(script.text or "", strict=False))
        except (ValueError, RecursionError):
            for name, statement in _IN_BROKEN_JSON.findall(script.text or ""):
                yield from _statements(name, statement, is_own=False)
    pages = [url, *tree.xpath("//link[@rel='canonical']/@href"), *tree.xpath("//meta[@property='og:url']/@content")]
    # Templates may leave the front page's address in.
    places = [place for page in pages if any((place := _address(url, page))[1:])]
    judged = [
        (thing, is_part, _is_of_page(thing, places, url), _is_article(thing)) for thing, is_part in things if thing
    ]
    is_found = any(is_of and is_article for _thing, _is_part, is_of, is_article in judged)
    kinds = [str(thing.get("@type")) for thing, _is_part, is_of, is_article in judged if is_article and is_of is None]
    is_list = len(kinds) != len(set(kinds)) or any(
        is_of is False and is_article for *_thing, is_of, is_article in judged
    )
    for thing, is_part, is_of, is_article in judged:
        # Only the page's own article proves anything, not a neighbour's.
        if is_of is False and not is_part and (is_found or not is_article):
            continue
        is_own = is_article and is_of is not False and not is_part and (is_found or not is_list)
        for name, value in thing.items():
            for statement in _statements(name, value, is_own=is_own):
                yield replace(statement, kind="modified") if is_part or not is_article else statement


def _linked_objects(value: object) -> Iterator[tuple[dict[str, object], bool]]:
    """Yield the objects of linked data, and whether each is only a part of the article."""
    left = [(value, False)]
    while left:
        value, is_part = left.pop()
        if isinstance(value, list):
            left += [(inner, is_part) for inner in value]
        elif isinstance(value, dict):
            yield value, is_part
            parts = (*_PARTS, "comment") if "Forum" in str(value.get("@type")) else _PARTS
            left += [(value[key], is_part) for key in ("@graph", "mainEntity", "mainEntityOfPage") if key in value]
            left += [(value[key], True) for key in parts if key in value]


def _is_article(thing: dict[str, object]) -> bool:
    kinds = thing.get("@type")
    return any(_ARTICLE.search(str(kind)) for kind in (kinds if isinstance(kinds, list) else [kinds]))


def _is_of_page(thing: dict[str, object], places: list[_Address], url: str) -> bool | None:
    """Return whether an object has the page's address; None if it has none."""
    main = thing.get("mainEntityOfPage")
    main = main.get("@id") or main.get("url") if isinstance(main, dict) else main
    named = [each for each in (thing.get("url"), main) if isinstance(each, str) and each]
    # An `@id` is often a name beside the address.
    named = named or [each for each in [thing.get("@id")] if isinstance(each, str) and each]
    addresses = [_address(url, each) for each in named]
    # Ignore parameters that the reader's way added to the query.
    return any(a[:2] == b[:2] and a[2] <= b[2] for a in addresses for b in places) if addresses else None


def _address(base: str, url: str) -> _Address:
    """Return the part that all addresses of one page share."""
    try:
        split = urlsplit(urljoin(base, url))
    except ValueError:
        return "", url, frozenset()
    query = frozenset(split.query.split("&")) - {""}
    return _SAME_HOSTS.sub("", split.netloc.lower()), _SAME_PAGES.sub("", split.path), query


def _guess_date(html: str, url: str) -> StatedInstant | None:
    from htmldate import find_date

    hush("htmldate")
    try:
        # By default htmldate ignores days after today, but a simulated world has them.
        return parse_date(find_date(html, url=url, extensive_search=True, original_date=True, max_date=_LAST_DAY))
    except _FAILURES:
        return None
