"""Connections to IP addresses that were checked before: no further name look-up, one deadline."""

import socket
import ssl
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from typing import Any

import httpcore

from predibot.research.pages.errors import Deadline, PageUnreadable

Connect = Callable[[str, int, float], socket.socket]
"""Connects a socket to an IP address and port within so many seconds, or raises `OSError`."""


def connect_tcp(address: str, port: int, seconds: float) -> socket.socket:
    """Return a socket connected to exactly that IP address."""
    return socket.create_connection((address, port), timeout=seconds)


@dataclass(frozen=True, slots=True)
class PinnedBackend(httpcore.NetworkBackend):
    """Makes httpcore connect only to the given addresses, whatever name it asks for."""

    addresses: Sequence[str]
    """Checked IP addresses, tried in order."""
    _: KW_ONLY
    connect: Connect
    deadline: Deadline
    max_bytes: int
    """The most bytes to receive, headers included."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Return a stream to the first address that answers."""
        failure = OSError("no address")
        for address in self.addresses:
            try:
                made = self.connect(address, port, self.deadline.left_seconds())
            except OSError as error:
                failure = error
            else:
                return PinnedStream(made, self.deadline, self.max_bytes)
        raise httpcore.ConnectError(str(failure)) from failure


@dataclass(slots=True, eq=False)
class PinnedStream(httpcore.NetworkStream):
    """A socket with a deadline for every wait and a limit on what it receives."""

    sock: socket.socket
    deadline: Deadline
    max_bytes: int
    received: int = 0

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return the next bytes, empty at the end."""
        with self._translate_errors(httpcore.ReadError):
            read = self.sock.recv(max_bytes)
        self.received += len(read)
        if self.received > self.max_bytes:
            raise PageUnreadable(f"the server sends more than {self.max_bytes:,} bytes; take another source")
        return read

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send everything."""
        with self._translate_errors(httpcore.WriteError):
            self.sock.sendall(buffer)

    @contextmanager
    def _translate_errors(self, failure: type[httpcore.NetworkError]) -> Iterator[None]:
        """Let what waits in this block end with the deadline, also at a server that drips a byte a second."""
        self.sock.settimeout(self.deadline.left_seconds())
        try:
            yield
        except TimeoutError as error:
            raise self.deadline.timeout_error() from error
        except OSError as error:
            raise failure(str(error)) from error

    def close(self) -> None:
        """Close the socket."""
        self.sock.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        """Return the stream through TLS; the certificate must match the name, not the address."""
        try:
            with self._translate_errors(httpcore.ConnectError):
                wrapped = ssl_context.wrap_socket(self.sock, server_hostname=server_hostname)
        except BaseException:
            self.close()
            raise
        return PinnedStream(wrapped, self.deadline, self.max_bytes, self.received)

    def get_extra_info(self, info: str) -> Any:
        """Return the socket, which httpcore may ask for."""
        return self.sock if info == "socket" else None
