"""A folder of simulated stocks: files that say what the market does, whole and the same again."""

import csv
from datetime import date
from pathlib import Path

import pytest

from predibot.sandbox.stocks.folder import write_stock_folder
from predibot.sandbox.stocks.market import StockMarket

START = date(2024, 1, 6)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_files_say_what_the_market_does(tmp_path: Path) -> None:
    write_stock_folder(tmp_path / "new", seed=0, days=200, tickers=["KO", "SPY"], start=START)
    history = StockMarket.from_seed(0, start=START, days=200).history("KO")
    written = rows(tmp_path / "new" / "KO.csv")
    assert list(written[0]) == ["date", "open", "high", "low", "close", "volume", "adjusted_close"]
    assert written[0]["date"] == "2024-01-08"
    assert [float(each["close"]) for each in written] == history.close[history.is_traded].tolist()
    actions = rows(tmp_path / "new" / "actions.csv")
    said = [(each["date"], each["action"], each["value"]) for each in actions if each["ticker"] == "KO"]
    assert said == [(str(each.on), each.kind, f"{each.value:.10g}") for each in history.actions]
    assert rows(tmp_path / "new" / "sectors.csv") == [
        {"ticker": "KO", "sector": "Consumer staples", "name": "Coca-Cola"}
    ]


def test_writing_again_changes_no_byte_and_what_else_is_asked_for_no_file(tmp_path: Path) -> None:
    write_stock_folder(tmp_path / "a", seed=0, days=60, tickers=["KO", "QQQ", "ZZZ"], start=START)
    first = {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()}
    write_stock_folder(tmp_path / "a", seed=0, days=60, tickers=["KO", "QQQ", "ZZZ"], start=START)
    assert {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()} == first
    write_stock_folder(tmp_path / "b", seed=0, days=60, tickers=["QQQ"], start=START)
    assert (tmp_path / "b" / "QQQ.csv").read_bytes() == first["QQQ.csv"]


def test_a_ticker_that_leads_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a ticker is capital letters"):
        write_stock_folder(tmp_path / "a", seed=0, days=5, tickers=["../../X"], start=START)
    assert not (tmp_path / "a").exists()
