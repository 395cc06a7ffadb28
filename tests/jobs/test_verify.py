"""Verifying a ledger: one that nobody touched holds, and whatever was changed in it is found."""

import hashlib
import itertools
import json
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from predibot.errors import LedgerUnusable
from predibot.jobs.verify import verify
from predibot.ledger.store import Store
from predibot.ledger.write.runs import read_runs
from tests.acceptance.conftest import Predibot, done_here, said_here
from tests.cli.alone import predibot_alone
from tests.jobs.agent_run import agent_run, change
from tests.ledger.databases import Postgres
from tests.soaks import few
from tests.worlds import Worlds

CHECKS = (
    "database whole",
    "rows as declared",
    "forecasts in range",
    "questions as asked",
    "quotes of bets",
    "money conserved",
    "fills belong to orders",
    "work has its decision",
    "spending counted",
    "prices in order",
    "traces present",
    "pages present",
)
CHANGES = {
    "UPDATE forecasts SET probability = 1.5": "forecasts in range",
    "UPDATE forecasts SET question_sha256 = 'x'": "questions as asked",
    "UPDATE orders SET price = price / 2": "quotes of bets",
    "DELETE FROM quotes WHERE role = 'booked'": "quotes of bets",
    "UPDATE orders SET amount = amount * 2": "money conserved",
    "UPDATE decisions SET unallocated_usd = unallocated_usd + 0.01 WHERE status = 'recorded'": "money conserved",
    "UPDATE fills SET shares = shares + 1": "money conserved",
    "DELETE FROM fills": "money conserved",
    "UPDATE orders SET instrument_row = (SELECT i.id FROM instruments i JOIN instruments o ON o.market_row ="
    " i.market_row AND o.side <> i.side WHERE o.id = orders.instrument_row)": "fills belong to orders",
    "UPDATE orders SET side = 'sell'": "fills belong to orders",
    "UPDATE fills SET price = price + 1": "fills belong to orders",
    "UPDATE tasks SET status = 'failed'": "work has its decision",
    "UPDATE decisions SET subject_row = (SELECT min(id) FROM subjects)": "work has its decision",
    "UPDATE spending SET usd = -1": "spending counted",
    "UPDATE decisions SET cost_known_usd = 1000": "spending counted",
    "UPDATE price_paths SET points = CAST(points || substr(points, 2, 17) AS BLOB)": "prices in order",
    "UPDATE resolutions SET revision = revision + 1": "resolutions whole",
    "UPDATE decisions SET trace_sha256 = 'ab' WHERE trace_sha256 IS NOT NULL": "traces present",
    "UPDATE sources SET sha256 = 'ab' WHERE kind = 'page'": "pages present",
    "UPDATE orders SET instrument_row = instrument_row + 1000": "database whole",
    "UPDATE orders SET status = 'pending'": "fills belong to orders",
    "UPDATE fills SET model = 'quote'": "fills belong to orders",
    "DELETE FROM forecasts": "forecasts of orders",
    "UPDATE runs SET seed = seed + 1": "runs are their recipes",
    "UPDATE bots SET members_json = '[\"nobody\"]'": "members as named",
    "UPDATE subjects SET kind = 'comment'": "subjects are what they say",
    "UPDATE decisions SET decided_at = 1": "decisions in their time",
    "UPDATE decisions SET cost_usd = 5": "costs are what was paid",
    "UPDATE decisions SET cost_usd = 5, cost_known_usd = 5 WHERE trace_sha256 IS NOT NULL": "rows are their traces",
    "DELETE FROM sources": "rows are their traces",
}
"""One change of the rows each, made past every rule of the database, and the check that finds it."""


def evaluated() -> None:
    """Decide with an agent and another, track and evaluate."""
    agent_run()
    done_here("evaluate")


@pytest.fixture
def predibot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, worlds: Worlds) -> Predibot:
    """Return the program in a folder whose ledger has a run with an agent, tracked and evaluated."""
    monkeypatch.chdir(worlds.copy(evaluated, tmp_path))
    return said_here


def test_a_ledger_that_nobody_touched_holds(predibot: Predibot) -> None:
    # What was packed and kept before names another place, where it was copied from, and is made again.
    assert predibot("evaluate").code == 0
    said = predibot("verify", "--rows", "--json")
    assert (said.code, said.document["broken"]) == (0, [])
    looked_at = {check["name"]: check["rows"] for check in said.document["checks"]}
    assert [name for name in CHECKS if not looked_at.get(name)] == []
    assert "traces present" in predibot("verify", "--rows").out


def test_whatever_was_changed_is_found_and_named(predibot: Predibot, tmp_path: Path) -> None:
    out = tmp_path / "runs/out"
    shutil.copy(out / "predibot.db", out / "changed.db")
    shutil.copytree(out / "predibot.db.files", out / "changed.db.files")
    missed = []
    with (
        closing(sqlite3.connect(out / "predibot.db")) as whole,
        closing(sqlite3.connect(out / "changed.db")) as changed,
        Store.open_to_read("sqlite:///runs/out/changed.db") as store,
    ):
        for statement, check in CHANGES.items():
            whole.backup(changed)
            changed.execute("PRAGMA ignore_check_constraints = ON")
            with changed:
                assert changed.execute(statement).rowcount > 0, statement
            found = {each.check for each in verify(store).broken}
            if check not in found:
                missed.append((statement, found))
    assert missed == []
    assert predibot("verify", "--rows", "--ledger", "sqlite:///runs/out/changed.db").code == 1


def test_a_digest_that_is_not_that_of_the_recipe_is_found(predibot: Predibot) -> None:
    # Of a run that played other rules than its recipe has, nobody can tell.
    assert predibot("decide", "r.toml", "--events", "1", "--new-run").code == 0
    assert predibot("verify", "--rows").code == 0
    change("UPDATE runs SET digest = '0'")
    (broken,) = predibot("verify", "--rows", "--json").document["broken"]
    assert (broken["check"], broken["row"].endswith("+2")) == ("runs are their recipes", False)


def test_a_server_holds_traces_and_pages_itself(
    predibot: Predibot, postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = ("--ledger", postgres.empty())
    asked = ("decide", "r.toml", "--executor", "processes:2", *ledger)
    assert predibot_alone(tmp_path, *asked).code == 0
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    said = predibot("verify", "--rows", "--json", *ledger)
    looked_at = {check["name"]: check["rows"] for check in said.document["checks"]}
    assert (said.code, looked_at["traces present"], looked_at["pages present"] > 0) == (0, 2, True)
    run = predibot("runs", "--json", *ledger).document["runs"][0]["key"]
    assert "4 of 4 decisions are the same again" in predibot("decide", "--rerun-traces", run, *ledger).out
    assert [*(tmp_path / "elsewhere").iterdir()] == []


def test_a_trace_or_page_that_was_changed_or_removed_is_named(predibot: Predibot, tmp_path: Path) -> None:
    trace = next(tmp_path.rglob("*.jsonl"))
    trace.write_text("{}")
    page = next((tmp_path / "runs/out").rglob("pages/*/*.txt"))
    page.unlink()
    said = predibot("verify", "--rows")
    assert said.code == 1
    text = " ".join(said.out.split())
    assert f"{trace.name} was changed since" in text
    assert f"{page.name}; it was removed, or not copied with the ledger" in text


def test_an_older_decision_that_counts_a_try_before_a_refused_one_as_free_is_whole(
    predibot: Predibot, tmp_path: Path
) -> None:
    lines = (Path(__file__).parents[1] / "domain/traces/before_types.jsonl").read_text("utf-8").splitlines()
    refused = json.loads(next(line for line in lines if '"model_failed"' in line)) | {"error": "ModelRefused"}
    trace = next(tmp_path.rglob("*.jsonl"))
    more = trace.read_bytes() + json.dumps(refused).encode() + b"\n"
    digest = hashlib.sha256(more).hexdigest()
    folder = trace.parent.parent / digest[:2]
    folder.mkdir(exist_ok=True)
    (folder / f"{digest}.jsonl").write_bytes(more)
    change(f"UPDATE decisions SET trace_sha256 = '{digest}' WHERE trace_sha256 = '{trace.stem}'")
    said = predibot("verify", "--rows", "--json")
    assert (said.code, said.document["broken"]) == (0, [])


FORGED: Mapping[str, Sequence[object]] = {
    "runs.passed_over_json": ("[" * 100_000, '[{"title": "x"}]'),
    "runs.overrides_json": ("{",),
    "runs.notes_json": ("5",),
    "runs.recipe_json": ("{}",),
    "runs.as_of": ("nan",),
    "runs.created_at": (float("inf"), -(2**63)),
    "runs.venue": (b"\x00",),
    "runs.void_reason": (b"\xff",),
    "runs.game": (b"\xff",),
    "runs.seed": ("abc",),
    "run_events.event_row": (b"\xff", "\x1b[31m"),
    "run_events.event_json": ("{", 0),
    "bots.name": (b"\xff", None),
    "bots.knowledge_cutoff": ("2026-13-45",),
    "decisions.bot_id": ("abc",),
    "decisions.decided_at": (2**62,),
    "decisions.scale": ("",),
    "decisions.models_json": ("5",),
    "orders.amount": (float("inf"),),
    "orders.price": (1e308,),
    "fills.fee_usd": (b"\xff",),
    "quotes.at": (-(2**63),),
    "sources.published_at": (2**62,),
    "markets.token_ids_json": ("[" * 100_000,),
    "price_paths.points": ("abc", 2**62),
    "resolutions.seen_at": (-(2**63),),
    "resolutions.payout_yes": (-1,),
    "spending.usd": ("abc",),
    "changes.number": (b"\xff",),
    "receipts.leaves_packed": (b"\xff", "abc", 5),
    "receipts.root": (5,),
}
"""Cells of a ledger of somebody else, by table and column, that predibot does not write."""
READERS = (
    ("report", "--full"),
    ("report", "--json"),
    ("runs",),
    ("evaluate", "--no-track", "--worst", "3"),
    ("export", "out", "--format", "parquet"),
    ("export", "out"),
    ("export", "--canonical"),
    ("trace", "--cost"),
    ("verify", "--json"),
    ("decide", "r.toml"),
)


@pytest.mark.parametrize("first", few([0, 1], 0))
def test_no_forged_cell_ends_a_command_with_more_than_a_sentence(
    predibot: Predibot, tmp_path: Path, first: int
) -> None:
    folder = tmp_path / "runs/out"
    forge_tables(folder / "predibot.db", folder / "foreign.db")
    shutil.copy(folder / "foreign.db", folder / "forged.db")
    readers, ledger = itertools.cycle(READERS), ("--ledger", "sqlite:///runs/out/forged.db")
    with (
        closing(sqlite3.connect(folder / "foreign.db")) as foreign,
        closing(sqlite3.connect(folder / "forged.db")) as forged,
        Store.open_to_read("sqlite:///runs/out/forged.db") as store,
    ):
        cells = [(*cell.split("."), value) for cell, values in FORGED.items() for value in values]
        for table, column, value in cells[first::2]:
            foreign.backup(forged)
            with forged:
                forged.execute(f"UPDATE {table} SET {column} = ?", [value])
            found = [f"{each.row} {each.seen}" for each in verify(store).broken]
            assert any(row.startswith(table) and column in row for row in found), (table, column, value, found)
            command = next(readers)
            said = predibot(*command, *ledger)
            told = "error: " in said.err or '"error": ' in said.out
            assert (said.code in (0, 1, 3, 4), said.code == 1) == (True, told), (table, column, value, command, said)


def test_what_a_forged_cell_broke_is_named_and_the_error_kept_and_one_over_sound_rows_stays_what_it_is(
    predibot: Predibot,
) -> None:
    with Store.open_to_read("sqlite:///runs/out/predibot.db") as store, pytest.raises(ZeroDivisionError):
        store.run_read(lambda _: 1 / 0)
    change("UPDATE runs SET notes_json = '{'")
    with Store.open_to_read("sqlite:///runs/out/predibot.db") as store, pytest.raises(LedgerUnusable) as raised:
        store.run_read(read_runs)
    assert "runs 1: notes_json is '{': " in str(raised.value)
    assert isinstance(raised.value.__cause__, ValueError)
    assert "runs 1: notes_json is '{': " in predibot("runs").err


def forge_tables(source: Path, target: Path) -> None:
    """Copy a ledger into tables that hold anything in any column, as anybody can make them."""
    with closing(sqlite3.connect(source)) as ours, closing(sqlite3.connect(target)) as forged, forged:
        for (table,) in ours.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            rows = ours.execute(f"SELECT * FROM {table}")
            names = [each[0] for each in rows.description]
            forged.execute(f"CREATE TABLE {table} ({', '.join(names)})")
            forged.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})", rows)
