"""`predibot import`: decisions that were made elsewhere, and our own export, into a ledger."""

import json
from pathlib import Path

import pytest

from tests.acceptance.conftest import Predibot
from tests.jobs.imports.predibench_day import FED, FIRST_ANSWER, answer, answers, events, said, write_day, write_json

NEW = ("--ledger", "sqlite:///new.db")


def test_a_day_of_predibench_is_summed_up_and_evaluated(predibot: Predibot) -> None:
    write_day(Path("2025-09-18"))
    shown = predibot("import", "predibench", "2025-09-18")
    assert shown.code == 0
    lines = shown.out.splitlines()
    assert lines[:3] == [
        "read: 140 decisions, 542 forecasts, 3 bots, 2 events, 10 notes, in 70 files; 3 folders of traces passed over",
        "left out: 70 decisions on 45314, 'Angels vs. Brewers', which had begun at 2025-09-17T23:40Z, "
        "before the decision",
        "stored: 70 decisions with 262 forecasts in 32 new runs",
    ]
    assert len(lines) == 13
    assert all(line.endswith("0.5 is stated as unallocated, the bets leave 0.2") for line in lines[3:])
    again = predibot("import", "predibench", "2025-09-18", "--json").document
    assert (again["decisions"], again["forecasts"], len(again["bots"]), again["events"]) == (140, 542, 3, 2)
    assert (len(again["notes"]), again["stored_decisions"], again["known_decisions"]) == (10, 0, 70)
    found = predibot("evaluate", "--no-track", "--json").document
    assert {bot["bot"]: bot["decisions"] for bot in found["bots"]} == {
        "Acme--Model-A-235B": 10,
        "Acme--Model-B-480B": 32,
        "open--model-c-120b": 28,
    }
    assert any(note.startswith("70 decisions of the ledger were imported") for note in found["notes"])
    assert len(predibot("runs", "--json").document["runs"]) == 32
    assert predibot("ledger", "verify", "--json").document["broken"] == []


def test_text_of_others_is_shown_as_text(predibot: Predibot) -> None:
    hostile = "\x1b[2J[bold]x\x9b\u202e\n"
    listed = events()
    listed[0]["title"] = hostile
    write_json(Path("day/events.json"), listed)
    content = answers("a/b", 0, 60)
    content["event_investment_decisions"][1] = answer(FED, [said("553810", 0.5, 0.1, hostile)], 0.9, FIRST_ANSWER)
    write_json(Path("day/b_run_0/a.json"), content)
    shown = predibot("import", "predibench", "day")
    assert shown.code == 0
    assert "\x1b" not in shown.out + shown.err and "\x9b" not in shown.out and "\u202e" not in shown.out
    assert "[bold]x" in shown.out
    assert predibot("import", "predibench", "day", "--json").out.isascii()
    forecasts = predibot("export", "--table", "forecasts").out
    assert "\x1b" not in forecasts
    assert json.loads(forecasts)["rationale"] == hostile


def test_a_wrong_folder_is_an_error_and_makes_no_ledger(predibot: Predibot) -> None:
    for arguments, message in (
        (("predibench", "nowhere"), "error: nowhere cannot be read: No such file or directory"),
        (("predibench", "."), "error: . holds no events.json. Name the folder of a day"),
    ):
        shown = predibot("import", *arguments)
        assert (shown.code, shown.out, shown.err.count("\n")) == (1, "", 1)
        assert shown.err.startswith(message)
    assert not Path("runs").exists()
    write_json(Path("day/events.json"), events())
    for number in range(3):
        write_json(Path(f"day/a_run_{number}/a.json"), {"model_id": f"a{number}"})
    shown = predibot("import", "predibench", "day")
    assert shown.code == 1
    assert [f"a_run_{number}/a.json: target_date: Field required" in shown.err for number in range(3)] == [True] * 3


@pytest.fixture
def tracked(decided: Predibot) -> Predibot:
    """Return the program in a folder whose ledger has decisions, prices, resolutions and an imported day."""
    decided("track")
    write_day(Path("2025-09-18"))
    decided("import", "predibench", "2025-09-18")
    return decided


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "csv"])
def test_an_export_that_is_imported_is_exported_again_byte_for_byte(tracked: Predibot, kind: str) -> None:
    tracked("export", "out", "--format", kind)
    before = tracked("export", "--canonical").out
    first = tracked("import", "ledger", "out", *NEW, "--json").document
    assert all(table["new"] == table["rows"] for table in first["tables"].values())
    assert tracked("export", "--canonical", *NEW).out == before
    again = tracked("import", "ledger", "out", *NEW, "--json").document
    assert {table["new"] for table in again["tables"].values()} == {0}
    assert tracked("export", "--canonical", *NEW).out == before
    assert bool(again["notes"]) == (kind == "csv")
    scores = [
        tracked("evaluate", "--no-track", "--venue", "sandbox:events=20", "--json", *at).document for at in ((), NEW)
    ]
    assert scores[0] == scores[1]


def test_lines_of_an_export_are_imported_from_a_file(tracked: Predibot) -> None:
    Path("all.jsonl").write_text(tracked("export").out, encoding="utf-8")
    shown = tracked("import", "ledger", "all.jsonl", *NEW)
    assert shown.out.splitlines()[0] == "runs: 33 new of 33 rows"
    assert tracked("export", *NEW).out == tracked("export").out
    assert tracked("ledger", "verify", "--json", *NEW).document["broken"] == []


def test_texts_that_look_like_formulas_come_back_from_csv_and_line_breaks_do_not(predibot: Predibot) -> None:
    for name, rationale in (("plain", "=1+1"), ("broken", "a\nb")):
        write_json(Path(f"{name}/events.json"), events())
        content = answers("a/b", 0, 60)
        content["event_investment_decisions"] = [answer(FED, [said("553810", 0.5, 0.1, rationale)], 0.9, FIRST_ANSWER)]
        write_json(Path(f"{name}/b_run_0/a.json"), content)
        old, new = ("--ledger", f"sqlite:///{name}.db"), ("--ledger", f"sqlite:///{name}-new.db")
        predibot("import", "predibench", name, *old)
        predibot("export", f"{name}-out", *old)
        predibot("import", "ledger", f"{name}-out", *new)
        same = predibot("export", "--canonical", *new).out == predibot("export", "--canonical", *old).out
        assert same == (name == "plain")


def test_an_export_that_is_not_whole_or_was_changed_is_named_and_nothing_is_imported(tracked: Predibot) -> None:
    tracked("export", "out", "--format", "jsonl")
    bets = Path("out/bets.jsonl")
    whole = bets.read_text(encoding="utf-8")
    for text, message in (
        (whole.replace('"price_yes": 0.785', '"price_yes": NaN', 1), "NaN is no number"),
        (whole[:-20], "this is no JSON object"),
        ("[" * 100_000, "bets.jsonl, line 1: it is nested too deeply"),
        ('{"a": ' + "9" * 5_000 + "}", "bets.jsonl, line 1: this is no JSON object: a number has thousands of digits"),
        ("[]\n", "bets.jsonl, line 1: this is no JSON object"),
        ('{"run": 1, "run": 2}\n', "bets.jsonl, line 1: this is no JSON object: it says something twice"),
    ):
        bets.write_text(text, encoding="utf-8")
        shown = tracked("import", "ledger", "out", *NEW)
        assert (shown.code, shown.out) == (1, "")
        assert shown.err.splitlines()[-1].startswith("error: nothing is imported: bets.jsonl, line ")
        assert message in shown.err
        assert tracked("export", *NEW).out == ""
    bets.unlink()
    assert "out has no bets.jsonl. Export all tables" in tracked("import", "ledger", "out", *NEW).err
    assert "holds no export" in tracked("import", "ledger", "runs", *NEW).err
    tracked("export", "canonical", "--canonical", "--format", "jsonl")
    assert "canonical has no events.jsonl, markets.jsonl" in tracked("import", "ledger", "canonical", *NEW).err
    assert "nowhere cannot be read" in tracked("import", "ledger", "nowhere", *NEW).err
