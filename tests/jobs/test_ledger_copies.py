"""Copies of a ledger: into any database, into a backup and back; the same in both, or nothing at all."""

import random
import shutil
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from itertools import count
from pathlib import Path

import psutil
import pytest
from sqlalchemy import Engine, event

from predibot.api import ledger_copies
from predibot.ledger.store import Store
from predibot.ledger.url import parse_ledger_url, sqlite_address, without_password
from tests.acceptance.conftest import Predibot, done_here, said_here
from tests.jobs.agent_run import RECIPE
from tests.jobs.failpoints import After, Before, Executing, Placed
from tests.jobs.program import Program, wait_until
from tests.jobs.tiny import canonical_at
from tests.ledger.databases import Postgres
from tests.ledger.statements import altered, found
from tests.soaks import ONE_DATABASE, few
from tests.worlds import Worlds

EVALUATE = ("evaluate", "--no-track", "--as-of", "2026-03-01", "--json", "--ledger")
Place = Callable[[str], str]


@pytest.fixture
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Place:
    """Return what makes the address of a new ledger of a kind of database."""

    numbers = count(1)

    def new(kind: str) -> str:
        if kind == "postgresql":
            return str(request.getfixturevalue("postgres").empty())
        return f"sqlite:///{tmp_path}/{next(numbers)}.db"

    return new


@pytest.fixture
def predibot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Predibot:
    """Return the program, in a folder with a recipe."""
    monkeypatch.chdir(tmp_path)
    Path("r.toml").write_text(RECIPE)
    return said_here


def decide_and_track(ledger: str, *options: str) -> None:
    """Decide, with agents, which keep traces and pages, and track."""
    done_here("decide", "r.toml", "--ledger", ledger, *options)
    done_here("track", "--ledger", ledger, "--as-of", "2026-03-01")


def agents() -> None:
    """Decide about two events with an agent and another, and track, into `ledger.db`."""
    Path("r.toml").write_text(RECIPE)
    decide_and_track("sqlite:///ledger.db")


@pytest.fixture
def decided(place: Place, worlds: Worlds) -> Place:
    """Return what makes a ledger in a kind of database that decided and tracked, and returns its address."""

    def made(kind: str) -> str:
        address, whole = place(kind), worlds(agents) / "ledger.db"
        if kind == "postgresql":
            done_here("ledger", "copy", sqlite_address(whole), address)
        else:
            file = address.removeprefix("sqlite:///")
            shutil.copyfile(whole, file)
            shutil.copytree(f"{whole}.files", f"{file}.files")
        return address

    return made


def looked_at(ledger: str) -> dict[str, int]:
    """Return how many rows each check of a ledger looked at that must find nothing wrong."""
    said = said_here("verify", "--rows", "--json", "--ledger", ledger)
    assert (said.code, said.document["broken"]) == (0, [])
    return {check["name"]: check["rows"] for check in said.document["checks"]}


def rows_at(ledger: str) -> int:
    """Return how many decisions and runs a ledger has."""
    return int(found(ledger, "SELECT (SELECT count(*) FROM decisions) + (SELECT count(*) FROM runs)")[0])


BOTH_WAYS = [("sqlite", "postgresql"), ("postgresql", "sqlite")]


@pytest.mark.parametrize(("source", "target"), few(BOTH_WAYS, BOTH_WAYS[0]))
def test_a_copy_is_the_same_and_is_written_on(
    predibot: Predibot, place: Place, decided: Place, source: str, target: str
) -> None:
    before = decided(source)
    with Store.open(before) as store:
        # A service is at work over the one, and nobody over the other.
        altered(store, "INSERT INTO services (name, owner, started_at, lease_until) VALUES ('schedule', 'me', 0, 1)")
    after = place(target)
    said = predibot("ledger", "copy", before, after, "--json")
    assert found(after, "SELECT count(*) FROM services") == [0]
    assert (said.code, said.document["verified"]) == (0, True)
    assert said.document["copied"]["tables"]["decisions"]["rows"] == 4
    assert canonical_at(after) == canonical_at(before)
    assert predibot(*EVALUATE, after).document == predibot(*EVALUATE, before).document
    checks = looked_at(after)
    assert (checks["traces present"], checks["pages present"] > 0) == (2, True)
    for ledger in (before, after):
        decide_and_track(ledger, "--as-of", "2026-01-09")
    assert canonical_at(after) == canonical_at(before)
    assert looked_at(after)["traces present"] == 4


@ONE_DATABASE
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_backup_is_one_file_that_is_a_ledger_and_is_restored(
    predibot: Predibot, place: Place, decided: Place, tmp_path: Path, kind: str
) -> None:
    ledger = decided(kind)
    (tmp_path / "backups").mkdir()
    said = predibot("ledger", "backup", "backups", "--ledger", ledger)
    assert said.code == 0
    (file,) = (tmp_path / "backups").iterdir()
    assert said.out.endswith(f"-> backups/{file.name}: done, {file.stat().st_size:,} bytes\n")
    shutil.move(file, tmp_path / "moved.db")
    assert looked_at(f"sqlite:///{tmp_path}/moved.db")["traces present"] == 2
    restored = place(kind)
    assert predibot("ledger", "restore", "moved.db", "--ledger", restored).code == 0
    # As any ledger it may be written to, and is a backup still.
    decide_and_track("sqlite:///moved.db", "--as-of", "2026-01-09")
    assert predibot("ledger", "restore", "moved.db", "--ledger", place("sqlite")).code == 0
    (tmp_path / "moved.db").unlink()
    assert canonical_at(restored) == canonical_at(ledger)
    assert predibot(*EVALUATE, restored).document == predibot(*EVALUATE, ledger).document
    assert looked_at(restored)["pages present"] > 0


@ONE_DATABASE
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_nothing_is_copied_into_a_ledger_that_has_rows(
    predibot: Predibot, place: Place, decided: Place, kind: str
) -> None:
    ledger, other = decided("sqlite"), place(kind)
    assert predibot("decide", "r.toml", "--bots", "random_bet", "--events", "1", "--ledger", other).code == 0
    before = canonical_at(other)
    said = predibot("ledger", "copy", ledger, other)
    assert (said.code, "has rows already, in the table" in said.err) == (1, True)
    assert canonical_at(other) == before


def test_no_backup_replaces_a_file(predibot: Predibot, place: Place, decided: Place, tmp_path: Path) -> None:
    ledger = decided("sqlite")
    (tmp_path / "old.db").write_text("precious")
    said = predibot("ledger", "backup", "old.db", "--ledger", ledger)
    assert (said.code, "a backup replaces none" in said.err) == (1, True)
    assert (tmp_path / "old.db").read_text() == "precious"
    said = predibot("ledger", "restore", "no.db", "--ledger", place("sqlite"))
    assert (said.code, "there is no backup no.db" in said.err) == (1, True)
    assert "predibot ledger backup FILE --ledger OTHER` wrote." in said.err


def test_no_backup_replaces_one_that_was_made_at_the_same_time(
    predibot: Predibot, decided: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, lay_down = ("ledger", "backup", "b.db", "--ledger", decided("sqlite")), ledger_copies.lay_down

    def be_slower(file: Path) -> None:
        lay_down(file)
        monkeypatch.setattr(ledger_copies, "lay_down", lay_down)
        assert predibot(*asked).code == 0

    monkeypatch.setattr(ledger_copies, "lay_down", be_slower)
    said = predibot(*asked)
    assert (said.code, "a backup replaces none" in said.err) == (1, True)
    assert [path.name for path in tmp_path.glob("*b.db*")] == ["b.db"]


def test_what_is_missing_beside_a_ledger_is_named_and_the_rest_is_copied(
    predibot: Predibot, decided: Place, tmp_path: Path
) -> None:
    ledger = decided("sqlite")
    trace = next(tmp_path.rglob("*.jsonl"))
    trace.unlink()
    said = predibot("ledger", "backup", "b.db", "--ledger", ledger, "--json")
    assert said.code == 0
    traces = said.document["copied"]["artefacts"]["trace"]
    assert (traces["named"], traces["copied"], len(traces["missing"])) == (2, 1, 1)
    assert trace.name in traces["missing"][0]
    assert "1 trace not copied" in predibot("ledger", "backup", "c.db", "--ledger", ledger).out


@ONE_DATABASE
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_rows_that_are_not_predibots_are_refused_and_nothing_stays(
    predibot: Predibot, place: Place, decided: Place, kind: str
) -> None:
    ledger, target = decided("sqlite"), place(kind)
    with closing(sqlite3.connect(ledger.removeprefix("sqlite:///"))) as forged, forged:
        forged.execute("PRAGMA ignore_check_constraints = ON")
        forged.execute("UPDATE forecasts SET probability = 1.5")
    said = predibot("ledger", "copy", ledger, target)
    assert (said.code, "holds what predibot does not write" in said.err) == (1, True)
    assert rows_at(target) == 0


def killed(program: Program, where: Callable[[], object], *arguments: str) -> None:
    """Start the program and have it killed at a boundary."""
    process = program.start(*arguments, first=where)
    said = process.communicate()
    assert process.returncode == -signal.SIGKILL, (where, said)


IN_THE_MIDDLE = Executing("INSERT INTO orders")


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_copy_that_is_killed_leaves_no_row_or_all_of_them_and_is_made_again(
    predibot: Predibot, program: Program, place: Place, decided: Place, kind: str
) -> None:
    ledger, target = decided("sqlite"), place(kind)
    of_pages = Placed("pages") if kind == "sqlite" else After("artefacts")
    for where in (of_pages, IN_THE_MIDDLE, Before("decisions")):
        killed(program, where, "ledger", "copy", ledger, target)
        assert rows_at(target) == 0
    killed(program, After("decisions"), "ledger", "copy", ledger, target)
    assert canonical_at(target) == canonical_at(ledger)
    assert looked_at(target)["traces present"] == 2


def test_a_copy_whose_server_restarts_leaves_no_row_and_is_made_again(
    predibot: Predibot, program: Program, decided: Place, postgres: Postgres
) -> None:
    ledger, target = decided("sqlite"), postgres.empty()
    process = program.start("ledger", "copy", ledger, target, first=replace(IN_THE_MIDDLE, by=signal.SIGSTOP))
    wait_until(lambda: psutil.Process(process.pid).status() == psutil.STATUS_STOPPED)
    postgres.restart()
    process.send_signal(signal.SIGCONT)
    said = process.communicate()[1]
    assert (process.returncode, "error: the ledger" in said, "Traceback" in said) == (1, True, False)
    assert rows_at(target) == 0
    assert predibot("ledger", "copy", ledger, target).code == 0
    assert canonical_at(target) == canonical_at(ledger)


def test_a_backup_that_is_killed_is_not_there_and_is_made_again(
    predibot: Predibot, program: Program, decided: Place, tmp_path: Path
) -> None:
    (tmp_path / "b").mkdir()
    ledger = decided("sqlite")
    asked = ("ledger", "backup", "b/b.db", "--ledger", ledger)
    killed(program, IN_THE_MIDDLE, *asked)
    assert [path for path in (tmp_path / "b").iterdir() if not path.name.startswith(".unfinished-")] == []
    assert predibot(*asked).code == 0
    assert [path.name for path in (tmp_path / "b").iterdir()] == ["b.db"]
    assert canonical_at(f"sqlite:///{tmp_path}/b/b.db") == canonical_at(ledger)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_backup_is_the_ledger_of_the_instant_at_which_it_began(
    predibot: Predibot, decided: Place, tmp_path: Path, kind: str
) -> None:
    ledger = decided(kind)
    before = canonical_at(ledger)
    written = []

    def write_meanwhile(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if statement.startswith("INSERT INTO orders") and not written:
            written.append(statement)
            decide_and_track(ledger, "--as-of", "2026-01-09")

    event.listen(Engine, "before_cursor_execute", write_meanwhile)
    try:
        assert predibot("ledger", "backup", "b.db", "--ledger", ledger).code == 0
    finally:
        event.remove(Engine, "before_cursor_execute", write_meanwhile)
    backup = f"sqlite:///{tmp_path}/b.db"
    assert written and canonical_at(ledger) != before
    assert canonical_at(backup) == before
    assert looked_at(backup)["traces present"] == 2


STEMS = ("a#b", "100%", "a%20b", "why?", "a b", "Ünï 中", "q'\"`", "a:b@c", "a&b=c;d", "$(x) \\n")
NAMES = [f"{stem}.db" for stem in STEMS]


@pytest.mark.parametrize("name", few(NAMES, *NAMES[::3]))
def test_a_ledger_and_its_backup_may_have_any_name(tmp_path: Path, name: str) -> None:
    ledger, restored, backup = tmp_path / name, tmp_path / f"r {name}", tmp_path / f"b {name}"
    with Store.open(sqlite_address(ledger)) as store:
        assert parse_ledger_url(store.address).database == str(ledger)
    assert without_password(sqlite_address(ledger))[0] == sqlite_address(ledger)
    done_here("ledger", "backup", str(backup), "--ledger", sqlite_address(ledger))
    done_here("ledger", "restore", str(backup), "--ledger", sqlite_address(restored))
    assert {path.name for path in tmp_path.iterdir()} == {ledger.name, restored.name, backup.name}


@pytest.mark.parametrize("link", few(["of the file", "of the folder", "of a link"], "of the folder", "of a link"))
def test_through_a_link_traces_lie_beside_the_file_itself(predibot: Predibot, tmp_path: Path, link: str) -> None:
    (tmp_path / "real").mkdir()
    address = tmp_path / ("folder/ledger.db" if link == "of the folder" else "link.db")
    (tmp_path / "folder").symlink_to(tmp_path / "real")
    (tmp_path / "between.db").symlink_to(tmp_path / "real" / "ledger.db")
    (tmp_path / "link.db").symlink_to(tmp_path / ("between.db" if link == "of a link" else "real/ledger.db"))
    decide_and_track(sqlite_address(address))
    assert {path.name for path in (tmp_path / "real").iterdir()} == {"ledger.db", "ledger.db.files"}
    for each in (address, tmp_path / "real" / "ledger.db"):
        assert looked_at(sqlite_address(each))["traces present"] == 2


def test_what_is_no_backup_or_is_damaged_is_refused_in_a_sentence_and_nothing_is_restored(
    predibot: Predibot, decided: Place, tmp_path: Path
) -> None:
    assert predibot("ledger", "backup", "b.db", "--ledger", decided("sqlite")).code == 0
    whole, rng = (tmp_path / "b.db").read_bytes(), random.Random(1)
    broken = [b"", rng.randbytes(9_999), whole[:100], whole[:-1], whole[: len(whole) // 2], bytes(len(whole))]
    broken.append(b"SQLite format 3\0" + rng.randbytes(9_999))
    # A name in the schema that is no text any more, which SQLite quotes in its complaint.
    broken.append(whole.replace(b"CREATE TABLE runs", b"CREATE TABLE\xcc\xcbuns", 1))
    for page in range(1, len(whole) // 4096, 9):
        begin = 4096 * page
        broken.append(whole[:begin] + rng.randbytes(4096) + whole[begin + 4096 :])
    # A single bit of a text, which SQLite takes for another text.
    place = whole.index(b"dollar_per_event")
    broken.append(whole[:place] + b"e" + whole[place + 1 :])
    for content in broken:
        (tmp_path / "broken.db").write_bytes(content)
        said = predibot("ledger", "restore", "broken.db", "--ledger", "sqlite:///r.db")
        assert (said.code, "Traceback" in said.err, said.err.count("error: ")) == (1, False, 1), said.err
    assert not (tmp_path / "r.db").exists()


def test_a_backup_with_a_text_longer_than_any_of_ours_is_refused(
    predibot: Predibot, decided: Place, tmp_path: Path
) -> None:
    assert predibot("ledger", "backup", "b.db", "--ledger", decided("sqlite")).code == 0
    with closing(sqlite3.connect(tmp_path / "b.db")) as backup, backup:
        backup.execute("UPDATE markets SET question = printf('%.*c', 40000000, 'x') WHERE id = 1")
        # As if predibot had not made it, or written to it since.
        backup.execute("PRAGMA application_id = 0")
    said = predibot("ledger", "restore", "b.db", "--ledger", "sqlite:///r.db")
    assert (said.code, "holds what predibot does not write: string or blob too big" in said.err) == (1, True)
    assert rows_at(f"sqlite:///{tmp_path}/r.db") == 0
