"""The command line in an empty folder."""

from pathlib import Path

import pytest

from tests.acceptance.conftest import Predibot, said_here

WORLD = "sandbox:events=20"


@pytest.fixture
def predibot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Predibot:
    """Return the program, run in process in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return said_here


@pytest.fixture
def decided(predibot: Predibot) -> Predibot:
    """Return the program in a folder whose ledger has one run."""
    assert predibot("decide", "--venue", WORLD, "--events", "3").code == 0
    return predibot
