"""An account of an installed package's game: played slot after slot by the program, and killed in the middle of one."""

import json
import os
import shutil
import tomllib
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import said_here
from tests.forked import Forked
from tests.jobs.program import wait_until
from tests.ledger.statements import altered, found

SLOTS = ("2026-02-01T12:00:00Z", "2026-02-02T12:00:00Z", "2026-02-03T12:00:00Z")
RECIPE = """game = "buy_or_hold"
venue = "sandbox:events=4"
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
    folder, source = tmp_path_factory.mktemp("site"), Path(__file__).parent / "acme_fund"
    shutil.copytree(source, folder / "acme_fund")
    project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
    about = folder / "acme_fund-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    points = project["entry-points"].items()
    lines = (
        line for group, each in points for line in (f"[{group}]", *(f"{name} = {at}" for name, at in each.items()))
    )
    (about / "entry_points.txt").write_text("\n".join(lines))
    return folder


@pytest.fixture
def folder(tmp_path: Path, site: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder in which the recipe is played, by who installed the package."""
    (tmp_path / "fund.toml").write_text(RECIPE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(site)
    return tmp_path


def said(*arguments: str, code: int = 0) -> str:
    """Return what a command prints that ends with this code."""
    done = said_here(*arguments)
    assert done.code == code, done.out + done.err
    return done.out if "--json" in arguments else done.out + done.err


def decided(at: str, *more: str) -> dict[str, dict[str, Any]]:
    document = json.loads(said("decide", "fund.toml", "--as-of", at, "--json", *more))
    return {each["bot"]: each for each in document["decisions"]}


LEDGER = "sqlite:///runs/out/predibot.db"
OF_BUYER = "JOIN accounts a ON a.id = account_id WHERE a.bot = 'acme_buyer'"
JOURNAL = f"SELECT kind, shares, cash_usd FROM journal {OF_BUYER} ORDER BY number"
VALUED = f"SELECT v.cash_usd, v.value_usd FROM valuations v {OF_BUYER} ORDER BY at"
PRICES = f"SELECT price FROM marks {OF_BUYER} ORDER BY at"


def test_an_account_of_an_installed_game_is_played_through_three_slots_by_threads_and_processes(folder: Path) -> None:
    for slot, executor in zip(SLOTS, ("threads:2", "processes:1", "threads:2"), strict=True):
        made = decided(slot, "--executor", executor)
        assert (made["acme_buyer"]["status"], made["acme_buyer"]["subject_kind"]) == ("recorded", "portfolio")
        assert (made["greedy"]["status"], made["greedy"]["message"][:28]) == ("refused", "you have $100, and asked for")
    journal, valued = found(LEDGER, JOURNAL), found(LEDGER, VALUED)
    assert [(kind, cash_usd) for kind, _, cash_usd in journal] == [("deposit", 100.0), *[("fill", -30.0)] * 3]
    # Folded by hand: each slot is valued before its purchase, so that the last one is in no valuation yet.
    prices = found(LEDGER, PRICES)
    shares = [journal[1][1], journal[1][1] + journal[2][1]]
    assert valued[0] == (100.0, 100.0)
    assert [cash_usd for cash_usd, _ in valued[1:]] == [70.0, 40.0]
    worth = [70.0 + shares[0] * prices[0], 40.0 + shares[1] * prices[1]]
    assert [value_usd for _, value_usd in valued[1:]] == pytest.approx(worth, abs=1e-9)
    # What is bought at a price of one slot is marked at the same price in that slot.
    assert [journal[2][1], journal[3][1]] == pytest.approx([30.0 / prices[0], 30.0 / prices[1]], abs=1e-9)
    said("track")
    said("verify", "--rows")
    told = json.loads(said("evaluate", "--json"))
    (board,) = told["accounts"]
    by_bot = {each["bot"]: each for each in board["leaderboard"]}
    assert (told["bots"], board["game"], board["mode"]) == ([], "buy_or_hold", "replay")
    assert by_bot["acme_buyer"]["values_usd"] == pytest.approx([100.0, *worth], abs=1e-9)
    assert (by_bot["greedy"]["value_usd"], by_bot["greedy"]["failed_share"]) == (100.0, 1.0)
    headed = "buy_or_hold of fund, replay: $100.00 at the start"
    assert all(headed in said(command) for command in ("evaluate", "report"))
    assert said("runs").count("fund@") == 3
    said("export", "tables")
    assert len((folder / "tables/decisions.csv").read_text(encoding="utf-8").splitlines()) == 7
    assert len((folder / "tables/bets.csv").read_text(encoding="utf-8").splitlines()) == 1


def test_a_slot_that_was_killed_in_the_middle_buys_once(folder: Path, site: Path) -> None:
    asked = ("decide", "fund.toml", "--bots", "acme_buyer", "--as-of")
    said(*asked, SLOTS[0])
    told = folder / "told.txt"
    told.write_text("hang", encoding="utf-8")
    installed = partial(exec, f"import sys; sys.path.append({str(site)!r})")
    process = Forked(*asked, SLOTS[1], folder=folder, environment=os.environ, first=installed)
    wait_until(lambda: told.read_text(encoding="utf-8") == "hanging")
    process.kill()
    process.wait()
    for _ in range(2):
        said(*asked, SLOTS[1])
    assert [kind for kind, *_ in found(LEDGER, JOURNAL)] == ["deposit", "fill", "fill"]
    outcomes = found(LEDGER, "SELECT outcome FROM attempts ORDER BY task_id, number")
    assert outcomes == ["recorded", "lost", "recorded"]
    said("verify", "--rows")


def test_an_earlier_slot_than_the_account_s_last_has_missed_its_turn(folder: Path) -> None:
    decided(SLOTS[1])
    told = said("decide", "fund.toml", "--as-of", SLOTS[0])
    assert "decisions that missed their turn, as their accounts went on with a later run: 2" in " ".join(told.split())
    assert [kind for kind, *_ in found(LEDGER, JOURNAL)] == ["deposit", "fill"]
    said("verify", "--rows")


def test_what_an_account_holds_has_the_price_of_the_slot_though_the_run_plays_another_event(folder: Path) -> None:
    large = ("--venue", "sandbox")
    decided(SLOTS[0], *large)
    made = decided("2026-02-25T12:00:00Z", "--events", "1", *large)
    assert made["acme_buyer"]["status"] == "recorded"
    shares = "journal JOIN instruments i ON i.id = instrument_row JOIN markets m ON m.id = i.market_row"
    held = f"SELECT event_row FROM {shares}"
    assert set(found(LEDGER, held)).isdisjoint(found(LEDGER, "SELECT event_row FROM run_events WHERE run_id = 2"))
    valued = "SELECT marks.priced_at, v.at FROM marks JOIN valuations v ON v.at = marks.at AND v.account_id = 1"
    ((priced_at, at),) = found(LEDGER, valued)
    assert priced_at == at
    said("verify", "--rows")


def test_a_deposit_from_nothing_is_found_and_what_cannot_be_rerun_is_no_success(folder: Path) -> None:
    decided(SLOTS[0])
    (key,) = found(LEDGER, "SELECT key FROM runs")
    assert "games with accounts are not rerun yet" in " ".join(said("decide", "--rerun-traces", key, code=1).split())
    columns = "account_id, number, kind, at, shares, cash_usd"
    # Who came first has the first account; this one has bought nothing, and its next row is the second.
    greedy = "(SELECT id FROM accounts WHERE bot = 'greedy')"
    add = f"INSERT INTO journal ({columns}) SELECT account_id, 2, 'deposit', at, 0, 9 FROM journal"
    rich = f"UPDATE journal SET cash_usd = 1000 WHERE account_id <> {greedy} AND number = 1"
    altered(LEDGER, f"{add} WHERE account_id = {greedy}", rich)
    broken = json.loads(said("verify", "--rows", "--json", code=1))["broken"]
    seen = " ".join(each["seen"] for each in broken)
    assert "follows from no decision and no resolution" in seen
    assert "it began with $1000, game buy_or_hold gives $100" in seen


def test_cohorts_of_an_installed_game_start_decide_and_are_scored_by_its_rules(folder: Path) -> None:
    weekly = RECIPE.replace('game = "buy_or_hold"\n', "").replace('"1d"', '"1w"')
    (folder / "fund.toml").write_text(f'{weekly}\n[game]\nname = "buy_or_hold"\nweekly = true\n', encoding="utf-8")
    sundays = [f"2026-02-{day:02d}T00:05:00Z" for day in (1, 8, 15)]
    for number, sunday in enumerate(sundays, start=1):
        decisions = json.loads(said("decide", "fund.toml", "--as-of", sunday, "--json"))["decisions"]
        bought = [each["event_id"] for each in decisions if each["bot"] == "acme_buyer"]
        assert bought == ["2026-02-01", "2026-02-08", "2026-02-15"][max(0, number - 2) : number][::-1]
        assert {each["status"] for each in decisions if each["bot"] == "greedy"} == {"refused"}
    spent = (
        "SELECT a.bot, count(*), sum(cash_usd) FROM journal JOIN accounts a ON a.id = account_id GROUP BY a.bot, a.id"
    )
    assert sorted(found(LEDGER, spent)) == [
        ("acme_buyer", 2, 70.0),
        *[("acme_buyer", 3, 40.0)] * 2,
        *[("greedy", 1, 100.0)] * 3,
    ]
    said("verify", "--rows")
    listed = json.loads(said("cohort", "--json"))["cohorts"]
    assert [(each["cohort"], each["decides"]) for each in listed] == [
        ("2026-02-01", False),
        ("2026-02-08", True),
        ("2026-02-15", True),
    ]
    assert "less than $30 of cash" in said("cohort", "2026-02-08")
    told = json.loads(said("evaluate", "--json"))
    (board,) = told["cohorts"]
    assert (board["game"], board["cohorts"], len(board["leaderboard"])) == ("buy_or_hold", 3, 2)
    change = "UPDATE journal SET at = (SELECT started_at FROM cohorts WHERE name = '2026-02-15')"
    # Whichever bot came first has the first account; only fills of the first cohort are too late by then.
    oldest = "SELECT min(id) FROM accounts WHERE bot = 'acme_buyer'"
    altered(LEDGER, f"{change} WHERE account_id = ({oldest}) AND kind = 'fill'")
    assert "its cohort decides only until 2026-02-15" in said("verify", "--rows", code=1)
