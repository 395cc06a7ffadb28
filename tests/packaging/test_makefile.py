"""The Makefile: the two commands of the README, and those of a developer."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from tests.packaging.conftest import REPOSITORY


def _make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run make in a folder that holds the Makefile and what it needs."""
    for name in ("Makefile", "requirements.txt", "requirements-web.txt", "requirements-dev.txt", "pyproject.toml"):
        shutil.copy(REPOSITORY / name, folder)
    shutil.copytree(REPOSITORY / ".ci", folder / ".ci")
    # These tests may themselves run under make, which tells its children so by variables.
    variables = {"PATH": os.environ["PATH"]}
    return subprocess.run(["make", *arguments], cwd=folder, env=variables, capture_output=True, text=True, timeout=60)


def test_help_names_every_command(tmp_path: Path) -> None:
    phony = re.search(r"^\.PHONY: (.*)$", (REPOSITORY / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert phony is not None

    shown = _make(tmp_path, "help").stdout

    assert {line.split()[1] for line in shown.splitlines()} == set(phony[1].split())


def test_a_python_that_is_too_old_is_named_with_what_to_do(tmp_path: Path) -> None:
    done = _make(tmp_path, "demo", "PYTHON=/an old/python")

    assert done.returncode != 0
    assert "error: no Python 3.11 or later, tried: /an old/python" in done.stderr
    assert not (tmp_path / ".venv").exists()
