"""A server on loopback that speaks the chat-completions dialect as it is told to, faults and all."""

import json
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, TypeVar

USAGE = {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25}
JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Said:
    """What the server says once: an answer, or something it does to the connection instead."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    act: Callable[[socket.socket], None] | None = None


@dataclass(slots=True)
class Asked:
    """One request as it came in."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    method: str = "POST"


class ChatServer(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """Says one thing after the other, the last one for ever, and `yes` without a script; thread-safe."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 256
    says_of_models = False
    """Whether it has a page for each model; else 404 is answered there, and no request noted."""

    def __init__(self, script: Sequence[Said] = ()) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = list(script) or [completion()]
        self.asked: list[Asked] = []
        self.lock = threading.Lock()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def next(self, asked: Asked) -> Said:
        with self.lock:
            self.asked.append(asked)
            return self.script[min(len(self.asked), len(self.script)) - 1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Pass over clients that hang up."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: ChatServer

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        if self.command == "GET" and "/models/" in self.path and not self.server.says_of_models:
            self.send_error(404)
            return
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        said = self.server.next(Asked(self.path, dict(self.headers), body, self.command))
        if said.act is not None:
            said.act(self.connection)
            self.close_connection = True
            return
        headers = {"Content-Type": JSON, "Content-Length": str(len(said.body)), **said.headers}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.wfile.write(f"HTTP/1.1 {said.status} Said\r\n{lines}\r\n".encode() + said.body)
        if int(headers["Content-Length"]) != len(said.body):
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def chat_server(*script: Said) -> AbstractContextManager[ChatServer]:
    """Serve a script until the block ends."""
    return serving(ChatServer(script))


Served = TypeVar("Served", bound=ChatServer)


@contextmanager
def serving(server: Served) -> Iterator[Served]:
    """Serve until the block ends."""
    with server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join(timeout=5.0)


def said_json(value: object, status: int = 200, **headers: str) -> Said:
    """Return an answer of JSON; an underscore in a header's name is a dash."""
    return Said(json.dumps(value).encode(), status, {name.replace("_", "-"): text for name, text in headers.items()})


def completion(
    text: str | None = "yes",
    *,
    finish_reason: str | None = "stop",
    usage: object = USAGE,
    message: Mapping[str, object] | None = None,
    **more: object,
) -> Said:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text, **(message or {})},
        "finish_reason": finish_reason,
    }
    value = {"id": "c1", "object": "chat.completion", "created": 1, "model": "tiny-1", "choices": [choice], **more}
    return said_json(value if usage is None else {**value, "usage": usage})


def tool_call(name: str = "ping", arguments: str = '{"word": "pong"}', finish_reason: str = "tool_calls") -> Said:
    call = {"id": "call_7", "type": "function", "function": {"name": name, "arguments": arguments}}
    return completion(None, finish_reason=finish_reason, message={"tool_calls": [call]})


def error(status: int, message: str = "no", **headers: str) -> Said:
    """Return an error as OpenAI words one."""
    return said_json({"error": {"message": message, "type": "some_error", "code": None}}, status, **headers)


def cut(body: bytes = b'{"id": "c1", "choices": [{"ind') -> Said:
    """Return JSON that ends in the middle, in an answer that is whole to HTTP."""
    return Said(body)


def broken_off() -> Said:
    """Return an answer that promises more bytes than come."""
    return Said(b'{"id": ', headers={"Content-Length": "5000"})


def hang_up(connection: socket.socket) -> None:
    connection.shutdown(socket.SHUT_RDWR)


def hang(connection: socket.socket) -> None:
    """Say nothing until the client goes away."""
    connection.settimeout(60.0)
    connection.recv(1)


def _drip(connection: socket.socket, head: bytes, drop: bytes) -> None:
    connection.sendall(head)
    for _ in range(3000):
        connection.sendall(drop)
        time.sleep(0.02)


def drip_body(connection: socket.socket) -> None:
    """Send a body byte by byte."""
    _drip(connection, b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{", b" ")


def fill_memory(connection: socket.socket) -> None:
    """Send a body above all bounds."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 17000000\r\n\r\n{")
    with suppress(ConnectionError):
        for _ in range(17):
            connection.sendall(b" " * 1_000_000)


def drip_header(connection: socket.socket) -> None:
    """Send a header that never ends."""
    _drip(connection, b"HTTP/1.1 200 OK\r\nX-Padding: ", b"a")
