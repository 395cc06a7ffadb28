"""The notebook of the docs: its cells run, one after the other, and it is stored without what they print."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
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


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_its_cells_run_in_a_folder_of_their_own(path: Path, tmp_path: Path) -> None:
    # As a notebook does: each cell is compiled by itself, and all share their names.
    program = (
        "import json, sys\n"
        "names = {'__name__': '__main__'}\n"
        "for number, source in enumerate(json.load(sys.stdin), 1):\n"
        "    exec(compile(source, f'cell {number}', 'exec'), names)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)},
        input=json.dumps(code(path)),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "05 January: 20 decisions" in done.stdout
    assert re.search(r"^market_price +[-+]\d+ thousandths  too few events$", done.stdout, flags=re.MULTILINE)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_it_is_stored_without_output_and_without_places_of_a_machine(path: Path) -> None:
    assert [(cell["outputs"], cell["execution_count"]) for cell in cells(path, "code")] == [([], None)] * len(code(path))
    text = path.read_text(encoding="utf-8")
    assert not re.findall(r"/(?:home|tmp|root|Users|work)/|file:|[A-Z]:\\\\", text)
