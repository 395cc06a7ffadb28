"""Ctrl-C: it stops at once, keeps what is recorded, and says how to go on."""

import fcntl
import json
import os
import re
import signal
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.jobs.program import PATIENCE_SECONDS, SLOW, Program, document_of, wait_until
from tests.jobs.test_killed import claimed, outcomes
from tests.ledger.statements import found
from tests.soaks import few

BOTS = ("--bots", "market_price,slow")


SIGNALS = pytest.mark.parametrize(("first", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])


@SIGNALS
def test_a_signal_stops_at_once_keeps_what_is_recorded_and_says_how_to_go_on(
    program: Program, first: signal.Signals, code: int
) -> None:
    program.strategy("slow", SLOW.replace("0.04", "600.0"))
    process = program.decide(*BOTS)
    wait_until(lambda: has_come_to_the_slow(program))
    began = time.monotonic()
    process.send_signal(first)
    out, err = process.communicate(timeout=PATIENCE_SECONDS)
    # One second is promised; what waits in vain waits ten minutes, and the rest is the machine's.
    assert time.monotonic() - began < 30
    assert (process.returncode, json.loads(out)["exit_code"]) == (code, code)
    assert json.loads(out)["error"]["kind"] == ("Terminated" if first is signal.SIGTERM else "Interrupted")
    assert re.search(r"what is recorded is kept. To go on, run again: `\S*predibot decide", out + err)
    assert "Traceback" not in err
    assert claimed(program) == 0
    assert outcomes_so_far(program) == ["interrupted"] * 2 + ["recorded"] * 3
    program.strategy("slow", SLOW)
    assert document_of(program.decide(*BOTS))["totals"]["skipped"] == 3
    assert outcomes(program.ledger) == ["interrupted"] * 2 + ["recorded"] * 6


BOTH = [
    (signal.SIGTERM, 143, signal.SIGINT),
    (signal.SIGTERM, 143, signal.SIGTERM),
    (signal.SIGINT, 130, signal.SIGINT),
    (signal.SIGINT, 130, signal.SIGTERM),
]
TWO_SIGNALS = pytest.mark.parametrize(("first", "code", "second"), few(BOTH, BOTH[0], BOTH[-1]))


@TWO_SIGNALS
def test_the_first_signal_decides_how_it_ends_however_many_others_come(
    program: Program, first: signal.Signals, code: int, second: signal.Signals
) -> None:
    program.strategy("slow", SLOW.replace("0.04", "600.0"))
    process = program.decide(*BOTS)
    wait_until(lambda: has_come_to_the_slow(program))
    assert process.stdout is not None
    assert process.stderr is not None
    fill(process.stdout.fileno())
    process.send_signal(first)
    # Its last words on stderr are said, and those on stdout wait for a reader.
    assert any("what is recorded is kept" in line for line in process.stderr)
    process.send_signal(second)
    said = next(line for line in process.stdout if line.strip())
    wait_until(lambda: process.send_signal(second) or process.poll() is not None)
    assert (process.returncode, json.loads(said)["exit_code"]) == (code, code)
    assert "Traceback" not in process.stderr.read()


AT_EXIT = '''"""A strategy that takes long to load, and to unload."""

import atexit
from pathlib import Path


def _wait_at_the_very_end():
    Path("ending").touch()
    Path("go_on").read_text()


atexit.register(_wait_at_the_very_end)
Path("loading").touch()
Path("loaded").read_text()
'''


@TWO_SIGNALS
def test_no_second_signal_changes_how_it_ends_while_it_is_ending(
    program: Program, first: signal.Signals, code: int, second: signal.Signals
) -> None:
    program.strategy("slow", AT_EXIT)
    for name in ("go_on", "loaded"):
        os.mkfifo(program.folder / name)
    process = program.run("predibot", "bots", "--json")
    wait_until((program.folder / "loading").exists)
    process.send_signal(first)
    wait_until((program.folder / "ending").exists)
    process.send_signal(second)
    wait_until(lambda: process.poll() is not None or let_go(program.folder / "go_on"))
    document_of(process, code=code)


def let_go(fifo: Path) -> bool:
    """Return whether somebody waits for a pipe to be opened, who then has done."""
    try:
        os.close(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True


def test_a_ledger_that_is_removed_while_bots_decide_is_an_error(program: Program) -> None:
    body = 'Path("ledger.db").unlink(missing_ok=True)'
    text = SLOW.replace("time.sleep(self.seconds)", body).replace("import time", "from pathlib import Path")
    program.strategy("removes", text.replace("Slow", "Removes"))
    process = program.decide("--bots", "removes")
    out, _ = process.communicate(timeout=PATIENCE_SECONDS)
    document = json.loads(out)
    assert (process.returncode, document["exit_code"]) == (1, 1)
    assert "was removed, moved or replaced while it was in use" in document["error"]["message"]


def test_ctrl_c_does_not_wait_for_a_ledger_that_somebody_holds(program: Program) -> None:
    program.strategy("slow", SLOW.replace("0.04", "600.0"))
    process = program.decide("--bots", "slow")
    wait_until(lambda: claimed(program) == 2)
    with closing(sqlite3.connect(program.folder / "ledger.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_SECONDS)
        # Of another program's lock SQLite would wait half a minute for.
        assert time.monotonic() - began < 20
    assert process.returncode == 130


def fill(pipe: int) -> None:
    """Fill the pipe that is read here, so that who writes to it waits."""
    fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 4096)
    other_end = os.open(f"/proc/self/fd/{pipe}", os.O_WRONLY | os.O_NONBLOCK)
    with suppress(BlockingIOError):
        while True:
            os.write(other_end, b"\n" * 4096)
    os.close(other_end)


def has_come_to_the_slow(program: Program, *, claims: int = 2) -> bool:
    """Return whether the quick bot is done and so many decisions of the slow one are under way.

    In this order: what is claimed once the quick bot is done, is the slow one's.
    """
    return claimed(program) > 0 and outcomes_so_far(program).count("recorded") == 3 and claimed(program) >= claims


def outcomes_so_far(program: Program) -> list[str]:
    return sorted(found(program.ledger, "SELECT outcome FROM attempts WHERE outcome IS NOT NULL"))
