"""A collector on loopback: takes OTLP over HTTP, reads what it was sent, and can be slow, broken or away."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass
class Collector:
    """What came in."""

    address: str = ""
    requests: list[Any] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    @property
    def spans(self) -> list[Any]:
        """Return every span of every request, in their order."""
        return [
            span for each in self.requests for of in each.resource_spans for s in of.scope_spans for span in s.spans
        ]


def attributes_of(thing: Any) -> dict[str, Any]:
    found = {}
    for each in thing.attributes:
        kind = each.value.WhichOneof("value")
        value = getattr(each.value, kind)
        found[each.key] = [one.string_value for one in value.values] if kind == "array_value" else value
    return found


@contextmanager
def collecting(*, status: int = 200, hangs: bool = False) -> Iterator[Collector]:
    """Yield a collector that answers with a status, or, where it hangs, not at all."""
    collector, released = Collector(), threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            request = ExportTraceServiceRequest()
            request.ParseFromString(body)
            collector.requests.append(request)
            collector.paths.append(self.path)
            collector.headers.append({name.lower(): value for name, value in self.headers.items()})
            if hangs:
                released.wait()
            self.send_response(status)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    collector.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield collector
    finally:
        released.set()
        server.shutdown()
        server.server_close()
        thread.join()
