"""Wears a ledger out: a server that restarts, and backups under load, at full size."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.acceptance.conftest import Predibot
from tests.jobs.program import Program, wait_until
from tests.jobs.test_ledger_copies import EVALUATE, Place, decide_and_track, looked_at, place, predibot, rows_at
from tests.jobs.test_server_restart import decided_while_restarting
from tests.ledger.databases import Postgres, postgres

__all__ = ["place", "postgres", "predibot"]

pytestmark = pytest.mark.benchmark
BOTS, EVENTS = 60, 16


def test_soak_five_restarts_of_the_server(
    tmp_path: Path, postgres: Postgres, capsys: pytest.CaptureFixture[str]
) -> None:
    found = decided_while_restarting(postgres, tmp_path, bots=BOTS, events=EVENTS, times=5)
    n = BOTS * EVENTS
    with capsys.disabled():
        print(f"\n{n} decisions on 32 threads, PostgreSQL restarted five times: {found.recorded} recorded")
        print(f"  {found.asked} calls by the provider's count, {found.booked} by the ledger's")
    found.require_whole(n, times=5)


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


def backed_up_under_load(predibot: Predibot, place: Place, folder: Path, kind: str) -> list[int]:
    """Back a ledger up again and again while two processes write as fast as they can.

    One of the backups is restored, verified and scored, and its scores compared with those of the ledger of that
    instant.

    Returns:
        How many rows of decisions and runs each backup has.
    """
    ledger = place(kind)
    decide_and_track(ledger)
    with closing(Program(folder)) as program:
        for name in ("a", "b"):
            (folder / f"{name}.toml").write_text(a_recipe(drawing=60, agents=6))
        asked = [("decide", f"{name}.toml", "--events", "12", "--ledger", ledger) for name in ("a", "b")]
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
def test_soak_backups_under_full_write_load(
    predibot: Predibot, place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    counts = backed_up_under_load(predibot, place, tmp_path, kind)
    with capsys.disabled():
        print(f"\n{kind}: decisions and runs in each of {len(counts)} backups under load: {counts}")
