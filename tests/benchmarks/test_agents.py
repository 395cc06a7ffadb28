"""Measures agents that wait for their models: 64 at once, in threads and in two processes; prints and never judges."""

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
AGENTS = 64
THINKING_SECONDS = 1.0
RECIPE = """
[selection]
events = {events}
min_volume_24h_usd = 0
ends_within_days = 400
exclude = []
max_markets = 1
[[bots]]
strategy = "tool_agent"
model = "sandbox/sharp"
"""


def decide(folder: Path, *, events: int, thinking_seconds: float, executor: str) -> tuple[float, float]:
    """Decide with so many agents in a process of its own, and return its wall and CPU seconds."""
    (folder / "agents.toml").write_text(RECIPE.format(events=events))
    venue = f"sandbox:events=200,thinking_seconds={thinking_seconds:g}"
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    command = [sys.executable, "-m", "predibot", "decide", "agents.toml", "--venue", venue, "--executor", executor]
    subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return time.monotonic() - began, cpu_seconds


def calls(folder: Path) -> list[int]:
    """Return how often each agent asked its model."""
    traces = (path.read_text().splitlines() for path in (folder / "runs" / "out" / "traces").rglob("*.jsonl"))
    return [sum(json.loads(line)["kind"] == "model" for line in lines) for lines in traces]


@pytest.mark.benchmark
@pytest.mark.parametrize(("executor", "aim"), [(f"threads:{AGENTS}", 1.5), ("processes:2", 1.25)])
def test_how_long_64_agents_take_that_mostly_wait(tmp_path: Path, executor: str, aim: float) -> None:
    wall, cpu = decide(tmp_path, events=AGENTS, thinking_seconds=THINKING_SECONDS, executor=executor)
    made = calls(tmp_path)
    critical = max(made) * THINKING_SECONDS
    print(
        f"\n{len(made)} agents, {sum(made)} calls of {THINKING_SECONDS:g} s, {executor}: {wall:.1f} s with start-up, "
        f"{wall / critical:.2f} times the critical path of {critical:.0f} s (aim {aim}), "
        f"CPU {1000 * cpu / sum(made):.0f} ms a call"
    )


@pytest.mark.benchmark
def test_how_long_a_first_decision_takes_from_a_cold_start(tmp_path: Path) -> None:
    wall, cpu = decide(tmp_path, events=1, thinking_seconds=0.0, executor="threads:1")
    print(f"\none agent from a cold start: {wall:.1f} s, CPU {cpu:.1f} s, {calls(tmp_path)[0]} calls of its model")
