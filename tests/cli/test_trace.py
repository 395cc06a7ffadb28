"""`predibot trace`: how an agent came to a decision, and what all of them used."""

import hashlib
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.acceptance.conftest import Predibot, said_here
from tests.cli.conftest import WORLD
from tests.soaks import few
from tests.worlds import Worlds

AGENT = """
venue = "sandbox:events=20"
[selection]
events = 1
[[bots]]
name = "sharp"
strategy = "tool_agent"
model = "sandbox/sharp"
"""


def one_agent() -> None:
    """Let one agent decide."""
    Path("agent.toml").write_text(AGENT)
    assert said_here("decide", "agent.toml").code == 0


@pytest.fixture
def agent(predibot: Predibot, tmp_path: Path, worlds: Worlds) -> Predibot:
    """Return the program in a folder whose ledger has one agent's decision."""
    worlds.copy(one_agent, tmp_path)
    return predibot


def _name(program: Predibot) -> str:
    row = json.loads(program("export", "--table", "decisions").out)
    return f"{row['run']}/{row['bot']}/{row['subject_id']}"


def test_a_decision_is_found_by_name_and_by_the_beginning_of_its_hash(agent: Predibot) -> None:
    by_name = agent("trace", _name(agent), "--json").document
    digest = by_name["decision"]["trace_sha256"]
    assert agent("trace", digest[:6], "--json").document == by_name
    assert agent("trace", digest.upper(), "--json").document == by_name
    assert agent("trace", "sharp", "--json").document == by_name, "of a bot the latest"
    shown = agent("trace", "sharp").out.splitlines()
    assert shown[1] == by_name["decision"]["title"] != ""
    assert all(line.startswith("  forecast 0.") and ", price 0." in line for line in shown[2:3])
    assert len(by_name["forecasts"]) >= 1 and shown[2].endswith("?")
    assert [step["step"] for step in by_name["steps"]] == list(range(1, len(by_name["steps"]) + 1))


def test_the_latest_decisions_are_listed_by_numbers_that_show_them(agent: Predibot) -> None:
    (latest,) = agent("trace", "--json").document["decisions"]
    number = str(latest["number"])
    assert f"{latest['run']}/{latest['bot']}/{latest['event_id']}" == _name(agent)
    assert agent("trace", number, "--json").document == agent("trace", _name(agent), "--json").document
    assert f"`predibot trace {number}` shows" in agent("trace").out
    refused = agent("trace", "99")
    assert refused.code == 1 and "error: there is no decision 99 in this ledger; one that failed" in refused.err
    assert not latest["void"]
    assert agent("runs", "void", latest["run"], "--reason", "a slip").code == 0
    assert "recorded, of a void run" in agent("trace").out


def test_every_step_is_shown_and_long_texts_only_where_they_are_asked_for(agent: Predibot) -> None:
    short, full = agent("trace", _name(agent)).out, agent("trace", _name(agent), "--full").out
    assert "1. model sandbox/sharp" in short
    assert "tool web_search" in short
    assert "tool final_answer" in short
    assert len(full) > 2 * len(short)


def test_costs_are_summed_by_bot_and_step(agent: Predibot) -> None:
    rows = agent("trace", "--cost", "--json").document["used"]
    steps = agent("trace", _name(agent), "--json").document["steps"]
    whole = rows[-1]
    assert (whole["bot"], whole["kind"], whole["steps"]) == ("sharp", "all", len(steps))
    assert whole["input_tokens"] == sum(step["usage"]["input_tokens"] for step in steps if step["kind"] == "model")
    assert whole["steps"] == sum(row["steps"] for row in rows[:-1])
    assert "tokens in" in agent("trace", "--cost").out


def test_traces_are_found_from_another_folder(agent: Predibot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, steps = _name(agent), agent("trace", "--cost", "--json").document
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    ledger = ("--ledger", f"sqlite:///{tmp_path}/runs/out/predibot.db")
    assert agent("trace", name, *ledger).code == 0
    assert agent("trace", "--cost", "--json", *ledger).document == steps
    assert "1 of 1 decisions" in agent("decide", "--rerun-traces", name.rsplit("/", 2)[0], *ledger).out


def test_a_trace_that_is_gone_is_named_and_left_out_of_the_sums(agent: Predibot, tmp_path: Path) -> None:
    next((tmp_path / "runs/out/predibot.db.files/traces").rglob("*.jsonl")).unlink()
    assert "there is no trace" in agent("trace", _name(agent)).err
    assert "left out: there is no trace" in agent("trace", "--cost").out


def test_a_bot_without_a_model_has_no_trace(decided: Predibot) -> None:
    event = decided("decide", "--venue", WORLD, "--events", "3", "--json").document["selected"][0]["event_id"]
    run = decided("runs", "--json").document["runs"][0]["key"]
    assert "has no trace" in decided("trace", f"{run}/market_price/{event}").err


FORGED = {
    "no JSON": b"not json\n",
    "no kind": b"{}\n",
    "no usage": b'{"kind": "model", "step": 1}\n',
    "no object": b"[1]\n",
    "too deep": b"[" * 200_000 + b"\n",
    "no text": b"\xff\xfe\n",
    "wrong types": b'{"kind": "model", "step": 1, "cost": 3, "usage": 4}\n',
    "a step of another maker": b'{"kind": "search", "cost_usd": null}\n',
}


@pytest.mark.parametrize("content", few(FORGED.values(), *[*FORGED.values()][1::2]), ids=FORGED)
def test_a_forged_trace_with_the_hash_of_its_content_is_told_of(
    agent: Predibot, tmp_path: Path, content: bytes
) -> None:
    (kept,) = (tmp_path / "runs/out/predibot.db.files/traces").rglob("*.jsonl")
    digest = hashlib.sha256(content).hexdigest()
    forged = kept.parents[1] / digest[:2] / f"{digest}.jsonl"
    forged.parent.mkdir(exist_ok=True)
    forged.write_bytes(content)
    _name_trace(tmp_path, digest)
    summed, shown = agent("trace", "--cost"), agent("trace", _name(agent))
    assert agent("verify", "--rows").code in (0, 1)
    if b"search" in content:
        assert (summed.code, shown.code) == (0, 0)
        assert "no step that predibot wrote" in shown.out
    else:
        assert "holds other things than steps" in summed.out
        assert (shown.code, shown.err.count("holds other things than steps")) == (1, 1)


def test_a_pipe_in_place_of_a_trace_is_not_waited_for_and_no_path_is_a_hash(agent: Predibot, tmp_path: Path) -> None:
    (kept,) = (tmp_path / "runs/out/predibot.db.files/traces").rglob("*.jsonl")
    kept.unlink()
    os.mkfifo(kept)
    assert "there is no trace" in agent("trace", "--cost").out
    _name_trace(tmp_path, "../../../secret")
    assert "is no SHA-256 of a trace" in agent("trace", "--cost").out


def _name_trace(folder: Path, digest: str) -> None:
    with closing(sqlite3.connect(folder / "runs/out/predibot.db")) as ledger, ledger:
        ledger.execute("PRAGMA ignore_check_constraints = ON")
        ledger.execute("UPDATE decisions SET trace_sha256 = ?", [digest])
