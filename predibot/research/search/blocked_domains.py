"""Domains: sites that a forecast must not be copied from, such as the market's own."""

from collections.abc import Collection, Iterator
from pathlib import Path
from urllib.parse import urlsplit

_FILE = Path(__file__).with_name("blocked_domains.txt")


def blocked_domains() -> frozenset[str]:
    """Return the prediction markets and mirrors that are blocked unless a recipe says otherwise."""
    return frozenset(_listed())


def first_blocked_domain() -> str:
    """Return the one that stands first, for who needs an example."""
    return next(_listed())


def _listed() -> Iterator[str]:
    lines = (line.partition("#")[0].strip().lower() for line in _FILE.read_text(encoding="utf-8").splitlines())
    return (line for line in lines if line)


def is_blocked(url: str, domains: Collection[str]) -> bool:
    """Return whether an address lies on one of these domains or below one; an unreadable one does.

    Examples:
        >>> is_blocked("https://www.market.example./event/x", {"market.example"})
        True
        >>> is_blocked("https://notmarket.example", {"market.example"})
        False
    """
    try:
        host = (urlsplit(url).hostname or "").rstrip(".").encode("idna").decode("ascii").lower()
    except ValueError:
        return True
    labels = host.split(".")
    return any(".".join(labels[place:]) in domains for place in range(len(labels)))
