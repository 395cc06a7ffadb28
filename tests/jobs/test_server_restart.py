"""A PostgreSQL that restarts while bots decide: no answer is lost, and one program never has many connections."""

import signal
import subprocess
from pathlib import Path

import pytest

from tests.jobs.program import SLOW, Program, document_of, wait_until
from tests.jobs.test_killed import outcomes
from tests.jobs.tiny import canonical_at
from tests.ledger.databases import Postgres

AGENTS = ("decide", "sandbox_agents", "--venue", "sandbox", "--events", "2", "--json")
OTHERS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
BOTS = 20
EVENTS = 3


@pytest.fixture
def many(tmp_path: Path) -> Program:
    """Return the program with a recipe of many bots, all of which may think at once."""
    made = Program(tmp_path, {"PREDIBOT_WORKERS": "64"})
    made.strategy("slow", SLOW.replace("0.04", "0.5"))
    bots = "".join(f'[[bots]]\nname = "slow_{number}"\nstrategy = "slow"\n' for number in range(BOTS))
    (tmp_path / "many.toml").write_text(f'game = "dollar_per_event"\nvenue = "polymarket"\nevery = "1d"\n{bots}')
    return made


def most_connections(process: "subprocess.Popen[str]", postgres: Postgres) -> int:
    """Return how many connections the database had at most until a process ended, our own aside."""
    most = 0
    while process.poll() is None:
        most = max(most, postgres.count(OTHERS))
    return most


def test_no_answer_of_an_agent_is_lost_where_the_server_restarts(program: Program, postgres: Postgres) -> None:
    address = postgres.fresh()
    process = program.start(*AGENTS, "--ledger", address)
    # First everybody is disconnected, then it is as if it crashed.
    for recorded, how in ((1, signal.SIGINT), (6, signal.SIGQUIT)):
        statement = f"SELECT count(*) >= {recorded} FROM decisions"
        wait_until(lambda statement=statement: postgres.count(statement) == 1)
        postgres.restart(how)
    document_of(process)
    document_of(program.start(*AGENTS, "--ledger", program.ledger))
    assert canonical_at(address) == canonical_at(program.ledger)
    assert outcomes(address) == outcomes(program.ledger)


def test_threads_share_five_connections(many: Program, postgres: Postgres) -> None:
    process = many.decide("many.toml", ledger=postgres.fresh())
    assert most_connections(process, postgres) == 5
    assert document_of(process)["totals"]["recorded"] == BOTS * EVENTS


def test_each_process_has_five_connections_at_most(many: Program, postgres: Postgres) -> None:
    process = many.decide("many.toml", "--executor", "processes:2", ledger=postgres.fresh())
    assert 2 <= most_connections(process, postgres) <= 3 * 5
    assert document_of(process)["totals"]["recorded"] == BOTS * EVENTS
