"""A ledger that a run with an agent was decided into, and what changes it past everything that looks after it."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.acceptance.conftest import Predibot, done_here, said_here
from tests.worlds import Worlds

__all__ = ["predibot"]

BASELINE = """
game = "dollar_per_event"
venue = "sandbox:events=8"
every = "1d"
[limits.run]
usd = 5.0
[selection]
events = 2
[[bots]]
strategy = "random_bet"
"""
RECIPE = BASELINE + '[[bots]]\nstrategy = "tool_agent"\nmodel = "sandbox/sharp"\n'
LEDGER = Path("runs/out/predibot.db")


def agent_run() -> None:
    """Decide about two events with an agent and another; the recipe stays beside the ledger as `r.toml`."""
    Path("r.toml").write_text(RECIPE)
    done_here("decide", "r.toml")


@pytest.fixture
def predibot(worlds: Worlds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Predibot:
    """Return the program in a folder whose ledger has a run with an agent."""
    monkeypatch.chdir(worlds.copy(agent_run, tmp_path))
    return said_here


def change(*statements: str, file: Path = LEDGER) -> None:
    """Change a ledger past everything that looks after it."""
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        for statement in statements:
            assert connection.execute(statement).rowcount > 0, statement
