"""Upgrading: who reads never does, who writes does after a backup, and one that is killed leaves the old or the new."""

import json
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import inspect, text

from predibot.ledger.schema.versions import HEAD, VERSIONS
from predibot.ledger.store import Store
from tests.acceptance.conftest import Predibot, done_here, said_here
from tests.jobs.failpoints import After, Before, Executing
from tests.jobs.program import Program
from tests.jobs.tiny import LATER, canonical_at, decide_on, track_on, write_archive
from tests.ledger.schema.older import engine_of, write_older
from tests.worlds import Worlds

READ_COMMANDS = (
    ("report",),
    ("evaluate", "--no-track"),
    ("export", "--table", "runs"),
    ("trace", "--cost"),
    ("runs",),
    ("doctor",),
    ("decide", "--rerun-traces", "tiny@2026-02-13T00:00Z"),
)
WRITE_COMMANDS = (
    ("track", "--venue", "archive:archive"),
    ("runs", "void", "tiny@2026-02-13T00:00Z", "--reason", "a test"),
)


EVALUATED = ("evaluate", "--no-track", "--as-of", LATER.isoformat(), "--resamples", "100", "--json", "--ledger")


def decided_and_tracked() -> None:
    """Decide and track into `current.db`, and keep beside it how it is evaluated, with what was tracked and without."""
    folder = write_archive(Path("archive").absolute())
    with Store.open("sqlite:///current.db") as store:
        decide_on(store, folder)
        Path("decided.json").write_text(done_here(*EVALUATED, "sqlite:///current.db").out)
        track_on(store, folder)
    Path("tracked.json").write_text(done_here(*EVALUATED, "sqlite:///current.db").out)


@pytest.fixture
def current(worlds: Worlds, tmp_path: Path) -> str:
    """Return the address of a ledger that decided and tracked."""
    return f"sqlite:///{worlds.copy(decided_and_tracked, tmp_path)}/current.db"


@pytest.fixture
def predibot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Predibot:
    """Return the program, run in process in a folder with the archive."""
    monkeypatch.chdir(tmp_path)
    return said_here


@pytest.fixture(params=["sqlite", "postgresql"])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of a database without tables: a file, then a database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/older.db"
    return str(request.getfixturevalue("postgres").empty())


def version_of(address: str) -> str:
    """Return the version of a ledger's tables, opened by nothing of ours."""
    engine = engine_of(address)
    with engine.connect() as connection:
        found = str(connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one())
    engine.dispose()
    return found


@pytest.mark.parametrize("command", READ_COMMANDS)
def test_who_reads_leaves_an_older_ledger_as_it_is_and_says_what_upgrades_it(
    current: str, predibot: Predibot, tmp_path: Path, command: tuple[str, ...]
) -> None:
    write_older(current, "sqlite:///older.db", "0006")
    before = (tmp_path / "older.db").read_bytes()
    said = predibot(*command, "--ledger", "sqlite:///older.db")
    assert said.code == 1
    assert "`predibot ledger upgrade` with this --ledger upgrades it" in " ".join((said.out + said.err).split())
    assert (tmp_path / "older.db").read_bytes() == before
    assert [*tmp_path.glob("older.db?*")] == []


@pytest.mark.parametrize("command", WRITE_COMMANDS)
def test_who_writes_upgrades_an_older_ledger_after_a_copy(
    current: str, predibot: Predibot, tmp_path: Path, command: tuple[str, ...]
) -> None:
    write_older(current, "sqlite:///older.db", "0006")
    said = predibot(*command, "--ledger", "sqlite:///older.db")
    assert said.code == 0
    assert (version_of("sqlite:///older.db"), version_of("sqlite:///older.db.0006.backup")) == (HEAD, "0006")


def test_upgrading_says_what_it_did_and_does_nothing_twice(current: str, predibot: Predibot, empty: str) -> None:
    write_older(current, empty, "0006")
    first = predibot("ledger", "upgrade", "--ledger", empty, "--json").document
    again = predibot("ledger", "upgrade", "--ledger", empty, "--json").document
    assert (first["before"], first["version"], again["before"], again["backup"]) == ("0006", HEAD, HEAD, None)
    assert str(first["backup"]).endswith("older.db.0006.backup") is empty.startswith("sqlite")
    assert "already" in predibot("ledger", "upgrade", "--ledger", empty).out


@pytest.mark.parametrize("version", VERSIONS[:-1])
def test_a_ledger_of_every_version_is_upgraded_and_evaluated_to_the_same_document(
    current: str, predibot: Predibot, tmp_path: Path, version: str, request: pytest.FixtureRequest
) -> None:
    # Each way to a server is longer, and all are the same in the end.
    on_a_server = version in VERSIONS[::4]
    empty = str(request.getfixturevalue("postgres").empty()) if on_a_server else f"sqlite:///{tmp_path}/older.db"
    write_older(current, empty, version)
    assert predibot("ledger", "upgrade", "--ledger", empty).code == 0
    expected = tmp_path / f"{'decided' if version == '0001' else 'tracked'}.json"
    assert predibot(*EVALUATED, empty).document == json.loads(expected.read_text())
    assert canonical_at(empty) == canonical_at(current) or version < "0005"


def tables_of(address: str) -> set[str]:
    """Return the names of a database's tables."""
    engine = engine_of(address)
    found = set(inspect(engine).get_table_names())
    engine.dispose()
    return found


KILLS = (
    Before("alembic_version", "UPDATE"),
    *map(Executing, ("CREATE TABLE price_paths", "INSERT INTO price_paths", "DROP TABLE", "UPDATE alembic_version")),
)
"""Where an upgrade is killed that then begins anew, each time with a start of its own."""


def test_an_upgrade_that_is_killed_at_any_moment_leaves_the_old_ledger_or_the_new_one(
    current: str, program: Program, empty: str
) -> None:
    def killed(where: Before | Executing) -> set[str]:
        process = program.start("ledger", "upgrade", "--ledger", empty, "--json", first=where)
        said = process.communicate()
        assert process.returncode == -signal.SIGKILL, (where, said)
        return tables_of(empty) & {"observations", "price_paths", "bets", "orders"}

    write_older(current, empty, "0006")
    for where in KILLS:
        assert (killed(where), version_of(empty)) == ({"observations", "bets"}, "0006")
    assert killed(After("alembic_version", "UPDATE")) == {"price_paths", "orders"}
    assert said_here("ledger", "upgrade", "--ledger", empty, "--json").document["before"] == HEAD
    assert canonical_at(empty) == canonical_at(current)
    for copy in program.folder.glob("*.backup"):
        with closing(sqlite3.connect(copy)) as connection:
            assert connection.execute("SELECT count(*) FROM observations").fetchone()[0] > 0
