"""Copies of the project as users have it: checked out, installed editable, installed from the wheel."""

import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

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


@pytest.fixture(scope="session")
def checkout_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the checkout that holds a probe, in a folder with a space in its name."""
    folder = tmp_path_factory.mktemp("a checkout")
    for part in PARTS:
        source = REPOSITORY / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__", "out"))
        else:
            shutil.copy(source, folder / part)
    write_probe(folder / "strategies", "checkout")
    (folder / "strategies" / "ignored.pyc").touch()
    return folder


@pytest.fixture(scope="session")
def wheel(checkout_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel built from the copy."""
    folder = tmp_path_factory.mktemp("wheel")
    _succeed([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], checkout_folder)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="session")
def from_checkout(checkout_folder: Path) -> Copy:
    """Return predibot as `PYTHONPATH` finds it in a checkout."""
    return Copy.of_folder(checkout_folder)


@pytest.fixture(scope="session")
def from_editable(checkout_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """Return predibot as an editable install has it."""
    return _install(tmp_path_factory.mktemp("editable"), "--no-build-isolation", "-e", str(checkout_folder))


@pytest.fixture(scope="session")
def from_wheel(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """Return predibot as the wheel installs it."""
    return _install(tmp_path_factory.mktemp("installed"), str(wheel))


@pytest.fixture(params=["checkout", "editable", "wheel"])
def copy(request: pytest.FixtureRequest) -> Copy:
    """Return predibot in each way a user can have it."""
    found: Copy = request.getfixturevalue(f"from_{request.param}")
    return found


def _install(environment: Path, *what: str) -> Copy:
    """Return a fresh environment with predibot in it; its dependencies are those of the tests."""
    _succeed([sys.executable, "-m", "venv", "--without-pip", str(environment)], environment)
    installed = Copy(str(environment / "bin" / "python"), (DEPENDENCIES,))
    pip = ("-m", "pip", "--disable-pip-version-check", "install", "--no-deps", "--no-index", "--quiet")
    done = installed.run(*pip, *what, cwd=environment)
    assert done.returncode == 0, done.stderr
    return installed


def _succeed(command: list[str], cwd: Path) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
