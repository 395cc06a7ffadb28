"""Copies of the project as users have it: checked out, installed editable, installed from the wheel."""

import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.worlds import Worlds

REPOSITORY = Path(__file__).resolve().parents[2]
DEPENDENCIES = sysconfig.get_path("purelib")
PARTS = ["pyproject.toml", "README.md", "LICENSE", ".gitignore", "predibot", "strategies", "tools"]

PROBE = '''"""A strategy of the tests."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Probe:
    """Something that has to survive the way to a worker and back."""

    place: str = "{place}"
'''


@dataclass(frozen=True, slots=True)
class Copy:
    """One way to have predibot: a Python, and where that Python looks beside its own folders."""

    python: str
    search: tuple[str, ...]

    @classmethod
    def of_folder(cls, folder: Path) -> "Copy":
        """Return predibot as it lies in a folder."""
        return cls(sys.executable, (str(folder), DEPENDENCIES))

    @classmethod
    def of_environment(cls, folder: Path) -> "Copy":
        """Return predibot as it is installed in an environment."""
        return cls(str(folder / "bin" / "python"), (DEPENDENCIES,))

    def run(self, *arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run this Python in a folder, with nothing inherited that could point at another copy."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "SYSTEMROOT") if name in os.environ}
        search = {"PYTHONPATH": os.pathsep.join(self.search)}
        command, variables = [self.python, *arguments], kept | search | environment
        return subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True, timeout=120)


def write_probe(folder: Path, place: str) -> None:
    """Write a strategy that says where it is."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "probe.py").write_text(PROBE.format(place=place), encoding="utf-8")


def copies() -> None:
    """Make a copy of the checkout that holds a probe, its wheel, and an environment with either installed."""
    # A folder with a space in its name.
    folder = Path("a checkout")
    folder.mkdir()
    for part in PARTS:
        source = REPOSITORY / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__", "out"))
        else:
            shutil.copy(source, folder / part)
    write_probe(folder / "strategies", "checkout")
    (folder / "strategies" / "ignored.pyc").touch()
    _succeed([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", "../wheel"], folder)
    (wheel,) = Path("wheel").glob("*.whl")
    _install("editable", "--no-build-isolation", "-e", str(folder))
    _install("installed", str(wheel))


@pytest.fixture(scope="session")
def wheel(worlds: Worlds) -> Path:
    """Return a wheel built from the copy."""
    (path,) = worlds(copies).glob("wheel/*.whl")
    return path


@pytest.fixture(scope="session")
def from_checkout(worlds: Worlds) -> Copy:
    """Return predibot as `PYTHONPATH` finds it in a checkout."""
    return Copy.of_folder(worlds(copies) / "a checkout")


@pytest.fixture(scope="session")
def from_editable(worlds: Worlds) -> Copy:
    """Return predibot as an editable install has it."""
    return Copy.of_environment(worlds(copies) / "editable")


@pytest.fixture(scope="session")
def from_wheel(worlds: Worlds) -> Copy:
    """Return predibot as the wheel installs it."""
    return Copy.of_environment(worlds(copies) / "installed")


@pytest.fixture(params=["checkout", "editable", "wheel"])
def copy(request: pytest.FixtureRequest) -> Copy:
    """Return predibot in each way a user can have it."""
    found: Copy = request.getfixturevalue(f"from_{request.param}")
    return found


def _install(environment: str, *what: str) -> None:
    """Make an environment with predibot in it; its dependencies are those of the tests."""
    _succeed([sys.executable, "-m", "venv", "--without-pip", environment], Path())
    pip = ("-m", "pip", "--disable-pip-version-check", "install", "--no-deps", "--no-index", "--quiet")
    done = Copy.of_environment(Path(environment).absolute()).run(*pip, *what, cwd=Path())
    assert done.returncode == 0, done.stderr


def _succeed(command: list[str], cwd: Path) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
