"""A private copy: of one state of a ledger's file and its log, or none, and gone when it was read."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from predibot.errors import LedgerUnusable
from predibot.ledger.sqlite_files import PrivateCopy


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """Return a file that says 1, with a log that says 2."""
    with closing(sqlite3.connect(tmp_path / "a.db")) as writer:
        writer.executescript(
            "PRAGMA journal_mode=WAL; CREATE TABLE t AS SELECT 1 AS n; PRAGMA wal_checkpoint(TRUNCATE);"
        )
        writer.execute("UPDATE t SET n = 2")
        writer.commit()
        for part in ("", "-wal"):
            (tmp_path / f"b.db{part}").write_bytes((tmp_path / f"a.db{part}").read_bytes())
    return tmp_path / "b.db"


def test_what_stands_in_the_log_is_in_a_copy_and_the_ledger_is_as_it_was(ledger: Path) -> None:
    before = {path: path.read_bytes() for path in ledger.parent.iterdir()}
    copy = PrivateCopy(ledger)
    with closing(sqlite3.connect(copy.file)) as reader:
        assert reader.execute("SELECT n FROM t").fetchall() == [(2,)]
    assert copy.file.parent.stat().st_mode & 0o077 == 0
    copy.remove()
    assert not copy.file.parent.exists()
    assert {path: path.read_bytes() for path in ledger.parent.iterdir()} == before


def test_one_that_is_too_large_names_backups(ledger: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("predibot.ledger.sqlite_files.MAX_COPIED_BYTES", 10_000)
    with pytest.raises(LedgerUnusable, match=r"is too large to be copied first\. .*predibot ledger backup"):
        PrivateCopy(ledger)
    assert not list(tmp_path.glob("predibot-read-*"))


def test_a_log_that_is_no_file_is_not_waited_for(ledger: Path) -> None:
    log = ledger.with_name(f"{ledger.name}-wal")
    log.unlink()
    log.mkdir()
    with pytest.raises(LedgerUnusable, match="it is no file, but a folder"):
        PrivateCopy(ledger)
