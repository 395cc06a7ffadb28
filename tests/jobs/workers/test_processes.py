"""Processes that decide: one that hangs or dies costs its own decision, and Ctrl-C leaves none behind."""

import json
import signal
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest

from tests.jobs.program import PATIENCE_SECONDS, SLOW, Program, document_of, wait_until
from tests.jobs.test_interrupted import has_come_to_the_slow
from tests.jobs.test_killed import claimed, outcomes
from tests.jobs.tiny import canonical_at
from tests.soaks import few

HANGS = SLOW.replace("time.sleep(self.seconds)", "{}").replace("import time", "import os, signal, threading, time")
STOPS = "signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)"
"""Sent to the thread itself it does not come back from the call; sent to the process it may yet run on for a while."""
CROSS = ("--executor", "processes:2")
NO_DASK = pytest.mark.skipif(find_spec("distributed") is None, reason="needs predibot[distributed]")
BOTH = pytest.mark.parametrize("executor", ["processes:2", pytest.param("dask:local:2", marks=NO_DASK)])


@pytest.fixture
def one_thread(tmp_path: Path) -> Iterator[Program]:
    """Return the program with one thread a process, and little patience."""
    settings = {"PREDIBOT_WORKERS": "1", "PREDIBOT_DECISION_DEADLINE_SECONDS": "3"}
    with closing(Program(tmp_path, settings)) as made:
        yield made


@BOTH
def test_processes_come_to_the_ledger_of_threads(program: Program, executor: str) -> None:
    threads, processes = (f"sqlite:///{program.folder}/{name}.db" for name in ("threads", "processes"))
    document_of(program.decide("--bots", "slow,random_bet", ledger=threads))
    document_of(program.decide("--bots", "slow,random_bet", "--executor", executor, ledger=processes))
    assert canonical_at(processes) == canonical_at(threads)
    assert outcomes(processes) == ["recorded"] * 6


def test_a_process_that_hangs_as_a_whole_is_killed_and_its_decision_failed(one_thread: Program) -> None:
    one_thread.strategy("hangs", HANGS.format(STOPS).replace("Slow", "Hangs"))
    document = document_of(one_thread.decide("--bots", "hangs,market_price", *CROSS), code=3)
    found = {(each["bot"], each["status"], each["message"]) for each in document["decisions"]}
    assert found == {("hangs", "failed", "gave no answer within 3 s"), ("market_price", "recorded", "")}


@pytest.mark.parametrize("executor", few(["processes:2", "dask:local:2"], "processes:2"))
def test_a_thread_that_hangs_in_a_process_is_left_behind(one_thread: Program, executor: str) -> None:
    one_thread.strategy("hangs", HANGS.format("time.sleep(600)").replace("Slow", "Hangs"))
    document = document_of(one_thread.decide("--bots", "hangs,market_price", "--executor", executor), code=3)
    assert document["totals"]["failed"] == document["totals"]["recorded"] == 3
    assert "gave no answer within 3 s" in str(document["decisions"])


def test_a_process_that_dies_twice_of_a_decision_fails_it_and_nothing_else(one_thread: Program) -> None:
    one_thread.strategy("dies", HANGS.format("os._exit(7)").replace("Slow", "Dies"))
    document = document_of(one_thread.decide("--bots", "dies,market_price", *CROSS), code=3)
    assert document["totals"]["recorded"] == 3
    assert {each["message"] for each in document["decisions"] if each["bot"] == "dies"} == {"its process ended: 7"}


@pytest.mark.parametrize(
    ("executor", "number", "code"),
    [
        ("processes:2", signal.SIGTERM, 143),
        pytest.param("dask:local:2", signal.SIGINT, 130, marks=NO_DASK),
    ],
)
def test_a_signal_leaves_no_process_and_no_claim_behind(
    program: Program, executor: str, number: signal.Signals, code: int
) -> None:
    program.strategy("slow", SLOW.replace("0.04", "600.0"))
    process = program.decide("--bots", "market_price,slow", "--executor", executor)
    wait_until(lambda: has_come_to_the_slow(program, claims=3))
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(number)
    # A second or a few are promised; what waits in vain waits ten minutes, and the rest is the machine's.
    process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == code
    assert claimed(program) == 0
    assert not psutil.wait_procs(children, timeout=PATIENCE_SECONDS)[1]


@BOTH
def test_processes_whose_first_one_was_killed_end_and_their_claims_are_free(program: Program, executor: str) -> None:
    program.strategy("slow", SLOW.replace("0.04", "600.0"))
    process = program.decide("--bots", "slow", "--executor", executor)
    wait_until(lambda: claimed(program) == 3)
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not psutil.wait_procs(children, timeout=PATIENCE_SECONDS)[1]
    program.strategy("slow", SLOW)
    assert document_of(program.decide("--bots", "slow"))["totals"]["recorded"] == 3


def test_what_keeps_a_process_from_starting_is_told(program: Program) -> None:
    process = program.start("decide", "--venue", "archive:nowhere", "--json", *CROSS)
    out, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 1
    assert "nowhere" in json.loads(out)["error"]["message"]
