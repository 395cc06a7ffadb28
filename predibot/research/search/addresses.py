"""Addresses of results: where the redirect of a search engine leads, and which of them are advertisements."""

import base64
import re
from html import unescape
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

_MAX_WRAPPINGS = 4
_PARAMETERS = (
    (re.compile(r"(?:.*\.)?duckduckgo\.com|"), re.compile(r"/l/?"), ("uddg",)),
    (re.compile(r"(?:.*\.)?google(?:\.[a-z]{2,3}){1,2}|"), re.compile(r"/url"), ("q", "url")),
    (re.compile(r"(?:.*\.)?(?:yandex(?:\.[a-z]{2,3}){1,2}|ya\.ru)"), re.compile(r"/clck/.*"), ("url",)),
    (re.compile(r"(?:.*\.)?bing\.com"), re.compile(r"/(?:news/apiclick\.aspx|alink/link)"), ("url",)),
    (re.compile(r"(?:.*\.)?startpage\.com"), re.compile(r"/(?:do|cgi-bin)/.*"), ("u", "url")),
)
"""Host, path and parameters of redirects that say where they lead; a host may be left out of a link within its page."""
_DECODED = re.compile(r"(?:^|&)uddg=(https?://.*?)(?:&rut=[0-9a-f]*)?$")
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

    Engines hand out addresses of their own that lead on: DuckDuckGo
    `//duckduckgo.com/l/?uddg=`, Bing `/ck/a?u=a1` and base64, Yahoo `/RU=`,
    Google `/url?q=`. What is no such address stays as it is.

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
    if re.fullmatch(r"(?:.*\.)?search\.yahoo\.(?:com|co\.jp)", host) and "/RU=" in parts.path:
        return unquote(re.split(r"/R[KS]=", parts.path.split("/RU=", 1)[1], maxsplit=1)[0]) or None
    if re.fullmatch(r"(?:.*\.)?bing\.com", host) and parts.path == "/ck/a":
        return _of_base64(next(iter(parse_qs(parts.query).get("u", [])), ""))
    if re.fullmatch(r"(?:.*\.)?google(?:\.[a-z]{2,3}){1,2}", host) and parts.path.startswith("/amp/s/"):
        return f"https://{parts.path.removeprefix('/amp/s/')}"
    for at, path, names in _PARAMETERS:
        if at.fullmatch(host) and path.fullmatch(parts.path):
            # ddgs decodes what stands there, so that a query of the address within looks like one of the redirect.
            if decoded := _DECODED.search(parts.query):
                return decoded[1] + (f"#{parts.fragment}" if parts.fragment else "")
            stated = parse_qs(unescape(parts.query))
            return next((stated[name][0] for name in names if name in stated), None)
    return None


def _of_base64(text: str) -> str | None:
    """Return the address that Bing writes behind two letters, None where it is none."""
    try:
        text = text.replace(" ", "-")
        return base64.urlsafe_b64decode(text[2:] + "=" * (-len(text[2:]) % 4)).decode() or None
    except ValueError:
        return None
