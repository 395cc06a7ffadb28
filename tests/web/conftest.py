"""A ledger of the simulated world, and one whose texts are hostile, behind the app."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs predibot[web]")

from fastapi.testclient import TestClient

from predibot.ledger.store import Store
from predibot.sandbox.stocks.companies import DEFAULT_TICKERS, INDICES
from predibot.sandbox.stocks.folder import write_stock_folder
from predibot.web.app import create_app
from tests.acceptance.conftest import said_here

NOW = datetime(2026, 5, 5, 12, tzinfo=UTC)
BASE = "http://127.0.0.1:8321"


def client_of(store: Store, **more: str) -> TestClient:
    """Return a browser that shows every error of the app."""
    return TestClient(create_app(store, lambda: NOW, **more), base_url=BASE, follow_redirects=False)


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the address of a ledger with three games: events with agents, portfolios and cohorts."""
    address = f"sqlite:///{tmp_path_factory.mktemp('web')}/web.db"
    # The last one is evaluated with all.
    for recipe, bots, last in (
        ("sandbox_agents", "script_sharp,market_price,random_bet", "2026-01-12T12:00Z"),
        ("sandbox_portfolio", "equal_weights,all_cash", "2026-01-08T12:00Z"),
        ("sandbox_weekly", "random_trade,script_gullible", "2026-01-18T00:05Z"),
    ):
        every = {"sandbox_agents": "3d", "sandbox_portfolio": "1d"}.get(recipe, "7d")
        first = "2026-01-11T00:05Z" if recipe == "sandbox_weekly" else "2026-01-06T12:00Z"
        span = ("--from", first, "--to", last, "--every", every, "--bots", bots)
        said = said_here("replay", recipe, *span, "--ledger", address, "--venue", "sandbox:events=40,named=1")
        assert said.code == 0, said.err
    return address


@pytest.fixture(scope="session")
def of_stocks(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the address of a ledger with a week of portfolios of stocks."""
    folder = tmp_path_factory.mktemp("stocks")
    tickers, bots = (*DEFAULT_TICKERS, *INDICES), "buy_and_hold,index_spy,script_noisy"
    write_stock_folder(folder / "stocks", seed=7, days=5, tickers=tickers, start=date(2026, 1, 5))
    address = f"sqlite:///{folder}/stocks.db"
    said = said_here(
        *("replay", "sandbox_stocks", "--bots", bots, "--ledger", address, "--venue", f"stocks:{folder}/stocks")
    )
    assert said.code == 0, said.err
    return address


@pytest.fixture(scope="session")
def browser(played: str) -> Iterator[TestClient]:
    """Return a browser in front of the ledger."""
    with Store.open_to_read(played) as store:
        yield client_of(store)


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[tuple[TestClient, str]]:
    """Return a browser in front of a ledger whose texts are HTML, script and control characters, and the text."""
    text = "<script>alert(1)</script><img src=x onerror=alert(2)>{{7*7}}\u202egnp.exe\x1b[31m'\"&" + "A" * 100_000
    address = f"sqlite:///{tmp_path}/hostile.db"
    span = ("--from", "2026-01-06T12:00Z", "--to", "2026-01-06T12:00Z", "--bots", "market_price")
    assert said_here("replay", "sandbox", *span, "--ledger", address, "--events", "2").code == 0
    with Store.open(address, create=False) as store, store.write() as connection:
        for table, column in (("events", "title"), ("markets", "question"), ("decisions", "rationale")):
            connection.exec_driver_sql(f"UPDATE {table} SET {column} = ?", (text,))
        # A browser sends no address of 100,000 characters.
        connection.exec_driver_sql("UPDATE bots SET name = ?", (text[:200],))
    with Store.open_to_read(address) as store:
        yield client_of(store), text
