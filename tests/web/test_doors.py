"""The server's doors: what is asked for by which name, how long a request may take, and how many there may be."""

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime

import pytest

pytest.importorskip("fastapi", reason="needs predibot[web]")

import starlette.datastructures
import uvicorn
from fastapi import FastAPI
from fastapi.testclient import TestClient

from predibot.ledger.store import Store
from predibot.web import server as web_server
from tests.jobs.program import PATIENCE_SECONDS, wait_until
from tests.soaks import few
from tests.web.conftest import NOW, TOKEN, client_of, served

OPEN = ("/health", "/login", "/static/page.js")


def answer_to(where: tuple[str, int], *sent: bytes, within: float = PATIENCE_SECONDS) -> bytes:
    """Return all that is answered to what is sent as it stands, in time: who was slower itself sends it again."""
    while True:
        began = time.monotonic()
        with socket.create_connection(where, timeout=PATIENCE_SECONDS) as connection:
            connection.sendall(b"".join(sent))
            took = time.monotonic() - began
            parts = list[bytes]()
            while part := connection.recv(65_536):
                parts.append(part)
        if took < within:
            return b"".join(parts)


def is_dropped(connection: socket.socket) -> bool:
    """Return whether a connection takes no further byte."""
    try:
        connection.sendall(b"X")
    except ConnectionError:
        return True
    return False


@pytest.fixture(scope="module", params=few(["127.0.0.1", "0.0.0.0"], "127.0.0.1"))
def guarded(played: str, request: pytest.FixtureRequest) -> Iterator[TestClient]:
    """Return a browser that has no token, in front of an app that asks for one and listens at some address."""
    with Store.open_to_read(played) as store:
        yield client_of(store, host=request.param, token=TOKEN)


@pytest.mark.parametrize(
    "host",
    [
        *(f"127.0.0.1{path}{end}" for path in OPEN for end in ("?", "#", "?x=", ";")),
        *(f"127.0.0.1:8321{path}?" for path in OPEN),
        "127.0.0.1/",
        "127.0.0.1\\health?",
        "x@127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:8321:1",
        "127.0.0.1:123456",
        "127.0.0.1:٨",
        "[::1]x",
        "[::1%25lo]",
        "[127.0.0.1",
        "127.0.0.1 ",
        "127.0.0.1,127.0.0.1",
        "http://127.0.0.1",
        "127.0.0.1%2fhealth%3f",
        "",
    ],
)
def test_no_host_opens_a_page_without_the_token(guarded: TestClient, host: str) -> None:
    # `URL` of starlette.datastructures wrote the header before the path, and parsed both again (PYSEC-2026-161).
    for path in ("/", "/api/v1/runs", "/decisions.csv", "/metrics"):
        answer = guarded.get(path, headers=[("Host", host.encode())])
        assert answer.status_code in (303, 400, 401) and b"script_sharp" not in answer.content
        # A blank around a header's value is none of it.
        assert answer.status_code == 400 or host != host.strip()


@pytest.mark.parametrize("host", ["127.0.0.1", "LOCALHOST:80", "[::1]:65535", "[::1]", "Localhost"])
def test_names_of_this_machine_are_asked_for_in_any_case_with_a_port_or_without(browser: TestClient, host: str) -> None:
    assert browser.get("/health", headers={"Host": host}).status_code == 200


def test_requests_as_no_browser_sends_them_open_nothing(played: str) -> None:
    with served(played, token=TOKEN) as where:
        end = b"Connection: close\r\n\r\n"
        for sent in (
            b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: 127.0.0.1/health?\r\n",
            b"GET / HTTP/1.1\r\nHost: 127.0.0.1/health?\r\nHost: 127.0.0.1\r\n",
            b"GET / HTTP/1.0\r\n",
            b"GET http://127.0.0.1/health HTTP/1.1\r\nHost: evil.example\r\n",
            b"GET http://127.0.0.1/ HTTP/1.1\r\nHost: 127.0.0.1\r\n",
            b"GET @127.0.0.1/health?/ HTTP/1.1\r\nHost: 127.0.0.1\r\n",
            b"GET //127.0.0.1/health HTTP/1.1\r\nHost: 127.0.0.1\r\n",
            b"GET /health/../ HTTP/1.1\r\nHost: 127.0.0.1\r\n",
            b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-Host: 127.0.0.1/health?\r\n"
            b"X-Forwarded-Prefix: /health?\r\nX-Forwarded-Proto: http://x/health?\r\nX-Original-URL: /health\r\n",
            b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n",
        ):
            answer = answer_to(where, sent, end)
            assert answer.split()[1] in (b"303", b"400", b"404"), (sent, answer[:200])
            assert b"script_sharp" not in answer and b"101 Switching" not in answer


def test_starlette_makes_no_path_of_a_host_in_the_versions_that_are_allowed() -> None:
    scope = {"path": "/", "server": ("127.0.0.1", 1), "headers": [(b"host", b"127.0.0.1/health?")]}
    assert starlette.datastructures.URL(scope={"scheme": "http", "query_string": b"", **scope}).path == "/"


def test_a_request_that_is_sent_in_part_ends_with_its_time(
    played: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(web_server, "REQUEST_SECONDS", 0.3)
    # Whatever ends a connection, it is not uvicorn.
    config_of = web_server.server_config

    def patient_config(app: FastAPI) -> uvicorn.Config:
        config = config_of(app)
        config.timeout_keep_alive = 2 * int(PATIENCE_SECONDS)
        return config

    monkeypatch.setattr("tests.web.conftest.server_config", patient_config)
    complete = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    login = b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\ntoken="
    with served(played) as where:
        for begun in (b"", b"GET", complete[:-2], complete + b"GET / HT", login, complete + login):
            began = time.monotonic()
            answer = answer_to(where, begun, within=0.1)
            assert time.monotonic() - began > 0.2, begun
            assert answer.count(b"200 OK") == begun.count(complete)
        # Bytes that drip begin no time anew.
        with socket.create_connection(where, timeout=30) as dripping:
            wait_until(lambda: is_dropped(dripping))
        closing = complete.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
        assert answer_to(where, closing, within=0.1).endswith(b"ok\n")
    assert "Traceback" not in capfd.readouterr().err


def test_an_answer_that_nobody_takes_is_dropped(played: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_server, "ANSWER_SECONDS", 0.3)
    with served(played) as where, socket.socket() as lazy:
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        lazy.connect(where)
        lazy.sendall(b"GET /static/style.css HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 5)
        wait_until(lambda: is_dropped(lazy))


def test_there_are_so_many_connections_and_no_more(played: str) -> None:
    with served(played) as where, ExitStack() as closing:
        held = [closing.enter_context(socket.create_connection(where)) for _ in range(web_server.MOST_CONNECTIONS)]
        for each in held:
            each.sendall(b"GET /health HTTP/1.1\r\n")
        assert answer_to(where).startswith(b"HTTP/1.1 503 ")
        held[0].sendall(b"Host: 127.0.0.1\r\nConnection: close\r\n\r\n")
        assert held[0].recv(1_000).startswith(b"HTTP/1.1 200 ")
        held[0].close()
        wait_until(lambda: b"400" in answer_to(where, b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n"))


def test_health_is_told_while_all_threads_evaluate_and_pages_are_missing(played: str) -> None:
    ending = threading.Event()

    def late() -> datetime:
        ending.wait(PATIENCE_SECONDS)
        return NOW

    with served(played, late) as where, ExitStack() as closing:
        for number in range(60):
            asking = closing.enter_context(socket.create_connection(where))
            path = ("/runs", "/status", "/tables/pairs", "/nowhere")[number % 4]
            asking.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        try:
            for _ in range(3):
                asked = http.client.HTTPConnection(*where, timeout=PATIENCE_SECONDS / 2)
                asked.request("GET", "/health")
                assert asked.getresponse().read() == b"ok\n"
                asked.close()
        finally:
            ending.set()
