"""What job tests may ask for."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from predibot.ledger.store import Store
from tests.jobs.program import SLOW, Program
from tests.jobs.tiny import write_archive
from tests.ledger.databases import address, opened_copy, postgres, store
from tests.worlds import Worlds

__all__ = ["address", "archive", "postgres", "program", "store"]


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Return the folder of a tiny archive."""
    return write_archive(tmp_path / "archive")


@pytest.fixture
def ledger(tmp_path: Path, worlds: Worlds) -> Iterator[Store]:
    """Open an empty ledger in a file, `ledger.db`."""
    with opened_copy(f"sqlite:///{tmp_path}/ledger.db", worlds) as opened:
        yield opened


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    """Return the program with a tiny archive and a strategy that takes its time."""
    with closing(Program(tmp_path, {"PREDIBOT_WORKERS": "2"})) as made:
        made.strategy("slow", SLOW)
        yield made
