"""Verifying a ledger: one that nobody touched holds, and whatever was changed in it is found."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.acceptance.conftest import Predibot, said_here
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
CHECKS = (
    "database whole",
    "forecasts in range",
    "questions as asked",
    "quotes of bets",
    "money conserved",
    "fills belong to orders",
    "work has its decision",
    "spending counted",
    "prices in order",
    "packs like their rows",
    "kept evaluations readable",
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
    "UPDATE spending SET usd = -1": "spending counted",
    "UPDATE decisions SET cost_known_usd = 1000": "spending counted",
    "UPDATE price_paths SET points = CAST(points || substr(points, 2, 17) AS BLOB)": "prices in order",
    "UPDATE resolutions SET revision = revision + 1": "resolutions whole",
    "UPDATE decisions SET trace_sha256 = 'ab' WHERE trace_sha256 IS NOT NULL": "traces present",
    "UPDATE sources SET sha256 = 'ab' WHERE kind = 'page'": "pages present",
    "UPDATE orders SET instrument_row = instrument_row + 1000": "database whole",
}
"""One change of the rows each, made past every rule of the database, and the check that finds it."""


@pytest.fixture
def predibot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Predibot:
    """Return the program in a folder whose ledger has a run with an agent, tracked and evaluated."""
    monkeypatch.chdir(tmp_path)
    Path("r.toml").write_text(RECIPE)
    assert said_here("decide", "r.toml", "--events", "2").code == 0
    assert said_here("evaluate").code == 0
    return said_here


def test_a_ledger_that_nobody_touched_holds(predibot: Predibot) -> None:
    said = predibot("ledger", "verify", "--json")
    assert (said.code, said.document["broken"]) == (0, [])
    looked_at = {check["name"]: check["rows"] for check in said.document["checks"]}
    assert [name for name in CHECKS if not looked_at.get(name)] == []
    assert "traces present" in predibot("ledger", "verify").out


def test_whatever_was_changed_is_found_and_named(predibot: Predibot, tmp_path: Path) -> None:
    whole = (tmp_path / "runs/out/predibot.db").read_bytes()
    missed = []
    for statement, check in CHANGES.items():
        (tmp_path / "runs/out/changed.db").write_bytes(whole)
        with closing(sqlite3.connect(tmp_path / "runs/out/changed.db")) as connection, connection:
            connection.execute("PRAGMA ignore_check_constraints = ON")
            assert connection.execute(statement).rowcount > 0, statement
        said = predibot("ledger", "verify", "--ledger", "sqlite:///runs/out/changed.db", "--json")
        if said.code != 1 or check not in {each["check"] for each in said.document.get("broken", ())}:
            missed.append((statement, said))
    assert missed == []


def test_a_pack_that_is_believed_and_unlike_its_rows_is_found(predibot: Predibot, tmp_path: Path) -> None:
    # The seal names the place, so that of a copy nothing would be believed.
    with closing(sqlite3.connect(tmp_path / "runs/out/predibot.db")) as connection, connection:
        connection.execute("UPDATE forecasts SET probability = 1 - probability")
        connection.execute(
            "UPDATE changes SET number = (SELECT change FROM run_packs WHERE run_id = scope) WHERE scope"
        )
    (broken,) = predibot("ledger", "verify", "--json").document["broken"]
    assert broken["check"] == "packs like their rows"


@pytest.mark.parametrize("executor", ["threads:2", "processes:2"])
def test_a_server_holds_traces_and_pages_itself(
    predibot: Predibot, postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executor: str
) -> None:
    ledger = ("--ledger", postgres.empty())
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    assert predibot("decide", "r.toml", "--events", "2", "--executor", executor, *ledger).code == 0
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    said = predibot("ledger", "verify", "--json", *ledger)
    looked_at = {check["name"]: check["rows"] for check in said.document["checks"]}
    assert (said.code, looked_at["traces present"], looked_at["pages present"] > 0) == (0, 2, True)
    run = predibot("runs", "--json", *ledger).document["runs"][0]["key"]
    assert "4 of 4 decisions are the same again" in predibot("decide", "--replay-traces", run, *ledger).out
    assert [*(tmp_path / "elsewhere").iterdir()] == []


def test_a_trace_or_page_that_was_changed_or_removed_is_named(predibot: Predibot, tmp_path: Path) -> None:
    trace = next(tmp_path.rglob("*.jsonl"))
    trace.write_text("{}")
    page = next((tmp_path / "runs/out").rglob("pages/*/*.txt"))
    page.unlink()
    said = predibot("ledger", "verify")
    assert said.code == 1
    text = " ".join(said.out.split())
    assert f"{trace.name} was changed since" in text
    assert f"{page.name}; it was removed, or not copied with the ledger" in text
