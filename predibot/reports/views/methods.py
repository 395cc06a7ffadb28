"""Methods: what every number is, from the docstrings of `predibot.scoring` and the legends of tables."""

import inspect
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from predibot import scoring
from predibot._lazy import exported_names
from predibot.reports.views.columns import COLUMNS

_SECTIONS = ("Args", "Returns", "Raises", "Source", "Examples")


@dataclass(frozen=True, slots=True)
class Definition:
    """A public function of `predibot.scoring`."""

    name: str
    signature: str
    """Names and defaults, without types."""
    sections: Mapping[str, str]
    """The texts of its docstring by heading, without indentation; the text before all headings has none.

    Empty if Python was started without docstrings (`-OO`).
    """


@dataclass(frozen=True, slots=True)
class Chapter:
    """The functions of one module."""

    name: str
    """The module's name below `predibot.scoring`."""
    title: str
    definitions: tuple[Definition, ...]


@cache
def chapters() -> tuple[Chapter, ...]:
    """Return what all public functions of `predibot.scoring` compute, by their modules."""
    functions: dict[str, Callable[..., Any]] = {
        name: each for name in exported_names(scoring.__name__) if inspect.isfunction(each := getattr(scoring, name))
    }
    return tuple(
        Chapter(
            module.removeprefix(f"{scoring.__name__}."),
            (inspect.getdoc(sys.modules[module]) or module).splitlines()[0].rstrip("."),
            tuple(_definition(name, each) for name, each in functions.items() if each.__module__ == module),
        )
        for module in sorted({each.__module__ for each in functions.values()})
    )


def column_meanings() -> tuple[tuple[str, str], ...]:
    """Return headers of tables with their meanings, each once; headers without a meaning are left out."""
    meanings = (
        (each.header.format(days="N"), each.meaning) for columns in COLUMNS.values() for each in columns if each.meaning
    )
    return tuple(dict.fromkeys(meanings))


def entries_of(text: str) -> tuple[tuple[str, str], ...]:
    """Return name and text of each entry `name: text` of a section; a text alone has no name."""
    listed = (" ".join(entry.split()) for entry in re.split(r"\n(?=\S)", text))
    found = (re.match(r"(\w+): (.*)", entry) or ("", "", entry) for entry in listed)
    return tuple((each[1], each[2]) for each in found)


def _definition(name: str, function: Callable[..., Any]) -> Definition:
    signature = inspect.signature(function)
    bare = [each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()]
    written = str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))
    first, *parts = re.split(rf"^({'|'.join(_SECTIONS)}):$", inspect.getdoc(function) or "", flags=re.MULTILINE)
    sections = {"": first.strip()} if first.strip() else {}
    sections |= {heading: inspect.cleandoc(text) for heading, text in zip(parts[::2], parts[1::2], strict=True)}
    return Definition(name, written, sections)
