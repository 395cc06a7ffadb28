"""Fetching a page from the public web only: checked, bounded, and within a deadline."""

import re
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType

import httpcore

from predibot.net.deadline import call_within
from predibot.net.retry import http_date
from predibot.research.pages.connection.ip_addresses import is_public, parse_ip_address
from predibot.research.pages.connection.pinned_connection import Connect, PinnedBackend, connect_tcp
from predibot.research.pages.connection.url import HostAndPort, Target, follow_redirect, parse_target, refuse_blocked
from predibot.research.pages.decode_body import decompress
from predibot.research.pages.errors import AddressRefused, Deadline, PageError, PageUnavailable, PageUnreadable

PAGE_TYPES = ("text/html", "application/xhtml+xml", "text/plain", "application/pdf")
MAX_ADDRESSES = 32
_OVERHEAD_BYTES = 512 * 1024
"""For handshakes and headers, beside the body."""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)

Resolve = Callable[[str, int], Sequence[str]]
"""Resolves host name and port to IP addresses, or raises `OSError`."""


@dataclass(frozen=True, slots=True)
class FetchPolicy:
    """What a run's agents may fetch, and how much of it."""

    deadline_seconds: float = 20.0
    """For the whole exchange: look-ups, handshakes, redirects, headers, body."""
    max_body_bytes: int = 5_000_000
    max_redirects: int = 5
    allowed_private: frozenset[HostAndPort] = frozenset()
    """Hosts and ports of this machine that may be visited: the sandbox's own. No others ever are."""
    blocked_domains: frozenset[str] = frozenset()
    """In lower case; subdomains are blocked as well."""
    as_of: datetime | None = None
    """In a replay, pages that are newer, or cannot prove that they are not, are refused."""
    user_agent: str = "Mozilla/5.0 (compatible; predibot)"


@dataclass(frozen=True, slots=True)
class Page:
    """A fetched page, not parsed yet."""

    final_url: str
    content_type: str
    """One of `PAGE_TYPES`."""
    charset: str | None
    """As the header states it; the body may state another."""
    body: bytes
    fetched_at: datetime
    last_modified_at: datetime | None


def resolve_by_system(host: str, port: int) -> Sequence[str]:
    """Return the operating system's addresses for a name."""
    answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(answer[4][0]) for answer in answers))


def utc_now() -> datetime:
    """Return this instant."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class SafeFetcher:
    """Fetches pages under a policy; thread-safe, because it keeps no state."""

    policy: FetchPolicy
    _: KW_ONLY
    now: Callable[[], datetime] = utc_now
    resolve: Resolve = resolve_by_system
    """Called once for every request."""
    connect: Connect = connect_tcp
    monotonic: Callable[[], float] = time.monotonic
    ssl_context: ssl.SSLContext | None = None
    """By default httpx's, whatever the environment says."""

    def fetch(self, url: str) -> Page:
        """Return the page at an address.

        Uses no cookies, proxies, environment or scripts: one GET, and one more for each redirect, which is checked like
        the first address. Raises `AddressRefused` if the address, or a redirect's, must not be visited;
        `PageUnavailable` if no good answer came within the deadline; `PageUnreadable` if the answer is no page, or
        larger than allowed.
        """
        deadline = Deadline.after(self.policy.deadline_seconds, self.monotonic)
        target = parse_target(url, allowed_private=self.policy.allowed_private)
        visited: set[str] = set()
        while True:
            refuse_blocked(target, self.policy.blocked_domains)
            visited.add(target.url)
            found = self._request(target, deadline)
            if isinstance(found, Page):
                return found
            if len(visited) > self.policy.max_redirects:
                raise PageUnavailable(
                    f"{target.host} redirects more than {self.policy.max_redirects} times; try another source"
                )
            following = follow_redirect(target, found, allowed_private=self.policy.allowed_private)
            if following.url in visited:
                raise PageUnavailable(f"{target.host} redirects in a circle; try another source")
            target = following

    def _request(self, target: Target, deadline: Deadline) -> Page | str:
        """Return the page that one server answers, or the address it redirects to, without reading the body then."""
        backend = PinnedBackend(
            self._addresses(target, deadline),
            connect=self.connect,
            deadline=deadline,
            max_bytes=self.policy.max_body_bytes + _OVERHEAD_BYTES,
        )
        url = httpcore.URL(
            scheme=target.scheme, host=target.host, port=target.port, target=target.path_and_query.encode("ascii")
        )
        headers: dict[bytes | str, bytes | str] = {
            "Host": target.authority,
            "User-Agent": self.policy.user_agent,
            "Accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,text/plain;q=0.8",
            "Accept-Encoding": "gzip, deflate",
            "Accept-Language": "en,*;q=0.5",
            "Connection": "close",
        }
        context = (self.ssl_context or _ssl_context_of_httpx()) if target.scheme == "https" else None
        pool = httpcore.ConnectionPool(ssl_context=context, network_backend=backend, max_connections=1)
        with _translate_errors(target), closing(pool), pool.stream("GET", url, headers=headers) as response:
            answer_headers = _decode_headers(response.headers)
            if response.status in _REDIRECTS:
                return answer_headers.get("location", "")
            content_type = answer_headers.get("content-type", "")
            charset = _CHARSET.search(content_type)
            return Page(
                final_url=target.url,
                content_type=_media_type(content_type),
                charset=charset.group(1) if charset else None,
                body=self._body(response, answer_headers, target, deadline),
                fetched_at=self.now(),
                last_modified_at=http_date(answer_headers.get("last-modified", "")),
            )

    def _body(
        self, response: httpcore.Response, headers: Mapping[str, str], target: Target, deadline: Deadline
    ) -> bytes:
        """Return the body of a page; raise `PageUnavailable` or `PageUnreadable` if it is of no use."""
        if response.status != 200:
            raise PageUnavailable(f"{target.host} answers {response.status}{_advice(response.status)}")
        essence = _media_type(headers.get("content-type", ""))
        if not essence:
            raise PageUnreadable(f"{target.host} does not say what it sends; take another source")
        if essence not in PAGE_TYPES:
            raise PageUnreadable(f"{target.host} sends {essence[:60]!r}; only HTML, plain text and PDF are read")

        def pieces() -> Iterator[bytes]:
            for piece in response.iter_stream():
                deadline.left_seconds()
                yield piece

        return decompress(pieces(), headers.get("content-encoding", ""), max_bytes=self.policy.max_body_bytes)

    def _addresses(self, target: Target, deadline: Deadline) -> Sequence[str]:
        """Return all addresses of a name, if every one of them may be connected to."""
        literal = parse_ip_address(target.host)
        if literal is not None:
            found: Sequence[str] = (target.host,)
        else:
            try:
                found = call_within(partial(self.resolve, target.host, target.port), deadline.left_seconds())
            except TimeoutError as error:
                raise deadline.timeout_error() from error
            except (OSError, UnicodeError) as error:
                raise PageUnavailable(f"no server is known under {target.host}; see how it is written") from error
        if not found or len(found) > MAX_ADDRESSES:
            raise PageUnavailable(f"no server is known under {target.host}; see how it is written")
        allowed = (target.host, target.port) in self.policy.allowed_private
        for text in found:
            address = parse_ip_address(text)
            # A single private address among public ones may point a name inwards.
            if address is None or not (is_public(address) or (allowed and (literal or address.is_loopback))):
                raise AddressRefused(
                    f"{target.host} is not on the public web, and only that is fetched; take another source"
                )
        return found


@contextmanager
def _translate_errors(target: Target) -> Iterator[None]:
    """Translate errors of httpcore, ssl and sockets into ours."""
    try:
        yield
    except PageError:
        raise
    except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
        raise PageUnavailable(f"{target.host} cannot be reached ({_describe(error)}); try another source") from error
    except (httpcore.ProtocolError, httpcore.UnsupportedProtocol, ValueError) as error:
        raise PageUnreadable(
            f"{target.host} answers what is no HTTP ({_describe(error)}); try another source"
        ) from error
    except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.PoolTimeout, OSError) as error:
        raise PageUnavailable(f"the answer of {target.host} broke off ({_describe(error)}); try again") from error


def _ssl_context_of_httpx() -> ssl.SSLContext:
    """Return the usual certificate authorities, whatever the environment says."""
    # Costs 10 ms and more to read, and only https needs it.
    from httpx import create_ssl_context

    return create_ssl_context(trust_env=False)


def _decode_headers(headers: Sequence[tuple[bytes, bytes]]) -> Mapping[str, str]:
    """Return headers by lower-case name; the first of equals counts, except that encodings add up."""
    by_name: dict[str, str] = {}
    for raw_name, raw_value in headers:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1").strip()
        if name == "content-encoding" and name in by_name:
            value = f"{by_name[name]}, {value}"
            by_name[name] = value
        by_name.setdefault(name, value)
    return MappingProxyType(by_name)


def _media_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _advice(status: int) -> str:
    """Return advice for the agent about a status."""
    if status in (401, 402, 403, 407, 451):
        return ", the page is barred; take another source"
    if status in (404, 410):
        return ", there is no such page; see how the address is written"
    return ", no page; try again later or take another source"


def _describe(error: Exception) -> str:
    return " ".join((str(error) or type(error).__name__).split())[:160]
