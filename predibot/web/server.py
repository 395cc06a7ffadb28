"""The web server: it listens at an address, and bounds what each connection may take.

uvicorn limits only the time between two requests (`timeout_keep_alive`), and every byte that comes starts that time
anew. It counts connections (`limit_concurrency`) only when a request is complete. See `data_received` and
`handle_events` of its `H11Protocol`.
"""

import asyncio
import socket
from collections.abc import Callable

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from predibot.errors import UsageError, words_of

REQUEST_SECONDS = 15.0
"""How long a request may take, from the connection or its first byte until its last."""
MOST_CONNECTIONS = 200
ANSWER_SECONDS = 60.0
"""How long a client may take to read a part of an answer."""
_FULL = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class _BoundedConnection(H11Protocol):
    """A connection that is closed if it takes too long, or if there are too many."""

    _request_ends: asyncio.TimerHandle | None = None
    _answer_ends: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # So that `pause_writing` is called as soon as any byte waits.
        transport.set_write_buffer_limits(high=0)
        if len(self.connections) > MOST_CONNECTIONS:
            self.connections.discard(self)
            transport.write(_FULL)
            transport.close()
        else:
            self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._request_ends, self._answer_ends):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self.transport.is_closing():
            super().data_received(data)
            self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._answer_ends = self.loop.call_later(ANSWER_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        if self._answer_ends is not None:
            self._answer_ends.cancel()
        super().resume_writing()

    def _watch(self) -> None:
        """Start the timer of an unfinished request, or stop it when the request is complete."""
        is_whole = self.conn.their_state not in (h11.IDLE, h11.SEND_BODY)
        if is_whole and self._request_ends is not None:
            self._request_ends.cancel()
            self._request_ends = None
        elif not is_whole and self._request_ends is None:
            self._request_ends = self.loop.call_later(REQUEST_SECONDS, self.transport.close)


def serve_app(app: FastAPI, *, host: str, port: int, say: Callable[[str], None]) -> None:
    """Serve an app until Ctrl-C or SIGTERM.

    Raises:
        UsageError: If nobody may listen there.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            # The address is said below: whoever reads it may ask at once.
            listener.listen()
        except OSError as error:
            raise UsageError(f"cannot listen at {host} port {port}: {words_of(error)}. Name another --port") from error
        shown = f"[{host}]" if ":" in host else host
        say(f"http://{shown}:{listener.getsockname()[1]}/  (Ctrl-C ends it)")
        uvicorn.Server(server_config(app)).run([listener])


def server_config(app: FastAPI) -> uvicorn.Config:
    """Return the settings of uvicorn: bounded connections, no websocket."""
    return uvicorn.Config(
        app,
        http=_BoundedConnection,
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
    )
