"""The monitor: a small HTTP server on loopback, beside the schedule service."""

import logging
import re
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

from predibot.errors import UsageError

_log = logging.getLogger(__name__)

_LOOPBACK = "127.0.0.1"
_SECONDS = 10.0
"""Seconds until a request must have arrived."""
_HOST = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?", re.ASCII | re.IGNORECASE)
"""Names of this machine. A page of another site whose name resolves to it must not read the answers."""


class Reply(NamedTuple):
    """An answer."""

    status: int
    content_type: str
    text: str


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Log an error of ours; a client that broke the connection is no error."""
        error = sys.exc_info()[1]
        if isinstance(error, OSError):
            _log.debug("a request of monitoring broke off: %s", error)
        else:
            _log.error("a mistake of predibot's own", exc_info=True)


@contextmanager
def serve_monitor(port: int, answers: Mapping[str, Callable[[], Reply]]) -> Iterator[int]:
    """Answer requests of this machine while the block lasts, and yield the port.

    Args:
        port: Port to listen on; 0 for any that is free.
        answers: Makes the answer to each path; called in a thread of its own for each request.

    Raises:
        UsageError: If the port is taken.
    """

    class Handler(BaseHTTPRequestHandler):
        timeout = _SECONDS

        def setup(self) -> None:
            """Cut a request that is too slow, even one that drips."""
            super().setup()
            self._timer = threading.Timer(_SECONDS, self._cut)
            self._timer.daemon = True
            self._timer.start()

        def finish(self) -> None:
            self._timer.cancel()
            super().finish()

        def _cut(self) -> None:
            with suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)

        def do_GET(self) -> None:
            self._timer.cancel()
            if any(_HOST.fullmatch(host) is None for host in self.headers.get_all("Host", ())):
                self.send_error(400, f"ask for {_LOOPBACK}")
                return
            answer = answers.get(self.path.partition("?")[0])
            status, content_type, text = answer() if answer else Reply(404, "text/plain", f"{' '.join(answers)}\n")
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_HEAD = do_GET

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing: a monitor asks every few seconds."""

    try:
        server = _Server((_LOOPBACK, port), Handler)
    except OSError as error:
        raise UsageError(f"port {port} of {_LOOPBACK} cannot be used: {error.strerror}. Name another one") from None
    threading.Thread(target=server.serve_forever, name="predibot-monitor", daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
