"""Copies of a ledger: into any database, into a backup and back; the same in both, or nothing at all."""

import json
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import text

from predibot.ledger.files.content_store import Pages
from predibot.ledger.store import Store
from tests.acceptance.conftest import Predibot, said_here
from tests.benchmarks.ledgers import Size, fill
from tests.jobs.program import Program, wait_until
from tests.jobs.tiny import canonical_at
from tests.ledger.databases import Postgres

RECIPE = """
game = "dollar_per_event"
venue = "sandbox:events=20"
every = "1d"
[limits.run]
usd = 5.0
[[bots]]
strategy = "random_bet"
[[bots]]
strategy = "tool_agent"
model = "sandbox/sharp"
"""
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


def decided(ledger: str, *options: str) -> None:
    """Decide, with agents, which keep traces and pages, and track."""
    assert said_here("decide", "r.toml", "--events", "2", "--ledger", ledger, *options).code == 0
    assert said_here("track", "--ledger", ledger, "--as-of", "2026-03-01").code == 0


def looked_at(ledger: str) -> dict[str, int]:
    """Return how many rows each check of a ledger looked at that must find nothing wrong."""
    said = said_here("ledger", "verify", "--json", "--ledger", ledger)
    assert (said.code, said.document["broken"]) == (0, [])
    return {check["name"]: check["rows"] for check in said.document["checks"]}


def rows_at(ledger: str) -> int:
    """Return how many decisions and runs a ledger has."""
    with Store.open(ledger) as store, store.read() as connection:
        statement = text("SELECT (SELECT count(*) FROM decisions) + (SELECT count(*) FROM runs)")
        return int(connection.execute(statement).scalar_one())


@pytest.mark.parametrize("target", ["sqlite", "postgresql"])
@pytest.mark.parametrize("source", ["sqlite", "postgresql"])
def test_a_copy_is_the_same_and_is_written_on(predibot: Predibot, place: Place, source: str, target: str) -> None:
    before = place(source)
    decided(before)
    with Store.open(before) as store, store.write() as connection:
        # A service is at work over the one, and nobody over the other.
        row = "INSERT INTO services (name, owner, started_at, lease_until) VALUES ('schedule', 'me', 0, 1)"
        connection.execute(text(row))
    after = place(target)
    said = predibot("ledger", "copy", before, after, "--json")
    with Store.open_to_read(after) as store, store.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM services")).scalar() == 0
    assert (said.code, said.document["verified"]) == (0, True)
    assert said.document["copied"]["tables"]["decisions"]["rows"] == 4
    assert canonical_at(after) == canonical_at(before)
    assert predibot(*EVALUATE, after).document == predibot(*EVALUATE, before).document
    checks = looked_at(after)
    assert (checks["traces present"], checks["pages present"] > 0) == (2, True)
    for ledger in (before, after):
        decided(ledger, "--as-of", "2026-01-09")
    assert canonical_at(after) == canonical_at(before)
    assert looked_at(after)["traces present"] == 4


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_backup_is_one_file_that_is_a_ledger_and_is_restored(
    predibot: Predibot, place: Place, tmp_path: Path, kind: str
) -> None:
    ledger = place(kind)
    decided(ledger)
    (tmp_path / "backups").mkdir()
    said = predibot("ledger", "backup", "backups", "--ledger", ledger)
    assert said.code == 0
    (file,) = (tmp_path / "backups").iterdir()
    assert said.out.endswith(f"-> backups/{file.name}: done, {file.stat().st_size:,} bytes\n")
    shutil.move(file, tmp_path / "moved.db")
    assert looked_at(f"sqlite:///{tmp_path}/moved.db")["traces present"] == 2
    restored = place(kind)
    assert predibot("ledger", "restore", "moved.db", "--ledger", restored).code == 0
    (tmp_path / "moved.db").unlink()
    assert canonical_at(restored) == canonical_at(ledger)
    assert predibot(*EVALUATE, restored).document == predibot(*EVALUATE, ledger).document
    assert looked_at(restored)["pages present"] > 0


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_nothing_is_copied_into_a_ledger_that_has_rows(predibot: Predibot, place: Place, kind: str) -> None:
    ledger, other = place("sqlite"), place(kind)
    decided(ledger)
    assert predibot("decide", "r.toml", "--bots", "random_bet", "--events", "1", "--ledger", other).code == 0
    before = canonical_at(other)
    said = predibot("ledger", "copy", ledger, other)
    assert (said.code, "has rows already, in the table" in said.err) == (1, True)
    assert canonical_at(other) == before


def test_no_backup_replaces_a_file(predibot: Predibot, place: Place, tmp_path: Path) -> None:
    ledger = place("sqlite")
    decided(ledger)
    (tmp_path / "old.db").write_text("precious")
    said = predibot("ledger", "backup", "old.db", "--ledger", ledger)
    assert (said.code, "a backup replaces none" in said.err) == (1, True)
    assert (tmp_path / "old.db").read_text() == "precious"
    said = predibot("ledger", "restore", "no.db", "--ledger", place("sqlite"))
    assert (said.code, "there is no backup no.db" in said.err) == (1, True)


def test_what_is_missing_beside_a_ledger_is_named_and_the_rest_is_copied(
    predibot: Predibot, place: Place, tmp_path: Path
) -> None:
    ledger = place("sqlite")
    decided(ledger)
    trace = next(tmp_path.rglob("*.jsonl"))
    trace.unlink()
    said = predibot("ledger", "backup", "b.db", "--ledger", ledger, "--json")
    assert said.code == 0
    traces = said.document["copied"]["artefacts"]["trace"]
    assert (traces["named"], traces["copied"], len(traces["missing"])) == (2, 1, 1)
    assert trace.name in traces["missing"][0]
    assert "1 trace not copied" in predibot("ledger", "backup", "c.db", "--ledger", ledger).out


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_rows_that_are_not_predibots_are_refused_and_nothing_stays(
    predibot: Predibot, place: Place, tmp_path: Path, kind: str
) -> None:
    ledger, target = place("sqlite"), place(kind)
    decided(ledger)
    with closing(sqlite3.connect(ledger.removeprefix("sqlite:///"))) as forged, forged:
        forged.execute("PRAGMA ignore_check_constraints = ON")
        forged.execute("UPDATE forecasts SET probability = 1.5")
    said = predibot("ledger", "copy", ledger, target)
    assert (said.code, "holds what predibot does not write" in said.err) == (1, True)
    assert rows_at(target) == 0


BIG = Size(runs=4, bots=20, events_a_run=10, events=40, markets_an_event=3, observations_a_market=20)
PAGES = 100


@pytest.fixture
def busy(tmp_path: Path) -> Iterator[Program]:
    """Return the program in a folder with a ledger that takes a while to copy."""
    with closing(Program(tmp_path)) as made:
        with Store.open(made.ledger) as store:
            fill(store, BIG, np.random.default_rng(1))
            digests = [Pages(store).keep(f"page {number} " * 1_000) for number in range(PAGES)]
            with store.write() as connection:
                names = "decision_id, number, kind, text, title, sha256"
                insert = f"INSERT INTO sources ({names}) VALUES (:n, 1, 'page', '', '', :d)"
                connection.execute(text(insert), [{"n": n, "d": digest} for n, digest in enumerate(digests, 1)])
        yield made


def killed_when_it_says(process: "subprocess.Popen[str]", moment: str) -> None:
    """Kill a process as soon as it says that it is so far."""
    assert process.stderr is not None
    assert any(line.startswith(moment) for line in process.stderr), "it ended first"
    process.send_signal(signal.SIGKILL)
    process.communicate()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@pytest.mark.parametrize("moment", ["copy pages: 50", "copy rows: 12", "verify rows: 12"])
def test_a_copy_that_is_killed_leaves_no_row_or_all_of_them_and_is_made_again(
    busy: Program, place: Place, kind: str, moment: str
) -> None:
    target = place(kind)
    killed_when_it_says(busy.start("ledger", "copy", busy.ledger, target, "-v"), moment)
    # A very slow kill may come behind the end.
    if rows_at(target) == 0:
        document = json.loads(busy.start("ledger", "copy", busy.ledger, target, "--json").communicate()[0])
        assert (document["verified"], document["copied"]["artefacts"]["page"]["copied"]) == (True, PAGES)
    assert canonical_at(target) == canonical_at(busy.ledger)


def test_a_copy_whose_server_restarts_leaves_no_row_and_is_made_again(busy: Program, postgres: Postgres) -> None:
    target = postgres.empty()
    process = busy.start("ledger", "copy", busy.ledger, target, "-v")
    assert process.stderr is not None
    assert any(line.startswith("copy rows: 8") for line in process.stderr)
    postgres.restart()
    said = process.communicate()[1]
    assert (process.returncode, "error: the ledger" in said, "Traceback" in said) == (1, True, False)
    assert rows_at(target) == 0
    assert busy.start("ledger", "copy", busy.ledger, target).wait() == 0
    assert canonical_at(target) == canonical_at(busy.ledger)


def test_a_backup_that_is_killed_is_not_there_and_is_made_again(busy: Program, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    asked = ("ledger", "backup", "b/b.db", "--ledger", busy.ledger)
    killed_when_it_says(busy.start(*asked, "-v"), "copy rows: 12")
    assert [path for path in (tmp_path / "b").iterdir() if not path.name.startswith(".unfinished-")] == []
    assert busy.start(*asked).wait() == 0
    assert canonical_at(f"sqlite:///{tmp_path}/b/b.db") == canonical_at(busy.ledger)


def a_recipe(drawing: int, agents: int) -> str:
    """Return a recipe of bots that write much, and of agents that keep traces and pages."""
    bots = [f'[[bots]]\nname = "r{number}"\nstrategy = "random_bet"\n' for number in range(drawing)]
    bots += [f'[[bots]]\nname = "t{n}"\nstrategy = "tool_agent"\nmodel = "sandbox/sharp"\n' for n in range(agents)]
    return f'game = "dollar_per_event"\nvenue = "sandbox:events=20"\nevery = "1d"\n{"".join(bots)}'


ADDED_TO = ("events", "markets", "runs", "bots", "decisions", "forecasts", "orders", "fills", "quotes", "sources")
OF_DECISIONS = ("fills", "orders", "forecasts", "quotes", "sources", "labels")


def trimmed(final: Path, backup: Path) -> str:
    """Take the decisions out of a ledger that a backup has not, and return the ledger's address."""
    with closing(sqlite3.connect(final)) as connection, connection:
        connection.execute("ATTACH ? AS b", [str(backup)])
        for table in ADDED_TO:
            unlike = connection.execute(f"SELECT * FROM b.{table} EXCEPT SELECT * FROM main.{table}").fetchall()
            assert unlike == []
        for table in OF_DECISIONS:
            connection.execute(f"DELETE FROM {table} WHERE decision_id NOT IN (SELECT id FROM b.decisions)")
        connection.execute("DELETE FROM decisions WHERE id NOT IN (SELECT id FROM b.decisions)")
        connection.execute("DELETE FROM attempts WHERE task_id NOT IN (SELECT task_id FROM b.decisions)")
        connection.execute("DELETE FROM tasks WHERE id NOT IN (SELECT task_id FROM b.decisions)")
        for table in ("bots", "run_events"):
            connection.execute(f"DELETE FROM {table} WHERE run_id NOT IN (SELECT id FROM b.runs)")
        connection.execute("DELETE FROM runs WHERE id NOT IN (SELECT id FROM b.runs)")
    return f"sqlite:///{final}"


def backed_up_under_load(
    predibot: Predibot, place: Place, folder: Path, kind: str, *, drawing: int, agents: int, events: int
) -> list[int]:
    """Back a ledger up again and again while two processes write as fast as they can.

    One of the backups is restored, verified and scored, and its scores compared with those of the ledger of that
    instant.

    Returns:
        How many rows of decisions and runs each backup has.
    """
    ledger = place(kind)
    decided(ledger)
    with closing(Program(folder)) as program:
        for name in ("a", "b"):
            (folder / f"{name}.toml").write_text(a_recipe(drawing, agents))
        asked = [("decide", f"{name}.toml", "--events", str(events), "--ledger", ledger) for name in ("a", "b")]
        writers = [program.start(*each) for each in asked]
        made = []
        wait_until(lambda: rows_at(ledger) > 5)
        while any(writer.poll() is None for writer in writers):
            file = f"backup-{len(made)}.db"
            assert predibot("ledger", "backup", file, "--ledger", ledger).code == 0
            made.append(folder / file)
        assert [writer.wait() for writer in writers] == [0, 0]
    counts = [rows_at(f"sqlite:///{file}") for file in made]
    meanwhile = [file for file, rows in zip(made, counts, strict=True) if rows < rows_at(ledger)]
    chosen, restored = meanwhile[len(meanwhile) // 2], place(kind)
    assert predibot("ledger", "restore", str(chosen), "--ledger", restored).code == 0
    assert looked_at(restored)["traces present"] >= 2
    final = place("sqlite")
    assert predibot("ledger", "copy", ledger, final).code == 0
    of_its_instant = trimmed(Path(final.removeprefix("sqlite:///")), chosen)
    assert predibot(*EVALUATE, restored).document == predibot(*EVALUATE, of_its_instant).document
    return counts


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_backup_under_full_write_load_is_the_ledger_of_one_instant(
    predibot: Predibot, place: Place, tmp_path: Path, kind: str
) -> None:
    assert backed_up_under_load(predibot, place, tmp_path, kind, drawing=12, agents=1, events=6)
