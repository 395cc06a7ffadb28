"""A folder of plug-ins whose files a test writes."""

import importlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

import pytest

import predibot.strategies
import predibot.studies.beliefbench.strategies
import predibot.tools


@dataclass(frozen=True, slots=True)
class Plugins:
    """A folder in which strategies and tools are looked for, and nowhere else."""

    folder: Path

    def write(self, name: str, text: str) -> None:
        (self.folder / f"{name}.py").write_text(text, encoding="utf-8")
        importlib.invalidate_caches()


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Plugins]:
    """Return an empty folder, whose plug-ins are forgotten afterwards."""
    for package in (predibot.strategies, predibot.tools):
        monkeypatch.setattr(package, "__path__", [str(tmp_path)])
    monkeypatch.setattr(predibot.studies.beliefbench.strategies, "__path__", [])
    # Where there is no folder of the names of those that are looked in.
    monkeypatch.chdir(tmp_path)
    before = _imported()
    for name in before:
        del sys.modules[name]
    yield Plugins(tmp_path)
    for name in _imported():
        del sys.modules[name]
    sys.modules.update(before)


def _imported() -> dict[str, ModuleType]:
    folders = ("predibot.strategies.", "predibot.tools.")
    return {name: module for name, module in sys.modules.items() if name.startswith(folders)}


Install: TypeAlias = Callable[[str, str], None]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Return what installs a package whose entry points are these."""

    def install(code: str, points: str) -> None:
        site = tmp_path / "site"
        about = site / "polling-1.0.dist-info"
        about.mkdir(parents=True)
        (site / "polling_for_tests.py").write_text(code, encoding="utf-8")
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: polling\nVersion: 1.0\n", encoding="utf-8")
        (about / "entry_points.txt").write_text(points, encoding="utf-8")
        monkeypatch.syspath_prepend(str(site))
        monkeypatch.delitem(sys.modules, "polling_for_tests", raising=False)

    return install
