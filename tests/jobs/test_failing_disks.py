"""Disks that fail: full, read-only or held by another program, each is told in a sentence and leaves nothing half."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tests.acceptance.conftest import done_here
from tests.jobs.agent_run import RECIPE
from tests.jobs.failpoints import FEW_BYTES, with_little_room, without_privileges
from tests.jobs.program import Program
from tests.jobs.test_ledger_copies import rows_at
from tests.jobs.tiny import canonical_at
from tests.worlds import Worlds

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="such limits are Linux's")
AGAIN = ("decide", "r.toml", "--events", "2", "--as-of", "2026-01-09")


@pytest.fixture
def program(tmp_path: Path, worlds: Worlds, monkeypatch: pytest.MonkeyPatch) -> Iterator[Program]:
    """Return the program in a folder with a ledger in a folder of its own, and a backup of it."""
    monkeypatch.chdir(tmp_path)
    worlds.copy(backed_up, tmp_path / "kept")
    with closing(Program(tmp_path)) as made:
        (tmp_path / "r.toml").write_text(RECIPE)
        yield made


def backed_up() -> None:
    """Decide about an event into `ledger.db`, and make `backup.db` of it."""
    Path("r.toml").write_text(RECIPE)
    done_here("decide", "r.toml", "--events", "1", "--ledger", "sqlite:///ledger.db")
    done_here("ledger", "backup", "backup.db", "--ledger", "sqlite:///ledger.db")


def ended(process: "subprocess.Popen[str]", code: int = 0) -> str:
    """Return what a process said when it ended, on one line."""
    out, err = process.communicate(timeout=240)
    assert process.returncode == code, (out, err)
    return " ".join(err.split())


def refused(program: Program, *arguments: str, under: Callable[[], object]) -> str:
    """Return the sentence by which a command says why it did nothing."""
    said = ended(program.start(*arguments, first=under), code=1)
    assert "Traceback" not in said
    return said[said.index("error: ") :]


LEDGER = ("--ledger", "sqlite:///kept/ledger.db")
WRITERS = (
    (*AGAIN, *LEDGER),
    ("track", *LEDGER),
    ("ledger", "compact", *LEDGER),
    ("ledger", "prune", "--traces-older-than", "1m", "--yes", *LEDGER),
)


def test_a_read_only_folder_is_told_and_a_backup_is_restored_from_it(program: Program, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    before = {path.name for path in kept.iterdir()}
    kept.chmod(0o555)
    try:
        for command in WRITERS:
            assert "Make the file and its folder writable" in refused(program, *command, under=without_privileges)
        backup = ("ledger", "backup", "kept/b.db", "--ledger", "sqlite:///kept/backup.db")
        into = refused(program, *backup, under=without_privileges)
        assert "the backup kept/b.db cannot be written: Permission denied" in into
        copy = ("ledger", "copy", "sqlite:///kept/backup.db", "sqlite:///kept/c.db")
        assert "Look at the path and its permissions" in refused(program, *copy, under=without_privileges)
        restore = ("ledger", "restore", "kept/backup.db", "--ledger", "sqlite:///r.db")
        ended(program.start(*restore, first=without_privileges))
    finally:
        kept.chmod(0o755)
    assert {path.name for path in kept.iterdir()} == before
    assert canonical_at(f"sqlite:///{tmp_path}/r.db") == canonical_at(f"sqlite:///{kept}/ledger.db")


def test_a_ledger_is_read_where_nothing_can_be_written_with_what_stands_in_its_log(
    program: Program, tmp_path: Path
) -> None:
    kept, temporary = tmp_path / "kept", tmp_path / "tmp"
    temporary.mkdir()
    program = replace(program, settings={"TMPDIR": str(temporary)})
    # Not put into the file yet, as the connection that would do so never ends.
    with closing(sqlite3.connect(kept / "ledger.db")) as writer:
        writer.execute("PRAGMA wal_autocheckpoint=0")
        writer.execute("UPDATE markets SET question = 'said in the log'")
        writer.commit()
        (kept / "copy.db").write_bytes((kept / "ledger.db").read_bytes())
        (kept / "copy.db-wal").write_bytes((kept / "ledger.db-wal").read_bytes())
    (kept / "ledger.db.files").rename(kept / "copy.db.files")
    before = {path: path.read_bytes() for path in kept.glob("*.db*") if path.is_file()}
    kept.chmod(0o555)
    of_copy = ("--ledger", "sqlite:///kept/copy.db")
    try:
        for command in (("report",), ("runs",), ("verify", "--rows"), ("ledger", "backup", "b.db")):
            ended(program.start(*command, *of_copy, first=without_privileges))
        ended(program.start("export", "out", *of_copy, first=without_privileges))
        ended(program.start("report", "--ledger", "sqlite:///kept/backup.db", first=without_privileges))
    finally:
        kept.chmod(0o755)
    assert "said in the log" in "".join(path.read_text() for path in (tmp_path / "out").glob("*.csv"))
    assert {path: path.read_bytes() for path in kept.glob("*.db*") if path.is_file()} == before
    assert list(temporary.iterdir()) == []


@contextmanager
def log_beyond_little_room(ledger: Path) -> Iterator[None]:
    """Have a ledger's log be so long, while somebody reads it, that however little is written makes it too long."""
    with closing(sqlite3.connect(ledger, isolation_level=None)) as reader:
        reader.execute("PRAGMA wal_autocheckpoint=0")
        while not (log := ledger.with_name(f"{ledger.name}-wal")).exists() or log.stat().st_size < FEW_BYTES:
            reader.execute("UPDATE markets SET question = question")
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM markets").fetchone()
        yield


def test_a_full_disk_is_told_and_the_same_command_goes_on_when_there_is_room(program: Program, tmp_path: Path) -> None:
    kept = f"sqlite:///{tmp_path}/kept/ledger.db"
    before, decided = canonical_at(kept), rows_at(kept)
    backup = ("ledger", "backup", "b.db", *LEDGER)
    with log_beyond_little_room(tmp_path / "kept/ledger.db"):
        for command in WRITERS[:3]:
            assert "Look at the disk and its room" in refused(program, *command, under=with_little_room)
    assert "the backup b.db cannot be used" in refused(program, *backup, under=with_little_room)
    restore = ("ledger", "restore", "kept/backup.db", "--ledger", "sqlite:///r.db")
    assert "Look at the disk and its room" in refused(program, *restore, under=with_little_room)
    assert (rows_at(kept), (tmp_path / "b.db").exists()) == (decided, False)
    for command in (backup, restore):
        done_here(*command)
    assert canonical_at(f"sqlite:///{tmp_path}/r.db") == before
    for ledger in ("kept/ledger.db", "r.db"):
        for command in (AGAIN, ("track",)):
            done_here(*command, "--ledger", f"sqlite:///{ledger}")
    assert canonical_at(kept) == canonical_at(f"sqlite:///{tmp_path}/r.db")


def test_a_ledger_that_another_program_holds_is_told_and_is_read_meanwhile(program: Program, tmp_path: Path) -> None:
    ledger = f"sqlite:///{tmp_path}/kept/ledger.db"
    before = canonical_at(ledger)
    with closing(sqlite3.connect(tmp_path / "kept/ledger.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        waiting = [program.start(*command) for command in WRITERS]
        done_here("ledger", "backup", "b.db", *LEDGER)
        said = list(map(partial(ended, code=1), waiting))
    assert ["Another program holds it; try again when that has ended" in each for each in said] == [True] * 4
    assert canonical_at(ledger) == canonical_at(f"sqlite:///{tmp_path}/b.db") == before
