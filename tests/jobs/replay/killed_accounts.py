"""Replays of accounts whose processes are killed again and again: short in the tests, long in a soak."""

import random
import signal
import subprocess
import time
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from sqlalchemy import text

from predibot.ledger.store import Store
from predibot.sandbox.stocks.folder import write_stock_folder
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT
from tests.jobs.program import Program, document_of, wait_until
from tests.jobs.soak import ended

RECIPE = """
every = "1d"
venue = "sandbox:events=14"
[game]
name = "portfolio_weights"
[limits.run]
usd = 50.0
[[bots]]
strategy = "equal_weights"
[[bots]]
strategy = "random_weights"
[[bots]]
name = "lazy"
strategy = "one_shot"
model = "sandbox/lazy"
"""
BOTS = 3
COHORTS = """
every = "7d"
venue = "{venue}"
[game]
name = "weekly_cohort"
[[bots]]
strategy = "all_cash"
[[bots]]
strategy = "random_trade"
[[bots]]
name = "another"
"""
SCRIPTED = 'strategy = "one_shot"\nmodel = "sandbox/sharp"\n'
NAMED = "sandbox:events=14,named=1"
"""A world whose markets have two outcomes, or more of them with names."""
STOCKS = """
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
FIRST_STOCK_DAY = date(2025, 1, 27)
"""Dividends come in February; within the year two splits, a halt and a delisting."""
FIRST_SUNDAY = datetime(2026, 1, 11, 0, 5, tzinfo=UTC)


@dataclass
class KilledReplay:
    """A replay of portfolios through some days, or of cohorts through some weeks, in a folder of its own."""

    folder: Path
    days: int = 0
    ledger: str = ""
    weeks: int = 0
    venue: str = NAMED
    """Of cohorts; a script of the sandbox plays in its worlds only."""
    first: datetime = FIRST_SUNDAY
    kills: int = 0
    program: Program = field(init=False)

    def __post_init__(self) -> None:
        """Write the recipe."""
        self.folder.mkdir()
        self.program = Program(self.folder, {"PREDIBOT_WORKERS": "2"})
        self.ledger = self.ledger or self.program.ledger
        other = SCRIPTED if self.venue == NAMED else 'strategy = "random_trade"\n'
        recipe = COHORTS.format(venue=self.venue) + other if self.weeks else RECIPE
        (self.folder / "walk.toml").write_text(recipe, encoding="utf-8")

    @property
    def decisions(self) -> int:
        """Return how many there are in the end."""
        # A cohort decides in its week and the four that follow.
        return BOTS * (sum(min(week + 1, 5) for week in range(self.weeks)) + self.days)

    def start(self) -> "subprocess.Popen[str]":
        """Start the replay, or go on with it."""
        first, length = (self.first, 7 * self.weeks) if self.weeks else (SANDBOX_OPENS_AT, self.days)
        last = first + timedelta(days=length - 1)
        instants = ("--from", first.isoformat(), "--to", last.isoformat(), "--every", "7d" if self.weeks else "1d")
        return self.program.start("replay", "walk.toml", *instants, "--ledger", self.ledger, "--json")

    def whole(self, process: "subprocess.Popen[str]") -> None:
        """Wait for a replay that ends with all decisions recorded."""
        assert document_of(process, seconds=3_000.0)["replay"]["totals"]["recorded"] == self.decisions
        self.program.close()

    def run(self, seed: int, kills: int) -> None:
        """Kill the replay so many times, evenly over its decisions, and let it come to its end."""
        rng = random.Random(seed)
        process = self.start()
        lost: tuple[int, ...] = ()
        for number in range(1, kills + 1):
            least = number * self.decisions // (kills + 2)
            wait_until(
                lambda least=least, lost=lost, process=process: (
                    ended(process.pid) or (self._count() >= least and not self._open(lost))
                ),
                seconds=1_200.0,
            )
            if number % 2:
                # In the middle of a decision, and not while the world of the next day is made.
                wait_until(lambda process=process: ended(process.pid) or bool(self._claimed()))
            time.sleep(rng.random() * 0.1)
            if ended(process.pid):
                break
            process.send_signal(signal.SIGKILL)
            process.communicate()
            self.kills += 1
            # One that is lost twice is given up; which it is, is another test's.
            lost = self._claimed()
            process = self.start()
        self.whole(process)

    def _count(self) -> int:
        return len(self._rows("SELECT id FROM decisions"))

    def _claimed(self) -> tuple[int, ...]:
        return self._rows("SELECT id FROM tasks WHERE status = 'claimed'")

    def _open(self, tasks: tuple[int, ...]) -> bool:
        done = self._rows("SELECT task_id FROM decisions")
        return not set(tasks) <= set(done)

    def _rows(self, statement: str) -> tuple[int, ...]:
        try:
            with Store.open_to_read(self.ledger) as store, store.read() as connection:
                return tuple(connection.execute(text(statement)).scalars())
        except Exception:  # noqa: BLE001 - there is no ledger yet, or it is being made
            return ()


@dataclass
class KilledStocks(KilledReplay):
    """A replay of portfolios of stocks through some trading days, in a folder of its own."""

    def __post_init__(self) -> None:
        """Write the recipe and the stocks."""
        self.folder.mkdir()
        self.program = Program(self.folder, {"PREDIBOT_WORKERS": "2"})
        self.ledger = self.ledger or self.program.ledger
        (self.folder / "walk.toml").write_text(STOCKS, encoding="utf-8")
        tickers = ("AAPL", "KO", "XOM", "SPY")
        write_stock_folder(self.folder / "stocks", seed=7, days=self.days, tickers=tickers, start=FIRST_STOCK_DAY)

    def start(self) -> "subprocess.Popen[str]":
        """Start the replay, or go on with it."""
        return self.program.start("replay", "walk.toml", "--ledger", self.ledger, "--json")
