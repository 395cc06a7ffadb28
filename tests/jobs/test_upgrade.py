"""Upgrading: who reads never does, who writes does after a backup, and one that is killed leaves the old or the new.

The next migration is planted into a copy of the package, as the one who writes it would.
"""

import shutil
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import inspect, text

import predibot
from predibot.errors import LedgerUnusable
from predibot.ledger.schema.tables import Row
from predibot.ledger.schema.versions import HEAD
from predibot.ledger.store import Store
from tests.acceptance.conftest import Said, done_here, said_here
from tests.forked import Forked
from tests.jobs.failpoints import After, Before, Executing
from tests.jobs.tiny import LATER, canonical_at, decide_on, track_on, write_archive
from tests.ledger.databases import closing_engine, engine_of
from tests.ledger.schema.test_versions import MADE, made_in
from tests.soaks import ONE_DATABASE
from tests.worlds import Worlds

NEXT = "9998"
MIGRATION = f'''"""Events with their titles twice."""

import sqlalchemy as sa
from alembic import op

from predibot.ledger.schema.versions import OF_NO_RUN, triggers_in_a_file

revision, down_revision = "{NEXT}", "{HEAD}"


def upgrade() -> None:
    connection = op.get_bind()
    is_file = connection.dialect.name == "sqlite"
    with op.batch_alter_table("events", recreate="always" if is_file else "auto") as events:
        events.add_column(sa.Column("again", sa.Text(), nullable=True))
        events.create_check_constraint("short", "length(title) < 100")
    if is_file:
        # The table is another one, which knows nothing of triggers.
        for statement in triggers_in_a_file("events", OF_NO_RUN):
            connection.execute(sa.text(statement))
    connection.execute(sa.text("UPDATE events SET again = title"))
'''
READ_COMMANDS = (
    ("report",),
    ("evaluate", "--no-track"),
    ("export", "--table", "runs"),
    ("trace", "--cost"),
    ("runs",),
    ("decide", "--rerun-traces", "tiny@2026-02-13T00:00Z"),
)
WRITE_COMMANDS = (
    ("track", "--venue", "archive:archive"),
    ("runs", "void", "tiny@2026-02-13T00:00Z", "--reason", "a test"),
)
BASE = "0018"
OF_THE_BASE = (
    "CREATE TABLE run_packs (run_id INTEGER NOT NULL, change BIGINT NOT NULL, content {blob} NOT NULL,"
    " CONSTRAINT pk_run_packs PRIMARY KEY (run_id))",
    "CREATE TABLE memos (id {serial} NOT NULL, key TEXT NOT NULL, content TEXT NOT NULL,"
    ' CONSTRAINT pk_memos PRIMARY KEY (id), CONSTRAINT uq_memos_key UNIQUE ("key"))',
    "INSERT INTO memos (id, key, content) VALUES (1, 'a', 'b')",
    f"UPDATE alembic_version SET version_num = '{BASE}'",
)
"""What makes a ledger of this version one of the base again."""
EVALUATED = ("evaluate", "--no-track", "--as-of", LATER.isoformat(), "--resamples", "100", "--json")
REFUSED = "made by an older predibot; upgrade it with commit 845ea409 first"


@dataclass(frozen=True)
class Next:
    """The program as it would be with one migration more, run in the folder of a ledger."""

    package: Path
    folder: Path

    def __call__(self, *arguments: str, first: Callable[[], object] | None = None) -> Said:
        """Run a command, in a process that does something else first where that is asked for."""
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        around = {"PATH": "/usr/bin:/bin"}
        given = {"folder": self.folder, "environment": around, "first": first, "package": self.package}
        with Forked(*arguments, **given, **pipes) as process:
            out, err = process.communicate()
        return Said(process.returncode, out, err)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where the package lies with the next migration in it."""
    folder = tmp_path_factory.mktemp("next")
    ours = Path(predibot.__file__).parent
    shutil.copytree(ours, folder / "predibot", ignore=shutil.ignore_patterns("__pycache__"))
    for plugins in ("strategies", "tools"):
        # As a wheel has them.
        shutil.copytree(ours.parent / plugins, folder / "predibot" / plugins, dirs_exist_ok=True)
    versions = folder / "predibot" / "ledger" / "schema" / "versions.py"
    known = versions.read_text(encoding="utf-8")
    assert known.count(f'"{HEAD}")') == 1
    versions.write_text(known.replace(f'"{HEAD}")', f'"{HEAD}", "{NEXT}")'), encoding="utf-8")
    (folder / "predibot" / "ledger" / "migrations" / "versions" / f"{NEXT}_planted.py").write_text(MIGRATION)
    return folder


@pytest.fixture
def later(package: Path, tmp_path: Path) -> Next:
    """Return the program with the next migration, in the folder of the test."""
    return Next(package, tmp_path)


def decided_and_tracked() -> None:
    """Decide and track into `current.db`."""
    folder = write_archive(Path("archive").absolute())
    with Store.open("sqlite:///current.db") as store:
        decide_on(store, folder)
        track_on(store, folder)


@pytest.fixture
def current(worlds: Worlds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a ledger of this version that decided and tracked, in the current folder."""
    monkeypatch.chdir(tmp_path)
    return worlds.copy(decided_and_tracked, tmp_path) / "current.db"


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, current: Path) -> str:
    """Return the address of that ledger: a file, then a database."""
    if request.param == "sqlite":
        return "sqlite:///current.db"
    server = str(request.getfixturevalue("postgres").empty())
    assert said_here("ledger", "copy", "sqlite:///current.db", server).code == 0
    return server


def first_of(address: str, query: str) -> str:
    """Return the first cell of what a query finds in a ledger, opened by nothing of ours."""
    with closing_engine(engine_of(address)) as engine, engine.connect() as connection:
        return str(connection.execute(text(query)).scalar())


version_of = partial(first_of, query="SELECT version_num FROM alembic_version")


def change(address: str, *statements: str) -> None:
    """Change a ledger by nothing of ours."""
    with closing_engine(engine_of(address)) as engine, engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))


def test_who_reads_leaves_an_older_ledger_as_it_is_and_says_what_upgrades_it(current: Path, later: Next) -> None:
    before = current.read_bytes()
    for command in READ_COMMANDS:
        said = later(*command, "--ledger", "sqlite:///current.db")
        told = " ".join((said.out + said.err).split())
        assert said.code == 1, command
        assert "predibot ledger upgrade --ledger sqlite:///current.db` upgrades it, and keeps a copy" in told, command
        assert current.read_bytes() == before
        assert [*current.parent.glob("current.db?*")] == []


@pytest.mark.parametrize("command", WRITE_COMMANDS)
def test_who_writes_upgrades_an_older_ledger_after_a_copy(current: Path, later: Next, command: tuple[str, ...]) -> None:
    said = later(*command, "--ledger", "sqlite:///current.db")
    assert said.code == 0, said.err
    copy = f"sqlite:///current.db.{HEAD}.backup"
    assert (version_of("sqlite:///current.db"), version_of(copy)) == (NEXT, HEAD)


@ONE_DATABASE
def test_a_ledger_of_the_last_version_is_upgraded_by_nothing(address: str, current: Path) -> None:
    before = current.read_bytes()
    said = said_here("ledger", "upgrade", "--ledger", address, "--json").document
    assert (said["before"], said["version"], said["backup"]) == (HEAD, HEAD, None)
    assert "already" in said_here("ledger", "upgrade", "--ledger", address).out
    assert current.read_bytes() == before


KILLS = (
    *(Executing(each) for each in ("DROP TABLE", "ALTER TABLE", "UPDATE events", "UPDATE alembic_version")),
    Before("alembic_version", "UPDATE"),
)
"""Where an upgrade is killed that then begins anew; a server drops no table."""


@ONE_DATABASE
def test_an_upgrade_that_is_killed_at_any_moment_leaves_the_old_ledger_or_the_new_one(
    address: str, later: Next, current: Path
) -> None:
    asked = (*EVALUATED, "--ledger", address)
    rows, evaluated = canonical_at(address), said_here(*asked).document
    export = ("export", "--canonical", "--format", "jsonl", "--ledger", address)
    exported = said_here(*export).out
    upgrade = ("ledger", "upgrade", "--ledger", address, "--json")
    kills = KILLS if address.startswith("sqlite") else KILLS[1:]
    for where in kills:
        assert (later(*upgrade, first=where).code, version_of(address)) == (-signal.SIGKILL, HEAD), where
    assert (canonical_at(address), said_here(*asked).document) == (rows, evaluated)
    assert later(*upgrade, first=After("alembic_version", "UPDATE")).code == -signal.SIGKILL
    assert later(*upgrade).document["before"] == version_of(address) == NEXT
    assert later(*asked).document == evaluated
    assert later(*export).out == exported
    assert first_of(address, "SELECT count(*) FROM events WHERE again = title") == "3"
    for copy in current.parent.glob("current.db.*"):
        assert (copy.name.endswith(".backup"), canonical_at(f"sqlite:///{copy}")) == (True, rows)


@ONE_DATABASE
def test_upgrading_says_what_it_did(address: str, later: Next) -> None:
    done = later("ledger", "upgrade", "--ledger", address, "--json").document
    assert (done["before"], done["version"]) == (HEAD, NEXT)
    assert str(done["backup"]).endswith(f"current.db.{HEAD}.backup") is address.startswith("sqlite")


def test_a_ledger_whose_rows_have_no_place_in_the_next_version_stays_as_it_is_and_says_so(
    address: str, later: Next
) -> None:
    change(address, f"UPDATE events SET title = '{'x' * 100}'")
    said = later("ledger", "upgrade", "--ledger", address)
    assert said.code == 1
    assert "was not upgraded, because it holds rows that predibot does not write" in " ".join(said.err.split())
    assert version_of(address) == HEAD


def test_a_second_copy_does_not_replace_the_first(current: Path, later: Next) -> None:
    current.with_name(f"current.db.{HEAD}.backup").write_text("precious")
    assert later("ledger", "upgrade", "--ledger", "sqlite:///current.db").code == 0
    assert current.with_name(f"current.db.{HEAD}.backup").read_text() == "precious"
    assert version_of(f"sqlite:///current.db.{HEAD}-2.backup") == HEAD


def test_an_upgrade_without_a_copy_is_not_begun(current: Path, later: Next) -> None:
    # A name this long with ".0018.backup" behind it is no name any more.
    long = current.rename(current.with_name(f"{'x' * 242}.db"))
    said = later("ledger", "upgrade", "--ledger", f"sqlite:///{long.name}")
    assert (said.code, "was not upgraded, because it could not be copied" in said.err) == (1, True)
    assert version_of(f"sqlite:///{long.name}") == HEAD


def test_a_ledger_of_the_base_is_upgraded_with_its_rows(address: str, current: Path) -> None:
    asked = (*EVALUATED, "--ledger", address)
    rows, evaluated, is_file = canonical_at(address), said_here(*asked).document, address.startswith("sqlite")
    types = {"blob": "BLOB", "serial": "INTEGER"} if is_file else {"blob": "BYTEA", "serial": "SERIAL"}
    change(address, *(statement.format(**types) for statement in OF_THE_BASE))
    if is_file:
        assert made_in(current) == MADE[BASE]
    assert said_here("report", "--ledger", address).code == 1
    assert done_here("ledger", "upgrade", "--ledger", address, "--json").document["before"] == BASE
    with closing_engine(engine_of(address)) as engine:
        assert {*inspect(engine).get_table_names()} == {*Row.metadata.tables, "alembic_version"}
    if is_file:
        assert made_in(current) == MADE[HEAD]
    assert (canonical_at(address), said_here(*asked).document) == (rows, evaluated)


@ONE_DATABASE
@pytest.mark.parametrize("version", ["0001", "0017"])
def test_a_ledger_of_before_the_base_is_refused_with_the_commit_that_upgrades_it(address: str, version: str) -> None:
    change(address, f"UPDATE alembic_version SET version_num = '{version}'")
    for command in (*READ_COMMANDS, *WRITE_COMMANDS, ("ledger", "upgrade"), ("doctor",)):
        said = said_here(*command, "--ledger", address)
        assert (said.code, REFUSED in " ".join((said.out + said.err).split())) == (1, True), said
    assert version_of(address) == version


def test_a_backup_of_before_the_base_is_not_restored(current: Path) -> None:
    assert said_here("ledger", "backup", "backup.db", "--ledger", "sqlite:///current.db").code == 0
    change("sqlite:///backup.db", "UPDATE alembic_version SET version_num = '0017'")
    said = said_here("ledger", "restore", "backup.db", "--ledger", "sqlite:///new.db")
    assert (said.code, REFUSED in " ".join(said.err.split())) == (1, True)
    with pytest.raises(LedgerUnusable, match=REFUSED):
        predibot.open_ledger(current.with_name("backup.db"))
