"""A connection to addresses that were checked before: no name is looked up again, no deadline is passed."""

import socket
import ssl
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import httpcore

from predibot.research.pages.deadline import Deadline
from predibot.research.pages.errors import PageUnreadable

Connect = Callable[[str, int, float], socket.socket]
"""IP address, port and seconds to a connected socket, or OSError."""


def connect_tcp(address: str, port: int, seconds: float) -> socket.socket:
    """Return a socket connected to exactly that IP address."""
    return socket.create_connection((address, port), timeout=seconds)


class PinnedBackend(httpcore.NetworkBackend):
    """Lets httpcore connect to the given addresses only, whatever name it asks for."""

    def __init__(self, addresses: Sequence[str], *, connect: Connect, deadline: Deadline, max_bytes: int) -> None:
        """Keep what the connections are held to.

        Args:
            addresses: Checked IP addresses, tried in this order.
            connect: Makes a socket.
            deadline: For everything that happens on the connections.
            max_bytes: To receive, headers and all.
        """
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
        """Return a stream to the first of the addresses that answers."""
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
    """A socket whose every wait ends at the deadline, and that takes in so much and no more."""

    def __init__(self, sock: socket.socket, deadline: Deadline, max_bytes: int, received: int = 0) -> None:
        """Take over the socket."""
        self._socket = sock
        self._deadline = deadline
        self._max_bytes = max_bytes
        self._received = received

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return the next bytes, empty at the end."""
        # A server that drips a byte a second meets the same deadline at every byte.
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
        """Return the stream through TLS; the certificate is checked against the name, not the address."""
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
        """Return what httpcore wants to know of the socket."""
        return self._socket if info == "socket" else None
