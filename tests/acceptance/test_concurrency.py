"""`max_concurrency`: the most calls at once to one provider, whoever makes them."""

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from predibot.net.concurrency import FIRST_LIMIT
from tests.agents.chat_server import Asked, ChatServer, Said, error, serving
from tests.jobs.program import Program, document_of
from tests.jobs.soak import ASKS
from tests.ledger.statements import found

BOTS = 6
EVENTS = 3


class Crowded(ChatServer):
    """Refuses whoever comes while so many are answered, and remembers how many there ever were."""

    def __init__(self, bears: int) -> None:
        super().__init__()
        self.bears = bears
        self.most = self.now = self.refused = 0

    def next(self, asked: Asked) -> Said:
        """Answer after a moment, unless there are too many."""
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
            is_too_many = self.now > self.bears
            self.refused += is_too_many
        if not is_too_many:
            threading.Event().wait(0.1)
        with self.lock:
            self.now -= 1
        return error(429, retry_after="0.2") if is_too_many else super().next(asked)


@pytest.fixture
def asking(tmp_path: Path) -> Iterator[Program]:
    """Return the program with a strategy that asks once."""
    with closing(Program(tmp_path, {"PREDIBOT_WORKERS": "6"})) as program:
        program.strategy("asks", ASKS)
        yield program


def decide(program: Program, server: Crowded, *more: str) -> None:
    """Decide with bots that all ask the server, and see that all are answered."""
    bots = "".join(
        f'[[bots]]\nname = "b{number}"\nstrategy = "asks"\nlabel = "b{number}"\nbase_url = "{server.base_url}"\n'
        for number in range(BOTS)
    )
    (program.folder / "r.toml").write_text(bots, encoding="utf-8")
    assert document_of(program.decide("r.toml", *more))["totals"]["recorded"] == BOTS * EVENTS


def test_processes_together_ask_a_provider_by_no_more_at_once_than_is_set(asking: Program) -> None:
    asking.settings = {**asking.settings, "PREDIBOT_MAX_CONCURRENCY": "3"}
    with serving(Crowded(bears=1000)) as server:
        decide(asking, server, "--executor", "processes:2")
    assert 1 <= server.most <= 3


def test_a_provider_that_refuses_is_asked_by_fewer_and_every_decision_is_made(asking: Program) -> None:
    with serving(Crowded(bears=2)) as server:
        decide(asking, server, "--executor", "threads:18")
    assert server.refused > 0
    (at_once,) = found(asking.ledger, "SELECT at_once FROM paces")
    # Seven tenths of the eighteen that were under way, or of fewer; it began with more than threefold.
    assert at_once < FIRST_LIMIT / 3
