"""The command line as a user meets it: in an empty folder, a command at a time."""

import json
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from predibot.cli import main
from tests.agents.chat_server import Asked


@dataclass(frozen=True)
class Said:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


Predibot = Callable[..., Said]


def taken_for_real(ledger: str) -> None:
    """Have a ledger say that its world was no made-up one, in which a model can have read nothing."""
    with closing(sqlite3.connect(ledger)) as connection, connection:
        named = "SELECT t.name, c.name FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE c.name LIKE 'venue%'"
        for table, column in connection.execute(named).fetchall():
            connection.execute(f"UPDATE {table} SET {column} = replace({column}, 'sandbox', 'archive')")


def said_here(*arguments: str | Path) -> Said:
    """Run the program in the current folder, where there is no fixture to do it."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main([*map(str, arguments)])
    return Said(code, out.getvalue(), err.getvalue())


def done_here(*arguments: str | Path) -> Said:
    """Run a command in the current folder that is to end well."""
    said = said_here(*arguments)
    assert said.code == 0, said.err
    return said


def forecasts_on(asked: Asked, probability: float = 0.5) -> str:
    """Return an answer to a prompt that says the same of each of its markets, and bets nothing."""
    said = {"estimated_probability": probability, "bet": 0.0, "confidence": 5, "rationale": "a script"}
    ids = dict.fromkeys(re.findall(r"market id: (\w+)", str(asked.body["messages"])))
    return json.dumps({"market_decisions": [{"market_id": each, **said} for each in ids], "unallocated_capital": 1.0})


def bot_of(
    url: str, *more: str, name: str = "agent", strategy: str = "one_shot", model: str = "local/tiny", price: object = 0
) -> str:
    """Return a bot whose model is asked at an address, with these lines more, as a recipe has it."""
    lines = (f'name = "{name}"', f'strategy = "{strategy}"', f'model = "{model}"', f'base_url = "{url}"')
    return "\n".join(("[[bots]]", *lines, f"price_usd_per_million_tokens = {price}", *more, ""))


@contextmanager
def own_plugins(kind: str, folder: Path) -> Iterator[None]:
    """Have the program find plug-ins of a kind in a folder, as one that starts with this folder in its environment."""
    package = f"predibot.{kind}"

    def forgotten() -> dict[str, ModuleType]:
        names = [name for name in sys.modules if f"{name}.".startswith(f"{package}.")]
        return {name: sys.modules.pop(name) for name in names}

    before = forgotten()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(f"PREDIBOT_{kind.upper()}", str(folder))
        try:
            yield
        finally:
            forgotten()
            sys.modules.update(before)
            if package in before:
                # What is imported anew is an attribute of its parent too.
                setattr(import_module("predibot"), kind, before[package])


@pytest.fixture
def predibot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Predibot:
    """Return the program, run in process in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return said_here
