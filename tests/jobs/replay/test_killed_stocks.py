"""Portfolios of stocks in a replay that is killed ten times, or runs twice at once: the ledger is that of one alone."""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from predibot.jobs.verify import verify
from predibot.ledger.store import Store
from predibot.sandbox.stocks.folder import write_stock_folder
from tests.jobs.program import Program
from tests.jobs.replay.killed_accounts import BOTS, KilledReplay
from tests.jobs.tiny import canonical, canonical_at
from tests.ledger.databases import Postgres

DAYS = 14
KILLS = 10
KILLS_ON_A_SERVER = 2
TICKERS = ("AAPL", "KO", "XOM")
RECIPE = """
every = "1d"
venue = "stocks:stocks"
[game]
name = "portfolio_weights"
tickers = ["AAPL", "KO", "XOM"]
benchmarks = ["SPY"]
fee_bps = 3
[[bots]]
strategy = "equal_weights"
[[bots]]
strategy = "random_weights"
[[bots]]
strategy = "index_fund"
"""


@dataclass
class KilledStocks(KilledReplay):
    """A replay of portfolios of stocks, in a folder of its own."""

    def __post_init__(self) -> None:
        """Write the recipe and the stocks, whose dividends come in February."""
        self.folder.mkdir()
        self.program = Program(self.folder, {"PREDIBOT_WORKERS": "2"})
        self.ledger = self.ledger or self.program.ledger
        (self.folder / "walk.toml").write_text(RECIPE, encoding="utf-8")
        begin = date(2025, 1, 27)
        write_stock_folder(self.folder / "stocks", seed=7, days=self.days, tickers=(*TICKERS, "SPY"), start=begin)

    def start(self) -> "subprocess.Popen[str]":
        """Start the replay, or go on with it."""
        return self.program.start("replay", "walk.toml", "--ledger", self.ledger, "--json")


def test_ten_kills_and_two_at_once_leave_the_accounts_of_an_undisturbed_replay(
    tmp_path: Path, postgres: Postgres
) -> None:
    alone, twice = KilledStocks(tmp_path / "alone", DAYS), KilledStocks(tmp_path / "twice", DAYS)
    killed = KilledStocks(tmp_path / "killed", DAYS)
    on_server = KilledStocks(tmp_path / "server", DAYS, postgres.empty())
    with ThreadPoolExecutor(2) as pool:
        disturbed = [pool.submit(killed.run, 1, KILLS), pool.submit(on_server.run, 2, KILLS_ON_A_SERVER)]
        for each in disturbed:
            each.result()
        both = [twice.start(), twice.start()]
        for process in both:
            process.communicate()
        alone.whole(alone.start())
    twice.program.close()
    assert (killed.kills, on_server.kills) == (KILLS, KILLS_ON_A_SERVER)
    assert alone.decisions == BOTS * DAYS
    expected = canonical_at(alone.ledger)
    assert '"dividend"' in expected
    for each in (killed, on_server, twice):
        with Store.open_to_read(each.ledger) as store:
            assert canonical(store) == expected
            assert verify(store).broken == ()
