"""A package of plug-ins whose files a test writes."""

import importlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

import pytest


@dataclass(frozen=True, slots=True)
class Plugins:
    """A package like `predibot.strategies`, in a folder of its own."""

    package: str
    folder: Path

    def write(self, name: str, text: str) -> None:
        """Put a plug-in into the folder."""
        (self.folder / f"{name}.py").write_text(text, encoding="utf-8")
        importlib.invalidate_caches()


@pytest.fixture
def plugins(tmp_path: Path) -> Iterator[Plugins]:
    """Return an empty package, which is forgotten afterwards."""
    package = ModuleType(f"plugins_of_{abs(hash(str(tmp_path)))}")
    package.__path__ = [str(tmp_path)]
    sys.modules[package.__name__] = package
    yield Plugins(package.__name__, tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == package.__name__]:
        del sys.modules[name]


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
