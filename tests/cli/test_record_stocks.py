"""`predibot record --stocks`: daily prices of a provider with a key, into a folder of CSV files."""

import csv
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from predibot.sandbox.server.fault import Fault
from predibot.sandbox.server.options import SandboxOptions
from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.stocks.folder import write_stock_folder
from predibot.sandbox.world.world import World
from tests.acceptance.conftest import Predibot
from tests.operator import set_up

NOW = datetime(2025, 6, 2, 22, tzinfo=UTC)
AT = ("--as-of", "2025-06-02T22:00:00Z")
KEY = "0123456789abcdefPLANTED"


@pytest.fixture
def server() -> Iterator[SandboxServer]:
    with SandboxServer(World.from_seed(3, events=5), now=NOW) as server:
        yield server


@pytest.fixture
def predibot(predibot: Predibot, server: SandboxServer, monkeypatch: pytest.MonkeyPatch) -> Predibot:
    for provider in ("TIINGO", "ALPHA_VANTAGE"):
        monkeypatch.setenv(f"PREDIBOT_{provider}_URL", server.search_url)
        monkeypatch.setenv(f"{provider}_API_KEY", KEY)
    return predibot


def rows(path: Path) -> int:
    with path.open(newline="") as file:
        return len(list(csv.DictReader(file)))


@pytest.mark.parametrize("provider", ["tiingo", "alpha_vantage"])
def test_stocks_are_recorded_and_a_second_call_asks_nothing(
    predibot: Predibot, server: SandboxServer, tmp_path: Path, provider: str
) -> None:
    arguments = ("record", "stocks", "--stocks", provider, *AT, "--days", "90", "--json")
    document = predibot(*arguments, "--tickers", "KO,SPY").document
    assert list(document) == ["folder", "provider", "tickers", "new_rows", "new_actions", "notes"]
    assert document["new_rows"] == rows(tmp_path / "stocks/KO.csv") + rows(tmp_path / "stocks/SPY.csv") > 120
    assert document["new_actions"] == rows(tmp_path / "stocks/actions.csv") > 0
    asked = server.requests
    again = predibot(*arguments).document
    assert (again["tickers"], again["new_rows"], again["new_actions"]) == (["KO", "SPY"], 0, 0)
    assert server.requests == asked


def test_a_person_reads_what_is_new(predibot: Predibot) -> None:
    said = predibot("record", "stocks", "--stocks", "tiingo", *AT, "--tickers", "KO")
    assert said.out == "stocks: 1 stock; 21 new daily prices, 1 new action\n"


def test_what_could_be_read_is_written_and_the_rest_is_said(predibot: Predibot, tmp_path: Path) -> None:
    said = predibot("record", "stocks", "--stocks", "tiingo", *AT, "--tickers", "KO,NONE,SPY")
    assert said.code == 1
    assert "tiingo has no stock NONE" in said.err
    assert "The rest is written; run the same command again" in said.err
    assert (tmp_path / "stocks/KO.csv").is_file()
    assert (tmp_path / "stocks/SPY.csv").is_file()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--stocks", "tingo", "--tickers", "KO"), "no provider of stocks 'tingo'. Did you mean 'tiingo'?"),
        (("--stocks", "tiingo"), "stocks has no stocks yet; name some with --tickers AAPL,MSFT,SPY"),
        (("--stocks", "tiingo", "--tickers", "../KO"), "'../KO' is no ticker"),
        (("--stocks", "tiingo", "--venue", "sandbox"), "two things to record; leave one out"),
        (("--tickers", "KO"), "--tickers goes with --stocks"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    predibot: Predibot, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    refused = predibot("record", "stocks", *arguments)
    assert refused.code != 0
    assert said in " ".join(refused.err.split())
    assert not (tmp_path / "stocks").exists()


def test_without_a_key_it_says_which(predibot: Predibot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIINGO_API_KEY")
    refused = predibot("record", "stocks", "--stocks", "tiingo", "--tickers", "KO")
    assert "tiingo wants a key: set TIINGO_API_KEY in the environment" in " ".join(refused.err.split())


def test_a_key_goes_to_no_other_host(predibot: Predibot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREDIBOT_TIINGO_URL", "https://elsewhere.invalid")
    refused = predibot("record", "stocks", "--stocks", "tiingo", "--tickers", "KO")
    assert "TIINGO_API_KEY may not be sent to elsewhere.invalid: it belongs to api.tiingo.com" in refused.err
    assert KEY not in refused.err


@pytest.mark.parametrize("provider", ["tiingo", "alpha_vantage"])
def test_no_output_and_no_log_has_the_key(
    predibot: Predibot, server: SandboxServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    monkeypatch.setenv("PREDIBOT_CALL_DEADLINE_SECONDS", "0.8")
    common = ("record", "stocks", "--stocks", provider, *AT, "--tickers", "KO,V", "--verbose", "--log-file", "said.log")
    with SandboxServer(
        World.from_seed(3, events=5), now=NOW, options=SandboxOptions(fault=Fault("server_error"))
    ) as faulty:
        monkeypatch.setenv(f"PREDIBOT_{provider.upper()}_URL", faulty.search_url)
        failed = predibot(*common)
    assert failed.code == 1
    assert "V: it was not asked for any more" in " ".join(failed.err.split())
    monkeypatch.setenv(f"PREDIBOT_{provider.upper()}_URL", server.search_url)
    monkeypatch.delenv("PREDIBOT_CALL_DEADLINE_SECONDS")
    said = predibot(*common)
    assert said.code == 0, said.err
    for text in (failed.out, failed.err, said.out, said.err, (tmp_path / "said.log").read_text()):
        assert KEY not in text


def test_nothing_is_recorded_among_simulated_stocks(predibot: Predibot, server: SandboxServer, tmp_path: Path) -> None:
    write_stock_folder(tmp_path / "stocks", seed=1, days=5, tickers=["KO"], start=NOW.date())
    before = (tmp_path / "stocks/KO.csv").read_bytes()
    said = predibot("record", "stocks", "--stocks", "tiingo", *AT)
    assert (said.code, server.requests) == (1, 0)
    assert "stocks has simulated stocks, as its simulated.toml says; record into another folder" in said.err
    assert (tmp_path / "stocks/KO.csv").read_bytes() == before


def test_an_address_of_a_provider_may_stand_in_the_file_of_settings(
    predibot: Predibot, server: SandboxServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PREDIBOT_TIINGO_URL")
    set_up(tmp_path, f'tiingo_url = "{server.search_url}"\n')
    said = predibot("record", "stocks", "--stocks", "tiingo", *AT, "--tickers", "KO")
    assert (said.code, server.requests) == (0, 1)
