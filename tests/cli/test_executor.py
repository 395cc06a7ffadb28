"""`--executor`: who does the work changes nothing of what is decided."""

import json
from pathlib import Path

import pytest

from tests.acceptance.conftest import Predibot
from tests.cli.alone import predibot_alone
from tests.soaks import SOAK

AGENT = """
venue = "sandbox:events=20"
[limits.run]
steps = 500
[selection]
events = 2
[[bots]]
strategy = "random_bet"
[[bots]]
name = "sharp"
strategy = "tool_agent"
model = "sandbox/sharp"
[[bots]]
name = "crowd"
strategy = "ensemble"
members = ["sharp", "random_bet"]
[[bots]]
name = "careful"
strategy = "calibrated"
bot = "crowd"
"""


@SOAK
def test_processes_decide_in_a_replay_what_threads_decide(predibot: Predibot, tmp_path: Path) -> None:
    (tmp_path / "agent.toml").write_text(AGENT)
    exports = []
    for executor in ("threads:4", "processes:2"):
        ledger = f"sqlite:///{executor.partition(':')[0]}.db"
        at = "2026-01-05T12:00Z"
        call = ("decide",) if executor == "threads:4" else ("replay", "--from", at, "--to", at)
        said = predibot_alone(tmp_path, *call, "agent.toml", "--executor", executor, "--ledger", ledger, "--json")
        assert said.code == 0, said.err
        rows = map(json.loads, predibot("export", "--canonical", "--ledger", ledger).out.splitlines())
        exports.append([row for row in rows if row["table"] not in ("observations", "resolutions")])
    assert exports[0] == exports[1]
    assert len(exports[0]) > 20


def test_steps_are_told_as_lines_where_there_is_no_terminal(predibot: Predibot, tmp_path: Path) -> None:
    (tmp_path / "agent.toml").write_text(AGENT)
    said = predibot("decide", "agent.toml", "--bots", "sharp", "-v")
    assert "step 1, thinks" in said.err
    assert "called final_answer" in said.err


CHATTY = '''"""A strategy that prints."""
from dataclasses import dataclass
from predibot.domain.decision import Abstention


@dataclass(frozen=True)
class Chatty:
    """Print, and abstain."""

    def decide(self, context):
        """Print, and abstain."""
        print("is it on?", flush=True)
        return Abstention("nothing to say")
'''


@pytest.mark.parametrize("executor", ["threads:2", "processes:1"])
def test_what_a_strategy_prints_leaves_the_document_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executor: str
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/chatty.py").write_text(CHATTY)
    monkeypatch.setenv("PREDIBOT_STRATEGIES", str(tmp_path / "mine"))
    asked = ("decide", "--venue", "sandbox:events=20", "--events", "2", "--bots", "chatty", "--executor", executor)
    done = predibot_alone(tmp_path, *asked, "--json")
    assert json.loads(done.out)["totals"]["abstained"] == 2
    assert done.err.count("is it on?") == 2
