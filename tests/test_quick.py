"""Quick runs: what stays within its process runs, and everything else is left and counted."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = """
import multiprocessing, os, socket, sqlite3, subprocess, sys, threading

import pytest


def ask():
    socket.create_connection(("127.0.0.1", 9))


def test_within(tmp_path):
    (tmp_path / "file").write_text("text")


def test_process():
    subprocess.run([sys.executable, "-c", ""])


def test_fork():
    os.fork()


def test_worker():
    multiprocessing.get_context("spawn").Process(target=ask).start()


def test_database(tmp_path):
    sqlite3.connect(tmp_path / "file.db")


@pytest.mark.parametrize("case", [1, 2])
def test_cases(case):
    assert case == 1
    ask()


def test_caught():
    try:
        ask()
    except BaseException:
        pass


def test_expected():
    with pytest.raises(OSError):
        ask()


def test_thread():
    answered = threading.Event()
    threading.Thread(target=lambda: (ask(), answered.set())).start()
    answered.wait()


@pytest.fixture(scope="module")
def served():
    ask()


def test_served(served):
    pass


def test_served_too(served):
    pass


@pytest.fixture(scope="module")
def half_made():
    try:
        ask()
    except BaseException:
        return None


def test_half_made(half_made):
    pass


def test_half_made_too(half_made):
    assert half_made


def test_wrong():
    assert False
"""


def test_what_needs_more_than_its_process_is_left_at_once_and_counted(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(TESTS, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.conftest", "--quick"]
    ran = subprocess.run([*command, tmp_path], cwd=ROOT, capture_output=True, text=True, check=False)

    last = ran.stdout.splitlines()[-1]
    assert "1 failed, 1 passed, 13 left to make test" in last, ran.stdout + ran.stderr
    assert "test_wrong" in ran.stdout
