"""Server: the sandbox as a process on loopback, its clock, its connections, its start and its stop."""

import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import httpx
import pytest

from predibot.sandbox.server.fault import Fault
from predibot.sandbox.server.options import SandboxOptions, parse_options
from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT
from predibot.sandbox.world.world import World

OPEN: dict[str, str | int] = {"closed": "false", "limit": 100}


def test_a_sandbox_opens_from_the_text_of_its_options() -> None:
    options = parse_options("seed=3,events=5,fault=server_error,times=1")
    with SandboxServer(now=SANDBOX_OPENS_AT, options=options) as server, httpx.Client(trust_env=False) as client:
        assert server.gamma_url.startswith("http://127.0.0.1:")
        assert client.get(f"{server.gamma_url}/status").status_code == 500
        assert 1 <= len(client.get(f"{server.gamma_url}/events", params=OPEN).json()) <= 15


def test_the_clock_can_be_set_and_can_be_a_function(world: World) -> None:
    with SandboxServer(world, now=SANDBOX_OPENS_AT) as server, httpx.Client(trust_env=False) as client:
        server.now = SANDBOX_OPENS_AT + timedelta(days=2)
        later = client.get(f"{server.clob_url}/time").json()
        server.now = lambda: SANDBOX_OPENS_AT + timedelta(days=1)
        reply = client.get(f"{server.clob_url}/time")
        # Before and after the calendar nothing is open.
        for year in (2020, 2030):
            server.now = datetime(year, 1, 1, tzinfo=UTC)
            assert client.get(f"{server.gamma_url}/events", params=OPEN).json() == []
        assert server.requests == 4
    assert later - reply.json() == 86_400
    assert reply.headers["Date"] == "Tue, 06 Jan 2026 12:00:00 GMT"


def test_events_come_and_go_as_its_clock_runs(world: World) -> None:
    with SandboxServer(world, now=SANDBOX_OPENS_AT) as server, httpx.Client(trust_env=False) as client:
        lists = []
        for days in (0, 30):
            server.now = SANDBOX_OPENS_AT + timedelta(days=days)
            events = client.get(f"{server.gamma_url}/events", params=OPEN).json()
            lists.append({event["id"] for event in events})
    assert lists[0] - lists[1]
    assert lists[1] - lists[0]
    assert lists[0] & lists[1]


def test_a_clock_without_a_zone_is_refused(world: World) -> None:
    with pytest.raises(ValueError, match="aware"):
        World.from_seed(1, altered_after=SANDBOX_OPENS_AT.replace(tzinfo=None))


def test_requests_share_a_connection(server: SandboxServer, gamma: httpx.Client) -> None:
    first, second = gamma.get("/status"), gamma.get("/events", params=OPEN)
    streams = [reply.extensions["network_stream"].get_extra_info("client_addr") for reply in (first, second)]
    assert streams[0] == streams[1]
    assert int(second.headers["Content-Length"]) == len(second.content)


def test_many_clients_at_once_get_the_same_answer(server: SandboxServer) -> None:
    def page(_: int) -> bytes:
        return httpx.get(f"{server.gamma_url}/events", params=OPEN, trust_env=False, timeout=120).content

    with ThreadPoolExecutor(8) as executor:
        assert len(set(executor.map(page, range(24)))) == 1


def test_a_stopped_server_ends_its_connections_and_refuses_new_ones(world: World) -> None:
    server = SandboxServer(world, now=SANDBOX_OPENS_AT)
    server.start()
    with httpx.Client(base_url=server.gamma_url, trust_env=False) as client:
        assert client.get("/status").status_code == 200
        server.stop()
        server.stop()
        with pytest.raises(httpx.TransportError):
            client.get("/status")
    with pytest.raises(RuntimeError, match="no address"):
        _ = server.gamma_url


def test_a_stop_does_not_wait_for_a_slow_answer(world: World) -> None:
    started = time.monotonic()
    with SandboxServer(world, now=SANDBOX_OPENS_AT, options=SandboxOptions(fault=Fault("slow", seconds=60))) as server:
        url = server.gamma_url
        with pytest.raises(httpx.TimeoutException):
            httpx.get(f"{url}/status", timeout=0.2, trust_env=False)
    assert time.monotonic() - started < 30
    assert sum(thread.name == "sandbox" for thread in threading.enumerate()) <= 2


@pytest.mark.benchmark
def test_speed_of_opening_and_of_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    marks = [time.perf_counter()]
    with SandboxServer(now=SANDBOX_OPENS_AT, options=parse_options("seed=5,events=200")) as server:
        marks.append(time.perf_counter())
        with httpx.Client(trust_env=False, timeout=60) as client:
            for _ in range(2):
                client.get(f"{server.gamma_url}/events", params=OPEN)
                marks.append(time.perf_counter())
    opened, first, again = (later - earlier for earlier, later in pairwise(marks))
    with capsys.disabled():
        sys.stdout.write(f"\nopen {1e3 * opened:.1f} ms, first page {1e3 * first:.1f} ms, again {1e3 * again:.1f} ms\n")
