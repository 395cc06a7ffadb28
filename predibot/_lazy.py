"""Lazy names of a package: each is imported from its own module at first use."""

import ast
import sys
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from inspect import getsource
from types import MappingProxyType


def lazily(
    package: str, *, renamed: Mapping[str, str] = MappingProxyType({})
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package that imports its names under `if TYPE_CHECKING`. The imports
    written for the type checker are parsed here, so that each name's module is written once. The package exports the
    names that it imports as themselves. A name in `renamed` is taken for its new one, with a DeprecationWarning.
    """
    module = sys.modules[package]

    def load(name: str) -> object:
        if name == "__all__":
            return exported_names(package)
        if name in renamed:
            warnings.warn(f"{package}.{name} is now {renamed[name]}", DeprecationWarning, stacklevel=2)
            return getattr(module, renamed[name])
        # Reading the source asks for names such as `__wrapped__`.
        if name.startswith("__") or name not in module.__all__:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=module)
        found = getattr(import_module(_homes(package)[name]), name)
        setattr(module, name, found)
        return found

    return load, lambda: sorted({*vars(module), *module.__all__})


def exported_names(package: str) -> list[str]:
    """Return the names that a package imports as themselves, sorted."""
    return sorted(alias.name for _, alias in _imports(package) if alias.asname == alias.name)


def _homes(package: str) -> dict[str, str]:
    return {alias.name: module for module, alias in _imports(package)}


@cache
def _imports(package: str) -> list[tuple[str, ast.alias]]:
    nodes = ast.walk(ast.parse(getsource(sys.modules[package])))
    found = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    return [(node.module, alias) for node in found if node.module for alias in node.names]
