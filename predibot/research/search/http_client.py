"""HTTP for search providers: one request, JSON back, whole and in time, or a clause that says why not."""

import json
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx

from predibot.errors import UsageError
from predibot.net.deadline import in_time
from predibot.net.tls import proxy_checked
from predibot.research.search.provider import SearchFailed

DEADLINE_SECONDS = 15.0
MAX_BODY_BYTES = 4_000_000
_THIS_MACHINE = ("all://127.0.0.1", "all://localhost", "all://[::1]")


@dataclass(frozen=True, slots=True)
class SearchHttp:
    """How a provider is asked. Its base address is the user's own and may be private; redirects are not followed."""

    deadline_seconds: float = DEADLINE_SECONDS
    """For the whole exchange."""
    max_body_bytes: int = MAX_BODY_BYTES
    transport: httpx.BaseTransport | None = None
    """Instead of the network, in tests."""

    def ask(
        self,
        name: str,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
        content: Mapping[str, object] | None = None,
    ) -> dict[str, object]:
        """Return the JSON object that a provider answers.

        Args:
            name: The provider's, for complaints.
            method: GET or POST.
            url: Without query.
            headers: Keys travel here and nowhere else.
            params: The query.
            content: Sent as JSON.

        Raises:
            SearchFailed: If there is no whole answer in time, or it is no JSON object.
        """
        request = {"headers": headers, "params": params} | ({} if content is None else {"json": content})
        ends = time.monotonic() + self.deadline_seconds

        def exchange(client: httpx.Client) -> tuple[int, bytes]:
            with client.stream(method, url, **request) as response:  # type: ignore[arg-type]  # one dict for all keywords
                return response.status_code, self._read(name, response, ends)

        try:
            # Closed out here, so that a server that drips its headers does not keep the thread that waits for them.
            with self._client(url) as client:
                status, body = in_time(lambda: exchange(client), self.deadline_seconds)
        except TimeoutError:
            raise self._late(name) from None
        except UsageError as error:
            raise SearchFailed(f"{name} was not asked: {error}", was_asked=False) from None
        except httpx.HTTPError as error:
            raise SearchFailed(f"{name} could not be reached ({type(error).__name__})") from error
        except (httpx.InvalidURL, ValueError) as error:
            raise SearchFailed(f"{name} has an address or a key that cannot be sent ({type(error).__name__})") from None
        return _object(name, status, body)

    def _client(self, url: str) -> httpx.Client:
        """Return a client; without TLS no authorities are loaded, which takes longer than a search on loopback."""
        is_plain = urlsplit(url).scheme == "http"
        with proxy_checked():
            return httpx.Client(
                transport=self.transport,
                mounts=dict.fromkeys(_THIS_MACHINE),
                headers={"accept": "application/json", "accept-encoding": "identity", "user-agent": "predibot"},
                timeout=self.deadline_seconds,
                follow_redirects=False,
                verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if is_plain else True,
            )

    def _read(self, name: str, response: httpx.Response, ends: float) -> bytes:
        """Return the body, as it came and not too long."""
        if response.headers.get("content-encoding", "identity") != "identity":
            raise SearchFailed(f"{name} answered packed, which it was asked not to")
        pieces, size = [], 0
        for piece in response.iter_bytes():
            # Whoever waited for this has gone by then; a server that drips must not keep the thread.
            if time.monotonic() > ends:
                raise self._late(name)
            pieces.append(piece)
            size += len(piece)
            if size > self.max_body_bytes:
                raise SearchFailed(f"{name} answered more than {self.max_body_bytes:,} bytes")
        return b"".join(pieces)

    def _late(self, name: str) -> SearchFailed:
        return SearchFailed(f"{name} gave no whole answer in {self.deadline_seconds:g} s")


def _object(name: str, status: int, body: bytes) -> dict[str, object]:
    """Return the object in a body; refuse every status but success."""
    if status in (401, 403):
        raise SearchFailed(f"{name} refuses us ({status}); see its key, or whether it is set to answer JSON")
    if status in (402, 429, 432, 433):
        raise SearchFailed(f"{name} says that we ask too much ({status})")
    if 300 <= status < 400:
        raise SearchFailed(f"{name} sends us elsewhere ({status}); give its final address")
    if not 200 <= status < 300:
        raise SearchFailed(f"{name} answered {status}")
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        raise SearchFailed(f"{name} answered no JSON") from None
    if not isinstance(content, dict):
        raise SearchFailed(f"{name} answered something else than its format says")
    return content
