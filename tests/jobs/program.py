"""The program as a process of its own, which can be killed and interrupted."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import psutil
from sqlalchemy import text

import predibot
from predibot.errors import LedgerError
from predibot.ledger.store import Store
from tests.forked import Forked
from tests.jobs.tiny import write_archive
from tests.venues.payloads import NOW

SLOW = '''"""Draws, slowly."""

import time
from dataclasses import dataclass

from predibot.strategies.random_bet import RandomBet


@dataclass(frozen=True, slots=True)
class Slow:
    """Draw slowly."""

    seconds: float = 0.04

    def decide(self, context):
        """Return a drawn decision, late."""
        time.sleep(self.seconds)
        return RandomBet().decide(context)
'''


@dataclass
class Program:
    """Runs predibot in a folder with a tiny archive, strategies of its own and settings of its own."""

    folder: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    _started: "list[subprocess.Popen[str]]" = field(default_factory=list)

    def __post_init__(self) -> None:
        """Write the archive and make the folder of strategies."""
        write_archive(self.folder / "archive")
        (self.folder / "probes").mkdir(exist_ok=True)

    def strategy(self, name: str, code: str) -> None:
        (self.folder / "probes" / f"{name}.py").write_text(code, encoding="utf-8")

    def many_bots(self, count: int) -> str:
        """Write a recipe of bots that take their time, and return its name."""
        bots = "".join(f'[[bots]]\nname = "slow_{number}"\nstrategy = "slow"\n' for number in range(count))
        top = 'game = "dollar_per_event"\nvenue = "polymarket"\nevery = "1d"\n'
        (self.folder / "many.toml").write_text(top + bots, encoding="utf-8")
        return "many.toml"

    def decide(self, *more: str, ledger: str = "sqlite:///ledger.db", anew: bool = False) -> "subprocess.Popen[str]":
        """Start to decide on the archive, in processes that load everything anew where that is asked for."""
        where = ("--venue", "archive:archive", "--as-of", NOW.isoformat(), "--ledger", ledger)
        start = partial(self.run, "predibot") if anew else self.start
        return start("decide", *where, "--json", *more)

    def start(
        self, *arguments: str, first: Callable[[], object] | None = None, module: str = "predibot"
    ) -> "subprocess.Popen[str]":
        """Start a command, in a process that does something else first where that is asked for."""
        given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "first": first, "module": module}
        return self._run_on(Forked(*arguments, folder=self.folder, environment=self._around, **given))

    def run(self, module: str, *arguments: str, under: Callable[[], object] | None = None) -> "subprocess.Popen[str]":
        """Start a module of Python in the same folder, under limits where some are given, with the same settings."""
        command, pipe = [sys.executable, "-m", module, *arguments], subprocess.PIPE
        around = {"cwd": self.folder, "env": self._around, "preexec_fn": under}
        return self._run_on(subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, **around))

    @property
    def _around(self) -> Mapping[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PREDIBOT_")}
        own = {
            "PYTHONPATH": str(Path(predibot.__file__).parents[1]),
            "PREDIBOT_STRATEGIES": str(self.folder / "probes"),
            "PREDIBOT_LEASE_SECONDS": "600",
        }
        return {**kept, **own, **self.settings}

    def _run_on(self, process: "subprocess.Popen[str]") -> "subprocess.Popen[str]":
        self._started.append(process)
        return process

    def close(self) -> None:
        """Kill what a failed test left running, and close its pipes."""
        for process in self._started:
            with process:
                process.kill()

    @property
    def ledger(self) -> str:
        return f"sqlite:///{self.folder}/ledger.db"

    def count(self, rows: str) -> int:
        """Return how many rows of a table the ledger has, zero while there is none; a condition may follow its name."""
        with suppress(LedgerError), Store.open_to_read(self.ledger) as store, store.read() as connection:
            return int(connection.execute(text(f"SELECT count(*) FROM {rows}")).scalar_one())
        return 0


PATIENCE_SECONDS = 240.0
"""Only what hangs takes longer, however busy the machine is."""


def document_of(process: "subprocess.Popen[str]", *, seconds: float = PATIENCE_SECONDS, code: int = 0) -> Any:
    """Wait for a process that ends with an exit code, and return the document it printed."""
    out, err = process.communicate(timeout=seconds)
    assert process.returncode == code, err
    document = json.loads(out)
    assert document["exit_code"] == code
    return document


def passes_over(process: "subprocess.Popen[str]", *signals: signal.Signals) -> bool:
    """Return whether a process has said that these signals are nothing to it, as Linux tells."""
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    ignored = int(re.findall(r"^SigIgn:\s*(\w+)$", status, re.MULTILINE)[0], 16)
    return all(ignored & 1 << (number - 1) for number in signals)


def wait_until(true: Callable[[], bool], *, seconds: float = PATIENCE_SECONDS) -> None:
    """Wait until something is true, and ask ever more rarely, as asking keeps others from what is waited for."""
    until, pause_seconds = time.monotonic() + seconds, 0.01
    while not true():
        assert time.monotonic() < until, "it never came true"
        time.sleep(pause_seconds)
        pause_seconds = min(1.3 * pause_seconds, 0.2)


def workers_of(pid: int) -> list[psutil.Process]:
    """Return the processes that work for another one, forked or started anew."""
    found = []
    with suppress(psutil.Error):
        for each in psutil.Process(pid).children(recursive=True):
            with suppress(psutil.Error):
                # Python 3.14 names a process that it forks and then runs as its main thread.
                if each.name() in ("spawn_main", "MainThread") or "--multiprocessing-fork" in each.cmdline():
                    found.append(each)
    return found
