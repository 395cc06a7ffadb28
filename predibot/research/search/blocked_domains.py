"""Blocked domains: sites that a forecast must not be copied from, such as the market's own."""

import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

from predibot.research.search.addresses import landing_url

_FILE = Path(__file__).with_name("blocked_domains.txt")


def blocked_domains() -> frozenset[str]:
    """Return the prediction markets and mirrors that are blocked by default."""
    return frozenset(_read_list())


def first_blocked_domain() -> str:
    """Return the first one, as an example."""
    return next(_read_list())


def _read_list() -> Iterator[str]:
    lines = (line.partition("#")[0].strip().lower() for line in _FILE.read_text(encoding="utf-8").splitlines())
    return (line for line in lines if line)


def blocked_domain(url: str, domains: Collection[str]) -> str | None:
    """Return the first of these domains that an address lies on, leads to, or shows a copy of, or None.

    An address that cannot be parsed counts as blocked.

    Examples:
        >>> blocked_domain("https://www.market.example./event/x", {"market.example"})
        'market.example'
        >>> blocked_domain("https://archive.example/web/2026/https://market.example/x", {"market.example"})
        'market.example'
        >>> blocked_domain("https://notmarket.example", {"market.example"}) is None
        True
    """
    try:
        hosts = [_host(url)]
    except ValueError:
        return next(iter(domains), None)
    # A target that is no address is not blocked.
    with suppress(ValueError):
        hosts.append(_host(landing_url(url) or ""))
    behind = unquote(unquote(url.partition("://")[2].partition("/")[2])).lower()
    for domain in domains:
        if any(host == domain or host.endswith(f".{domain}") for host in hosts):
            return domain
        if domain in behind and re.search(rf"(?<![\w-]){re.escape(domain)}(?::\d+)?(?:[/?&#]|$)", behind):
            return domain
    return None


def _host(url: str) -> str:
    return (urlsplit(url).hostname or "").rstrip(".").encode("idna").decode("ascii").lower()
