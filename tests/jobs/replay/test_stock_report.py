"""Figures of a report on stocks, beside what a few lines make of the exported tables and of the files of prices."""

import csv
import json
import random
from collections import defaultdict
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from predibot.sandbox.stocks.folder import write_stock_folder
from tests.acceptance.conftest import said_here
from tests.worlds import Worlds

RECIPE = """
every = "1d"
venue = "stocks:stocks"
[game]
name = "portfolio_weights"
tickers = ["AAPL", "KO", "XOM"]
benchmarks = ["SPY"]
fee_bps = 5
[[bots]]
strategy = "equal_weights"
[[bots]]
strategy = "random_weights"
[[bots]]
strategy = "buy_and_hold"
[[bots]]
strategy = "index_fund"
"""
BOTS = ("equal_weights", "random_weights", "buy_and_hold")
LEDGER = ("--ledger", "sqlite:///walk.db")
DAYS = 13
T_BY_BLOCKS = 2.715
"""Student's t at .975 with 4.24 degrees of freedom: 12 returns are 5.24 mean blocks of 12 ** (1 / 3)."""


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def weeks_of_stocks() -> None:
    """Play some weeks with a split and dividends, export the tables, and keep what the report says."""
    here = Path.cwd()
    (here / "walk.toml").write_text(RECIPE)
    tickers = ("AAPL", "KO", "XOM", "SPY")
    write_stock_folder(here / "stocks", seed=7, days=DAYS, tickers=tickers, start=date(2025, 4, 16))
    kinds = {each["action"] for each in rows(here / "stocks/actions.csv")}
    assert kinds == {"split", "dividend"}
    assert said_here("replay", "walk.toml", *LEDGER).code == 0
    assert said_here("export", "out", "--table", "journal", "--table", "valuations", *LEDGER).code == 0
    (here / "report.json").write_text(said_here("report", "--full", "--json", *LEDGER).out)


@pytest.fixture
def folder(worlds: Worlds) -> Path:
    return worlds(weeks_of_stocks)


@pytest.fixture
def played(folder: Path) -> Mapping[str, object]:
    (board,) = json.loads((folder / "report.json").read_text())["accounts"]
    assert isinstance(board, dict)
    return board


def curves(folder: Path) -> Mapping[str, np.ndarray]:
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for each in rows(folder / "out/valuations.csv"):
        found[each["bot"]][each["at"]] = float(each["value_usd"])
    return {bot: np.array([by_day[at] for at in sorted(by_day)]) for bot, by_day in found.items()}


def beside(board: Mapping[str, object], bot: str) -> Mapping[str, float]:
    pairs = board["comparisons"]
    assert isinstance(pairs, list)
    (found,) = (each for each in pairs if (each["bot"], each["baseline"]) == (bot, "index_fund"))
    return found  # type: ignore[no-any-return]


def test_difference_beta_and_correlation_are_those_of_the_returns(played: Mapping[str, object], folder: Path) -> None:
    values = curves(folder)
    index = values["index_fund"]
    moved = np.diff(index) / index[:-1]
    for bot in BOTS:
        own, found = values[bot], beside(played, bot)
        assert own.size == DAYS
        returns = np.diff(own) / own[:-1]
        assert found["difference"] == pytest.approx(own[-1] / own[0] / (index[-1] / index[0]) - 1.0, abs=1e-12)
        assert found["beta"] == pytest.approx(np.cov(returns, moved)[0, 1] / moved.var(ddof=1), abs=1e-9)
        assert found["correlation"] == pytest.approx(np.corrcoef(returns, moved)[0, 1], abs=1e-9)


def test_the_interval_of_the_difference_is_that_of_a_bootstrap_by_loops(
    played: Mapping[str, object], folder: Path
) -> None:
    values, rng = curves(folder), random.Random(3)
    own, index = (np.diff(np.log(values[bot])) for bot in ("random_weights", "index_fund"))
    less, n = own - index, own.size
    draws = []
    for _ in range(4_000):
        place, drawn = rng.randrange(n), 0.0
        for _ in range(n):
            drawn += less[place]
            place = rng.randrange(n) if rng.random() < n ** (-1 / 3) else (place + 1) % n
        draws.append(drawn)
    half = T_BY_BLOCKS * float(np.std(draws)) * (n / (n - 1)) ** 0.5
    found = beside(played, "random_weights")
    low, high = np.expm1(less.sum() - half), np.expm1(less.sum() + half)
    assert (found["low"], found["high"]) == pytest.approx((low, high), abs=0.04 * (high - low))


def test_exposure_by_sector_is_the_mean_share_of_what_is_held_after_the_fills_of_each_day(
    played: Mapping[str, object], folder: Path
) -> None:
    closes = {
        ticker: {each["date"]: float(each["close"]) for each in rows(folder / f"stocks/{ticker}.csv")}
        for ticker in ("AAPL", "KO", "XOM", "SPY")
    }
    sector = {each["ticker"]: each["sector"] for each in rows(folder / "stocks/sectors.csv")}
    journal, board = rows(folder / "out/journal.csv"), played["leaderboard"]
    assert isinstance(board, list)
    for bot in (*BOTS, "index_fund"):
        shares: dict[str, float] = defaultdict(float)
        sums: dict[str, float] = defaultdict(float)
        cash = 0.0
        for day in sorted(closes["SPY"]):
            for row in (each for each in journal if each["bot"] == bot and each["at"][:10] == day):
                cash += float(row["cash_usd"])
                shares[row["instrument_id"]] += float(row["shares"])
            worth = {ticker: count * closes[ticker][day] for ticker, count in shares.items() if count}
            for ticker, usd in worth.items():
                sums[sector.get(ticker, "no sector")] += usd / (cash + sum(worth.values())) / DAYS
        (score,) = (each for each in board if each["bot"] == bot)
        assert score["sectors"] == pytest.approx(dict(sums), abs=1e-9)
