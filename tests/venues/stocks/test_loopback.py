"""Recording stocks over a real connection from the sandbox's providers, whole and with every fault."""

import csv
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from itertools import cycle, product
from pathlib import Path
from typing import Any

import pytest

from predibot.errors import PredibotError, VenueChanged, VenueError, VenueUnavailable
from predibot.net.api_keys import Key
from predibot.sandbox.server.fault import FAULT_KINDS, Fault
from predibot.sandbox.server.hosts.stock_prices import STOCKS_BEGIN_ON
from predibot.sandbox.server.options import SandboxOptions
from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.stocks.folder import write_stock_folder
from predibot.sandbox.stocks.trading_days import trading_days
from predibot.sandbox.world.world import World
from predibot.venues.stocks.providers import AlphaVantage, Tiingo
from predibot.venues.stocks.recording import record_stock
from tests.soaks import few
from tests.venues.payloads import Clock

KEY = Key("PLANTED_API_KEY", "0123456789abcdefPLANTED")
NOW = datetime(2025, 6, 2, 22, tzinfo=UTC)
SINCE = date(2025, 1, 2)
HEALED = ("rate_limit", "server_error", "slow", "truncated_json", "cut_connection")
BOTH = pytest.mark.parametrize("kind", [Tiingo, AlphaVantage])


@pytest.fixture(scope="module")
def world() -> World:
    return World.from_seed(3, events=5)


@contextmanager
def provider(world: World, kind: type[Any], fault: Fault | None = None, now: datetime = NOW) -> Iterator[Any]:
    """Yield a client of a sandbox with its clock at an instant."""
    with SandboxServer(world, now=now, options=SandboxOptions(fault=fault)) as server:
        # Time passes only by waiting.
        clock = Clock()
        options = {"now": lambda: now, "monotonic": clock.monotonic, "sleep": clock.sleep}
        with kind(KEY, url=server.search_url, **options) as client:
            client.server = server
            yield client


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@BOTH
@pytest.mark.parametrize("ticker", ["KO", "UNH", "SPY"])
def test_what_is_recorded_is_what_the_market_did(world: World, tmp_path: Path, kind: type[Any], ticker: str) -> None:
    with provider(world, kind) as client:
        recorded = record_stock(tmp_path / "", client, ticker, since=STOCKS_BEGIN_ON, now=NOW)
    days = sum(day <= NOW.date() for day in trading_days(STOCKS_BEGIN_ON, 800))
    write_stock_folder(tmp_path / "truth", seed=3, days=days, tickers=[ticker], start=STOCKS_BEGIN_ON)
    found, truth = rows(tmp_path / f"{ticker}.csv"), rows(tmp_path / "truth" / f"{ticker}.csv")
    assert recorded.rows == len(found) == len(truth)
    for one, other in zip(found, truth, strict=True):
        assert one["date"] == other["date"]
        assert [float(one[name]) for name in one if name not in ("date", "adjusted_close")] == [
            float(other[name]) for name in one if name not in ("date", "adjusted_close")
        ]
        assert float(one["adjusted_close"]) == pytest.approx(float(other["adjusted_close"]), rel=1e-6)
    actions = [(row["date"], row["action"], float(row["value"])) for row in rows(tmp_path / "actions.csv")]
    stated = [row for row in rows(tmp_path / "truth" / "actions.csv") if row["action"] != "delisting"]
    assert actions == [(row["date"], row["action"], float(row["value"])) for row in stated]


@BOTH
def test_day_by_day_is_the_same_as_at_once(world: World, tmp_path: Path, kind: type[Any]) -> None:
    for name, steps in (("once", [40]), ("often", range(41))):
        (tmp_path / name).mkdir()
        with provider(world, kind) as client:
            for step in steps:
                now = NOW - timedelta(days=40 - step)
                client.server.now = now
                record_stock(tmp_path / name, client, "KO", since=SINCE, now=now)
    for name in ("KO.csv", "actions.csv"):
        assert (tmp_path / "often" / name).read_bytes() == (tmp_path / "once" / name).read_bytes()


@BOTH
def test_a_server_does_not_say_a_close_before_it_is_known(world: World, kind: type[Any]) -> None:
    before, after = NOW.replace(hour=20, minute=59), NOW.replace(hour=21, minute=0)
    for now, last in ((before, date(2025, 5, 30)), (after, date(2025, 6, 2))):
        with provider(world, kind, now=now) as client:
            assert client.prices("KO", SINCE, date(2025, 12, 31)).days[-1].on == last


@BOTH
def test_nothing_later_is_in_an_answer(kind: type[Any]) -> None:
    altered = World.from_seed(3, events=5, altered_after=NOW)
    said = []
    for world in (World.from_seed(3, events=5), altered):
        with provider(world, kind) as client:
            said.append([client.prices(ticker, SINCE, date(2025, 12, 31)) for ticker in ("KO", "NVDA", "QQQ")])
    assert said[0] == said[1]


@BOTH
def test_a_stock_that_is_not_there_is_unknown(world: World, kind: type[Any]) -> None:
    with provider(world, kind) as client, pytest.raises(VenueError, match=f"{kind.name} has no stock NONE"):
        client.prices("NONE", SINCE, NOW.date())


@pytest.mark.parametrize(
    ("kind", "fault"),
    few(product((Tiingo, AlphaVantage), FAULT_KINDS), *zip(cycle((Tiingo, AlphaVantage)), FAULT_KINDS, strict=False)),
)
def test_a_fault_is_a_right_folder_or_a_clear_error(world: World, tmp_path: Path, kind: type[Any], fault: str) -> None:
    for folder in ("right", "faulty"):
        (tmp_path / folder).mkdir()
    with provider(world, kind) as client:
        record_stock(tmp_path / "right", client, "KO", since=SINCE, now=NOW)
    right = {row["date"]: row for row in rows(tmp_path / "right/KO.csv")}
    with provider(world, kind, Fault(fault, seconds=0.0, times=1 if fault in HEALED else None)) as client:
        try:
            said = record_stock(tmp_path / "faulty", client, "KO", since=SINCE, now=NOW)
        except PredibotError as error:
            assert fault in ("redirect", "huge_answer", "limit_note", "wrong_shape")
            assert isinstance(error, VenueUnavailable if fault == "limit_note" else VenueChanged)
            assert KEY.value not in str(error)
            assert list((tmp_path / "faulty").iterdir()) == []
            return
    found = {row["date"]: row for row in rows(tmp_path / "faulty/KO.csv")}
    if fault == "bad_prices":
        assert found == {on: row for on, row in right.items() if on in found}
        assert len(right) - len(found) == 5
        assert len(said.notes) == 4
        assert "is left out: close: " in said.notes[0]
    elif fault == "missing_days":
        assert 0.08 < 1 - len(found) / len(right) < 0.12
    elif fault != "restated":
        assert found == right
    # The next one heals it, as far as it is not recorded already.
    later = NOW + timedelta(days=1)
    with provider(world, kind, now=later) as client:
        said = record_stock(tmp_path / "faulty", client, "KO", since=SINCE, now=later)
    assert any("was recorded as" in note for note in said.notes) == (fault == "restated")
    assert ("KO: the close of 2025-05-26 was recorded as" in " ".join(said.notes)) == (fault == "restated")


@BOTH
def test_no_log_of_any_layer_has_the_key(world: World, kind: type[Any], caplog: pytest.LogCaptureFixture) -> None:
    for name in ("", "httpx", "httpcore"):
        caplog.set_level(logging.DEBUG, name)
    with provider(world, kind) as client:
        assert client.prices("KO", SINCE, NOW.date()).days
    assert "HTTP Request: GET" in caplog.text
    assert "send_request_headers" in caplog.text
    assert KEY.value not in caplog.text


@BOTH
def test_a_fault_that_never_ends_is_an_error_and_leaves_nothing(world: World, tmp_path: Path, kind: type[Any]) -> None:
    for fault in ("rate_limit", "server_error", "truncated_json", "cut_connection"):
        with (
            provider(world, kind, Fault(fault, seconds=0.0)) as client,
            pytest.raises(VenueUnavailable, match="given up"),
        ):
            record_stock(tmp_path, client, "KO", since=SINCE, now=NOW)
    assert list(tmp_path.iterdir()) == []
