"""What is assumed of the hosts: all of it holds in the sandbox, and each one that is broken there is told."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from predibot.sandbox.server.fault import Fault
from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT
from predibot.sandbox.world.world import World
from predibot.venues.polymarket.assumptions import assumptions

NAMES = [
    "events are listed by keyset",
    "a page holds at most 100",
    "closed=false lists what is open",
    "volume1wk is stated, its order a hint",
    "after_cursor leads on",
    "markets are listed by id",
    "markets name their events",
    "settlements and their statuses",
    "the old list of markets",
    "order books by token",
    "price history by token",
]


@pytest.fixture(scope="module")
def world() -> World:
    return World.from_seed(7)


@contextmanager
def serving(world: World, fault: Fault | None = None) -> Iterator[SandboxServer]:
    with SandboxServer(world, now=SANDBOX_OPENS_AT, fault=fault) as server:
        yield server


def broken(server: SandboxServer) -> dict[str, str]:
    found = list(assumptions(server.gamma_url, server.clob_url))
    assert [each.name for each in found] == NAMES
    return {each.name: each.seen for each in found if not each.holds}


def test_all_of_it_holds_in_the_sandbox(world: World) -> None:
    with serving(world) as server:
        assert broken(server) == {}


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (Fault("server_error", path="/events/keyset"), {NAMES[0], *NAMES[3:6], *NAMES[8:]}),
        (Fault("ignored_cursor", path="/events/keyset"), {NAMES[4]}),
        (Fault("wrong_shape", path="/markets/keyset"), {NAMES[5], NAMES[6], NAMES[7]}),
        (Fault("wrong_shape", path="/books"), {NAMES[9]}),
        (Fault("empty_history"), {NAMES[10]}),
        (Fault("disorder"), set()),
    ],
)
def test_what_is_broken_is_told_and_disorder_is_not(world: World, fault: Fault, told: set[str]) -> None:
    with serving(world, fault) as server:
        assert broken(server).keys() == told


CHANGES: dict[str, Callable[[str, Any], Any]] = {
    NAMES[1]: lambda what, rows: rows * 2 if what == "events" else rows,
    NAMES[2]: lambda what, rows: [{**each, "closed": True} for each in rows] if what == "events" else rows,
    NAMES[3]: lambda what, rows: [{k: v for k, v in each.items() if k != "volume1wk"} for each in rows],
    NAMES[6]: lambda what, rows: [{**each, "events": []} for each in rows] if what == "markets" else rows,
    NAMES[7]: lambda what, rows: [{**each, "umaResolutionStatus": "escalated"} for each in rows],
}


@contextmanager
def altering(server: SandboxServer, change: Callable[[str, Any], Any]) -> Iterator[str]:
    """Yield the address of a host that hands on what Gamma answers, with its lists changed."""

    class Host(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with httpx.Client(trust_env=False) as client:
                reply = client.get(server.gamma_url + self.path)
            content = reply.json()
            if isinstance(content, dict):
                content |= {what: change(what, content[what]) for what in ("events", "markets") if what in content}
            body = json.dumps(content).encode()
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


@pytest.mark.parametrize("name", CHANGES)
def test_a_host_that_answers_otherwise_is_told_by_name(world: World, name: str) -> None:
    with serving(world) as server, altering(server, CHANGES[name]) as gamma_url:
        found = {each.name: each for each in assumptions(gamma_url, server.clob_url)}
    assert not found[name].holds
    if name == NAMES[7]:
        assert "umaResolutionStatus is escalated" in found[name].seen
