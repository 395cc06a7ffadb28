"""The log: single lines in files that grow no further than they may, whoever writes them."""

import fcntl
import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest

from predibot.errors import UsageError
from predibot.jobs.logs.log_file import LineFormatter, LogContext, LogFile, is_logged, log_context
from predibot.ledger.store import Store

WRITER = """
import logging, sys
from pathlib import Path
from predibot.jobs.logs.log_file import LineFormatter, LogFile
file = Path(sys.argv[1])
handler = LogFile(file, print, most_bytes=200, backups=500)
handler.setFormatter(LineFormatter(str, as_json=False))
for number in range(80):
    handler.handle(logging.LogRecord("predibot", logging.INFO, "", 0, f"<{sys.argv[2]} {number}>", None, None))
"""
HOSTILE = "a title\nINFO forged \x1b[2J\x00 \u202egnp.exe \u2028 end"


def record(message: str, *, name: str = "predibot.x", level: int = logging.INFO) -> logging.LogRecord:
    return logging.LogRecord(name, level, "", 0, message, None, None)


def a_log(file: Path, *, most_bytes: int = 2_000, backups: int = 2, as_json: bool = False) -> LogFile:
    handler = LogFile(file, print, most_bytes=most_bytes, backups=backups)
    handler.setFormatter(LineFormatter(lambda text: text.replace("sk-0123456789", "***"), as_json=as_json))
    return handler


def test_a_database_is_no_log(tmp_path: Path) -> None:
    Store.open(f"sqlite:///{tmp_path}/ledger.db").close()
    before = (tmp_path / "ledger.db").read_bytes()
    with pytest.raises(UsageError, match="is a database"):
        a_log(tmp_path / "ledger.db")
    assert (tmp_path / "ledger.db").read_bytes() == before


def test_untrusted_text_is_one_line_in_which_nothing_does_anything(tmp_path: Path) -> None:
    for as_json in (False, True):
        file = tmp_path / f"{as_json}.log"
        with log_context(LogContext("r@1", "bot\n", "e")):
            a_log(file, as_json=as_json).handle(record(HOSTILE))
        text = file.read_text()
        assert text.isascii() is text[:-1].isprintable() is text.endswith("\n") is True
        assert text.count("\n") == 1
    read = json.loads(text)
    assert (read["message"], read["run"], read["bot"], read["subject"]) == (HOSTILE, "r@1", "bot\n", "e")


def test_a_traceback_is_in_its_line_and_no_key_in_any(tmp_path: Path) -> None:
    handler = a_log(tmp_path / "log", as_json=True)
    try:
        raise ValueError("sk-0123456789")
    except ValueError:
        failed = record("failed: sk-0123456789")
        failed.exc_info = sys.exc_info()
    with log_context(LogContext(subject="sk-0123456789")):
        handler.handle(failed)
    (line,) = (tmp_path / "log").read_text().splitlines()
    read = json.loads(line)
    assert "sk-" not in line
    assert (read["message"], read["subject"]) == ("failed: ***", "***")
    assert read["exception"].endswith("ValueError: ***")


def test_a_full_file_becomes_a_backup_and_the_oldest_is_forgotten(tmp_path: Path) -> None:
    handler = a_log(tmp_path / "log", most_bytes=1_000)
    for number in range(100):
        handler.handle(record(f"<{number}>"))
    files = [tmp_path / name for name in ("log.2", "log.1", "log")]
    assert sorted(tmp_path.iterdir()) == sorted(files)
    assert max(file.stat().st_size for file in files) <= 1_000
    kept = [line.rpartition(" ")[2] for file in files for line in file.read_text().splitlines()]
    assert kept == [f"<{number}>" for number in range(100 - len(kept), 100)]


def test_processes_that_share_a_file_lose_no_line_of_it(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    command = (sys.executable, "-c", WRITER, str(tmp_path / "log"))
    started = [subprocess.Popen([*command, name], cwd=root) for name in "abc"]
    assert [each.wait() for each in started] == [0, 0, 0]
    lines = [line.partition("<")[2] for file in tmp_path.iterdir() for line in file.read_text().splitlines()]
    assert sorted(lines) == sorted(f"{name} {number}>" for name in "abc" for number in range(80))
    assert all(file.stat().st_size <= 200 for file in tmp_path.iterdir())


def test_a_log_that_cannot_be_written_any_more_is_told_of_once(tmp_path: Path) -> None:
    told: list[str] = []
    file = tmp_path / "folder" / "log"
    handler = LogFile(file, told.append, most_bytes=1_000, backups=1)
    handler.handle(record("one"))
    file.unlink()
    file.mkdir()
    for _ in range(3):
        handler.handle(record("two"))
    assert len(told) == 1
    assert "what is done goes on without it" in told[0]
    file.rmdir()
    handler.handle(record("three"))
    assert "three" in file.read_text()


def test_a_program_that_stopped_while_it_wrote_keeps_no_other_for_ever(tmp_path: Path) -> None:
    told: list[str] = []
    handler = LogFile(tmp_path / "log", told.append, most_bytes=1_000, backups=1)
    with (tmp_path / "log").open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        handler.handle(record("one"))
    handler.handle(record("two"))
    assert "another program holds it" in told[0]
    assert (tmp_path / "log").read_text().endswith("two\n")


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    for file in (tmp_path, Path("/dev/null"), Path("/proc/nothing/log")):
        with pytest.raises(UsageError, match="Name another --log-file"):
            a_log(file)


def test_libraries_are_logged_from_warnings_on() -> None:
    assert [is_logged(record("", name=name)) for name in ("predibot.x", "httpx", "predibotic")] == [
        True,
        False,
        False,
    ]
    assert is_logged(record("", name="httpx", level=logging.WARNING)) is True
