"""Answers for monitoring, over sockets."""

import http.client
import logging
import socket
import struct
import threading
from contextlib import closing, suppress
from http.client import HTTPResponse

import pytest

from predibot.jobs.schedule import monitor
from predibot.jobs.schedule.monitor import Reply, serve_monitor
from tests.jobs.program import PATIENCE_SECONDS, wait_until


def told(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    """Return what the monitor logged; threads of earlier tests may say something too."""
    return [each for each in caplog.records if each.name == serve_monitor.__module__]


def test_a_client_that_goes_away_before_its_answer_is_a_line_for_who_looks_closely(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG, "predibot")
    is_asked, is_gone = threading.Event(), threading.Event()

    def answer() -> Reply:
        is_asked.set()
        is_gone.wait(PATIENCE_SECONDS)
        return Reply(200, "text/plain", "x" * 100_000)

    with serve_monitor(0, {"/health": answer}) as port:
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert is_asked.wait(PATIENCE_SECONDS)
            # What closes is told as a reset.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        is_gone.set()
        wait_until(lambda: bool(told(caplog)))
    (record,) = told(caplog)
    assert (record.levelname, record.exc_info) == ("DEBUG", None)
    assert record.getMessage().startswith("a request of monitoring broke off: ")
    assert "Traceback" not in capfd.readouterr().err


def asked(port: int, path: str = "/health", method: str = "GET", **headers: str) -> tuple[HTTPResponse, bytes]:
    """Return the answer to a request, and its body."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)) as client:
        client.request(method, path, headers=headers)
        answer = client.getresponse()
        return answer, answer.read()


@pytest.mark.parametrize(("path", "status"), [("/health", 503), ("/other", 404)])
def test_who_asks_for_the_head_is_answered_the_same_without_a_body(path: str, status: int) -> None:
    with serve_monitor(0, {"/health": lambda: Reply(503, "application/json", "{}\n")}) as port:
        found = []
        for method in ("GET", "HEAD"):
            answer, body = asked(port, path, method)
            found.append((answer.status, answer.headers["Content-Type"], answer.headers["Content-Length"]))
        assert found[0] == found[1] and found[0][0] == status
        assert body == b""


@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1:9", 200), ("LOCALHOST", 200), ("[::1]:65535", 200), ("evil.example", 400), ("127.0.0.1.evil", 400)],
)
def test_a_name_of_another_site_that_leads_here_is_told_nothing(host: str, status: int) -> None:
    with serve_monitor(0, {"/health": lambda: Reply(200, "text/plain", "bots\n")}) as port:
        answer, body = asked(port, Host=host)
        assert (answer.status, b"bots" in body) == (status, status == 200)


def test_a_request_that_drips_ends_with_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitor, "_SECONDS", 0.3)
    with serve_monitor(0, {}) as port, socket.create_connection(("127.0.0.1", port), timeout=0.05) as client:

        def is_closed() -> bool:
            with suppress(TimeoutError):
                client.sendall(b"X")
                return client.recv(1) == b""
            return False

        wait_until(is_closed)


def test_a_mistake_in_an_answer_is_logged_whole(caplog: pytest.LogCaptureFixture) -> None:
    def answer() -> Reply:
        raise RuntimeError("ours")

    with serve_monitor(0, {"/health": answer}) as port:
        with pytest.raises(http.client.RemoteDisconnected):
            asked(port)
        wait_until(lambda: bool(told(caplog)))
    assert told(caplog)[0].exc_info is not None
