"""A host that hands on what another answers, changed: for what a venue may do that the sandbox does not."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

Change = Callable[[str, Any], Any]
"""Of a path without its query, and what is answered there."""


@contextmanager
def altering(url: str, change: Change) -> Iterator[str]:
    """Yield the address of a host that hands on what a dialect of the sandbox answers, changed."""

    # One for all requests, as each loads certificates when it is made.
    client = httpx.Client(trust_env=False)

    class Host(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._hand_on(None)

        def do_POST(self) -> None:
            self._hand_on(self.rfile.read(int(self.headers["Content-Length"])))

        def _hand_on(self, sent: bytes | None) -> None:
            reply = client.request("GET" if sent is None else "POST", url + self.path, content=sent)
            body = json.dumps(change(self.path.partition("?")[0], reply.json())).encode()
            self.send_response(reply.status_code)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    host = ThreadingHTTPServer(("127.0.0.1", 0), Host)
    threading.Thread(target=host.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{host.server_port}"
    finally:
        host.shutdown()
        host.server_close()
        client.close()


def changed(rows: Any, **fields: object) -> Any:
    """Return a list with these fields in each of its objects; one that is None is left out."""
    lost = {name for name, value in fields.items() if value is None}
    return [{name: value for name, value in {**row, **fields}.items() if name not in lost} for row in rows]
