"""What a test costs: CPU seconds of its own process and of its children, set-up included.

A fixture that several tests share is paid by the test that asks for it first.
`pytest --costs FILE` writes one line a test, the dearest first: CPU seconds, by how many MB the most that its process
ever held has grown, and its name.
"""

import os
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.forked import ENDED


def _cpu_seconds() -> float:
    times = os.times()
    forked = sum(each.cpu_seconds for each in ENDED)
    return times.user + times.system + times.children_user + times.children_system + forked


def _memory_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


class Costs:
    """Measures each test where it runs, and collects what workers report."""

    def __init__(self) -> None:
        self.began: float = 0.0
        self.cpu_seconds: dict[str, float] = {}
        self.grown_mb: dict[str, int] = {}
        self.memory_mb: dict[str, int] = {}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Iterator[None]:
        self.began = _cpu_seconds()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Iterator[None]:
        report: Any = yield
        if call.when == "teardown":
            # Plain attributes of a report travel from a worker to the one who prints.
            report.cpu_seconds = _cpu_seconds() - self.began
            report.memory_mb = _memory_mb()
        return report

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "teardown" and hasattr(report, "cpu_seconds"):
            self.cpu_seconds[report.nodeid] = report.cpu_seconds
            worker = getattr(report, "worker_id", "alone")
            self.grown_mb[report.nodeid] = report.memory_mb - self.memory_mb.get(worker, 0)
            self.memory_mb[worker] = report.memory_mb

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
        file = config.getoption("costs")
        if file is None or hasattr(config, "workerinput"):
            return
        dearest = sorted(self.cpu_seconds.items(), key=lambda entry: -entry[1])
        Path(file).write_text("".join(f"{seconds:.3f}\t{self.grown_mb[test]}\t{test}\n" for test, seconds in dearest))
        total = sum(self.cpu_seconds.values())
        memory = ", ".join(f"{worker} {mb} MB" for worker, mb in sorted(self.memory_mb.items()))
        terminalreporter.write_line(f"{total:.0f} CPU s in {len(dearest)} tests, written to {file}; {memory}")
