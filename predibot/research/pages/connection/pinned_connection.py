"""Connections to IP addresses that were checked before: no further name look-up, one deadline."""

import socket
import ssl
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import httpcore

from predibot.research.pages.deadline import Deadline
from predibot.research.pages.errors import PageUnreadable

Connect = Callable[[str, int, float], socket.socket]
"""Connects a socket to an IP address and port within so many seconds, or raises OSError."""


def connect_tcp(address: str, port: int, seconds: float) -> socket.socket:
    """Return a socket connected to exactly that IP address."""
    return socket.create_connection((address, port), timeout=seconds)


class PinnedBackend(httpcore.NetworkBackend):
    """Makes httpcore connect only to the given addresses, whatever name it asks for."""

    def __init__(self, addresses: Sequence[str], *, connect: Connect, deadline: Deadline, max_bytes: int) -> None:
        """Keep checked IP addresses, tried in order; `max_bytes` limits what is received, headers included."""
        self._addresses = addresses
        self._connect = connect
        self._deadline = deadline
        self._max_bytes = max_bytes

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
        for address in self._addresses:
            try:
                made = self._connect(address, port, self._deadline.left_seconds())
            except OSError as error:
                failure = error
            else:
                return PinnedStream(made, self._deadline, self._max_bytes)
        raise httpcore.ConnectError(str(failure)) from failure


class PinnedStream(httpcore.NetworkStream):
    """A socket with a deadline for every wait and a limit on what it receives."""

    def __init__(self, sock: socket.socket, deadline: Deadline, max_bytes: int, received: int = 0) -> None:
        """Take over the socket."""
        self._socket = sock
        self._deadline = deadline
        self._max_bytes = max_bytes
        self._received = received

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return the next bytes, empty at the end."""
        # The deadline holds for a server that drips a byte a second too.
        self._socket.settimeout(self._deadline.left_seconds())
        try:
            read = self._socket.recv(max_bytes)
        except TimeoutError as error:
            raise self._deadline.passed() from error
        except OSError as error:
            raise httpcore.ReadError(str(error)) from error
        self._received += len(read)
        if self._received > self._max_bytes:
            raise PageUnreadable(f"the server sends more than {self._max_bytes:,} bytes; take another source")
        return read

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send everything."""
        self._socket.settimeout(self._deadline.left_seconds())
        try:
            self._socket.sendall(buffer)
        except TimeoutError as error:
            raise self._deadline.passed() from error
        except OSError as error:
            raise httpcore.WriteError(str(error)) from error

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        """Return the stream through TLS; the certificate must match the name, not the address."""
        try:
            self._socket.settimeout(self._deadline.left_seconds())
            wrapped = ssl_context.wrap_socket(self._socket, server_hostname=server_hostname)
        except TimeoutError as error:
            self.close()
            raise self._deadline.passed() from error
        except OSError as error:
            self.close()
            raise httpcore.ConnectError(str(error)) from error
        return PinnedStream(wrapped, self._deadline, self._max_bytes, self._received)

    def get_extra_info(self, info: str) -> Any:
        """Return the socket, which httpcore may ask for."""
        return self._socket if info == "socket" else None
