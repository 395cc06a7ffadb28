"""Arrows: which part of the package may import which, checked on the package as installed."""

import re
import shutil
import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.packaging.conftest import REPOSITORY, Copy

LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"
FORBIDDEN = [
    ("domain/event.py", "predibot.contracts", "An arrow only points right"),
    ("ledger/__init__.py", "predibot.venues", "An arrow only points right"),
    ("strategies/__init__.py", "predibot.ledger", "An arrow only points right"),
    ("strategies/market_price.py", "predibot.games", "Plug-ins know contracts"),
    ("cli/track.py", "predibot.venues", "The command line takes arguments"),
    ("cli/report.py", "predibot.studies.stakebench", "Studies are found by their names"),
    ("scoring/__init__.py", "os", "The core does no input or output"),
    ("selection.py", "httpx", "The core does no input or output"),
]
"""What a module must not import, and the contract that says so."""


def _lint(folder: Path) -> subprocess.CompletedProcess[str]:
    return Copy.of_folder(folder).run("-c", LINT, "--no-cache", cwd=folder)


@pytest.fixture
def unpacked(wheel: Path, tmp_path: Path) -> Path:
    """Return a folder with the wheel's contents, and the contracts."""
    ZipFile(wheel).extractall(tmp_path)
    shutil.copy(REPOSITORY / "pyproject.toml", tmp_path)
    return tmp_path


def test_every_forbidden_import_is_refused(unpacked: Path) -> None:
    for module, imported, _ in FORBIDDEN:
        with (unpacked / "predibot" / module).open("a", encoding="utf-8") as file:
            file.write(f"\nimport {imported}\n")

    done = _lint(unpacked)

    assert done.returncode == 1
    said = done.stdout.split("Broken contracts")[1]
    for module, imported, contract in FORBIDDEN:
        importer = f"predibot.{module}".removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        (broken,) = re.findall(rf"^{contract}.*\n-+\n((?:(?!.*\n---).*\n)*)", said, re.MULTILINE)
        assert re.search(rf"^- +{importer} -> {imported} \(l\.\d+\)$", broken, re.MULTILINE), (importer, said)
