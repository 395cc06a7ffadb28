"""`decide --rerun-traces`: the recorded answers lead to the stored decisions, and to nothing else."""

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from predibot.agents.loop.run_agent import load_smolagents
from tests.acceptance.conftest import Predibot, said_here
from tests.soaks import few
from tests.worlds import Worlds

AGENTS = """
venue = "sandbox:events=20"
{limits}
[selection]
events = 1
[[bots]]
strategy = "random_bet"
[[bots]]
name = "sharp"
strategy = "tool_agent"
model = "sandbox/sharp"
[[bots]]
name = "broken"
strategy = "tool_agent"
model = "sandbox/broken"
[[bots]]
name = "lazy"
strategy = "one_shot"
model = "sandbox/lazy"
[[bots]]
name = "samples"
strategy = "ensemble"
model = "sandbox/noisy"
samples = 3
[[bots]]
name = "crowd"
strategy = "ensemble"
members = ["sharp", "lazy"]
"""

OF_RUN = "[limits.run]\nsteps = 9"


def _decided(program: Predibot, folder: Path, recipe: str) -> str:
    (folder / "agents.toml").write_text(recipe)
    document = program("decide", "agents.toml", "--json").document
    return str(document["run"]["key"])


def all_agents() -> None:
    """Let agents, an ensemble and a baseline decide."""
    _decided(said_here, Path(), AGENTS.format(limits=""))


@pytest.fixture
def run(predibot: Predibot, tmp_path: Path, worlds: Worlds) -> str:
    """Return the key of a run of agents that met no limit, in a folder of its own."""
    worlds.copy(all_agents, tmp_path)
    (found,) = predibot("runs", "--json").document["runs"]
    return str(found["key"])


@pytest.mark.parametrize(
    "limits",
    few(
        ["", *(f"[limits.decision]\n{each}" for each in ("steps = 3", "searches = 1", "tokens = 30000")), OF_RUN],
        "[limits.decision]\nsearches = 1",
        OF_RUN,
    ),
)
def test_a_run_comes_out_the_same_whatever_limit_it_met(predibot: Predibot, tmp_path: Path, limits: str) -> None:
    run = _decided(predibot, tmp_path, AGENTS.format(limits=limits))
    said = predibot("decide", "--rerun-traces", run, "--json")
    assert [row for row in said.document["decisions"] if not row["equal"]] == []
    assert (said.code, len(said.document["decisions"])) == (0, 6)


@pytest.mark.parametrize("limits", few(["[limits.decision]\nsteps = 3\nsearches = 1", OF_RUN], OF_RUN))
def test_a_run_with_traces_of_before_steps_were_types_comes_out_the_same(
    predibot: Predibot, tmp_path: Path, limits: str
) -> None:
    run = _decided(predibot, tmp_path, AGENTS.format(limits=limits))
    assert _write_as_before_types(tmp_path / "runs/out/predibot.db") > 0
    # By the name the option had then.
    said = predibot("decide", "--replay-traces", run, "--json")
    assert [row for row in said.document["decisions"] if not row["equal"]] == []
    assert (said.code, len(said.document["decisions"])) == (0, 6)
    assert predibot("trace", "--cost", "--json").document["missing"] == []


def _write_as_before_types(ledger: Path) -> int:
    """Take out of traces what none had before: calls that a limit stood in the way of, and the words of errors."""
    changed = 0
    with closing(sqlite3.connect(ledger)) as connection, connection:
        for (digest,) in connection.execute("SELECT trace_sha256 FROM decisions WHERE trace_sha256 > ''").fetchall():
            kept = Path(f"{ledger}.files/traces/{digest[:2]}/{digest}.jsonl")
            rows = [json.loads(line) for line in kept.read_text("utf-8").split("\n")[:-1]]
            older = [
                {name: value for name, value in row.items() if name != "said"}
                for row in rows
                if row["kind"] != "model_not_asked"
            ]
            changed += older != rows
            content = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in older).encode()
            name = hashlib.sha256(content).hexdigest() if older else None
            kept.unlink()
            if name is not None:
                file = kept.parents[1] / name[:2] / f"{name}.jsonl"
                file.parent.mkdir(exist_ok=True)
                file.write_bytes(content)
            connection.execute("UPDATE decisions SET trace_sha256 = ? WHERE trace_sha256 = ?", [name, digest])
    return changed


def test_a_strategy_that_is_not_there_any_more_is_named(predibot: Predibot, tmp_path: Path, run: str) -> None:
    with closing(sqlite3.connect(tmp_path / "runs/out/predibot.db")) as ledger, ledger:
        changed = ledger.execute("UPDATE runs SET recipe_json = replace(recipe_json, '\"one_shot\"', '\"gone\"')")
        assert changed.rowcount == 1
    said = predibot("decide", "--rerun-traces", run, "--json")
    lacking = {row["bot"]: row["difference"] for row in said.document["decisions"] if row["bot"] in ("lazy", "samples")}
    assert lacking["lazy"].startswith("no strategy 'gone'")
    assert (said.code, lacking["samples"]) == (1, "")


def test_a_decision_that_ended_at_its_deadline_comes_out_the_same(
    predibot: Predibot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Loaded first, so that it takes none of the deadline. Of the six seconds five are kept for
    # storing the decision, and a single search takes more than the one that is left.
    load_smolagents()
    monkeypatch.setenv("PREDIBOT_DECISION_DEADLINE_SECONDS", "6")
    slow = AGENTS.format(limits="").replace("events=20", "events=20,fault=slow,path=/search,seconds=1.1")
    run = _decided(predibot, tmp_path, slow)
    stored = predibot("export", "--table", "decisions").out
    assert "no answer within 1 seconds" in stored
    said = predibot("decide", "--rerun-traces", run, "--json")
    assert [row for row in said.document["decisions"] if not row["equal"]] == []


def test_a_stored_decision_that_does_not_follow_from_its_trace_is_found(
    predibot: Predibot, tmp_path: Path, run: str
) -> None:
    with closing(sqlite3.connect(tmp_path / "runs/out/predibot.db")) as ledger, ledger:
        ledger.execute(
            "UPDATE forecasts SET probability = 0.123 WHERE decision_id = (SELECT d.id FROM decisions d "
            "JOIN bots b ON b.id = d.bot_id WHERE b.name = 'sharp' ORDER BY d.id LIMIT 1)"
        )
    said = predibot("decide", "--rerun-traces", run, "--json")
    assert said.code == 1
    assert [(row["bot"], row["difference"]) for row in said.document["decisions"] if not row["equal"]] == [
        ("sharp", "not the same: forecasts")
    ]


def test_a_trace_that_was_changed_is_refused(predibot: Predibot, tmp_path: Path, run: str) -> None:
    trace = next((tmp_path / "runs/out/predibot.db.files/traces").rglob("*.jsonl"))
    trace.write_text(trace.read_text() + json.dumps({"step": 99, "kind": "tool"}) + "\n")
    assert "was changed since" in predibot("decide", "--rerun-traces", run).err


def test_the_ledger_stays_as_it_is(predibot: Predibot, tmp_path: Path, run: str) -> None:
    before = predibot("export", "--canonical").out
    assert "6 of 6 decisions are the same again" in predibot("decide", "--rerun-traces", run).out
    assert predibot("export", "--canonical").out == before
