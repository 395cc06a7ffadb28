"""The metrics page: what docs/metrics.md says of every score is what its docstring says."""

import subprocess
import sys
from pathlib import Path

from predibot import scoring

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "metrics.md"


def test_the_page_is_what_the_docstrings_say() -> None:
    written = subprocess.run(
        [sys.executable, ".ci/metrics_page"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    )
    assert written.stdout == PAGE.read_text(encoding="utf-8"), "run `make metrics`"


def test_every_public_function_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    functions = [name for name in scoring.__all__ if callable(getattr(scoring, name)) and name[0].islower()]
    assert [name for name in functions if f"\n### {name}\n" not in page] == []
