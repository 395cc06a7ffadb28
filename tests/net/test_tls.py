"""The authorities that connections trust: the usual ones, read when TLS needs them."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from predibot.net.failures import TryAgain
from predibot.net.json_client import JsonClient
from tests.net.certificates import make_certificate
from tests.research.web_world import World, reply, running, saying


@contextmanager
def serving(certificate: Path | None) -> Iterator[str]:
    """Answer every request with a list, through TLS where there is a certificate."""
    world = World(saying(reply(b'["heard"]', headers=["Content-Type: application/json"])))
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        world.wrap = lambda plain: context.wrap_socket(plain, server_side=True)
    with running(world):
        yield f"http{'s' if certificate else ''}://localhost:{world.port}/"


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
