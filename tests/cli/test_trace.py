"""`predibot trace`: how an agent came to a decision, and what all of them used."""

import json
from pathlib import Path

import pytest

from tests.acceptance.conftest import Predibot
from tests.cli.conftest import WORLD

AGENT = """
venue = "sandbox:events=20"
[selection]
events = 1
[[bots]]
name = "sharp"
strategy = "tool_agent"
model = "sandbox/sharp"
"""


@pytest.fixture
def agent(predibot: Predibot, tmp_path: Path) -> Predibot:
    """Return the program in a folder whose ledger has one agent's decision."""
    (tmp_path / "agent.toml").write_text(AGENT)
    assert predibot("decide", "agent.toml").code == 0
    return predibot


def _name(program: Predibot) -> str:
    row = json.loads(program("export", "--table", "decisions").out)
    return f"{row['run']}/{row['bot']}/{row['subject_id']}"


def test_a_decision_is_found_by_name_and_by_the_beginning_of_its_hash(agent: Predibot) -> None:
    by_name = agent("trace", _name(agent), "--json").document
    digest = by_name["decision"]["trace_sha256"]
    assert agent("trace", digest[:6], "--json").document == by_name
    assert agent("trace", digest.upper(), "--json").document == by_name
    assert [step["step"] for step in by_name["steps"]] == list(range(1, len(by_name["steps"]) + 1))


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
    assert "1 of 1 decisions" in agent("decide", "--replay-traces", name.rsplit("/", 2)[0], *ledger).out


def test_a_trace_that_is_gone_is_named_and_left_out_of_the_sums(agent: Predibot, tmp_path: Path) -> None:
    next((tmp_path / "runs/out/predibot.db.files/traces").rglob("*.jsonl")).unlink()
    assert "there is no trace" in agent("trace", _name(agent)).err
    assert "left out: there is no trace" in agent("trace", "--cost").out


@pytest.mark.parametrize(
    ("asked", "message"),
    [("nonsense", "names no decision"), ("a/b/c", "there is no decision"), ("abcdef", "no decision of this ledger")],
)
def test_what_is_not_there_is_said(decided: Predibot, asked: str, message: str) -> None:
    said = decided("trace", asked)
    assert said.code == 1
    assert message in said.err


def test_a_bot_without_a_model_has_no_trace(decided: Predibot) -> None:
    event = decided("decide", "--venue", WORLD, "--events", "3", "--json").document["selected"][0]["event_id"]
    run = decided("runs", "--json").document["runs"][0]["key"]
    assert "has no trace" in decided("trace", f"{run}/market_price/{event}").err


@pytest.mark.parametrize("arguments", [(), ("abcdef", "--cost")])
def test_one_decision_or_the_cost_of_all_is_asked_for(predibot: Predibot, arguments: tuple[str, ...]) -> None:
    assert predibot("trace", *arguments).code == 2
