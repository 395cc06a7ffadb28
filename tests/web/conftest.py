"""A ledger of the simulated world, and one whose texts are hostile, behind the app."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs predibot[web]")

import uvicorn
from fastapi.testclient import TestClient

from predibot.ledger.store import Store
from predibot.web.app import create_app
from predibot.web.server import server_config
from tests.jobs.program import wait_until
from tests.worlds import Worlds, three_games, two_events, week_of_stocks

NOW = datetime(2026, 5, 5, 12, tzinfo=UTC)
BASE = "http://127.0.0.1:8321"
TOKEN = "a token of sixteen characters and more"


def client_of(store: Store, **more: str) -> TestClient:
    """Return a browser that shows every error of the app."""
    return TestClient(create_app(store, lambda: NOW, **more), base_url=BASE, follow_redirects=False)


@contextmanager
def served(address: str, clock: Callable[[], datetime] = lambda: NOW, **more: str) -> Iterator[tuple[str, int]]:
    """Serve a ledger as `predibot serve` does, and yield where."""
    with Store.open_to_read(address) as store, socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(server_config(create_app(store, clock, **more)))
        # Of an answer that nobody takes the system keeps little.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4_096)
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        wait_until(lambda: server.started)
        try:
            yield listener.getsockname()[:2]
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="session")
def played(worlds: Worlds) -> str:
    """Return the address of a ledger with three games: events with agents, portfolios and cohorts."""
    return f"sqlite:///{worlds(three_games)}/ledger.db"


@pytest.fixture(scope="session")
def of_stocks(worlds: Worlds) -> str:
    """Return the address of a ledger with a week of portfolios of stocks."""
    return f"sqlite:///{worlds(week_of_stocks)}/ledger.db"


@pytest.fixture(scope="session")
def browser(played: str) -> Iterator[TestClient]:
    """Return a browser in front of the ledger."""
    with Store.open_to_read(played) as store:
        yield client_of(store)


@pytest.fixture
def hostile(worlds: Worlds, tmp_path: Path) -> Iterator[tuple[TestClient, str]]:
    """Return a browser in front of a ledger whose texts are HTML, script and control characters, and the text."""
    text = "<script>alert(1)</script><img src=x onerror=alert(2)>{{7*7}}\u202egnp.exe\x1b[31m'\"&" + "A" * 100_000
    address = f"sqlite:///{worlds.copy(two_events, tmp_path)}/ledger.db"
    with Store.open(address, create=False) as store, store.write() as connection:
        for table, column in (("events", "title"), ("markets", "question"), ("decisions", "rationale")):
            connection.exec_driver_sql(f"UPDATE {table} SET {column} = ?", (text,))
        # A browser sends no address of 100,000 characters.
        connection.exec_driver_sql("UPDATE bots SET name = ?", (text[:200],))
    with Store.open_to_read(address) as store:
        yield client_of(store), text
