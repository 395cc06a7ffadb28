"""The walk of one decision in CONTRIBUTING.md: what it names is gone through, and in that order."""

import inspect
import re
import sys
import threading
from pathlib import Path
from types import FrameType

import pytest

from tests.acceptance.conftest import done_here
from tests.packaging.conftest import REPOSITORY

WALK = REPOSITORY.joinpath("CONTRIBUTING.md").read_text("utf-8").partition("### The walk of one decision")[2]
STEPS = [
    re.findall(r"`(predibot/[\w/]*(?:/|\.py))`", line)
    for line in WALK.partition("\n### ")[0].splitlines()
    if line[:1].isdigit()
]
OTHER_EXECUTORS = {"predibot/jobs/workers/process_pool.py", "predibot/jobs/workers/dask_pool.py"}
RECIPE = """
game = "dollar_per_event"
venue = "sandbox:events=4"
every = "1d"
[selection]
events = 1
[limits.run]
usd = 5.0
[[bots]]
strategy = "tool_agent"
model = "sandbox/sharp"
"""


class Walker:
    """Which files are called, and how many steps were taken in their order."""

    def __init__(self) -> None:
        """Stand before the first step."""
        self.files: set[str] = set()
        self.steps = 0

    def note(self, frame: FrameType, _event: str, _: object) -> None:
        """Take a call in, and no line of it; that of a module or class is an import."""
        if not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            return
        name = frame.f_code.co_filename.removeprefix(f"{REPOSITORY}/")
        self.files.add(name)
        if self.steps < len(STEPS) and name.startswith(tuple(STEPS[self.steps])):
            self.steps += 1


def test_the_walk_names_what_a_decision_goes_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("walk.toml").write_text(RECIPE, encoding="utf-8")
    walker = Walker()
    threading.settrace(walker.note)
    sys.settrace(walker.note)
    try:
        done_here("decide", "walk.toml", "--as-of", "2026-01-06T12:00Z")
        done_here("track", "--as-of", "2026-01-20T12:00Z")
        done_here("evaluate")
    finally:
        sys.settrace(None)
        threading.settrace(None)
    missed = {name for step in STEPS for name in step if not any(file.startswith(name) for file in walker.files)}
    assert missed <= OTHER_EXECUTORS
    assert walker.steps == len(STEPS) == 9
