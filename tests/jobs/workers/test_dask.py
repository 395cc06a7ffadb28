"""Clusters that decide: whatever becomes of a worker, each decision is made once, and nothing secret is on the wire."""

import asyncio
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace

import psutil
import pytest

from predibot.ledger.write.process_identity import is_same_kernel, new_owner
from tests.jobs.program import PATIENCE_SECONDS, SLOW, Program, document_of, wait_until
from tests.jobs.test_killed import claimed, outcomes
from tests.jobs.tiny import canonical_at
from tests.jobs.workers.test_process_spending import said
from tests.jobs.workers.test_processes import HANGS
from tests.ledger.databases import Postgres
from tests.soaks import SOAK, few

pytest.importorskip("distributed")

ONE, LOCAL = ("--executor", "dask:local:1"), ("--executor", "dask:local:2")
EVENTS = 3


@dataclass
class Cluster:
    """A scheduler and workers, each a process of its own as an operator starts them."""

    program: Program
    scheduler: str = ""
    workers: "list[subprocess.Popen[str]]" = field(default_factory=list)

    def __post_init__(self) -> None:
        quiet = ("--host", "127.0.0.1", "--no-dashboard", "--no-show")
        process = self.program.start("--port", "0", *quiet, module="distributed.cli.dask_scheduler")
        self.scheduler = words_after(process, "Scheduler at:").removeprefix("tcp://")

    def worker(self, *, threads: int = 2, nanny: str = "--no-nanny") -> "subprocess.Popen[str]":
        """Start a worker, and wait until the scheduler knows it."""
        quiet = (nanny, "--no-dashboard", "--host", "127.0.0.1", "--nthreads", str(threads))
        process = self.program.start(f"tcp://{self.scheduler}", *quiet, module="distributed.cli.dask_worker")
        words_after(process, "Registered to:")
        self.workers.append(process)
        return process

    @property
    def executor(self) -> tuple[str, str]:
        """Return what decides on it."""
        return "--executor", f"dask:tcp://{self.scheduler}"


def words_after(process: "subprocess.Popen[str]", words: str) -> str:
    """Return what follows some words on the error output of a process, all of which is read from then on."""
    line, stream = said(process, words), process.stderr

    def read_on() -> None:
        # It is closed with the process.
        with suppress(ValueError):
            for _ in stream or ():
                pass

    threading.Thread(target=read_on, daemon=True).start()
    return line.partition(words)[2].strip()


@pytest.fixture
def cluster(program: Program) -> Cluster:
    """Return a cluster of the program's folder, without workers yet."""
    return Cluster(program)


@SOAK
def test_each_of_sixty_decisions_is_made_once_where_one_of_two_workers_is_killed(cluster: Cluster) -> None:
    program = cluster.program
    cluster.worker()
    killed = cluster.worker()
    recipe = program.many_bots(20)
    process = program.decide(recipe, *cluster.executor)
    wait_until(lambda: program.count("decisions") >= 10)
    killed.kill()
    document = document_of(process)
    assert len(document["decisions"]) == 20 * EVENTS
    assert program.count("decisions WHERE status = 'recorded'") == 20 * EVENTS
    assert set(outcomes(program.ledger)) <= {"recorded", "lost"}
    assert outcomes(program.ledger).count("recorded") == 20 * EVENTS
    document_of(program.decide(recipe, ledger="sqlite:///threads.db"))
    assert canonical_at(program.ledger) == canonical_at(f"sqlite:///{program.folder}/threads.db")


def test_a_worker_that_comes_later_helps_and_one_that_left_is_not_missed(cluster: Cluster) -> None:
    process = cluster.program.decide("--bots", "slow,random_bet", *cluster.executor)
    said(process, "has no worker yet")
    cluster.worker()
    assert document_of(process)["totals"]["recorded"] == 2 * EVENTS


def test_a_cluster_to_which_no_worker_comes_is_waited_for_so_long_and_the_next_call_goes_on(cluster: Cluster) -> None:
    program = cluster.program
    program.settings = {**program.settings, "PREDIBOT_WORKER_WAIT_SECONDS": "3"}
    worker = cluster.worker()
    process = program.decide(program.many_bots(8), *cluster.executor)
    wait_until(lambda: program.count("decisions") >= 4)
    worker.kill()
    document = document_of(process, code=1)
    assert "no worker for 3 s (PREDIBOT_WORKER_WAIT_SECONDS). What is recorded stays" in document["error"]["message"]
    cluster.worker()
    document = document_of(program.decide("many.toml", *cluster.executor))
    assert document["totals"]["skipped"] >= 4
    assert program.count("decisions WHERE status = 'recorded'") == 8 * EVENTS


def stops_once(program: Program, stops: str) -> None:
    """Write a strategy whose first decision stops what does it, and a second that only draws."""
    once = (
        "if not Path('stopped').exists():\n            Path('stopped').touch()\n            "
        f"{stops}signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)"
    )
    text = HANGS.format(once).replace("import os,", "from pathlib import Path\nimport os,").replace("Slow", "Stops")
    program.strategy("stops", text)


def test_a_worker_that_hangs_is_replaced_and_only_the_decision_it_hangs_in_fails(program: Program) -> None:
    program.settings = {"PREDIBOT_WORKERS": "2", "PREDIBOT_DECISION_DEADLINE_SECONDS": "5"}
    stops_once(program, "")
    process = program.decide("--bots", "stops,random_bet", *ONE)
    document = document_of(process, code=3)
    assert document["totals"]["recorded"] + document["totals"]["failed"] == 2 * EVENTS
    # It has two threads, and the other one may have been at something too.
    assert 1 <= document["totals"]["failed"] <= 2
    assert {each["message"] for each in document["decisions"]} == {"", "gave no answer within 5 s"}


@SOAK
def test_a_worker_that_hangs_together_with_its_nanny_is_left_out(cluster: Cluster) -> None:
    program = cluster.program
    program.settings = {**program.settings, "PREDIBOT_DECISION_DEADLINE_SECONDS": "5"}
    stops_once(program, "os.kill(os.getppid(), signal.SIGSTOP); ")
    process = program.decide("--bots", "stops,random_bet,market_price", *cluster.executor)
    nanny = cluster.worker(threads=1, nanny="--nanny")
    stopped = psutil.Process(nanny.pid)
    children = stopped.children()
    try:
        wait_until(lambda: stopped.status() == psutil.STATUS_STOPPED)
        cluster.worker()
        document = document_of(process, code=3)
    finally:
        for each in children:
            each.kill()
    assert (document["totals"]["recorded"], document["totals"]["failed"]) == (3 * EVENTS - 1, 1)


def test_a_worker_without_a_sign_of_life_for_a_lease_is_replaced_before_any_deadline(program: Program) -> None:
    program.settings = {"PREDIBOT_WORKERS": "2", "PREDIBOT_LEASE_SECONDS": "10"}
    stops_once(program, "")
    document = document_of(program.decide("--bots", "stops,random_bet", *ONE))
    assert document["totals"]["recorded"] == 2 * EVENTS


ENDS_AS_ITS_DECISION_IS_STORED = (
    SLOW.replace("Slow", "Ends")
    .replace(
        "        time.sleep(self.seconds)",
        """
        class Ending(logging.Handler):
            def emit(self, record):
                if "ends on" in record.getMessage() and not Path("ended").exists():
                    Path("ended").touch()
                    os._exit(7)

        stored = logging.getLogger("predibot.jobs.deciding.decide_one")
        stored.setLevel(logging.INFO)
        stored.addHandler(Ending())""",
    )
    .replace("import time", "import logging, os\nfrom pathlib import Path")
)


@pytest.mark.parametrize("executor", few(["dask:local:1", "processes:1"], "processes:1"))
def test_what_a_worker_decided_that_was_killed_before_it_could_say_so_was_not_decided_before(
    program: Program, executor: str
) -> None:
    program.strategy("ends", ENDS_AS_ITS_DECISION_IS_STORED)
    document = document_of(program.decide("--bots", "ends", "--executor", executor))
    assert (program.folder / "ended").exists()
    assert outcomes(program.ledger).count("recorded") == EVENTS
    assert (document["totals"]["recorded"], document["totals"]["skipped"]) == (EVENTS, 0)
    assert document_of(program.decide("--bots", "ends"))["totals"]["skipped"] == EVENTS


def test_a_decision_that_kills_every_worker_fails_and_nothing_else_does(program: Program) -> None:
    program.strategy("dies", HANGS.format("os._exit(7)").replace("Slow", "Dies"))
    document = document_of(program.decide("--bots", "dies,market_price", "--events", "1", *LOCAL), code=3)
    assert {(each["bot"], each["status"]) for each in document["decisions"]} == {
        ("dies", "failed"),
        ("market_price", "recorded"),
    }
    assert "its worker ended, 4 times" in str(document["decisions"])


def test_who_is_interrupted_takes_back_what_a_cluster_has_under_way(cluster: Cluster) -> None:
    program = cluster.program
    program.strategy("slow", SLOW.replace("0.04", "600.0"))
    worker = cluster.worker(threads=EVENTS)
    process = program.decide("--bots", "slow", *cluster.executor)
    wait_until(lambda: claimed(program) == EVENTS)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE_SECONDS)
    assert claimed(program) == 0
    assert worker.poll() is None


@contextmanager
def overheard(address: str) -> Iterator[tuple[str, bytearray]]:
    """Stand between a client and the server at an address; yield one's own, and every byte that came by."""
    host, _, port = address.partition(":")
    heard, opened, threads = bytearray(), list[socket.socket](), list[threading.Thread]()

    def carry(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                heard.extend(data)
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def begin(work: Callable[..., None], *given: socket.socket) -> None:
        threads.append(threading.Thread(target=work, args=given, daemon=True))
        threads[-1].start()

    def serve(listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                caller, _ = listening.accept()
                opened.append(caller)
                server = socket.create_connection((host, int(port)))
                opened.append(server)
                begin(carry, caller, server)
                begin(carry, server, caller)

    opened.append(socket.create_server(("127.0.0.1", 0)))
    begin(serve, opened[0])
    try:
        yield f"127.0.0.1:{opened[0].getsockname()[1]}", heard
    finally:
        for each in list(opened):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join()
        for each in opened:
            each.close()


def test_neither_a_key_nor_the_ledgers_password_travels_to_the_scheduler(program: Program, postgres: Postgres) -> None:
    # The server asks nobody for a password, so that any will do.
    address = postgres.fresh()
    program.settings = {
        "PREDIBOT_WORKERS": "2",
        "ACME_API_KEY": "sk-planted-key",
        "DASK_DISTRIBUTED__COMM__COMPRESSION": "False",
    }
    cluster = Cluster(program)
    cluster.worker()
    with_password = f"{address}{'&' if '?' in address else '?'}password=planted-password"
    with overheard(cluster.scheduler) as (between, heard):
        executor = ("--executor", f"dask:tcp://{between}")
        document = document_of(program.decide("--bots", "slow", *executor, ledger=with_password))
    assert document["totals"]["recorded"] == EVENTS
    assert b"slow" in heard
    assert b"planted" not in heard


IMPATIENT = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s"}


def test_a_scheduler_that_does_not_answer_is_told(program: Program) -> None:
    program.settings = IMPATIENT
    with closing(socket.create_server(("127.0.0.1", 0))) as nobody:
        port = nobody.getsockname()[1]
    document = document_of(program.decide("--bots", "slow", "--executor", f"dask:tcp://127.0.0.1:{port}"), code=1)
    assert "no Dask scheduler can be reached" in document["error"]["message"]


def test_a_scheduler_that_goes_away_ends_the_call_and_the_next_one_goes_on(program: Program) -> None:
    program.strategy("slow", SLOW.replace("0.04", "1.0"))
    cluster = Cluster(program)
    cluster.worker(threads=1)
    scheduler = program._started[0]
    program.settings = {**program.settings, **IMPATIENT}
    process = program.decide("--bots", "slow", *cluster.executor)
    wait_until(lambda: program.count("decisions") >= 1)
    scheduler.kill()
    out, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 1
    assert "scheduler" in out
    assert document_of(program.decide("--bots", "slow"))["totals"]["skipped"] >= 1


def test_a_worker_with_another_version_of_a_strategy_is_refused(cluster: Cluster) -> None:
    program = cluster.program
    other = program.folder / "other"
    other.mkdir()
    (other / "slow.py").write_text(SLOW.replace("0.04", "0.05"), encoding="utf-8")
    settings, program.settings = program.settings, {**program.settings, "PREDIBOT_STRATEGIES": str(other)}
    cluster.worker()
    program.settings = settings
    document = document_of(program.decide("--bots", "slow", *cluster.executor), code=1)
    assert "strategy 'slow' of bot 'slow' is another on worker" in document["error"]["message"]


def test_another_machine_is_told_from_a_container_of_this_one() -> None:
    host, boot, space = new_owner().partition("/")[0].split("@")
    if not boot:
        pytest.skip("this machine does not say when it was booted")
    assert is_same_kernel(f"elsewhere@{boot}@{space}x/1/2.0/3")
    assert not is_same_kernel(f"{host}@0{boot}@{space}/1/2.0/3")


def test_without_the_extra_the_message_names_it(program: Program) -> None:
    without = "import sys; sys.modules['distributed'] = None; del sys.modules['predibot.jobs.workers.dask_pool']"
    command = ("decide", "--venue", "sandbox:events=20", "--events", "1", *LOCAL, "--json")
    document = document_of(program.start(*command, first=partial(exec, without)), code=1)
    assert "[distributed]'" in document["error"]["message"]


def test_a_worker_that_has_ended_opens_nothing_for_a_call_that_waited() -> None:
    from predibot.jobs.workers.dask_worker import DecidingPlugin

    spec = SimpleNamespace(asked_by=SimpleNamespace(owner="somebody"))
    plugin = DecidingPlugin(spec, is_local=False)  # type: ignore[arg-type]
    plugin.setup(SimpleNamespace(periodic_callbacks={}, address="tcp://127.0.0.1:1"))
    with ThreadPoolExecutor() as pool:
        with plugin._lock:
            # As while another call opens everything.
            waiting = pool.submit(plugin.call, 1, len, ())
            ending = pool.submit(asyncio.run, plugin.teardown(plugin._dask))
            wait_until(lambda: plugin._has_ended)
        ending.result()
        assert str(waiting.result()) == "worker tcp://127.0.0.1:1 is ending"
