"""Who decides for an account: threads, processes or a cluster, the ledger is the same."""

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from tests.jobs.program import Program, document_of
from tests.jobs.test_killed import outcomes
from tests.jobs.tiny import canonical_at
from tests.venues.payloads import NOW

RECIPE = """
every = "1d"
[game]
name = "portfolio_weights"
[[bots]]
strategy = "equal_weights"
[[bots]]
strategy = "random_weights"
"""


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    """Return the program with a recipe of portfolios."""
    with closing(Program(tmp_path, {"PREDIBOT_WORKERS": "2"})) as made:
        (tmp_path / "walk.toml").write_text(RECIPE)
        yield made


def walked(program: Program, name: str, *executors: str) -> str:
    """Decide day after day, each in its own way, and return the address of the ledger."""
    ledger = f"sqlite:///{program.folder}/{name}.db"
    for day, executor in enumerate(executors):
        at = ("--as-of", (NOW + timedelta(days=day)).isoformat())
        venue = ("--venue", "archive:archive")
        chosen = ("--executor", executor)
        document_of(program.start("decide", "walk.toml", *venue, *at, "--ledger", ledger, *chosen, "--json"))
    return ledger


def test_processes_and_clusters_come_to_the_accounts_of_threads(program: Program) -> None:
    pytest.importorskip("distributed")
    others = walked(program, "others", "processes:2", "dask:local:2")
    assert canonical_at(others) == canonical_at(walked(program, "threads", "threads:2", "threads:2"))
    assert outcomes(others) == ["recorded"] * 4
