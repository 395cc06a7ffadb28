"""A web without a network: names and connections are injected, and every packet ends at a loopback server."""

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from predibot.research.pages.fetch import FetchPolicy, Page, SafeFetcher
from tests.jobs.program import PATIENCE_SECONDS

PUBLIC = "93.184.216.34"
HTML = b"<html><head><title>News</title></head><body><p>The vote is on Tuesday.</p></body></html>"

Answer = Callable[[socket.socket, str], None]
"""What a server does with a connection and the head of the request."""


def reply(body: bytes = HTML, *, status: str = "200 OK", headers: Sequence[str] = ()) -> bytes:
    """Return an HTTP answer; HTML unless the headers say otherwise."""
    typed = () if any(line.lower().startswith("content-type") for line in headers) else ("Content-Type: text/html",)
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *typed, *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def redirect(to: str) -> bytes:
    return reply(b"", status="302 Found", headers=[f"Location: {to}"])


def saying(raw: bytes) -> Answer:
    """Return a server that always sends the same bytes."""
    return lambda connection, _head: connection.sendall(raw)


def by_host(answers: Mapping[str, bytes]) -> Answer:
    """Return a server that answers by host and path."""

    def answer(connection: socket.socket, head: str) -> None:
        path = head.split(" ", 2)[1]
        host = next(line[6:] for line in head.split("\r\n") if line.lower().startswith("host: "))
        connection.sendall(answers[host + path])

    return answer


def drip(start: bytes, piece: bytes, stop: threading.Event) -> Answer:
    """Return a server that never ends: a start, then a piece every 20 ms."""

    def answer(connection: socket.socket, _head: str) -> None:
        connection.sendall(start)
        while not stop.wait(0.02):
            connection.sendall(piece)

    return answer


@dataclass
class World:
    """Who is called what, who answers, and what was asked of whom."""

    answer: Answer = field(default_factory=lambda: saying(reply()))
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Addresses by host; any other has the public one."""
    wrap: Callable[[socket.socket], socket.socket] = lambda plain: plain
    port: int = 0
    resolved: list[str] = field(default_factory=list)
    connected: list[tuple[str, int]] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)

    def resolve(self, host: str, _port: int) -> Sequence[str]:
        self.resolved.append(host)
        return self.names.get(host, (PUBLIC,))

    def connect(self, address: str, port: int, seconds: float) -> socket.socket:
        self.connected.append((address, port))
        return socket.create_connection(("127.0.0.1", self.port), timeout=seconds)

    def fetch(self, url: str, policy: FetchPolicy | None = None) -> Page:
        held_to = policy or FetchPolicy(deadline_seconds=PATIENCE_SECONDS)
        return SafeFetcher(held_to, resolve=self.resolve, connect=self.connect).fetch(url)

    def serve(self, listener: socket.socket) -> None:
        """Answer one connection after the other, each in its own thread."""
        while not self.stop.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve_one, args=(connection,), daemon=True).start()

    def _serve_one(self, plain: socket.socket) -> None:
        # Clients under attack hang up in the middle, which is what they should do.
        with contextlib.suppress(OSError), plain, self.wrap(plain) as connection:
            connection.settimeout(PATIENCE_SECONDS)
            head = b""
            while b"\r\n\r\n" not in head and (more := connection.recv(4096)):
                head += more
            if b"\r\n\r\n" not in head:
                return
            self.heads.append(head.decode("latin-1"))
            self.answer(connection, self.heads[-1])


@contextlib.contextmanager
def running(world: World) -> Iterator[World]:
    """Let a world answer on a loopback port of its own."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        world.port = listener.getsockname()[1]
        thread = threading.Thread(target=world.serve, args=(listener,), daemon=True)
        thread.start()
        try:
            yield world
        finally:
            world.stop.set()
            # A blocked accept is woken by a last connection.
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", world.port), timeout=1).close()
            thread.join(timeout=5)
