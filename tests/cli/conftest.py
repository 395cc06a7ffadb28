"""The command line in an empty folder."""

from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest

from tests.acceptance.conftest import Predibot, predibot, said_here
from tests.worlds import Worlds, weeks

__all__ = ["predibot"]

WORLD = "sandbox:events=20"


def daily() -> None:
    """Decide once with the daily recipe."""
    assert said_here("decide", "--venue", WORLD, "--events", "3").code == 0


def daily_tracked() -> None:
    """The same, and track."""
    daily()
    assert said_here("track").code == 0


@pytest.fixture
def decided(predibot: Predibot, tmp_path: Path, worlds: Worlds) -> Predibot:
    """Return the program in a folder whose ledger has one run."""
    worlds.copy(daily, tmp_path)
    return predibot


@pytest.fixture
def tracked(predibot: Predibot, tmp_path: Path, worlds: Worlds) -> Predibot:
    """Return the program in a folder whose ledger has one run, prices and resolutions."""
    worlds.copy(daily_tracked, tmp_path)
    return predibot


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory, worlds: Worlds) -> Iterator[Predibot]:
    """Return the program in a folder whose ledger has runs of some weeks, of which much is settled."""
    with chdir(worlds.copy(weeks, tmp_path_factory.mktemp("played"))):
        yield said_here
