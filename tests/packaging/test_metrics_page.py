"""The metrics page: the docs site and `predibot serve` show every public function of scoring."""

import ast
import inspect
import re
import runpy
from functools import cache
from pathlib import Path

import pytest

from predibot import scoring

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def page() -> str:
    return runpy.run_path(str(ROOT / ".ci" / "metrics_page"))["page"]()


def test_what_no_command_uses_is_named_as_a_library_function_and_nothing_else_is(page: str) -> None:
    texts = {
        str(file): file.read_text(encoding="utf-8")
        for file in (*(ROOT / "predibot").rglob("*.py"), *(ROOT / "strategies").glob("*.py"))
    }
    read = cache(lambda file: _names_read(texts[file]))
    unused = set()
    for name in _functions():
        own = inspect.getsourcefile(inspect.unwrap(getattr(scoring, name)))
        # Reading a tree takes its time, so where the word is not, nobody looks for the name.
        used = (file for file, text in texts.items() if name in text and name in read(file))
        if not any(file == own or not file.endswith("__init__.py") for file in used):
            unused.add(name)
    named = re.search(r"These no command of predibot uses;.*?\.\n", page, re.DOTALL)
    assert named is not None
    assert set(re.findall(r"`(\w+)`", named.group())) == unused


def _functions() -> list[str]:
    return [name for name in scoring.__all__ if inspect.isfunction(getattr(scoring, name))]


def _names_read(code: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}


def test_every_public_function_is_on_the_page(page: str) -> None:
    assert [name for name in _functions() if f"\n### {name}\n" not in page] == []
