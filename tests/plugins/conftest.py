"""A folder of plug-ins whose files a test writes."""

import importlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Protocol

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


class Install(Protocol):
    """What installs a package with this code, whose entry points are these."""

    def __call__(self, code: str, points: str, *, package: str = "polling") -> None: ...


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    def install(code: str, points: str, *, package: str = "polling") -> None:
        site = tmp_path / "site"
        about = site / f"{package}-1.0.dist-info"
        about.mkdir(parents=True)
        (site / f"{package}_for_tests.py").write_text(code, encoding="utf-8")
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8")
        (about / "entry_points.txt").write_text(points, encoding="utf-8")
        monkeypatch.syspath_prepend(str(site))
        monkeypatch.delitem(sys.modules, f"{package}_for_tests", raising=False)

    return install
