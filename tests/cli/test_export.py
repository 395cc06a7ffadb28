"""`predibot export`: the same rows in every format."""

import csv
import json
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

from tests.acceptance.conftest import Predibot

TABLES = {"decisions", "forecasts", "bets", "fills", "sources", "observations", "resolutions"}


@pytest.fixture
def tracked(decided: Predibot) -> Predibot:
    """Return the program in a folder whose ledger has prices and resolutions too."""
    decided("track")
    return decided


def test_every_table_is_written_in_every_format_with_the_same_rows(tracked: Predibot, tmp_path: Path) -> None:
    counts = []
    for kind in ("csv", "jsonl", "parquet"):
        files = tracked("export", "out", "--format", kind, "--json").document["files"]
        assert {Path(name).stem for name in files} == TABLES
        counts.append({Path(name).stem: rows for name, rows in files.items()})
    assert counts[0] == counts[1] == counts[2]
    assert {name for name, rows in counts[0].items() if rows == 0} == {"sources"}
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
    assert {row["table"] for row in rows} >= TABLES - {"sources"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["out", "--format", "xml"], "no format 'xml'. Valid are: csv, jsonl, parquet"),
        (["--format", "parquet"], "--format parquet is for files; name a FOLDER for them"),
        (["--table", "bet"], "no table 'bet'. Did you mean 'bets'?"),
    ],
)
def test_misuse_exits_with_2(decided: Predibot, arguments: list[str], message: str) -> None:
    said = decided("export", *arguments)
    assert (said.code, said.out) == (2, "")
    assert message in said.err


def test_a_file_in_the_place_of_the_folder_is_an_error(decided: Predibot, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    said = decided("export", "out")
    assert said.code == 1
    assert "error: out cannot be written" in said.err
    assert (tmp_path / "out").read_text() == "mine"
