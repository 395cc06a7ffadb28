"""Servers on this machine that take notices, or behave as servers in trouble do."""

import json
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope, LoginPassword, Session

TOKEN = "T0000SECRET/B0000SECRET/xoxSECRETxoxSECRETxoxSECRET"
"""Of the address; who knows it may post."""


@dataclass
class Heard:
    """What a server was asked, and what it says."""

    says: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    """A status and headers an answer; the last is said for ever, 200 where there is none."""
    asked: list[tuple[str, str, Any]] = field(default_factory=list)
    """Method, path and the JSON that was sent."""
    body: bytes = b"ok"
    url: str = ""

    @property
    def texts(self) -> list[str]:
        """Return what a chat shows."""
        return [body["text"] for _, _, body in self.asked if body]


@contextmanager
def web(
    *says: int | tuple[int, dict[str, str]], body: bytes = b"ok", gate: threading.Event | None = None
) -> Iterator[Heard]:
    """Serve a chat's webhook, and everything beside it; behind a gate, nothing is answered until that is open."""
    heard = Heard([(each, {}) if isinstance(each, int) else each for each in says], body=body)

    class Chat(BaseHTTPRequestHandler):
        """Notes what it is asked."""

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            heard.asked.append((self.command, self.path, json.loads(sent) if sent else None))
            if gate is not None:
                gate.wait()
            status, headers = heard.says.pop(0) if len(heard.says) > 1 else [*heard.says, (200, {})][0]
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(heard.body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(heard.body)

        do_GET = do_POST

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Chat)
    # Who has read enough of an answer leaves.
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    heard.url = f"http://127.0.0.1:{server.server_port}/services/{TOKEN}"
    try:
        yield heard
    finally:
        if gate is not None:
            gate.set()
        server.shutdown()
        server.server_close()


@contextmanager
def hanging() -> Iterator[int]:
    """Yield the port of a server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@contextmanager
def dripping(piece: bytes) -> Iterator[int]:
    """Yield the port of a server that sends the same few bytes for ever."""
    ended = threading.Event()
    server = socket.create_server(("127.0.0.1", 0))

    def drip() -> None:
        connection, _ = server.accept()
        with connection:
            while not ended.wait(0.02):
                try:
                    connection.sendall(piece)
                except OSError:
                    return

    threading.Thread(target=drip, daemon=True).start()
    try:
        yield server.getsockname()[1]
    finally:
        ended.set()
        server.close()


def refusing() -> int:
    """Return a port at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@dataclass
class Mailbox:
    """What an SMTP server was given."""

    refused: tuple[str, ...] = ()
    """Addresses that it does not know."""
    says: str = "250 taken"
    farewell: str = "221 Bye"
    password: str = "swordfish-0123456789"
    mails: list[EmailMessage] = field(default_factory=list)
    logins: list[tuple[str, str]] = field(default_factory=list)
    port: int = 0

    async def handle_RCPT(
        self, server: Any, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        """Take an address or refuse it."""
        if address in self.refused:
            return f"550 no such user {address}, said {self.password}"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_QUIT(self, server: Any, session: Session, envelope: Envelope) -> str:
        """Say goodbye."""
        return self.farewell

    async def handle_DATA(self, server: Any, session: Session, envelope: Envelope) -> str:
        """Take a mail."""
        mail = message_from_bytes(envelope.content or b"", policy=policy.default)  # type: ignore[arg-type]
        mail["X-Peers"] = ",".join(envelope.rcpt_tos)
        self.mails.append(mail)  # type: ignore[arg-type]
        return self.says

    def login(self, server: Any, session: Session, envelope: Envelope, mechanism: str, data: Any) -> AuthResult:
        """Take who knows the password, and tell everybody else what they tried."""
        if not isinstance(data, LoginPassword):
            return AuthResult(success=False, handled=False)
        self.logins.append((data.login.decode(), data.password.decode()))
        if data.password.decode() == self.password:
            return AuthResult(success=True)
        return AuthResult(success=False, handled=False, message=f"535 wrong: {data.password.decode()}")


class _AnyPort(Controller):
    """Is reached at the port that the system gave it."""

    def _trigger_server(self) -> None:
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


@contextmanager
def smtp(box: Mailbox, *, starttls: Path | None = None, tls: Path | None = None) -> Iterator[Mailbox]:
    """Serve SMTP on this machine.

    Args:
        box: What is served.
        starttls: A certificate with its key, for encryption that the client asks for, and must.
        tls: The same, for encryption from the first byte.
    """
    context = None
    if starttls or tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(starttls or tls)  # type: ignore[arg-type]
    options: dict[str, Any] = {"authenticator": box.login, "auth_require_tls": starttls is not None}
    if starttls:
        options |= {"tls_context": context, "require_starttls": True}
    controller = _AnyPort(box, "127.0.0.1", 0, ssl_context=context if tls else None, **options)
    controller.start()
    try:
        box.port = controller.port
        yield box
    finally:
        controller.stop()


def certificate_in(folder: Path) -> Path:
    """Return a fresh certificate for this machine with its key, in one file, or skip the test."""
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
               "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
               "-keyout", "key.pem", "-out", "cert.pem"]  # fmt: skip
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=120)
    except (OSError, subprocess.SubprocessError):
        pytest.skip("no openssl here")
    (folder / "server.pem").write_bytes((folder / "key.pem").read_bytes() + (folder / "cert.pem").read_bytes())
    return folder / "server.pem"
