"""The docs of the Python interface: what is shown in the notebook and on the page runs, and no column is untold."""

import ast
import json
import re
import tempfile
from contextlib import chdir, redirect_stdout
from dataclasses import fields, is_dataclass
from io import StringIO
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


def ran(sources: list[str], folder: Path) -> list[tuple[str, str | None, str | None]]:
    """Run pieces of code in a folder as a notebook does, all with the same names.

    Returns:
        Of each what it printed, and its last value as text and as HTML, where it has one.
    """
    names, found = {"__name__": "__main__"}, []
    with chdir(folder), pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(folder))
        for number, source in enumerate(sources, 1):
            piece, place = ast.parse(source), f"piece {number}"
            last = piece.body.pop() if piece.body and isinstance(piece.body[-1], ast.Expr) else None
            with redirect_stdout(StringIO()) as said:
                exec(compile(piece, place, "exec"), names)
                value = None if last is None else eval(compile(ast.Expression(last.value), place, "eval"), names)
            html = getattr(value, "_repr_html_", lambda: None)()
            found.append((said.getvalue(), None if value is None else repr(value), html))
    return found


def outputs(number: int, printed: str, text: str | None, html: str | None) -> list[dict[str, Any]]:
    """Return the outputs of a cell as a notebook stores them."""
    stream = {"name": "stdout", "output_type": "stream", "text": printed.splitlines(keepends=True)}
    shown = {kind: each.splitlines(keepends=True) for kind, each in (("text/html", html), ("text/plain", text)) if each}
    result = {"data": shown, "execution_count": number, "metadata": {}, "output_type": "execute_result"}
    return [*([stream] if printed else ()), *([result] if shown else ())]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_its_cells_run_in_a_folder_of_their_own_and_have_the_outputs_that_are_stored(
    path: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    made = [outputs(number, *each) for number, each in enumerate(ran(code(path), tmp_path), 1)]
    assert "05 January: 20 decisions\n" in made[1][0]["text"]
    if request.config.getoption("golden"):
        document = json.loads(path.read_text(encoding="utf-8"))
        places = (cell for cell in document["cells"] if cell["cell_type"] == "code")
        for number, (cell, each) in enumerate(zip(places, made, strict=True), 1):
            cell["outputs"], cell["execution_count"] = each, number
        path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert [cell["outputs"] for cell in cells(path, "code")] == made, "`pytest --golden` writes the outputs again"


def test_the_blocks_of_the_page_run(tmp_path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
    said = "".join(printed for printed, _, _ in ran(blocks, tmp_path))
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
def test_it_is_stored_without_places_of_a_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.findall(r"/(?:home|tmp|root|Users|work)/|file:|[A-Z]:\\\\", text)
