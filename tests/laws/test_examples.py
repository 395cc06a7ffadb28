"""Examples in docstrings print what they say; pytest itself collects those of the folders that are mostly examples.

Errors that docstrings name are there.
"""

import builtins
import doctest
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "predibot"
COLLECTED = {"scoring", "related", "studies"}
"""Folders in `testpaths`."""
TEXTS = re.compile(r'"""(.*?)"""', re.DOTALL)
MODULES = [
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.relative_to(PACKAGE).parts[0] not in COLLECTED and ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_every_example_prints_what_it_says(name: str) -> None:
    found = doctest.testmod(import_module(name))
    assert found.attempted
    assert not found.failed


def test_every_error_that_a_docstring_promises_is_one() -> None:
    sources = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")]
    # By words, as parsing the whole package takes seconds.
    code = "\n".join(TEXTS.sub("", source) for source in sources)
    imported = " ".join(re.findall(r"^\s*(?:from \S+ )?import (\([^)]*\)|.*)", code, re.MULTILINE))
    known = {*dir(builtins), *re.findall(r"(?:\bclass |\.)(\w+)", code), *re.findall(r"\w+", imported)}
    texts = [inspect.cleandoc(text) for source in sources for text in TEXTS.findall(source)]
    named = {name for text in texts for name in re.findall(r"[Rr]aises? `([A-Z]\w+)`", text)}
    named |= {name for text in texts for name in re.findall(r"^    (\w+):", text.partition("Raises:")[2], re.MULTILINE)}
    assert len(named) > 30
    assert not named - known
