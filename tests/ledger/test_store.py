"""The open ledger: what it makes, what it leaves alone, and a database's errors in our words."""

import os
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import psutil
import pytest
from sqlalchemy import text

from predibot.errors import LedgerUnusable, UsageError
from predibot.ledger.schema.versions import HEAD, read_version
from predibot.ledger.store import Store
from predibot.ledger.write.runs import read_runs, void_run
from tests.forked import PATIENCE_SECONDS, Forked
from tests.ledger.at_once import open_when_told
from tests.ledger.by_hand import NOW, a_run, event_of
from tests.ledger.databases import Postgres
from tests.ledger.statements import altered, found

ADD_EVENT = "INSERT INTO events (venue, event_id, title) VALUES ('v', :event_id, :title)"
GROW = "INSERT INTO events (venue, event_id, title) SELECT 'v', count(*), :title FROM events"


def open_once(address: str, start: "threading.Event") -> str | None:
    """Open a ledger when told to, and return its version."""
    start.wait()
    with Store.open(address) as store, store.read() as connection:
        return read_version(connection)


def test_a_new_ledger_is_made_with_its_folder(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a/b/ledger.db") as store, store.read() as connection:
        assert read_version(connection) == HEAD
        assert connection.execute(text("PRAGMA journal_mode")).scalar_one() == "wal"
        assert connection.execute(text("PRAGMA foreign_keys")).scalar_one() == 1


def test_many_processes_may_open_the_same_new_file_at_once(tmp_path: Path) -> None:
    for number in range(5):
        gate = tmp_path / f"go{number}"
        opening = partial(open_when_told, f"sqlite:///{tmp_path}/{number}.db", gate)
        opened = [Forked(folder=tmp_path, environment=os.environ, first=opening) for _ in range(4)]
        gate.touch()
        assert [each.wait(PATIENCE_SECONDS) for each in opened] == [0] * 4


def test_many_may_open_the_same_new_database_at_once(postgres: Postgres) -> None:
    address, start, versions = postgres.empty(), threading.Event(), list[str | None]()
    threads = [threading.Thread(target=lambda: versions.append(open_once(address, start))) for _ in range(4)]
    for thread in threads:
        thread.start()
    start.set()
    for thread in threads:
        thread.join(timeout=120)
    assert versions == [HEAD] * 4


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_that_cannot_hold_every_text_is_refused_in_a_sentence(postgres: Postgres, encoding: str) -> None:
    address = postgres.empty(encoding)
    with pytest.raises(LedgerUnusable, match=f"is in {encoding}, .* `createdb --encoding=UTF8"):
        Store.open(address)
    with pytest.raises(LedgerUnusable, match="has no tables yet"):
        Store.open_to_read(address)


def test_texts_are_stored_whatever_encoding_the_environment_asks_for(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    title = "Will the yen (円) fall?"
    with Store.open(postgres.fresh()) as store:
        altered(store, ADD_EVENT, event_id="e", title=title)
        assert found(store, "SELECT title FROM events") == [title]


ALEMBIC = "CREATE TABLE alembic_version (version_num); INSERT INTO alembic_version VALUES ('{}');"


@pytest.mark.parametrize(
    ("script", "seen"),
    [
        ("CREATE TABLE songs (title)", r"holds tables of something else \(songs\).*Name another ledger"),
        ("CREATE VIEW songs AS SELECT 1 AS title", r"views of something else \(songs\)"),
        (ALEMBIC.format("0001"), "something else"),
        # Named like ours.
        (f"CREATE TABLE runs (id); CREATE TABLE tasks (id); {ALEMBIC.format('0003')}", "tables of something else"),
        (None, "Name another ledger"),
    ],
    ids=["tables", "view", "same migrations", "same names", "no database"],
)
def test_the_file_of_another_program_is_refused_without_a_copy_and_left_as_it_was(
    tmp_path: Path, script: str | None, seen: str
) -> None:
    file = tmp_path / "other.db"
    if script is None:
        file.write_text("not a database, but long enough to look like one " * 100)
    else:
        with closing(sqlite3.connect(file)) as other:
            other.executescript(script)
    before = file.read_bytes()
    with pytest.raises(LedgerUnusable, match=seen):
        Store.open(f"sqlite:///{file}")
    assert (file.read_bytes(), [each.name for each in tmp_path.iterdir()]) == (before, ["other.db"])


NEVER_ENDS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT x AS id, x AS key FROM n"


@pytest.mark.parametrize(
    "forged",
    [
        f"CREATE VIEW quotes AS {NEVER_ENDS}",
        "CREATE TABLE quotes (id INTEGER, source TEXT AS (zeroblob(900000000)))",
        "CREATE VIRTUAL TABLE quotes USING fts5(id)",
    ],
)
def test_a_file_that_computes_what_a_table_should_hold_is_not_read(tmp_path: Path, forged: str) -> None:
    Store.open(f"sqlite:///{tmp_path}/l.db").close()
    with closing(sqlite3.connect(tmp_path / "l.db")) as file, file:
        file.execute("CREATE VIEW my_own AS SELECT key FROM runs")
    Store.open_to_read(f"sqlite:///{tmp_path}/l.db").close()
    with closing(sqlite3.connect(tmp_path / "l.db")) as file, file:
        file.execute("DROP TABLE quotes")
        file.execute(forged)
    for opened in (Store.open, Store.open_to_read):
        with pytest.raises(LedgerUnusable, match="computes quotes, by a view or a generated column"):
            opened(f"sqlite:///{tmp_path}/l.db")


def test_a_folder_or_a_device_is_no_ledger(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder; name a file in it"):
        Store.open(f"sqlite:///{tmp_path}")
    with pytest.raises(UsageError, match="/dev/null is a device or a pipe, which holds no ledger; name a file"):
        Store.open("sqlite:////dev/null")


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerUnusable, match="cannot be reached"):
        Store.open(f"sqlite:///{tmp_path}/file/below/ledger.db")


def test_a_missing_ledger_is_not_made_where_one_is_only_read(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnusable, match="Run `predibot decide` first"):
        Store.open(f"sqlite:///{tmp_path}/ledger.db", create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told_with_what_to_do_and_nothing_is_half_kept(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/ledger.db") as store:
        a_run(store, event_of(1))
        with pytest.raises(LedgerUnusable, match="Make room and run the same command again"):
            # More than this connection may write, which SQLite tells as it tells of a full disk.
            altered(store, "PRAGMA max_page_count = 60", *[GROW] * 500, title="x" * 5_000)
        assert len(store.run_read(read_runs)) == 1
        assert found(store, "SELECT count(*) FROM events") == [1]


def add_event(store: Store) -> None:
    altered(store, ADD_EVENT, event_id="e", title="t")


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_is_removed_or_replaced_while_it_is_open_is_noticed_at_once(tmp_path: Path, replaced: bool) -> None:
    file = tmp_path / "ledger.db"
    with pytest.raises(LedgerUnusable, match="removed, moved or replaced"), Store.open(f"sqlite:///{file}") as store:
        file.unlink()
        if replaced:
            Store.open(f"sqlite:///{file}").close()
        add_event(store)


def test_a_file_that_is_removed_after_the_last_transaction_is_noticed_at_the_end(tmp_path: Path) -> None:
    file = tmp_path / "ledger.db"
    with pytest.raises(LedgerUnusable, match="Put the file back"), Store.open(f"sqlite:///{file}") as store:
        add_event(store)
        file.unlink()


@pytest.mark.parametrize("bytes_left", [0, 4096])
@pytest.mark.parametrize("at_the_end", [False, True])
def test_a_file_that_is_cut_while_it_is_open_is_noticed(tmp_path: Path, bytes_left: int, at_the_end: bool) -> None:
    file = tmp_path / "ledger.db"
    Store.open(f"sqlite:///{file}").close()
    with (
        pytest.raises(LedgerUnusable, match=r"was cut from .* bytes by another"),
        Store.open(f"sqlite:///{file}") as store,
    ):
        add_event(store)
        os.truncate(file, bytes_left)
        if not at_the_end:
            add_event(store)


@pytest.mark.parametrize(
    ("harm", "said"), [(lambda file: os.truncate(file, 0), r"was cut from .* to 0 bytes"), (Path.unlink, "removed")]
)
def test_a_file_that_is_cut_or_removed_within_a_transaction_is_noticed_when_that_ends(
    tmp_path: Path, harm: Callable[[Path], None], said: str
) -> None:
    file = tmp_path / "ledger.db"
    store = Store.open(f"sqlite:///{file}")
    with pytest.raises(LedgerUnusable, match=said), store.write():
        harm(file)
    store.close()


def test_a_file_that_grows_stays_in_use(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/ledger.db") as store, Store.open(store.address) as other:
        for each in (store, other) * 50:
            altered(each, GROW, title="x" * 20_000)


def test_a_failure_half_way_leaves_nothing(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.write() as connection:
        connection.execute(text(ADD_EVENT), {"event_id": "e", "title": "t"})
        connection.execute(text(str(1 // 0)))
    assert found(store, "SELECT count(*) FROM events") == [0]


def test_reading_goes_on_while_somebody_writes_and_sees_one_state(store: Store) -> None:
    with store.write() as writing, store.read() as reading:
        count = text("SELECT count(*) FROM events")
        assert reading.execute(count).scalar_one() == 0
        writing.execute(text(ADD_EVENT), {"event_id": "e", "title": "t"})
        assert reading.execute(count).scalar_one() == 0


def test_opening_and_reading_does_not_wait_for_whoever_writes(address: str) -> None:
    with Store.open(address) as store, store.write():
        began = time.monotonic()
        with Store.open(address) as other, other.read() as connection:
            assert read_runs(connection) == ()
        assert time.monotonic() - began < 20


def test_a_closed_connection_is_told_in_our_words(postgres: Postgres) -> None:
    with Store.open(postgres.fresh()) as store, pytest.raises(LedgerUnusable), store.write() as connection:
        connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))


def test_a_ledger_that_is_closed_while_it_is_read_leaves_no_file_open_and_is_not_opened_again(tmp_path: Path) -> None:
    store = Store.open(f"sqlite:///{tmp_path}/ledger.db")
    with store.read() as connection:
        read_runs(connection)
        store.close()
        assert read_runs(connection) == ()
    for use in (store.read, store.write):
        with pytest.raises(LedgerUnusable, match="was closed"), use():
            pass
    assert [file.path for file in psutil.Process().open_files() if file.path.startswith(str(tmp_path))] == []


def test_a_ledger_that_is_opened_to_read_cannot_be_changed(store: Store, address: str) -> None:
    run = a_run(store, event_of(1))
    with Store.open_to_read(address) as reader:
        assert len(reader.run_read(read_runs)) == 1
        with pytest.raises(LedgerUnusable, match="opened to be read"):
            reader.run_write(lambda connection: None)
        with pytest.raises(LedgerUnusable, match="opened to be read"), reader.write():
            pass
        with pytest.raises(LedgerUnusable, match=r"read-?only"), reader.read() as connection:
            connection.execute(text("DELETE FROM runs"))
        # Who writes goes on meanwhile, and is read.
        store.run_write(lambda connection: void_run(connection, run.key, reason="a test", at=NOW))
        assert reader.run_read(read_runs)[0].voided_at == NOW


def test_a_file_without_tables_is_not_opened_to_read(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    with pytest.raises(LedgerUnusable, match="has no tables yet"):
        Store.open_to_read(f"sqlite:///{tmp_path}/empty.db")
