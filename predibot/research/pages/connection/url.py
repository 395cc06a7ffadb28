"""The target of a fetch: an address, parsed once, with everything doubtful refused."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import IPv6Address
from urllib.parse import SplitResult, quote, urljoin, urlsplit

import idna

from predibot.research.pages.connection.ip_addresses import parse_ip_address
from predibot.research.pages.errors import AddressRefused
from predibot.research.search.blocked_domains import blocked_domain

LONGEST_URL_CHARACTERS = 4096
SEEN_CHARACTERS = 120
DEFAULT_PORTS = {"http": 80, "https": 443}
PRIVATE_NAMES = (
    "localhost", "local", "localdomain", "internal", "intranet", "private", "corp", "home", "lan",
    "home.arpa", "in-addr.arpa", "ip6.arpa", "onion",
)  # fmt: skip
"""Endings of names that no public server has."""
_UNWRITABLE = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\\]")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_KEPT_IN_PATH = "/%:@!$&'()*+,;=~-._"

HostAndPort = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Target:
    """A parsed address; its parts are resolved, checked, connected to and requested."""

    scheme: str
    host: str
    """Lower case, ASCII, without a trailing dot; an IPv6 address without brackets."""
    port: int
    path_and_query: str

    @property
    def authority(self) -> str:
        """Return host and port as in the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """Return the address in its usual form, without fragment."""
        return f"{self.scheme}://{self.authority}{self.path_and_query}"


def parse_target(url: str, *, allowed_private: Collection[HostAndPort] = ()) -> Target:
    """Parse an address that an agent or a redirect wrote; raise `AddressRefused` if it is not one of the public web.

    Only `allowed_private` hosts and ports of this machine may have private names, or other ports than 80 and 443. An
    address with a user name is refused too.
    """
    text = url.strip()
    parts = _split(text)
    scheme = parts.scheme.lower()
    if scheme not in DEFAULT_PORTS:
        raise AddressRefused(f"{quote_start(text)} is no web address; write it whole, beginning with https://")
    if "@" in parts.netloc:
        raise AddressRefused("an address with a user name in it is not fetched; leave out what stands before the @")
    host = _parse_host(parts, text)
    try:
        port = DEFAULT_PORTS[scheme] if parts.port is None else parts.port
    except ValueError:
        raise AddressRefused(f"{quote_start(text)} names no possible port") from None
    if (host, port) not in allowed_private:
        # Private names are refused before any look-up.
        is_private = "." not in host or any(host == end or host.endswith(f".{end}") for end in PRIVATE_NAMES)
        if is_private and parse_ip_address(host) is None:
            raise AddressRefused(f"{host} is a private name, and only the public web is fetched; take another source")
        if port not in DEFAULT_PORTS.values():
            raise AddressRefused(f"port {port} is not fetched, only 80 and 443; take another source")
    path = quote(parts.path or "/", safe=_KEPT_IN_PATH)
    query = f"?{quote(parts.query, safe=_KEPT_IN_PATH + '?')}" if parts.query else ""
    return Target(scheme, host, port, path + query)


def follow_redirect(at: Target, location: str, *, allowed_private: Collection[HostAndPort] = ()) -> Target:
    """Return the target of a redirect, checked like any other."""
    try:
        joined = urljoin(at.url, location.strip())
    except ValueError:
        raise AddressRefused(f"{at.host} redirects to what is no address: {quote_start(location)}") from None
    return parse_target(joined, allowed_private=allowed_private)


def refuse_blocked(target: Target, blocked_domains: Collection[str]) -> None:
    """Raise `AddressRefused` for a blocked domain, its subdomains, and services that pass on its pages."""
    if (domain := blocked_domain(target.url, blocked_domains)) is not None:
        raise AddressRefused(f"{domain} is blocked, for it shows the very forecasts; take another source")


def quote_start(text: str) -> str:
    """Return the beginning of untrusted text as one harmless quoted line."""
    return repr(text if len(text) <= SEEN_CHARACTERS else f"{text[:SEEN_CHARACTERS]}…")


def _split(text: str) -> SplitResult:
    if len(text) > LONGEST_URL_CHARACTERS:
        raise AddressRefused(f"an address of {len(text)} characters is not fetched; take another source")
    # `urlsplit` silently drops tabs and line ends, and browsers read a backslash as a slash.
    if _UNWRITABLE.search(text):
        raise AddressRefused(
            f"{quote_start(text)} has spaces, backslashes or control characters in it; write it without"
        )
    try:
        return urlsplit(text)
    except ValueError:
        raise AddressRefused(f"{quote_start(text)} is no address") from None


def _parse_host(parts: SplitResult, text: str) -> str:
    """Return the host in the form that is resolved, connected to and sent to the server."""
    host = (parts.hostname or "").removesuffix(".")
    if parts.netloc.startswith("["):
        address = parse_ip_address(host)
        after = parts.netloc.partition("]")[2]
        if not isinstance(address, IPv6Address) or address.scope_id is not None or after[:1] not in ("", ":"):
            raise AddressRefused(f"{quote_start(text)} names no possible address in brackets")
        return str(address)
    try:
        name = host if host.isascii() else idna.encode(host, uts46=True).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        raise AddressRefused(f"{quote_start(text)} names no possible host") from None
    labels = name.split(".")
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise AddressRefused(f"{quote_start(text)} names no possible host")
    if _NUMBER.fullmatch(labels[-1]) and parse_ip_address(name) is None:
        raise AddressRefused(
            f"{quote_start(text)} writes an IP address in an unusual way; write it with four decimal numbers"
        )
    return name
