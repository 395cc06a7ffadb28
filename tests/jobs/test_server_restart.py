"""A PostgreSQL that restarts while bots decide: no answer is lost, and one program never has many connections."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from itertools import takewhile
from pathlib import Path

import httpx
import pytest

from predibot.errors import LedgerUnusable
from predibot.ledger.store import MAX_CONNECTIONS, Store
from tests.acceptance.test_limits_at_once import TRUE_USD, forecaster, recipe
from tests.jobs.deciding.test_select_events import decide_live, serving
from tests.jobs.deciding.test_select_events import events as events_of
from tests.jobs.program import SLOW, Program, document_of, wait_until, workers_of
from tests.jobs.test_killed import outcomes
from tests.jobs.tiny import canonical_at, statuses
from tests.jobs.workers.test_process_spending import said
from tests.ledger.databases import Postgres
from tests.soaks import SOAK
from tests.venues.payloads import NOW

AGENTS = ("decide", "sandbox_agents", "--venue", "sandbox:events=10", "--events", "1", "--json")
OTHERS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
BOTS = 20
EVENTS = 3


@pytest.fixture
def many(tmp_path: Path) -> Iterator[Program]:
    """Return the program with a recipe of many bots, all of which may think at once."""
    with closing(Program(tmp_path, {"PREDIBOT_WORKERS": "64"})) as made:
        made.strategy("slow", SLOW.replace("0.04", "0.2"))
        made.many_bots(BOTS)
        yield made


def most_connections(process: "subprocess.Popen[str]", postgres: Postgres) -> int:
    """Return how many connections the database had at most until a process ended, our own aside."""
    # By one connection: the server lists one that ends a moment longer.
    with closing(postgres.counts(OTHERS)) as counts:
        return max(takewhile(lambda _: process.poll() is None, counts))


def test_no_answer_of_an_agent_is_lost_where_the_server_restarts(program: Program, postgres: Postgres) -> None:
    address = postgres.fresh()
    process = program.start(*AGENTS, "--ledger", address)
    # First everybody is disconnected, then it is as if it crashed.
    for recorded, how in ((1, signal.SIGINT), (4, signal.SIGQUIT)):
        statement = f"SELECT count(*) >= {recorded} FROM decisions"
        wait_until(lambda statement=statement: postgres.count(statement) == 1)
        postgres.restart(how)
    # One of its bots never hands in what can be read.
    document_of(process, code=3)
    document_of(program.start(*AGENTS, "--ledger", program.ledger), code=3)
    assert canonical_at(address) == canonical_at(program.ledger)
    assert outcomes(address) == outcomes(program.ledger)


@dataclass(frozen=True)
class Restarted:
    """What became of a run during which the server was restarted."""

    recorded: int
    attempts: list[str]
    asked: int
    """Calls, as the provider counted them."""
    booked: int
    """Calls, as the account of the run has them."""

    def require_whole(self, decisions: int, times: int) -> None:
        """Require that all is decided and asked for once; a commit that a restart left unanswered is booked again."""
        assert (self.recorded, self.attempts, self.asked) == (decisions, ["recorded"] * decisions, decisions)
        assert decisions <= self.booked <= decisions + times * MAX_CONNECTIONS


def decided_while_restarting(postgres: Postgres, folder: Path, *, bots: int, events: int, times: int) -> Restarted:
    """Have bots that pay for each answer decide on 32 threads, and restart the server as the work goes on."""
    address = postgres.fresh()
    with forecaster() as provider, closing(Program(folder)) as program:
        name = recipe(folder, provider, "[limits.run]\nusd = 100\n", bots=bots)
        asked = ("--events", str(events), "--min-volume-24h", "0", "--executor", "threads:32", "--ledger", address)
        process = program.start("decide", name, "--venue", f"sandbox:events={4 * events}", *asked, "--json")
        for number in range(times):
            enough = bots * events * (number + 1) // (times + 2)
            statement = f"SELECT count(*) >= {enough} FROM decisions"
            wait_until(lambda statement=statement: postgres.count(statement) == 1)
            # By turns everybody is disconnected, and it is as if it crashed.
            postgres.restart((signal.SIGINT, signal.SIGQUIT)[number % 2])
        recorded = document_of(process)["totals"]["recorded"]
        calls = len(provider.asked)
    spent = "SELECT round(sum(usd) / 1e12 / {}) FROM spending WHERE account LIKE 'run/%'"
    return Restarted(recorded, outcomes(address), calls, postgres.count(spent.format(TRUE_USD)))


@SOAK
def test_five_restarts_of_the_server_lose_nothing_and_nothing_is_paid_twice(tmp_path: Path, postgres: Postgres) -> None:
    found = decided_while_restarting(postgres, tmp_path, bots=12, events=8, times=5)
    found.require_whole(96, times=5)


def test_a_process_that_starts_while_the_server_is_away_waits_for_it(program: Program, postgres: Postgres) -> None:
    program.strategy("slow", SLOW.replace("0.04", "1.0"))
    # What takes its time to begin has not asked for the ledger when that goes away.
    process = program.decide("--bots", "slow", "--executor", "processes:1", ledger=postgres.fresh(), anew=True)
    wait_until(lambda: postgres.count("SELECT count(*) FROM tasks WHERE status = 'claimed'") > 0)
    (killed,) = workers_of(process.pid)
    killed.kill()
    wait_until(lambda: any(each != killed for each in workers_of(process.pid)))
    postgres.stop()
    try:
        said(process, "is away")
    finally:
        postgres.start()
    assert document_of(process)["totals"]["recorded"] == EVENTS


@pytest.mark.parametrize(("executor", "least", "most"), [("threads:64", 5, 5), ("processes:2", 2, 3 * 5)])
def test_threads_share_five_connections_and_each_process_has_five_at_most(
    many: Program, postgres: Postgres, executor: str, least: int, most: int
) -> None:
    process = many.decide("many.toml", "--executor", executor, ledger=postgres.fresh())
    assert least <= most_connections(process, postgres) <= most
    assert document_of(process)["totals"]["recorded"] == BOTS * EVENTS


def test_a_server_that_stays_away_ends_the_call_says_what_is_lost_and_the_next_call_goes_on(postgres: Postgres) -> None:
    address = postgres.fresh()
    listed = events_of(4)
    quotes = serving(listed)

    def away_at_last(request: httpx.Request) -> object:
        if request.url.path == "/events/4":
            wait_until(lambda: postgres.count("SELECT count(*) FROM decisions") == 3)
            postgres.stop()
        return quotes(request)

    lost = r"what market_price said of event 4 is lost; the next call asks again: the ledger .* cannot be used"
    with Store.open(address, reconnect_seconds=0.5) as store, pytest.raises(LedgerUnusable, match=lost) as caught:
        decide_live(store, away_at_last)
    assert "\n" not in str(caught.value)
    postgres.start()
    with Store.open(address) as store:
        # A claim of a process that is still there, as this one is, counts until its lease ends.
        report = decide_live(store, quotes, clock=lambda: NOW + timedelta(hours=1))
    assert statuses(report) == {"market_price": ["skipped", "skipped", "skipped", "recorded"]}
    assert postgres.count("SELECT count(*) FROM decisions WHERE status = 'recorded'") == 4
