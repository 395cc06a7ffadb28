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
    written for the type checker are parsed here, so that each name's module is written once. A name in `renamed` is
    taken for its new one, with a DeprecationWarning.
    """
    module = sys.modules[package]

    @cache
    def homes() -> dict[str, str]:
        return {
            alias.name: node.module
            for node in ast.walk(ast.parse(getsource(module)))
            if isinstance(node, ast.ImportFrom) and node.module
            for alias in node.names
        }

    def load(name: str) -> object:
        if name in renamed:
            warnings.warn(f"{package}.{name} is now {renamed[name]}", DeprecationWarning, stacklevel=2)
            return getattr(module, renamed[name])
        if name not in module.__all__:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=module)
        found = getattr(import_module(homes()[name]), name)
        setattr(module, name, found)
        return found

    return load, lambda: sorted({*vars(module), *module.__all__})
