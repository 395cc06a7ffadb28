"""Addresses of results: where the redirect of a search engine leads, and which of them are advertisements."""

import base64
import re
from collections.abc import Callable, Iterator
from html import unescape
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

_MAX_WRAPPINGS = 4
_Reader = Callable[[SplitResult, "re.Match[str]"], Iterator[str]]
"""Yields what a redirect may lead to, by its parts and the match of its path."""
_WEB = re.compile(r"(?:https?:)?//[^/]", re.IGNORECASE)
_OF_COPIES = re.compile(r"amp_|usqp=|_x_tr_")
"""Parameters that a copy of a page adds to those of the page."""
_DECODED = re.compile(r"(?:^|&)uddg=(https?://.*?)(?:&rut=[0-9a-f]*)?$")


def _parameter(*names: str) -> _Reader:
    """Return what reads these parameters of a query."""

    def read(parts: SplitResult, _path: "re.Match[str]") -> Iterator[str]:
        stated = parse_qs(unescape(parts.query))
        return (value for name in names for value in stated.get(name, ()))

    return read


def _uddg(parts: SplitResult, path: "re.Match[str]") -> Iterator[str]:
    # ddgs decodes what stands there, so that a query of the address within looks like one of the redirect.
    if decoded := _DECODED.search(parts.query):
        yield decoded[1] + (f"#{parts.fragment}" if parts.fragment else "")
    yield from _parameter("uddg")(parts, path)


def _of_base64(parts: SplitResult, path: "re.Match[str]") -> Iterator[str]:
    """Read what Bing writes as `a1` and base64."""
    for text in _parameter("u")(parts, path):
        try:
            yield base64.urlsafe_b64decode(text[2:].replace(" ", "-") + "=" * (-len(text[2:]) % 4)).decode()
        except ValueError:
            continue


def _in_path(_parts: SplitResult, path: "re.Match[str]") -> Iterator[str]:
    yield unquote(path["url"])


def _copied(parts: SplitResult, path: "re.Match[str]") -> Iterator[str]:
    """Read a copy of a page, such as AMP's, whose path has the scheme, if any, and the address."""
    address, encoded, of_address = re.split("(%3f|$)", path["url"], maxsplit=1, flags=re.IGNORECASE)
    query = unquote(of_address) if encoded else _of_page(parts.query)
    yield f"{'https' if path['https'] else 'http'}://{address}{query and '?'}{query}"


def _translated(parts: SplitResult, path: "re.Match[str]") -> Iterator[str]:
    """Read a translation of Google's, by the steps that its Search Central lists for advertisers."""
    stated = parse_qs(parts.query)
    ways = ",".join(stated.get("_x_tr_enc", [])).split(",")
    host = "".join(stated.get("_x_tr_hp", [])) + (parts.hostname or "").removesuffix(".translate.goog")
    host = host.removeprefix("1-") if "1" in ways else host
    is_punycode = "0" in ways and host.startswith("0-")
    host = re.sub(r"\b-\b", ".", host[2:] if is_punycode else host).replace("--", "-")
    query = _of_page(parts.query)
    scheme = "http" if stated.get("_x_tr_sch") == ["http"] else "https"
    yield f"{scheme}://{'xn--' if is_punycode else ''}{host}{path[0]}{query and '?'}{query}"


def _of_page(query: str) -> str:
    return "&".join(each for each in query.split("&") if not _OF_COPIES.match(each))


_GOOGLE, _YANDEX = r"(?:.*\.)?google(?:\.[a-z]{2,3}){1,2}", r"(?:.*\.)?(?:yandex(?:\.[a-z]{2,3}){1,2}|ya\.ru)"
_ADDRESS = r"(?P<url>[^/]+\.[^/]+(?:/.*)?)"
_REDIRECTS: tuple[tuple[re.Pattern[str], re.Pattern[str], _Reader], ...] = tuple(
    (re.compile(host), re.compile(path), reader)
    for host, path, reader in (
        (r"(?:.*\.)?duckduckgo\.com|", r"/l/?", _uddg),
        (rf"{_GOOGLE}|", r"/url", _parameter("q", "url")),
        (_GOOGLE, r"/imgres", _parameter("imgrefurl")),
        (_GOOGLE, r"/(?:translate\w*|website)", _parameter("u")),
        (_GOOGLE, rf"/amp/(?P<https>s/)?{_ADDRESS}", _copied),
        (r".*\.translate\.goog", r".*", _translated),
        (r"(?:.*\.)?(?:cdn\.ampproject\.org|bing-amp\.com)", rf"/(?:c|v|a|wp)/(?P<https>s/)?{_ADDRESS}", _copied),
        (r"(?:.*\.)?bing\.com", r"/ck/a", _of_base64),
        (r"(?:.*\.)?bing\.com", r"/(?:news/apiclick\.aspx|alink/link)", _parameter("url")),
        (r"(?:.*\.)?bing\.com", rf"/amp/(?P<https>s/)?{_ADDRESS}", _copied),
        (r"(?:.*\.)?search\.(?:yahoo\.(?:com|co\.jp)|aol\.com)", r".*/RU=(?P<url>.*?)(?:/R[KS]=.*)?", _in_path),
        (_YANDEX, r"/clck/.*?\*(?P<url>http.*)", _in_path),
        (_YANDEX, r"/clck/.*", _parameter("url")),
        (_YANDEX, r"/turbo", _parameter("text")),
        (rf"translate\.{_YANDEX}", r"/(?:translate|web)", _parameter("url")),
        (r"translated\.turbopages\.org", rf"/proxy_u/[^/]+/http(?P<https>s)?/{_ADDRESS}", _copied),
        (r"(?:.*\.)?startpage\.com", r"/(?:do|cgi-bin|rd)/.*", _parameter("u", "url")),
        (r"(?:.*\.)?search\.brave\.com", r"/redirect", _parameter("url", "u")),
        (r"(?:.*\.)?mojeek\.com", r"/(?:redir(?:ect)?|url)", _parameter("url", "q", "u")),
    )
)
"""Host and path of redirects and copies, and what reads where they lead; a host may be left out of a link within its
page. What each engine hands out is in the tests, with where that was seen."""
_ADVERTISEMENTS = (
    (re.compile(r"(?:.*\.)?duckduckgo\.com|"), re.compile(r"/[my]\.js")),
    (re.compile(r"(?:.*\.)?bing\.com"), re.compile(r"/acli?c?k")),
    (re.compile(r"(?:.*\.)?google(?:\.[a-z]{2,3}){1,2}|"), re.compile(r"/(?:pagead/)?aclk")),
    (re.compile(r"(?:.*\.)?(?:googleadservices\.com|doubleclick\.net|googlesyndication\.com)"), re.compile(r"/.*")),
    (re.compile(r"(?:.*\.)?yahoo\.com"), re.compile(r"/cbclk\d*/.*")),
    (re.compile(r"yabs\.yandex\.[a-z]{2,3}"), re.compile(r"/.*")),
    (re.compile(r"search\.brave\.com"), re.compile(r"/a/.*")),
)
"""Host and path of what somebody paid for."""


def landing_url(url: str) -> str | None:
    """Return where an address of a result leads, without being asked for; None where that is an advertisement.

    Engines hand out addresses of their own that lead on, such as DuckDuckGo's
    `//duckduckgo.com/l/?uddg=`, and copies of pages, such as
    `a-example.translate.goog`. What is not known as one stays as it is.

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
        inner = _inner(host, parts)
        if inner is None:
            return parts.geturl() if url.startswith("//") else url
        url = inner
    # What leads on and on leads nowhere that could be shown.
    return ""


def _inner(host: str, parts: SplitResult) -> str | None:
    """Return the address that a redirect states, None where it is none or states none."""
    for at, paths, read in _REDIRECTS:
        if at.fullmatch(host) and (path := paths.fullmatch(parts.path)):
            # Some are encoded twice.
            stated = (url for each in read(parts, path) for url in (each, unquote(each)))
            return next((url for url in stated if _WEB.match(url)), None)
    return None
