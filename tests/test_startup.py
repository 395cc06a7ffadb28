"""Start: which libraries and rooms nobody loads who does not need them, in a process of its own each."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
RARE = {"litellm", "smolagents", "trafilatura", "ddgs", "alembic", "pandas", "polars", "matplotlib", "scipy", "pyarrow"}
NO_LEDGER = {*RARE, "httpx", "sqlalchemy", "predibot.ledger", "predibot.venues", "predibot.scoring.evaluation"}
NO_PLUGIN = {*NO_LEDGER, "pydantic", "rich", "predibot.contracts", "predibot.scoring.inference"}
ALONE = """import predibot, sys
assert {*predibot.__all__} <= {*dir(predibot)}
assert {each for each in sys.modules if each.startswith("predibot.")} == {"predibot._lazy", "predibot.version"}
"""


def command(name: str) -> str:
    return f"from predibot.cli import main; main([{name!r}])"


@pytest.mark.parametrize(
    ("code", "without"),
    [
        (ALONE, {*NO_PLUGIN, "numpy", "typer"}),
        ("import predibot; predibot.open_ledger", {*RARE, "typer"}),
        ("from predibot.scoring import brier_score", {*NO_PLUGIN, "typer"}),
        (command("--help"), {*NO_PLUGIN, "numpy"}),
        (command("bots"), {*NO_LEDGER, "predibot.cli.decide"}),
        (f"{command('report')}; assert 'sqlmodel' not in sys.modules; main(['status'])", {*RARE, "httpx", "numpy"}),
    ],
)
def test_what_is_not_needed_is_not_loaded(tmp_path: Path, code: str, without: set[str]) -> None:
    shown = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {*shown.stdout.splitlines()[-1].split()}
    assert "predibot" in loaded and not without & loaded
