"""Modules of plug-ins: which there are in the folders of a kind, and how one is imported."""

import hashlib
import importlib
import importlib.util
import inspect
import pkgutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from predibot._folders import folders_from_environment
from predibot.domain.spelling import did_you_mean
from predibot.errors import PluginError, PredibotError, words_of

Origin = Literal["predibot", "PREDIBOT_STRATEGIES", "PREDIBOT_TOOLS", "an installed package"]


@contextmanager
def own_code(what: str) -> Iterator[None]:
    """Turn whatever a plug-in's own code ends in, while it is imported or made, into one sentence.

    It is told apart from a mistake of ours by being translated right where that code runs.

    Args:
        what: How the sentence begins.

    Raises:
        PluginError: If the code raises anything that is no error of ours and no Ctrl-C.
    """
    try:
        yield
    except (PredibotError, KeyboardInterrupt):
        raise
    except BaseException as error:
        # What a ValueError says is meant for who gave the value.
        said = words_of(error).removeprefix("ValueError: ")
        raise PluginError(f"{what}: {said}") from error


def module_names(package: str) -> tuple[str, ...]:
    """Return the names of all plug-ins of a package in order of the alphabet, without importing any."""
    found = pkgutil.iter_modules(importlib.import_module(package).__path__)
    return tuple(sorted({m.name for m in found if not m.ispkg and m.name.isidentifier() and m.name[0] != "_"}))


def imported_module(name: str, package: str) -> ModuleType:
    """Return the module of a plug-in that is there.

    Raises:
        PluginError: If it does not load.
    """
    with own_code(f"{name}.py does not load"):
        return importlib.import_module(f"{package}.{name}")


def forget_modules(package: str, keep: Iterable[str] = ()) -> None:
    """Have every plug-in imported anew when it is next asked for, so that what one kept in its module is gone."""
    kept = {f"{package}.{name}" for name in keep}
    for name in [name for name in sys.modules if name.startswith(f"{package}.") and name not in kept]:
        del sys.modules[name]


def source_file(name: str, package: str) -> Path:
    """Return the file of a plug-in."""
    spec = importlib.util.find_spec(f"{package}.{name}")
    if spec is None or spec.origin is None:
        raise PluginError(f"plug-in {name!r} has no file")
    return Path(spec.origin)


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a plug-in's file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def origin_of(path: Path, kind: Literal["strategies", "tools"]) -> Origin:
    """Return whether a file lies in a folder the user named, or came with predibot or its checkout."""
    users: Origin = "PREDIBOT_STRATEGIES" if kind == "strategies" else "PREDIBOT_TOOLS"
    return users if str(path.parent) in folders_from_environment(kind) else "predibot"


def unknown_name(name: str, valid: Iterable[str], kind: Literal["strategies", "tools"], package: str) -> str:
    """Return what helps with an unknown name: the nearest, and a folder of the user's that is none or was not named."""
    hint = _folder_hint(kind, package)
    nearest = did_you_mean(name, valid)
    return f"{nearest}{'' if nearest.endswith('?') else '.'} {hint}" if hint else nearest


def _folder_hint(kind: Literal["strategies", "tools"], package: str) -> str:
    variable = f"PREDIBOT_{kind.upper()}"
    missing = [folder for folder in folders_from_environment(kind) if not Path(folder).is_dir()]
    if missing:
        return f"{variable} names what is no folder: {', '.join(missing)}"
    here = Path(kind).absolute()
    is_unnamed = package.startswith("predibot.") and str(here) not in importlib.import_module(package).__path__
    return (
        f"The folder {kind}/ here is not looked in unasked; set {variable}={kind}"
        if is_unnamed and here.is_dir()
        else ""
    )


def class_name_of(name: str) -> str:
    """Return the name of the class that a file of this name holds.

    Examples:
        >>> class_name_of("market_price")
        'MarketPrice'
    """
    return "".join(part.capitalize() for part in name.split("_"))


def summary_of(thing: Any) -> str:
    """Return the first line of a docstring, or of its module's where a class has only the generated one."""
    own = inspect.cleandoc(thing.__doc__ or "")
    if not own or own.startswith(f"{thing.__name__}("):
        own = inspect.cleandoc(inspect.getmodule(thing).__doc__ or "")
    return own.partition("\n")[0]
