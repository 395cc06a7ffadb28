"""An account of an installed package's game: played slot after slot by the program, and killed in the middle of one."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from sqlalchemy import text

from predibot.ledger.store import Store
from tests.jobs.program import wait_until

ROOT = Path(__file__).parents[2]
SLOTS = ("2026-02-01T12:00:00Z", "2026-02-02T12:00:00Z", "2026-02-03T12:00:00Z")
RECIPE = """game = "buy_or_hold"
venue = "sandbox"
every = "1d"

[[bots]]
strategy = "acme_buyer"

[[bots]]
name = "greedy"
strategy = "acme_buyer"
usd = 1000.0
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of installed packages that has acme-fund."""
    source, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("site")
    shutil.copytree(Path(__file__).parent / "acme_fund", source / "acme_fund")
    (source / "acme_fund/pyproject.toml").rename(source / "pyproject.toml")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (wheel,) = (source / "dist").glob("*.whl")
    ZipFile(wheel).extractall(folder)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder in which the recipe is played."""
    (tmp_path / "fund.toml").write_text(RECIPE, encoding="utf-8")
    return tmp_path


def started(folder: Path, site: Path, *arguments: str) -> "subprocess.Popen[str]":
    """Start the program as a user who installed the package does."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREDIBOT_")}
    env = {**kept, "PYTHONPATH": f"{site}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "predibot", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, env=env, stdout=pipe, stderr=pipe, text=True)


def said(folder: Path, site: Path, *arguments: str) -> str:
    """Return what a command prints that succeeds."""
    process = started(folder, site, *arguments)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, out + err
    return out if "--json" in arguments else out + err


def decided(folder: Path, site: Path, at: str, *more: str) -> dict[str, dict[str, Any]]:
    """Return the decisions of a slot, by bot."""
    found = json.loads(said(folder, site, "decide", "fund.toml", "--as-of", at, "--json", *more))
    return {each["bot"]: each for each in found["decisions"]}


def rows(folder: Path, statement: str) -> list[tuple[Any, ...]]:
    """Return what a statement finds in the ledger."""
    with Store.open(f"sqlite:///{folder}/runs/out/predibot.db") as store, store.read() as connection:
        return [tuple(row) for row in connection.execute(text(statement))]


OF_BUYER = "JOIN accounts a ON a.id = account_id WHERE a.bot = 'acme_buyer'"
JOURNAL = f"SELECT kind, shares, cash_usd FROM journal {OF_BUYER} ORDER BY number"
VALUED = f"SELECT v.cash_usd, v.value_usd FROM valuations v {OF_BUYER} ORDER BY at"
PRICES = f"SELECT price FROM marks {OF_BUYER} ORDER BY at"


@pytest.mark.parametrize("more", [(), ("--executor", "processes:2")], ids=["threads", "processes"])
def test_an_account_of_an_installed_game_is_played_through_three_slots(
    folder: Path, site: Path, more: tuple[str, ...]
) -> None:
    for slot in SLOTS:
        made = decided(folder, site, slot, *more)
        assert (made["acme_buyer"]["status"], made["acme_buyer"]["subject_kind"]) == ("recorded", "portfolio")
        assert (made["greedy"]["status"], made["greedy"]["message"][:28]) == ("refused", "you have $100, and asked for")
    journal, valued = rows(folder, JOURNAL), rows(folder, VALUED)
    assert [(kind, cash_usd) for kind, _, cash_usd in journal] == [("deposit", 100.0), *[("fill", -30.0)] * 3]
    # Folded by hand: each slot is valued before its purchase, so that the last one is in no valuation yet.
    prices = [price for (price,) in rows(folder, PRICES)]
    shares = [journal[1][1], journal[1][1] + journal[2][1]]
    assert valued[0] == (100.0, 100.0)
    assert [cash_usd for cash_usd, _ in valued[1:]] == [70.0, 40.0]
    worth = [70.0 + shares[0] * prices[0], 40.0 + shares[1] * prices[1]]
    assert [value_usd for _, value_usd in valued[1:]] == pytest.approx(worth, abs=1e-9)
    # What is bought at a price of one slot is marked at the same price in that slot.
    assert [journal[2][1], journal[3][1]] == pytest.approx([30.0 / prices[0], 30.0 / prices[1]], abs=1e-9)
    said(folder, site, "track")
    said(folder, site, "ledger", "verify")
    told = json.loads(said(folder, site, "evaluate", "--json"))
    (board,) = told["accounts"]
    by_bot = {each["bot"]: each for each in board["leaderboard"]}
    assert (told["bots"], board["game"], board["mode"]) == ([], "buy_or_hold", "replay")
    assert by_bot["acme_buyer"]["values_usd"] == pytest.approx([100.0, *worth], abs=1e-9)
    assert (by_bot["greedy"]["value_usd"], by_bot["greedy"]["failed_share"]) == (100.0, 1.0)
    headed = "buy_or_hold of fund, replay: $100.00 at the start"
    assert all(headed in said(folder, site, command) for command in ("evaluate", "report"))
    assert said(folder, site, "runs").count("fund@") == 3
    said(folder, site, "export", "tables")
    assert len((folder / "tables/decisions.csv").read_text(encoding="utf-8").splitlines()) == 7
    assert len((folder / "tables/bets.csv").read_text(encoding="utf-8").splitlines()) == 1


def test_a_slot_that_was_killed_in_the_middle_buys_once(folder: Path, site: Path) -> None:
    asked = ("decide", "fund.toml", "--bots", "acme_buyer", "--as-of")
    said(folder, site, *asked, SLOTS[0])
    told = folder / "told.txt"
    told.write_text("hang", encoding="utf-8")
    process = started(folder, site, *asked, SLOTS[1])
    wait_until(lambda: told.read_text(encoding="utf-8") == "hanging")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    for _ in range(2):
        said(folder, site, *asked, SLOTS[1])
    assert [kind for kind, *_ in rows(folder, JOURNAL)] == ["deposit", "fill", "fill"]
    assert rows(folder, "SELECT outcome FROM attempts ORDER BY task_id, number") == [
        ("recorded",),
        ("lost",),
        ("recorded",),
    ]
    said(folder, site, "ledger", "verify")


def test_an_earlier_slot_than_the_account_s_last_has_missed_its_turn(folder: Path, site: Path) -> None:
    decided(folder, site, SLOTS[1])
    told = said(folder, site, "decide", "fund.toml", "--as-of", SLOTS[0])
    assert "decisions that missed their turn, as their accounts went on with a later slot: 2" in " ".join(told.split())
    assert [kind for kind, *_ in rows(folder, JOURNAL)] == ["deposit", "fill"]
    said(folder, site, "ledger", "verify")


def test_what_an_account_holds_has_the_price_of_the_slot_though_the_run_plays_another_event(
    folder: Path, site: Path
) -> None:
    decided(folder, site, SLOTS[0])
    made = decided(folder, site, "2026-02-25T12:00:00Z", "--events", "1")
    assert made["acme_buyer"]["status"] == "recorded"
    shares = "journal JOIN instruments i ON i.id = instrument_row JOIN markets m ON m.id = i.market_row"
    held = f"SELECT event_row FROM {shares}"
    assert set(rows(folder, held)).isdisjoint(rows(folder, "SELECT event_row FROM run_events WHERE run_id = 2"))
    valued = "SELECT marks.priced_at, v.at FROM marks JOIN valuations v ON v.at = marks.at AND v.account_id = 1"
    ((priced_at, at),) = rows(folder, valued)
    assert priced_at == at
    said(folder, site, "ledger", "verify")


def test_a_deposit_from_nothing_is_found_and_what_cannot_be_rerun_is_no_success(folder: Path, site: Path) -> None:
    decided(folder, site, SLOTS[0])
    (key,) = (key for (key,) in rows(folder, "SELECT key FROM runs"))
    process = started(folder, site, "decide", "--rerun-traces", key)
    out, _ = process.communicate(timeout=300)
    assert (process.returncode, "games with accounts are not rerun yet" in " ".join(out.split())) == (1, True)
    columns = "account_id, number, kind, at, shares, cash_usd"
    add = f"INSERT INTO journal ({columns}) SELECT 2, 2, 'deposit', at, 0, 9 FROM journal"
    with Store.open(f"sqlite:///{folder}/runs/out/predibot.db") as store, store.write() as connection:
        connection.execute(text(f"{add} WHERE account_id = 2"))
        connection.execute(text("UPDATE journal SET cash_usd = 1000 WHERE account_id = 1 AND number = 1"))
    process = started(folder, site, "ledger", "verify", "--json")
    out, _ = process.communicate(timeout=300)
    seen = " ".join(each["seen"] for each in json.loads(out)["broken"])
    assert "follows from no decision and no resolution" in seen
    assert "it began with $1000, game buy_or_hold gives $100" in seen
