"""A package of plug-ins whose files a test writes."""

import importlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

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
