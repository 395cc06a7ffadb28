"""Replicates and effort at the command line: one bot asked several times is one row, and what it took stands beside."""

from collections.abc import Iterator
from contextlib import chdir
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import predibot
from tests.acceptance.conftest import Predibot, done_here, said_here
from tests.worlds import Worlds

RECIPE = """
venue = "sandbox:events=20"
[selection]
events = 3
max_markets = 1
[[bots]]
name = "luck"
strategy = "random_bet"
replicates = 3
[[bots]]
name = "sharp"
strategy = "tool_agent"
model = "sandbox/sharp"
replicates = 2
"""
REPORT = ("report", "--as-of", "2026-03-01T12:00Z")


def replicated() -> None:
    """Decide once with bots that have replicates, and track."""
    Path("mine.toml").write_text(RECIPE)
    done_here("decide", "mine.toml", "--as-of", "2026-01-05T12:00Z")
    done_here("track", "--as-of", "2026-03-01T12:00Z")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, worlds: Worlds) -> Iterator[Predibot]:
    """Return the program in a folder with that ledger."""
    with chdir(worlds.copy(replicated, tmp_path_factory.mktemp("replicated"))):
        yield said_here


def test_replicates_decide_each_by_itself_and_are_one_row(program: Predibot) -> None:
    document = program(*REPORT, "--json").document
    assert {row["bot"]: row["replicates"]["count"] for row in document["leaderboard"]} == {"luck": 3, "sharp": 2}
    assert {card["bot"]: card["decisions"] for card in document["bots"]} == {"luck": 9, "sharp": 6}
    luck = next(row for row in document["leaderboard"] if row["bot"] == "luck")
    assert luck["replicates"]["edge"]["low"] < luck["edge"] < luck["replicates"]["edge"]["high"]
    assert "3: " in program(*REPORT).out


def test_a_bot_is_its_replicates_and_one_of_them_can_be_named(program: Predibot) -> None:
    for bots, decisions in (("luck", {"luck": 9}), ("luck#2", {"luck#2": 3})):
        found = program(*REPORT, "--bots", bots, "--json").document
        assert {card["bot"]: card["decisions"] for card in found["bots"]} == decisions
    assert "9 decisions" in program(*REPORT, "--bot", "luck").out
    assert program(*REPORT, "--bots", "luc").code == 1


def test_the_table_of_consistency_says_how_far_replicates_lie_apart(program: Predibot) -> None:
    found = {(row["bot"], row["between"]): row for row in program(*REPORT, "--json").document["consistency"]}
    # Three pairs of three replicates on three markets; a script answers the same each time.
    assert (found["luck", "replicates"]["n"], found["sharp", "replicates"]["n"]) == (9, 3)
    assert found["luck", "replicates"]["difference"] > found["sharp", "replicates"]["difference"] == 0.0
    assert "replicates" in program(*REPORT, "--table", "consistency").out


def test_the_table_of_effort_has_bots_with_models_alone(program: Predibot) -> None:
    (sharp,) = program(*REPORT, "--json").document["effort"]
    assert (sharp["bot"], sharp["decisions"], sharp["traces"]) == ("sharp", 6, 6)
    assert min(sharp["searches"], sharp["pages"]) >= 2.0
    assert sharp["tokens"] > 1_000.0
    assert program(*REPORT, "--table", "effort", "--csv").out.startswith("bot,decisions,searches,pages,seconds,")
    # One bot is no correlation.
    shown = program(*REPORT, "--table", "effort").out
    assert "How effort and success go together" in shown


def test_a_dry_run_counts_every_replicate(program: Predibot) -> None:
    planned = program("decide", "mine.toml", "--bots", "luck", "--dry-run", "--json").document
    assert planned["bots"] == ["luck#1", "luck#2", "luck#3"]


def test_pages_have_the_bot_and_each_replicate_and_link_both(program: Predibot) -> None:
    pytest.importorskip("jinja2", reason="needs predibot[web]")
    assert program("publish", "site", "--since", "2026-01-01").code == 0
    board = Path("site/index.html").read_text()
    assert "3 replicates, edges" in board
    pages = {each.name.rpartition("-")[0] for each in Path("site/bot").iterdir()}
    assert {"luck", "luck-1", "luck-2", "luck-3", "sharp"} <= pages
    assert ">luck</a>" in board
    assert "Effort of a decision beside success" in Path("site/tables/effort.html").read_text()


def test_from_python_a_row_has_the_number_of_replicates_and_the_ends_of_their_edges(program: Predibot) -> None:
    assert program(*REPORT).code == 0
    with predibot.open_ledger(Path("runs/out/predibot.db")) as ledger:
        found = ledger.leaderboard(as_of=datetime(2026, 3, 1, 12, tzinfo=UTC)).to_dicts()
    luck: dict[str, Any] = next(row for row in found if row["bot"] == "luck")
    assert luck["replicates"] == 3
    assert luck["replicates_edge_low"] < luck["edge"] < luck["replicates_edge_high"]
