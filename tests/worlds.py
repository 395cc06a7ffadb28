"""Worlds that are made once a session, by whoever asks first, for tests that read them or change a copy."""

import fcntl
import os
import shutil
from collections.abc import Callable
from contextlib import chdir
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest

from predibot.ledger.store import Store
from predibot.sandbox.stocks.companies import DEFAULT_TICKERS, INDICES
from predibot.sandbox.stocks.folder import write_stock_folder
from tests.acceptance.conftest import done_here

Maker = Callable[[], object]
"""Makes a world in the current folder, which is named as it is: ledgers, and what they were played on."""


@dataclass(frozen=True)
class Worlds:
    """The folder that all workers of a session find worlds in."""

    folder: Path

    def __call__(self, make: Maker) -> Path:
        """Return the folder of a world that nobody may change."""
        # Worlds of two files may have one name.
        place = self.folder / f"{make.__module__}.{make.__name__}"
        with place.with_name(f"{place.name}.made").open("a") as made:
            fcntl.flock(made, fcntl.LOCK_EX)
            # What others made while this one waited has been written since it was opened.
            if not os.fstat(made.fileno()).st_size:
                shutil.rmtree(place, ignore_errors=True)
                place.mkdir()
                with chdir(place), pytest.MonkeyPatch.context() as patch:
                    # Whatever the test that happens to be first has set.
                    for name in [name for name in os.environ if name.startswith("PREDIBOT_")]:
                        patch.delenv(name)
                    make()
                made.write("made")
        return place

    def copy(self, make: Maker, to: Path) -> Path:
        """Return a folder into which a world was copied, to change it there."""
        return shutil.copytree(self(make), to, dirs_exist_ok=True)


@pytest.fixture(scope="session")
def worlds(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Worlds:
    """Return where worlds are: in the folder that those of all workers lie in."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if hasattr(request.config, "workerinput") else base) / "worlds"
    folder.mkdir(exist_ok=True)
    return Worlds(folder)


def empty() -> None:
    """Make `ledger.db`, a ledger without rows."""
    Store.open("sqlite:///ledger.db").close()


def weeks() -> None:
    """Decide three times with the bots of the sandbox, ten days apart, and track until much is settled."""
    for day in (1, 11, 21):
        at = f"2026-01-{day:02d}T12:00Z"
        done_here("decide", "sandbox", "--venue", "sandbox:events=20", "--events", "5", "--as-of", at)
    done_here("track", "--as-of", "2026-02-20T12:00Z")


def two_events() -> None:
    """Replay a bot of the sandbox that decides about two events into `ledger.db`."""
    span = ("--from", "2026-01-06T12:00Z", "--to", "2026-01-06T12:00Z", "--bots", "market_price")
    done_here("replay", "sandbox", *span, "--ledger", "sqlite:///ledger.db", "--events", "2")


def one_agent() -> None:
    """Replay an agent that decides about one event into `ledger.db`."""
    span = ("--from", "2026-01-06T12:00Z", "--to", "2026-01-06T12:00Z", "--bots", "script_sharp")
    done_here("replay", "sandbox_agents", *span, "--ledger", "sqlite:///ledger.db", "--events", "1")


def demo() -> None:
    """Play the demo, whose ledger is `runs/out/demo.db`, and keep what it printed in `printed.txt`."""
    with pytest.MonkeyPatch.context() as patch:
        # Threads that wait for each other take a quarter more of the machine, and change nothing.
        patch.setenv("PREDIBOT_WORKERS", "2")
        Path("printed.txt").write_text(done_here("demo").out, encoding="utf-8")


def three_games() -> None:
    """Replay events with agents, portfolios and cohorts into `ledger.db`."""
    # The last one is evaluated with all.
    for recipe, bots, first, last, every in (
        ("sandbox_agents", "script_sharp,market_price,random_bet", "06T12:00Z", "12T12:00Z", "3d"),
        ("sandbox_portfolio", "equal_weights,all_cash", "06T12:00Z", "08T12:00Z", "1d"),
        ("sandbox_weekly", "random_trade,script_gullible", "11T00:05Z", "18T00:05Z", "7d"),
    ):
        span = ("--from", f"2026-01-{first}", "--to", f"2026-01-{last}", "--every", every, "--bots", bots)
        where = ("--ledger", "sqlite:///ledger.db", "--venue", "sandbox:events=40,named=1")
        done_here("replay", recipe, *span, *where)


def week_of_stocks() -> None:
    """Replay a week of portfolios of stocks into `ledger.db`."""
    tickers, bots = (*DEFAULT_TICKERS, *INDICES), "buy_and_hold,index_spy,script_noisy"
    folder = Path("stocks").absolute()
    write_stock_folder(folder, seed=7, days=5, tickers=tickers, start=date(2026, 1, 5))
    where = ("--ledger", "sqlite:///ledger.db", "--venue", f"stocks:{folder}")
    done_here("replay", "sandbox_stocks", "--bots", bots, *where)
