"""Arrows: which part of the package may import which, checked on the package as installed."""

import shutil
import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.packaging.conftest import REPOSITORY, Copy

LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"
FORBIDDEN = [
    ("domain/event.py", "import predibot.contracts", "An arrow only points right"),
    ("ledger/__init__.py", "import predibot.venues", "An arrow only points right"),
    ("strategies/__init__.py", "import predibot.ledger", "An arrow only points right"),
    ("strategies/market_price.py", "import predibot.games", "Plug-ins know contracts"),
    ("cli/track.py", "import predibot.venues", "The command line takes arguments"),
    ("scoring/__init__.py", "import os", "The core does no input or output"),
    ("selection.py", "import httpx", "The core does no input or output"),
]


def _lint(wheel: Path, folder: Path, planted: tuple[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Lint the wheel's contents in a folder, with a line planted in one module."""
    ZipFile(wheel).extractall(folder)
    shutil.copy(REPOSITORY / "pyproject.toml", folder)
    if planted is not None:
        module, line = planted
        with (folder / "predibot" / module).open("a", encoding="utf-8") as file:
            file.write(f"\n{line}\n")
    return Copy.of_folder(folder).run("-c", LINT, "--no-cache", cwd=folder)


def test_every_arrow_points_right(wheel: Path, tmp_path: Path) -> None:
    done = _lint(wheel, tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("module", "line", "contract"), FORBIDDEN)
def test_a_forbidden_import_is_refused(wheel: Path, tmp_path: Path, module: str, line: str, contract: str) -> None:
    done = _lint(wheel, tmp_path, (module, line))

    assert done.returncode == 1
    assert any(text.startswith(contract) and "BROKEN" in text for text in done.stdout.splitlines())
