"""The authorities that connections trust: the usual ones, read when TLS needs them."""

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from predibot.net.failures import TryAgain
from predibot.net.json_client import JsonClient
from tests.net.certificates import make_certificate


class Answers(BaseHTTPRequestHandler):
    """Answers every request with a list."""

    def do_GET(self) -> None:
        body = json.dumps(["heard"]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def serving(certificate: Path | None) -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Answers)
    # What a client that does not trust us leaves behind is no news.
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http{'s' if certificate else ''}://localhost:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificate(tmp_path_factory.mktemp("trust"), "localhost")


def test_a_certificate_that_nobody_vouches_for_is_refused(certificate: Path) -> None:
    refused = pytest.raises(TryAgain, match="CERTIFICATE_VERIFY_FAILED")
    with serving(certificate) as url, JsonClient() as client, refused:
        client.ask("GET", url, seconds=10.0)


def test_an_authority_that_the_user_named_is_trusted(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with serving(certificate) as url, JsonClient() as client:
        assert client.ask("GET", url, seconds=10.0).json() == ["heard"]
        with pytest.raises(TryAgain, match="CERTIFICATE_VERIFY_FAILED"):
            client.ask("GET", url.replace("localhost", "127.0.0.1"), seconds=10.0)


def test_without_tls_no_authority_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/authorities.pem")
    with serving(None) as url, JsonClient() as client:
        assert client.ask("GET", url, seconds=10.0).json() == ["heard"]
