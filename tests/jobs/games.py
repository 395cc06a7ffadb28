"""Replays of each game, in a folder of their own, which may be killed and started again."""

import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from predibot.sandbox.stocks.folder import write_stock_folder
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT
from tests.jobs.program import PATIENCE_SECONDS, Program, document_of
from tests.venues.payloads import NOW

EVENTS_RECIPE = """
every = "1d"
venue = "archive:archive"
game = "dollar_per_event"
[[bots]]
strategy = "calibrated"
bot = "always_half"
[[bots]]
strategy = "random_bet"
[[bots]]
strategy = "always_half"
"""
PORTFOLIOS_RECIPE = """
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
COHORTS_RECIPE = """
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
STOCKS_RECIPE = """
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
BOTS = 3
SCRIPTED = 'strategy = "one_shot"\nmodel = "sandbox/sharp"\n'
NAMED = "sandbox:events=6,named=1"
"""A world whose markets have two outcomes, or more of them with names."""
FIRST_SUNDAY = datetime(2026, 1, 11, 0, 5, tzinfo=UTC)
FIRST_STOCK_DAY = date(2025, 1, 27)
"""Dividends come in February; within the year two splits, a halt and a delisting."""


@dataclass(frozen=True)
class Game:
    """What is replayed, and how many decisions that comes to."""

    recipe: str
    decisions: int
    span: tuple[str, ...] = ()
    prepare: Callable[[Path], object] = str


def events(days: int) -> Game:
    """Return bets on three events, day after day."""
    return Game(EVENTS_RECIPE, 3 * BOTS * days, _span(NOW, days, "1d"))


def portfolios(days: int) -> Game:
    return Game(PORTFOLIOS_RECIPE, BOTS * days, _span(SANDBOX_OPENS_AT, days, "1d"))


def cohorts(weeks: int, *, venue: str = NAMED, first: datetime = FIRST_SUNDAY) -> Game:
    """Return cohorts through some weeks; a script of the sandbox plays in its worlds only."""
    recipe = COHORTS_RECIPE.format(venue=venue) + (SCRIPTED if venue == NAMED else 'strategy = "random_trade"\n')
    # A cohort decides in its week and the four that follow.
    return Game(recipe, BOTS * sum(min(week + 1, 5) for week in range(weeks)), _span(first, 7 * weeks, "7d"))


def stocks(days: int, *, start: date = FIRST_STOCK_DAY) -> Game:
    def prepare(folder: Path) -> None:
        write_stock_folder(folder / "stocks", seed=7, days=days, tickers=("AAPL", "KO", "XOM", "SPY"), start=start)

    return Game(STOCKS_RECIPE, BOTS * days, prepare=prepare)


def _span(first: datetime, days: int, every: str) -> tuple[str, ...]:
    last = first + timedelta(days=days - 1)
    return ("--from", first.isoformat(), "--to", last.isoformat(), "--every", every)


@dataclass
class Played:
    """A replay of a game in a folder of its own."""

    game: Game
    folder: Path
    ledger: str = ""
    program: Program = field(init=False)

    def __post_init__(self) -> None:
        self.folder.mkdir()
        self.program = Program(self.folder, {"PREDIBOT_WORKERS": "2"})
        self.ledger = self.ledger or self.program.ledger
        (self.folder / "walk.toml").write_text(self.game.recipe, encoding="utf-8")
        self.game.prepare(self.folder)

    def start(self, first: Callable[[], object] | None = None) -> "subprocess.Popen[str]":
        return self.program.start(
            "replay", "walk.toml", *self.game.span, "--ledger", self.ledger, "--json", first=first
        )

    def kill(self, where: Callable[[], object]) -> None:
        """Start it, or go on, until it is killed where it comes to a boundary."""
        process = self.start(where)
        said = process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == -signal.SIGKILL, (where, said)

    def whole(self, *processes: "subprocess.Popen[str]") -> list[Any]:
        """Wait for replays that end with all decisions recorded, and return what they say."""
        documents = [document_of(each, seconds=3_000.0)["replay"] for each in processes or (self.start(),)]
        assert [each["totals"]["recorded"] for each in documents] == [self.game.decisions] * len(documents)
        self.program.close()
        return documents
