"""Addresses of search results: where an engine's redirect leads, and which results are advertisements."""

import base64
import re
from collections.abc import Callable, Iterator
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

_MAX_WRAPPINGS = 4
_Reader = Callable[[SplitResult, "re.Match[str]"], Iterator[str]]
"""Yields the targets of a redirect, from its parts and the match of its path."""
_WEB = re.compile(r"(?:https?:)?//[^/]", re.IGNORECASE)
_OF_COPIES = re.compile(r"amp_|usqp=|_x_tr_")
"""Parameters that a copy of a page adds to the page's own."""
_DECODED = re.compile(r"(?:^|&)uddg=(https?://.*?)(?:&rut=[0-9a-f]*)?$")


def _read_parameters(*names: str) -> _Reader:

    def read(parts: SplitResult, _path: "re.Match[str]") -> Iterator[str]:
        # No other entity: HTML reads `&notrut=` and `&copy=` as signs too, without a semicolon.
        stated = parse_qs(parts.query.replace("&amp;", "&"))
        return (value for name in names for value in stated.get(name, ()))

    return read


def _read_uddg(parts: SplitResult, path: "re.Match[str]") -> Iterator[str]:
    # ddgs decodes the inner address, so its query looks like the redirect's own.
    if decoded := _DECODED.search(parts.query):
        yield decoded[1] + (f"#{parts.fragment}" if parts.fragment else "")
    yield from _read_parameters("uddg")(parts, path)


def _read_base64(parts: SplitResult, path: "re.Match[str]") -> Iterator[str]:
    """Read Bing's form: `a1` and base64."""
    for text in _read_parameters("u")(parts, path):
        try:
            yield base64.urlsafe_b64decode(text[2:].replace(" ", "-") + "=" * (-len(text[2:]) % 4)).decode()
        except ValueError:
            continue


def _read_path(_parts: SplitResult, path: "re.Match[str]") -> Iterator[str]:
    yield unquote(path["url"])


def _read_copy(parts: SplitResult, path: "re.Match[str]") -> Iterator[str]:
    """Read a copy of a page, such as AMP's, whose path contains the scheme, if any, and the address."""
    address, encoded, of_address = re.split("(%3f|$)", path["url"], maxsplit=1, flags=re.IGNORECASE)
    query = unquote(of_address) if encoded else _page_query(parts.query)
    yield f"{'https' if path['https'] else 'http'}://{address}{query and '?'}{query}"


def _read_translation(parts: SplitResult, path: "re.Match[str]") -> Iterator[str]:
    """Read a translation of Google's, by the steps in its Search Central for advertisers."""
    stated = parse_qs(parts.query)
    ways = ",".join(stated.get("_x_tr_enc", [])).split(",")
    host = "".join(stated.get("_x_tr_hp", [])) + (parts.hostname or "").removesuffix(".translate.goog")
    host = host.removeprefix("1-") if "1" in ways else host
    is_punycode = "0" in ways and host.startswith("0-")
    host = re.sub(r"\b-\b", ".", host[2:] if is_punycode else host).replace("--", "-")
    query = _page_query(parts.query)
    scheme = "http" if stated.get("_x_tr_sch") == ["http"] else "https"
    yield f"{scheme}://{'xn--' if is_punycode else ''}{host}{path[0]}{query and '?'}{query}"


def _page_query(query: str) -> str:
    return "&".join(each for each in query.split("&") if not _OF_COPIES.match(each))


_GOOGLE, _YANDEX = r"(?:.*\.)?google(?:\.[a-z]{2,3}){1,2}", r"(?:.*\.)?(?:yandex(?:\.[a-z]{2,3}){1,2}|ya\.ru)"
_ADDRESS = r"(?P<url>[^/]+\.[^/]+(?:/.*)?)"
_REDIRECTS: tuple[tuple[re.Pattern[str], re.Pattern[str], _Reader], ...] = tuple(
    (re.compile(host), re.compile(path), reader)
    for host, path, reader in (
        (r"(?:.*\.)?duckduckgo\.com|", r"/l/?", _read_uddg),
        (rf"{_GOOGLE}|", r"/url", _read_parameters("q", "url")),
        (_GOOGLE, r"/imgres", _read_parameters("imgrefurl")),
        (_GOOGLE, r"/(?:translate\w*|website)", _read_parameters("u")),
        (_GOOGLE, rf"/amp/(?P<https>s/)?{_ADDRESS}", _read_copy),
        (r".*\.translate\.goog", r".*", _read_translation),
        (r"(?:.*\.)?(?:cdn\.ampproject\.org|bing-amp\.com)", rf"/(?:c|v|a|wp)/(?P<https>s/)?{_ADDRESS}", _read_copy),
        (r"(?:.*\.)?bing\.com", r"/ck/a", _read_base64),
        (r"(?:.*\.)?bing\.com", r"/(?:news/apiclick\.aspx|alink/link)", _read_parameters("url")),
        (r"(?:.*\.)?bing\.com", rf"/amp/(?P<https>s/)?{_ADDRESS}", _read_copy),
        (r"(?:.*\.)?search\.(?:yahoo\.(?:com|co\.jp)|aol\.com)", r".*/RU=(?P<url>.*?)(?:/R[KS]=.*)?", _read_path),
        (_YANDEX, r"/clck/.*?\*(?P<url>http.*)", _read_path),
        (_YANDEX, r"/clck/.*", _read_parameters("url")),
        (_YANDEX, r"/turbo", _read_parameters("text")),
        (rf"translate\.{_YANDEX}", r"/(?:translate|web)", _read_parameters("url")),
        (r"translated\.turbopages\.org", rf"/proxy_u/[^/]+/http(?P<https>s)?/{_ADDRESS}", _read_copy),
        (r"(?:.*\.)?startpage\.com", r"/(?:do|cgi-bin|rd)/.*", _read_parameters("u", "url")),
        (r"(?:.*\.)?search\.brave\.com", r"/redirect", _read_parameters("url", "u")),
        (r"(?:.*\.)?mojeek\.com", r"/(?:redir(?:ect)?|url)", _read_parameters("url", "q", "u")),
    )
)
"""Host and path of redirects and copies, and the reader of their targets. A link within its own page may lack the
host. The tests have an example of each engine's form, and where it was seen.
"""
_ADVERTISEMENTS = (
    (re.compile(r"(?:.*\.)?duckduckgo\.com|"), re.compile(r"/[my]\.js")),
    (re.compile(r"(?:.*\.)?bing\.com"), re.compile(r"/acli?c?k")),
    (re.compile(r"(?:.*\.)?google(?:\.[a-z]{2,3}){1,2}|"), re.compile(r"/(?:pagead/)?aclk")),
    (re.compile(r"(?:.*\.)?(?:googleadservices\.com|doubleclick\.net|googlesyndication\.com)"), re.compile(r"/.*")),
    (re.compile(r"(?:.*\.)?yahoo\.com"), re.compile(r"/cbclk\d*/.*")),
    (re.compile(r"yabs\.yandex\.[a-z]{2,3}"), re.compile(r"/.*")),
    (re.compile(r"search\.brave\.com"), re.compile(r"/a/.*")),
)
"""Host and path."""


def landing_url(url: str) -> str | None:
    """Return where the address of a search result leads, without a request; None for an advertisement.

    Engines use addresses of their own, such as DuckDuckGo's `//duckduckgo.com/l/?uddg=`, and copies of pages, such as
    `a-example.translate.goog`. Unknown addresses are returned unchanged.

    Examples:
        >>> landing_url("//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2Fx%3Fy%3D1&rut=0f")
        'https://a.example/x?y=1'
        >>> landing_url("https://duckduckgo.com/y.js?ad_domain=a.example") is None
        True
    """
    for _ in range(_MAX_WRAPPINGS):
        try:
            parts = urlsplit(f"https:{url}" if url.startswith("//") else url)
            host = (parts.hostname or "").rstrip(".")
        except ValueError:
            return url
        if any(at.fullmatch(host) and path.fullmatch(parts.path) for at, path in _ADVERTISEMENTS):
            return None
        inner = _redirect_target(host, parts)
        if inner is None:
            return parts.geturl() if url.startswith("//") else url
        url = inner
    # Too many redirects.
    return ""


def _redirect_target(host: str, parts: SplitResult) -> str | None:
    for at, paths, read in _REDIRECTS:
        if at.fullmatch(host) and (path := paths.fullmatch(parts.path)):
            # Some are encoded twice.
            stated = (url for each in read(parts, path) for url in (each, unquote(each)))
            return next((url for url in stated if _WEB.match(url)), None)
    return None
