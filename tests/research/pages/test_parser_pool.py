"""The pool of parsers: used again while they behave, killed when they do not, never more than there may be."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from predibot.research.pages.errors import Deadline, PageUnavailable, PageUnreadable
from predibot.research.pages.parser_messages import MAX_QUESTION_BYTES, PageSource
from predibot.research.pages.parser_pool import ParserPool
from predibot.research.pages.parser_process import ParserLimits
from tests.jobs.program import PATIENCE_SECONDS, wait_until
from tests.research.pages.hostile_pages import HOSTILE
from tests.soaks import one_in

ROOT = Path(__file__).parents[3]
ORDINARY = PageSource("text/html", None, "http://a.example/", 0.0, b"<title>News</title><p>The vote is on Tuesday.</p>")
ENDLESS = replace(ORDINARY, body=HOSTILE["a tag with 280,000 attributes"]().body)
"""Keeps a parser busy for minutes."""


def soon(seconds: float = 60.0) -> Deadline:
    return Deadline.after(seconds, time.monotonic)


def noticed(seconds: float) -> tuple[Deadline, threading.Event]:
    """Return a deadline, and what is set as soon as it is looked at: when a parser is about to get the page."""
    looked = threading.Event()

    def clock() -> float:
        looked.set()
        return time.monotonic()

    return Deadline(seconds, time.monotonic() + seconds, clock), looked


def text_by(pool: ParserPool, source: PageSource = ORDINARY) -> str:
    return pool.parse(source, soon()).text


@pytest.fixture
def children() -> "Children":
    return Children()


class Children:
    """The parsers that were started in a test and are still there."""

    def __init__(self) -> None:
        self._before = set(psutil.Process().children())

    def __call__(self) -> set[psutil.Process]:
        return set(psutil.Process().children()) - self._before


def pool_of(**limits: float) -> ParserPool:
    return ParserPool(ParserLimits(**limits))  # type: ignore[arg-type]


@pytest.fixture
def pool() -> Iterator[ParserPool]:
    made = ParserPool()
    yield made
    made.close()


def test_a_parser_is_started_before_it_is_needed_and_used_again_while_it_behaves(
    pool: ParserPool, children: Children
) -> None:
    assert not children()
    pool.warm()
    (first,) = children()
    pool.warm()
    assert text_by(pool) == "The vote is on Tuesday."
    assert children() == {first}
    with pytest.raises(PageUnreadable, match="holds no text"):
        text_by(pool, replace(ORDINARY, body=b""))
    text_by(pool)
    assert children() == {first}


def test_a_parser_that_takes_too_long_is_killed_and_the_next_page_is_read(pool: ParserPool, children: Children) -> None:
    text_by(pool)
    threads = set(threading.enumerate())
    with pytest.raises(PageUnreadable, match=r"reading the page takes more than 0\.3 s"):
        pool.parse(ENDLESS, soon(0.3))
    # Threads of other tests may end meanwhile.
    assert (children(), set(threading.enumerate()) - threads) == (set(), set())
    assert text_by(pool) == "The vote is on Tuesday."


def test_a_parser_that_needs_too_much_memory_is_ended_and_the_next_page_is_read(children: Children) -> None:
    pool = pool_of(data_bytes=60 * 2**20)
    large = replace(ORDINARY, body=b"<p>" + b"word " * 900_000)
    with pytest.raises(PageUnreadable, match="too much memory"):
        text_by(pool, large)
    assert not children()
    assert text_by(pool) == "The vote is on Tuesday."
    pool.close()


def test_where_no_kernel_holds_a_parser_to_its_memory_it_is_watched() -> None:
    pool = pool_of(resident_bytes=20 * 2**20)
    with pytest.raises(PageUnreadable, match="too much memory"):
        pool.parse(ENDLESS, soon())
    pool.close()


def test_a_parser_is_replaced_when_it_is_old_or_has_grown(children: Children) -> None:
    for pool in (pool_of(kept_bytes=1), pool_of(pages=1)):
        text_by(pool)
        assert not children()
    assert text_by(pool) == "The vote is on Tuesday."
    pool.close()


def test_many_threads_share_four_parsers(pool: ParserPool, children: Children) -> None:
    pages = [replace(ORDINARY, body=f"<p>Page {number} tells of ships.</p>".encode()) for number in range(32)]
    with ThreadPoolExecutor(32) as threads:
        texts = list(threads.map(lambda page: text_by(pool, page), pages))
    assert texts == [f"Page {number} tells of ships." for number in range(32)]
    assert 1 <= len(children()) <= 4


def test_the_wait_for_a_parser_counts_as_time_for_reading() -> None:
    pool = pool_of(processes=1)
    text_by(pool)
    over = threading.Event()
    deadline = Deadline(60.0, time.monotonic() + 60.0, lambda: time.monotonic() + 3_600.0 * over.is_set())
    with ThreadPoolExecutor(1) as other:
        busy = other.submit(pool.parse, ENDLESS, deadline)
        wait_until(lambda: not pool._idle)
        with pytest.raises(PageUnavailable, match=r"all 1 parsers were busy for 0\.2 s; try again"):
            pool.parse(ORDINARY, soon(0.2))
        over.set()
        assert text_by(pool) == "The vote is on Tuesday."
        assert isinstance(busy.exception(), PageUnreadable)
    pool.close()


def test_a_parser_that_is_killed_or_stopped_while_it_waits_is_replaced(pool: ParserPool, children: Children) -> None:
    text_by(pool)
    (parser,) = children()
    parser.kill()
    parser.wait()
    assert text_by(pool) == "The vote is on Tuesday."
    (parser,) = children()
    parser.suspend()
    while parser.status() != psutil.STATUS_STOPPED:
        pass
    assert text_by(pool) == "The vote is on Tuesday."
    assert not parser.is_running()


@pytest.mark.parametrize("looks", one_in(3, [0, 1, 2]))
def test_a_page_is_read_by_another_parser_where_the_first_is_ended_from_outside(
    pool: ParserPool, children: Children, looks: int
) -> None:
    text_by(pool)
    (parser,) = children()
    left = iter(range(looks))

    def clock() -> float:
        # Looked at first when a parser has been chosen and has got nothing yet.
        if next(left, None) is None and parser.is_running():
            parser.kill()
        return time.monotonic()

    assert pool.parse(ORDINARY, Deadline(60.0, time.monotonic() + 60.0, clock)).text == "The vote is on Tuesday."


def test_a_parser_that_dies_over_a_page_is_a_sentence(pool: ParserPool) -> None:
    text_by(pool)
    with pytest.raises(PageUnreadable, match="breaks the parser"):
        text_by(pool, replace(ORDINARY, body=bytes(MAX_QUESTION_BYTES + 1)))
    assert text_by(pool) == "The vote is on Tuesday."


def test_closing_ends_parsers_that_are_at_work_and_none_is_started_after_it(
    pool: ParserPool, children: Children
) -> None:
    text_by(pool)
    deadline, begun = noticed(60.0)
    with ThreadPoolExecutor(1) as other:
        busy = other.submit(pool.parse, ENDLESS, deadline)
        begun.wait()
        pool.close()
        # A parser that was ended is replaced, but by none that a closed pool would start.
        assert isinstance(busy.exception(), PageUnavailable)
    assert not children()
    pool.close()
    pool.warm()
    with pytest.raises(PageUnavailable, match="program is ending"):
        text_by(pool)
    assert not children()


@pytest.fixture(scope="module")
def parser() -> Iterator[psutil.Process]:
    """Return a parser that waits, of a program in whose environment there is a key."""
    started, pool = Children(), ParserPool()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ACME_API_KEY", "a secret of the operator")
        text_by(pool)
    (parser,) = started()
    yield parser
    pool.close()


def test_a_parser_has_nothing_of_the_environment(parser: psutil.Process) -> None:
    assert set(parser.environ()) <= {"LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "LC_CTYPE"}
    assert "secret" not in " ".join(parser.cmdline())


@pytest.mark.skipif(sys.platform != "linux", reason="only there limits of other processes can be seen")
def test_a_parser_is_held_to_limits_by_the_kernel(parser: psutil.Process) -> None:
    limits = {name: parser.rlimit(getattr(psutil, f"RLIMIT_{name}")) for name in ("CORE", "FSIZE", "NPROC", "DATA")}
    assert limits == {"CORE": (0, 0), "FSIZE": (0, 0), "NPROC": (0, 0), "DATA": (200 * 2**20, 200 * 2**20)}
    assert parser.rlimit(psutil.RLIMIT_NOFILE)[1] <= 32
    assert 0 < parser.rlimit(psutil.RLIMIT_CPU)[0] < 120


VISIT = """
import os, sys, time
from predibot.research.pages.errors import Deadline
from predibot.research.pages.parser_messages import MAX_QUESTION_BYTES, PageSource
from predibot.research.pages.parser_pool import PARSERS
import psutil

ENDLESS = b"<a " + b" ".join(b"a%d=1" % n for n in range(280_000)) + b">"

def read(body, seconds=60.0):
    source = PageSource("text/html", None, "http://a.example/", 0.0, body)
    try:
        return PARSERS.parse(source, Deadline.after(seconds, time.monotonic)).text
    except Exception as error:
        return str(error)

"""


def program(*lines: str, **pipes: int) -> "subprocess.Popen[str]":
    """Start a program that reads pages, in which nothing may be warned of."""
    return subprocess.Popen(
        [sys.executable, "-X", "dev", "-W", "error", "-c", VISIT + "\n".join(lines)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **pipes,
    )  # type: ignore[call-overload, no-any-return]


def ended(*lines: str) -> tuple[str, str, int]:
    """Return what a program wrote until it ended, its errors, and its exit code."""
    with program(*lines) as running:
        out, err = running.communicate(timeout=PATIENCE_SECONDS)
    return out, err, running.returncode


READ_ONE = "said = read(b'<p>The vote is on Tuesday.</p>')"


def test_pages_are_read_where_all_standard_streams_are_closed(tmp_path: Path) -> None:
    code = VISIT + READ_ONE + f"\nopen({str(tmp_path / 'said')!r}, 'w').write(said)"
    shell = ["/bin/sh", "-c", 'exec "$0" -c "$1" <&- >&- 2>&-', sys.executable, code]
    subprocess.run(shell, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True, timeout=PATIENCE_SECONDS)
    assert (tmp_path / "said").read_text() == "The vote is on Tuesday."


BUSY = (READ_ONE, "print(psutil.Process().children()[0].pid, flush=True)", "read(ENDLESS, 600.0)")


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGTERM])
def test_a_parser_at_work_does_not_outlive_its_program(stop: signal.Signals) -> None:
    with program(*BUSY) as busy:
        assert busy.stdout is not None
        parser = psutil.Process(int(busy.stdout.readline()))
        busy.send_signal(stop)
    gone, alive = psutil.wait_procs([parser], timeout=120)
    assert gone or alive[0].status() == psutil.STATUS_ZOMBIE


def test_ctrl_c_ends_the_program_and_its_parsers_are_silent() -> None:
    with program("import signal", "signal.signal(2, signal.default_int_handler)", *BUSY, process_group=0) as busy:
        assert busy.stdout is not None
        parser = psutil.Process(int(busy.stdout.readline()))
        os.killpg(busy.pid, signal.SIGINT)
        _, err = busy.communicate(timeout=PATIENCE_SECONDS)
    # It may be raised while another error is handled, which is then told before it.
    assert err.count("KeyboardInterrupt") == 1
    assert err.rstrip().endswith("KeyboardInterrupt")
    assert not parser.is_running()


def test_a_fork_has_parsers_of_its_own_and_a_program_ends_with_its_parsers_and_without_a_word() -> None:
    fork = (
        READ_ONE,
        "before = psutil.Process().children()[0].pid",
        "if os.fork() == 0:",
        "    here = read(b'<p>The fork reads.</p>')",
        "    print(here, before not in [each.pid for each in psutil.Process().children()], flush=True)",
        "    sys.exit()",
        "os.wait()",
        "print(read(b'<p>The first goes on.</p>'), psutil.Process().children()[0].pid == before, before, sep='\\n')",
    )
    out, err, code = ended(*fork)
    *said, pid = out.splitlines()
    assert (said, err, code) == (["The fork reads. True", "The first goes on.", "True"], "", 0)
    assert not psutil.pid_exists(int(pid))


@pytest.mark.parametrize(
    ("python", "trafilatura", "says"),
    [
        ("/nonexistent/python", "", "no parser can be started (No such file"),
        ("/bin/false", "", "no parser starts here ("),
        (sys.executable, "raise ImportError('half')", "no parser starts here (ImportError: half)"),
        (sys.executable, "import os; os.kill(os.getpid(), 9)", "the parser was ended by signal 9 before it was ready"),
    ],
)
def test_where_no_parser_starts_no_page_is_read_and_why_is_said(
    tmp_path: Path, python: str, trafilatura: str, says: str
) -> None:
    (tmp_path / "trafilatura.py").write_text(trafilatura)
    out, err, _ = ended(
        f"sys.path.insert(0, {str(tmp_path)!r})", f"sys.executable = {python!r}", READ_ONE, "print(said)"
    )
    assert out.startswith(says)
    assert err == ""
