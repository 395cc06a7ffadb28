"""`predibot export`: the same rows in every format."""

import csv
import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
import pytest

from predibot.ledger.store import Store
from tests.acceptance.conftest import Predibot
from tests.benchmarks.ledgers import Size, fill
from tests.cli.alone import predibot_alone

TABLES = {
    *("runs", "events", "markets", "run_events", "bots", "decisions", "forecasts", "bets", "fills"),
    *("quotes", "sources", "observations", "resolutions"),
}
OF_ACCOUNTS = {"orders", "cohorts", "accounts", "journal", "valuations", "marks", "turns", "news", "labels"}
TABLES |= OF_ACCOUNTS

PAGE = Path(__file__).parents[2] / "docs" / "ledger.md"


def test_the_page_on_the_ledger_lists_every_table() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert {name for row in rows for name in re.findall("`([a-z_]+)`", row.split("|")[1])} == TABLES


def test_every_table_is_written_in_every_format_with_the_same_rows(tracked: Predibot, tmp_path: Path) -> None:
    counts = []
    for kind in ("csv", "jsonl", "parquet"):
        files = tracked("export", "out", "--format", kind, "--json").document["files"]
        assert {Path(name).stem for name in files} == TABLES
        counts.append({Path(name).stem: rows for name, rows in files.items()})
    assert counts[0] == counts[1] == counts[2]
    assert {name for name, rows in counts[0].items() if rows == 0} == {"sources", *OF_ACCOUNTS}
    bets = [json.loads(line) for line in (tmp_path / "out/bets.jsonl").read_text().splitlines()]
    assert parquet.read_table(tmp_path / "out/bets.parquet").to_pylist() == bets
    with (tmp_path / "out/bets.csv").open(newline="") as file:
        assert [float(row["asked_usd"]) for row in csv.DictReader(file)] == [bet["asked_usd"] for bet in bets]


def test_without_a_folder_rows_are_lines_and_with_json_one_document(tracked: Predibot) -> None:
    lines = tracked("export", "--table", "bets").out.splitlines()
    assert tracked("export", "--table", "bets", "--json").document == [json.loads(line) for line in lines]
    assert {json.loads(line)["table"] for line in lines} == {"bets"}


def test_canonical_rows_have_no_row_numbers_no_clock_and_no_cost(tracked: Predibot) -> None:
    rows = tracked("export", "--canonical", "--json").document
    names = {name for row in rows for name in row}
    assert not names & {"id", "run_id", "token", "lease_until", "attempts", "seconds", "cost_usd", "created_at"}
    assert {row["table"] for row in rows} >= TABLES - {"sources", "events", "markets", *OF_ACCOUNTS}
    assert not any("question" in row for row in rows)


def test_a_file_in_the_place_of_the_folder_is_an_error(decided: Predibot, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    said = decided("export", "out")
    assert said.code == 1
    assert "error: out cannot be written" in said.err
    assert (tmp_path / "out").read_text() == "mine"


def test_events_markets_and_runs_are_tables_and_titles_stand_with_what_was_said(tracked: Predibot) -> None:
    rows = tracked("export", "--json").document
    by_table = {name: [row for row in rows if row["table"] == name] for name in TABLES}
    titles = {row["event_id"]: row["title"] for row in by_table["events"]}
    questions = {row["market_id"]: (row["event_id"], row["question"]) for row in by_table["markets"]}
    assert all(titles.values()) and all(question for _, question in questions.values())
    for name in ("forecasts", "bets"):
        for row in by_table[name]:
            assert (row["subject_id"], row["question"]) == questions[row["market_id"]]
            assert row["title"] == titles[row["subject_id"]]
    assert {row["run"] for row in by_table["runs"]} == {row["run"] for row in by_table["decisions"]}


def test_text_of_others_is_harmless_in_csv_and_whole_in_the_other_formats(tracked: Predibot, tmp_path: Path) -> None:
    hostile = {"=HYPERLINK(1)": "'=HYPERLINK(1)", "＋1": "'＋1", "a\x1b[2J\x9b\nb": "a\ufffd[2J\ufffd b", "\t@x": "'@x"}
    with closing(sqlite3.connect(tmp_path / "runs/out/predibot.db")) as ledger, ledger:
        markets = [row for (row,) in ledger.execute("SELECT id FROM markets ORDER BY id LIMIT ?", [len(hostile)])]
        ledger.executemany("UPDATE markets SET question = ? WHERE id = ?", zip(hostile, markets, strict=True))
    for kind in ("csv", "jsonl", "parquet"):
        assert tracked("export", "out", "--format", kind, "--table", "markets").code == 0
    with (tmp_path / "out/markets.csv").open(newline="", encoding="utf-8") as file:
        assert {row["question"] for row in csv.DictReader(file)} >= set(hostile.values())
    lines = (tmp_path / "out/markets.jsonl").read_text(encoding="utf-8").splitlines()
    assert all(line.isprintable() for line in lines)
    assert {json.loads(line)["question"] for line in lines} >= set(hostile)
    assert set(parquet.read_table(tmp_path / "out/markets.parquet")["question"].to_pylist()) >= set(hostile)
    assert "\x9b" not in tracked("export", "--table", "markets").out


@pytest.mark.parametrize("planted", [".unfinished-bets.csv", "bets.csv"])
def test_a_planted_link_is_not_followed(decided: Predibot, tmp_path: Path, planted: str) -> None:
    (tmp_path / "out").mkdir()
    mine = tmp_path / "mine"
    mine.write_text("mine")
    (tmp_path / "out" / planted).symlink_to(mine)
    assert decided("export", "out").code == 0
    assert mine.read_text() == "mine"
    assert not (tmp_path / "out/bets.csv").is_symlink()
    assert {each.name for each in (tmp_path / "out").iterdir()} == {f"{name}.csv" for name in TABLES} | {planted}


def test_an_export_of_ten_times_as_much_takes_hardly_more_memory(tmp_path: Path) -> None:
    peaks = []
    for observations in (5, 50):
        address = f"sqlite:///{tmp_path}/{observations}.db"
        with Store.open(address) as store:
            fill(store, Size(20, 2, 5, 200, 5, observations), np.random.default_rng(1))
        peaks.append(
            [
                predibot_alone(tmp_path, "export", *arguments, "--ledger", address).resident_bytes
                for arguments in (("out", "--format", "parquet"), ("--canonical", "--json"))
            ]
        )
    few, many = peaks
    # Fifty thousand observations were 35 MB when all were held at once.
    assert all(more - less < 14_000_000 for less, more in zip(few, many, strict=True)), peaks
