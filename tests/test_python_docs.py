"""The docs of the Python interface: what is shown in the notebook and on the page runs, and no column is untold."""

import json
import os
import re
import subprocess
import sys
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

import predibot

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
NAMES = [path.stem for path in NOTEBOOKS]


def cells(path: Path, kind: str) -> list[dict[str, Any]]:
    """Return the cells of one kind, in their order."""
    document = json.loads(path.read_text(encoding="utf-8"))
    return [cell for cell in document["cells"] if cell["cell_type"] == kind]


def code(path: Path) -> list[str]:
    """Return the sources of the cells that run."""
    return ["".join(cell["source"]) for cell in cells(path, "code")]


def test_there_is_a_notebook() -> None:
    assert NAMES == ["ledger"]


def printed(sources: list[str], folder: Path) -> str:
    """Run pieces of code as a notebook does, each compiled by itself and all with the same names."""
    program = (
        "import json, sys\n"
        "names = {'__name__': '__main__'}\n"
        "for number, source in enumerate(json.load(sys.stdin), 1):\n"
        "    exec(compile(source, f'piece {number}', 'exec'), names)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder)},
        input=json.dumps(sources),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_its_cells_run_in_a_folder_of_their_own(path: Path, tmp_path: Path) -> None:
    said = printed(code(path), tmp_path)
    assert "05 January: 20 decisions" in said
    assert re.search(r"^market_price +[-+]\d+ thousandths  too few events$", said, flags=re.MULTILINE)


def test_the_blocks_of_the_page_run(tmp_path: Path) -> None:
    said = printed(re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL), tmp_path)
    assert "sandbox@2026-01-05T00:00Z ['recorded', 'recorded']" in said
    assert "2026-01-06 12:00:00+00:00 sandbox@2026-01-06T00:00Z" in said


@pytest.mark.parametrize(
    "name", [name for name in predibot.__all__ if name.startswith(("Ledger", "Leaderboard", "Sc"))]
)
def test_the_page_names_every_column_and_method(name: str) -> None:
    kind = getattr(predibot, name)
    told = set(re.findall(r"`(\w+)(?:\(\))?`", PAGE))
    if not is_dataclass(kind):
        assert {each for each in vars(kind) if not each.startswith("_")} <= {*told, "address", "evaluation"}
        return
    (line,) = re.findall(rf"^- `{name}`: (.*)$", PAGE, flags=re.MULTILINE)
    columns = [field.name for field in fields(kind)]
    assert [each for each in re.findall(r"`(\w+)`", line) if each in columns][: len(columns)] == columns


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_it_is_stored_without_output_and_without_places_of_a_machine(path: Path) -> None:
    assert all((cell["outputs"], cell["execution_count"]) == ([], None) for cell in cells(path, "code"))
    text = path.read_text(encoding="utf-8")
    assert not re.findall(r"/(?:home|tmp|root|Users|work)/|file:|[A-Z]:\\\\", text)
