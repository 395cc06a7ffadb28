"""`predibot import`: decisions that were made elsewhere, and our own export, into a ledger."""

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.acceptance.conftest import Predibot, Said, said_here
from tests.cli.alone import Ended, predibot_alone
from tests.cli.conftest import daily, daily_tracked
from tests.jobs.imports.predibench_day import FED, FIRST_ANSWER, answer, answers, events, said, write_day, write_json
from tests.soaks import few
from tests.worlds import Worlds

NEW = ("--ledger", "sqlite:///new.db")
MOST_RESIDENT_BYTES = 500_000_000
WIDE = "\N{GRINNING FACE}".encode()
"""What makes Python hold four bytes for each character of a text."""


def test_a_day_of_predibench_is_summed_up_and_evaluated(predibot: Predibot) -> None:
    # The last two of four say a wrong rest.
    times = {"Acme/Model-A-235B": 1, "Acme/Model-B-480B": 2, "open/model-c-120b": 1}
    write_day(Path("2025-09-18"), times, of_all=58)
    shown = predibot("import", "predibench", "2025-09-18")
    assert shown.code == 0
    lines = shown.out.splitlines()
    assert lines[:3] == [
        "read: 8 decisions, 32 forecasts, 3 bots, 2 events, 2 notes, in 4 files; 3 folders of traces passed over",
        "left out: 4 decisions on 45314, 'Angels vs. Brewers', which had begun at 2025-09-17T23:40Z, "
        "before the decision",
        "stored: 4 decisions with 16 forecasts in 2 new runs",
    ]
    assert len(lines) == 5
    assert all(line.endswith("0.5 is stated as unallocated, the bets leave 0.2") for line in lines[3:])
    again = predibot("import", "predibench", "2025-09-18", "--json").document
    assert (again["decisions"], again["forecasts"], len(again["bots"]), again["events"]) == (8, 32, 3, 2)
    assert (len(again["notes"]), again["stored_decisions"], again["known_decisions"]) == (2, 0, 4)
    found = predibot("evaluate", "--no-track", "--resamples", "100", "--json").document
    assert {bot["bot"]: bot["decisions"] for bot in found["bots"]} == {
        "Acme--Model-A-235B": 1,
        "Acme--Model-B-480B": 2,
        "open--model-c-120b": 1,
    }
    assert any(note.startswith("4 decisions of the ledger were imported") for note in found["notes"])
    assert len(predibot("runs", "--json").document["runs"]) == 2
    assert predibot("verify", "--rows", "--json").document["broken"] == []


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


def daily_and_imported() -> None:
    """Decide, track and import a day."""
    daily_tracked()
    write_day(Path("2025-09-18"), {"Acme/Model-A-235B": 1, "open/model-c-120b": 1})
    assert said_here("import", "predibench", "2025-09-18").code == 0


@pytest.fixture
def tracked(predibot: Predibot, tmp_path: Path, worlds: Worlds) -> Predibot:
    """Return the program in a folder whose ledger has decisions, prices, resolutions and an imported day."""
    worlds.copy(daily_and_imported, tmp_path)
    return predibot


@pytest.mark.parametrize("kind", few(["jsonl", "parquet", "csv"], "parquet", "csv"))
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
    asked = ("evaluate", "--no-track", "--venue", "sandbox:events=20", "--resamples", "100", "--json")
    scores = [tracked(*asked, *at).document for at in ((), NEW)]
    assert scores[0] == scores[1]


def test_an_export_with_more_long_texts_than_are_read_at_once_is_imported(tracked: Predibot) -> None:
    tracked("export", "out", "--format", "parquet")
    file = Path("out/decisions.parquet")
    decisions = pq.read_table(file)
    texts = pa.array(f"{row} {'é' * (5_000_000 // decisions.num_rows)}" for row in range(decisions.num_rows))
    place = decisions.schema.get_field_index("rationale")
    pq.write_table(decisions.set_column(place, "rationale", texts), file, row_group_size=decisions.num_rows // 3)
    shown = tracked("import", "ledger", "out", *NEW, "--json").document
    assert shown["tables"]["decisions"] == {"rows": decisions.num_rows, "new": decisions.num_rows}
    tracked("export", "again", "--format", "parquet", *NEW)
    assert pq.read_table("again/decisions.parquet")["rationale"].to_pylist() == texts.to_pylist()


def exported() -> None:
    """Export a run in each format, into a folder named after it."""
    daily()
    for kind in ("jsonl", "parquet", "csv"):
        assert said_here("export", kind, "--format", kind).code == 0


@pytest.fixture
def in_exports(predibot: Predibot, tmp_path: Path, worlds: Worlds) -> None:
    """Be in a folder with an export of each format."""
    worlds.copy(exported, tmp_path)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            lambda table: table.append_column("more", table["run"]),
            "runs.parquet has a column 'more', which no export has. Export it again",
        ),
        (lambda table: table.append_column("run", table["run"]), "parquet/runs.parquet has 2 columns 'run'. Keep one"),
    ],
)
def test_columns_that_no_export_has_are_refused_before_they_are_read(
    in_exports: None, changed: Callable[[pa.Table], pa.Table], said: str
) -> None:
    runs = changed(pq.read_table("parquet/runs.parquet"))
    pq.write_table(runs, "parquet/runs.parquet", write_statistics=False, store_schema=False, compression="none")
    ended = predibot_alone(Path.cwd(), "import", "ledger", "parquet", *NEW)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.splitlines()[-1] == f"error: {said}."
    assert ended.resident_bytes < MOST_RESIDENT_BYTES


def test_lines_of_an_export_are_imported_from_a_file(tracked: Predibot) -> None:
    lines = tracked("export").out
    Path("all.jsonl").write_text(lines, encoding="utf-8")
    shown = tracked("import", "ledger", "all.jsonl", *NEW)
    assert shown.out.splitlines()[0] == "runs: 2 new of 2 rows"
    assert tracked("export", *NEW).out == lines
    assert tracked("verify", "--rows", "--json", *NEW).document["broken"] == []


def test_texts_that_look_like_formulas_come_back_from_csv_and_line_breaks_do_not(predibot: Predibot) -> None:
    for name, rationale in (("plain", "=1+1"), ("broken", "a\nb")):
        write_json(Path(f"{name}/events.json"), events())
        content = answers("a/b", 0, 60)
        content["event_investment_decisions"] = [answer(FED, [said("553810", 0.5, 0.1, rationale)], 0.9, FIRST_ANSWER)]
        write_json(Path(f"{name}/b_run_0/a.json"), content)
        old, new = ("--ledger", f"sqlite:///{name}.db"), ("--ledger", f"sqlite:///{name}-new.db")
        predibot("import", "predibench", name, *old)
        predibot("export", f"{name}-out", *old)
        shown = predibot("import", "ledger", f"{name}-out", *new)
        notes = [line for line in shown.out.splitlines() if " new of " not in line]
        assert notes and all(line.startswith("note: ") for line in notes)
        same = predibot("export", "--canonical", *new).out == predibot("export", "--canonical", *old).out
        assert same == (name == "plain")


def test_an_export_that_is_not_whole_or_was_changed_is_named_and_nothing_is_imported(tracked: Predibot) -> None:
    tracked("export", "out", "--format", "jsonl")
    bets = Path("out/bets.jsonl")
    whole = bets.read_text(encoding="utf-8")
    for text, message in (
        (whole.replace('"price_yes": 0.785', '"price_yes": NaN', 1), "NaN is no number"),
        (whole[:-20], "this is no JSON object"),
        ("[" * 100_000, "bets.jsonl, line 1: this is no JSON object: it is nested too deeply"),
        ('{"a": ' + "9" * 5_000 + "}", "bets.jsonl, line 1: this is no JSON object: a number has thousands of digits"),
        ("[]\n", "bets.jsonl, line 1: this is no JSON object"),
        ('{"run": 1, "run": 2}\n', "bets.jsonl, line 1: this is no JSON object: it says 'run' twice"),
    ):
        bets.write_text(text, encoding="utf-8")
        shown = tracked("import", "ledger", "out", *NEW)
        assert (shown.code, shown.out) == (1, "")
        assert shown.err.splitlines()[-1].startswith("error: nothing is imported: bets.jsonl, line ")
        assert message in shown.err
    assert tracked("export", *NEW).out == ""
    bets.unlink()
    assert "out has no bets.jsonl. Export all tables" in tracked("import", "ledger", "out", *NEW).err
    # The hint names another ledger, as this one has nothing that could be exported.
    hint = "predibot export FOLDER --ledger OTHER` wrote."
    assert hint in tracked("import", "ledger", "runs", *NEW).err
    tracked("export", "canonical", "--canonical", "--format", "jsonl")
    assert "canonical has no events.jsonl, markets.jsonl" in tracked("import", "ledger", "canonical", *NEW).err
    nowhere = tracked("import", "ledger", "nowhere", *NEW).err
    assert "nowhere cannot be read" in nowhere and hint in nowhere


def alone(*arguments: str, said: str) -> None:
    """Check that an import is refused in a sentence, in bounded memory."""
    ended = predibot_alone(Path.cwd(), "import", *arguments)
    refused(ended, said)
    assert ended.resident_bytes < MOST_RESIDENT_BYTES


def refused(ended: Said | Ended, said: str) -> None:
    """Check that an import was refused in a sentence."""
    *_, last = ended.err.splitlines()
    assert (ended.code, ended.out) == (1, "")
    assert last.startswith("error: nothing is imported") and said in last
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (lambda: b"[" + b"{}," * 5_600_000 + b"{}]", "events.json cannot be read: it has more than 16,777,216 bytes"),
        (lambda: b"[" + b"{}," * 3_000_000 + b"{}]", "events.json holds more than 3,000,000 values"),
        (lambda: b"[" + b'{"":0},' * 990_000 + b"{}]", "events.json, event 1: id: Field required"),
        (
            lambda: b'["' + b"x" * 16_000_000 + WIDE + b'"]',
            "events.json, event 1: it is no object",
        ),
        (
            lambda: b'[{"id":1,"title":"t","markets":[' + b"{}," * 4_999 + b"{}]}]",
            "event 1: markets.0.id: Field required",
        ),
    ],
)
def test_a_file_of_predibench_does_not_fill_the_memory(
    predibot: Predibot, content: Callable[[], bytes], said: str
) -> None:
    Path("day").mkdir()
    Path("day/events.json").write_bytes(content())
    alone("predibench", "day", said=said)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (lambda: b'{"table":"runs","x":[' + b"{}," * 11_200_000 + b"{}]}", "line 1: it is longer than 32 MiB"),
        (
            lambda: b'{"table":"runs","x":[' + b"{}," * 1_000_000 + b"{}]}",
            "line 1: it holds more than 1,000,000 values",
        ),
        (lambda: b'{"table":"runs"' + b"".join(b',"%x":0' % n for n in range(499_000)) + b"}", "line 1: it has no run"),
        (
            lambda: b'{"table":"runs","x":"' + b"x" * 33_000_000 + WIDE + b'"}',
            "line 1: it has no run",
        ),
    ],
)
def test_a_line_of_an_export_does_not_fill_the_memory(
    predibot: Predibot, content: Callable[[], bytes], said: str
) -> None:
    Path("all.jsonl").write_bytes(content())
    alone("ledger", "all.jsonl", said=said)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (lambda: b"," * 33_600_000, "runs.csv, line 1: it is longer than 32 MiB"),
        (lambda: b"," * 2_000_000, "runs.csv, line 1: it holds more than 1,000,000 values"),
        (lambda: b'"' + (b"x" * 1_000_000 + b"\n") * 34, "runs.csv, line 34: a row is longer than 32 MiB"),
    ],
)
def test_a_row_of_csv_does_not_fill_the_memory(in_exports: None, content: Callable[[], bytes], said: str) -> None:
    Path("csv/runs.csv").write_bytes(content())
    alone("ledger", "csv", *NEW, said=said)


def frozen(**changes: Any) -> Callable[[dict[str, Any]], None]:
    """Return a change of the event that a run froze."""

    def change(row: dict[str, Any]) -> None:
        row["event_json"] = json.dumps({**json.loads(row["event_json"]), **changes})

    return change


def cells(**changes: Any) -> Callable[[dict[str, Any]], None]:
    """Return a change of cells."""
    return lambda row: row.update(changes)


@pytest.mark.parametrize(
    ("table", "change", "said"),
    [
        ("runs", cells(passed_over_json="[" + "1," * 499_000 + "1]"), "passed_over_json: Input should be an object"),
        ("run_events", frozen(markets=[{}] * 480_000), "it holds more than 250,000 values"),
        ("run_events", frozen(markets=[{}] * 30_000), "event_json is no event: "),
        ("runs", cells(slot_at="9999-12-31T23:59:59Z"), "slot_at is '9999-12-31T23:59:59Z': it must be in the years"),
        ("decisions", cells(decided_at="0001-01-01T00:00:00Z"), "it must be in the years 1970 to 2999"),
        ("decisions", cells(cost_usd=1e300), "cost_usd is 1e+300: it must be at most 1,000,000,000"),
        ("fills", cells(cash_usd=-1e300, shares=1e300), "shares is 1e+300: it must be at most 1,000,000,000,000,000"),
        ("fills", cells(cash_usd=-7.0), "cash_usd is -7, not what is paid for "),
        ("fills", cells(cash_usd=0.0, shares=1e-9), "dollars and its fills to "),
        ("bets", cells(asked_usd=1e300), "not asked_usd 1e+300 times the scale 1"),
    ],
)
def test_an_export_with_a_row_that_cannot_be_is_one_sentence(
    in_exports: None, table: str, change: Callable[[dict[str, Any]], None], said: str
) -> None:
    file = Path(f"jsonl/{table}.jsonl")
    first, *others = file.read_text(encoding="utf-8").splitlines(keepends=True)
    row = json.loads(first)
    change(row)
    file.write_text("".join([json.dumps(row) + "\n", *others]), encoding="utf-8")
    if file.stat().st_size > 1_000_000:
        alone("ledger", "jsonl", *NEW, said=said)
    else:
        refused(said_here("import", "ledger", "jsonl", *NEW), said)


def test_prices_and_dates_of_another_age_are_one_sentence_and_an_end_of_another_age_is_not_known(
    predibot: Predibot,
) -> None:
    for year in ("0001", "9999"):
        listed = deepcopy(events())
        listed[1]["end_datetime"] = f"{year}-12-31T23:59:59"
        write_json(Path(f"end{year}/events.json"), listed)
        listed[1]["markets"][0]["prices"]["index"][-1 if year == "9999" else 0] = f"{year}-12-31T23:59:59+00:00"
        write_json(Path(f"price{year}/events.json"), listed)
        write_json(Path(f"date{year}/events.json"), events())
        for kind, changes in (("end", {}), ("price", {}), ("date", {"target_date": f"{year}-01-01"})):
            write_json(Path(f"{kind}{year}/a_run_0/a.json"), {**answers("a", 0, 60), **changes})
        assert predibot("import", "predibench", f"end{year}", "--ledger", f"sqlite:///{year}.db").code == 0
        for kind, day in (("price", f"{year}-12-31"), ("date", f"{year}-01-01")):
            shown = predibot("import", "predibench", f"{kind}{year}")
            assert (shown.code, shown.out, shown.err.count("\n")) == (1, "", 1)
            assert f"{day} is not in the years 2000 to 2999" in shown.err
