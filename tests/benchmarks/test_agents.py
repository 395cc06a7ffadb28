"""Measures agents: many that wait for their models, what a step costs, what is sent; prints and never judges."""

import importlib.util
import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import pytest

from tests.agents.loop.planted_pages import read_ten_pages
from tests.agents.loop.test_tool_loop import request_text, run, ten_visits, with_long_pages

pytestmark = pytest.mark.benchmark

ROOT = Path(__file__).parents[2]
# Modules are compiled once, as where a user installed them; some machines that test are told not to.
AS_INSTALLED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | {
    "PYTHONPATH": str(ROOT)
}
AGENTS = 64
TIMES = 5
CALLS = 6
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
max_steps = {calls}
"""


@dataclass(frozen=True)
class Measured:
    """What one run of the program took, children and all."""

    wall_seconds: float
    """From the start of the interpreter to its end."""
    decide_seconds: float
    """Without start-up: from the first claim to the last decision."""
    cpu_seconds: float
    peak_mb: float
    """Of the program itself, without children."""


def decide(folder: Path, *, events: int, thinking_seconds: float, executor: str, workers: int = 8) -> Measured:
    """Decide with so many agents in a process of its own."""
    folder.mkdir(exist_ok=True)
    with sandbox(f"events=200,thinking_seconds={thinking_seconds:g}") as venue:
        return decided(folder, venue, events=events, executor=executor, workers=workers)


@contextmanager
def sandbox(options: str) -> Iterator[str]:
    """Start a sandbox of its own, whose time is not the program's, and yield the venue that asks it."""
    command = [sys.executable, "-m", "predibot.sandbox.server.apart", options]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=AS_INSTALLED, text=True, **pipes) as server:
        assert server.stdin is not None and server.stdout is not None
        yield f"sandbox:{options},port={server.stdout.readline().strip()}"
        server.stdin.close()


def decided(folder: Path, venue: str, *, events: int, executor: str, workers: int) -> Measured:
    """Decide on a venue with so many agents."""
    (folder / "agents.toml").write_text(RECIPE.format(events=events, calls=CALLS))
    command = [sys.executable, "-m", "predibot", "decide", "agents.toml", "--venue", venue, "--executor", executor]
    environment = {**AS_INSTALLED, "PREDIBOT_WORKERS": str(workers)}
    began = time.monotonic()
    with (folder / "said.txt").open("wb") as said:
        child = subprocess.Popen(command, cwd=folder, env=environment, stdout=said, stderr=said)
        # Unlike `wait`, it tells what the child used.
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, (folder / "said.txt").read_text()
    with closing(sqlite3.connect(folder / "runs" / "out" / "predibot.db")) as ledger:
        first, last = ledger.execute("SELECT min(started_at), max(ended_at) FROM attempts").fetchone()
    kilobytes = used.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
    return Measured(time.monotonic() - began, (last - first) / 1e6, used.ru_utime + used.ru_stime, kilobytes / 1024)


def steps(folder: Path) -> list[tuple[int, int]]:
    """Return how often each agent asked its model, and how often it called a tool."""
    traces = (
        path.read_text().splitlines()
        for path in (folder / "runs" / "out" / "predibot.db.files" / "traces").rglob("*.jsonl")
    )
    kinds = [[json.loads(line)["kind"] for line in lines] for lines in traces]
    return [(each.count("model"), each.count("tool")) for each in kinds if "model" in each]


@pytest.mark.parametrize(
    ("executor", "workers", "aim"),
    [(f"threads:{AGENTS}", AGENTS, 1.6), ("processes:2", AGENTS // 2, 1.35), ("dask:local:2", AGENTS // 2, 1.35)],
)
def test_how_long_64_agents_take_that_mostly_wait(tmp_path: Path, executor: str, workers: int, aim: float) -> None:
    runs = []
    for number in range(TIMES):
        folder = tmp_path / str(number)
        runs.append(
            decide(folder, events=AGENTS, thinking_seconds=THINKING_SECONDS, executor=executor, workers=workers)
        )
    made = steps(tmp_path / "0")
    critical = max(asked for asked, _ in made) * THINKING_SECONDS
    times = sorted(seen.decide_seconds / critical for seen in runs)
    print(
        f"\n{len(made)} agents, {sum(asked for asked, _ in made)} calls of {THINKING_SECONDS:g} s, {executor}: "
        f"{median(times):.2f} times the critical path of {critical:.0f} s, the median of {TIMES} from {times[0]:.2f} "
        f"to {times[-1]:.2f} (aim {aim}); {median(seen.wall_seconds for seen in runs):.1f} s with start-up; on "
        f"{os.cpu_count()} cores with a load of {os.getloadavg()[0]:.1f}"
    )


def test_what_a_step_and_a_waiting_agent_cost(tmp_path: Path) -> None:
    one = decide(tmp_path / "one", events=1, thinking_seconds=0.2, executor="threads:1")
    many = decide(tmp_path / "many", events=AGENTS + 1, thinking_seconds=0.2, executor=f"threads:{AGENTS + 1}")
    # The program's own: the sandbox is another process.
    more = sum(map(sum, steps(tmp_path / "many"))) - sum(map(sum, steps(tmp_path / "one")))
    cpu_ms = 1000 * (many.cpu_seconds - one.cpu_seconds) / more
    print(
        f"\nCPU {cpu_ms:.1f} ms a step (a call of the model or of a tool), of the program without the sandbox (aim 8); "
        f"memory {(many.peak_mb - one.peak_mb) / AGENTS:.2f} MB an agent (aim 1), {one.peak_mb:.0f} MB with one"
    )


def test_how_long_the_first_call_of_a_model_takes_from_a_cold_start(tmp_path: Path) -> None:
    (tmp_path / "agents.toml").write_text(RECIPE.format(events=1, calls=CALLS))
    command = [sys.executable, "-m", "predibot", "decide", "agents.toml", "--venue", "sandbox:events=200", "-v"]
    began = time.monotonic()
    environment = AS_INSTALLED
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as child:
        assert child.stderr is not None
        # The first line about the agent is said when its model is asked whether it can call tools.
        first = next(time.monotonic() - began for line in child.stderr if "step 1, thinks" in line)
        child.communicate()
    whole = time.monotonic() - began
    print(f"\none agent from a cold start: {first:.1f} s to the first call of its model, {whole:.1f} s to its decision")


def test_how_much_ten_visits_send(monkeypatch: pytest.MonkeyPatch) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    litellm = importlib.util.find_spec("litellm")
    assert litellm is not None and litellm.origin is not None
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(Path(litellm.origin).parent / "litellm_core_utils" / "tokenizers"))
    encoding = tiktoken.get_encoding("cl100k_base")
    model = ten_visits()
    run(model, with_long_pages(), steps=14)
    sent = [len(encoding.encode(request_text(request))) for request in model.requests]
    print(f"\nten pages of 5,000 tokens in parts: {sum(sent):,} tokens sent in {len(sent)} calls (aim 60,000)")


def test_a_planted_fact_of_nearly_every_page_is_in_the_last_request() -> None:
    found = [read_ten_pages(seed) for seed in range(20)]
    facts, addresses = ([each for one in found for each in getattr(one, name)] for name in ("facts", "addresses"))
    tokens = max(one.sent_characters for one in found) / 4
    print(f"\n{sum(facts)} of {len(facts)} facts, {sum(addresses)} of {len(addresses)} addresses, {tokens:,.0f} tokens")
    assert (len(facts), all(addresses)) == (200, True)
    assert sum(facts) >= 180 and tokens < 60_000
