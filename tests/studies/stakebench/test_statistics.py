"""What a data set is made of: counted by hand over a few rows, and printed by the command."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from predibot.studies.stakebench.statistics import describe
from tests.acceptance.conftest import done_here, said_here
from tests.studies.stakebench.rows import a_comment, a_window, rows_of

COMMENTS = [
    a_comment(0, 0, side="YES", size=-99.0, text="x" * 40, at="2026-01-02T00:00:00Z", price_yes=0.4),
    a_comment(0, 1, side="NO", size=100.0, text="x" * 60, at="2026-02-02T00:00:00Z", action="hold"),
    a_comment(0, 8, text="x" * 50, at="2026-02-03T00:00:00Z"),
    a_comment(1, 2, split="economics", text="x" * 70),
    a_comment(2, 3, platform="manifold", split="science", side="YES", size=60_000.0),
]
TABLES = {table.name: table for table in describe(rows_of(COMMENTS, [a_window(0, ["c0-0"])]))}


def of_platform(table: str, platform: str = "polymarket") -> list[dict[str, Any]]:
    found = TABLES[table]
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows if row[0] == platform]


def test_platforms_are_counted_apart() -> None:
    (row,) = of_platform("1")
    assert (row["comments"], row["markets"], row["users"]) == (4, 2, 3)
    assert (row["from"], row["to"]) == ("2026-01", "2026-02")
    # Writers 1 and 8 are one: there are seven.
    assert (row["length"], row["a market"], row["hold"], row["priced"]) == (55.0, 2.0, 0.5, 0.25)
    assert (row["positions"], row["G3"], row["G4 windows"]) == (2, 1, 1)
    assert of_platform("1", "manifold")[0]["G4 windows"] == 0


def test_lengths_stakes_months_and_topics_are_counted() -> None:
    (lengths,) = of_platform("16A")
    assert (lengths["p50"], lengths["max"]) == (55.0, 70)
    tiers = {row["tier"]: row["n"] for row in of_platform("16B")}
    # A negative stake counts by its magnitude, and 100 is the least of its tier.
    assert (tiers["Retail"], tiers["Small"], sum(tiers.values())) == (1, 1, 2)
    assert {row["tier"]: row["share"] for row in of_platform("16B", "manifold")}["Mega"] == 1.0
    assert {row["month"]: row["n"] for row in of_platform("18")} == {"2026-01": 2, "2026-02": 2}
    assert [(row["topic"], row["n"], row["share"]) for row in of_platform("19")] == [
        ("crypto", 3, 0.75),
        ("economics", 1, 0.25),
    ]


def test_a_comment_that_markets_of_a_series_share_is_also_counted_once() -> None:
    shared = [a_comment(market, 0, text="y" * 40, split=split) for market, split in enumerate(("other", "crypto"))]
    tables = {table.name: table for table in describe(rows_of([*shared, a_comment(2, 1)]))}
    counted = dict(zip(tables["1"].columns, tables["1"].rows[0], strict=True))
    assert (counted["comments"], counted["once"]) == (3, 2)
    assert {row[1]: row[2:] for row in tables["19"].rows} == {"other": (1, 1 / 3, 1, 0.5), "crypto": (2, 2 / 3, 1, 0.5)}


def test_topics_of_holders_are_compared_over_all_comments() -> None:
    many = [
        a_comment(market, n, split=split, **({"side": "YES", "size": 9.0} if n % 10 < holds else {}))
        for market, (split, holds) in enumerate([("crypto", 9), ("economics", 1)])
        for n in range(40)
    ]
    (table,) = (each for each in describe(rows_of(many)) if each.name == "coverage")
    by_what = {row[1]: row[-1] for row in table.rows}
    assert [*by_what] == ["length", "written", "volume", "days left", "topic"]
    assert isinstance(by_what["topic"], float) and by_what["topic"] < 1e-6


def test_the_command_prints_them_and_an_empty_folder_is_refused(tmp_path: Path) -> None:
    for name, rows in (("comments", COMMENTS), ("windows", [a_window(0, ["c0-0"])])):
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(asdict(row))}\n" for row in rows))
    assert "Table 1. Platforms" in said_here("study", "stakebench", "describe", str(tmp_path)).out
    document = done_here("study", "stakebench", "describe", str(tmp_path), "--json").document
    assert [table["name"] for table in document["tables"]] == [*TABLES]
    assert said_here("study", "stakebench", "describe", str(tmp_path / "none")).code == 1
