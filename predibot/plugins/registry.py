"""The registry of plug-ins: which there are of each kind, and each by its name.

A plug-in is a module of predibot's own package of its kind, a file in a folder that the user named, or an entry point
of an installed package. It is imported when its name is needed; packages are searched last.
"""

import hashlib
import importlib
import importlib.util
import inspect
import pkgutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from predibot._folders import folders_from_environment
from predibot.domain.spelling import did_you_mean
from predibot.errors import PluginError, PredibotError, describe_error
from predibot.plain_file import plain_bytes

_STUDIES = "predibot.studies"
_HIDDEN = ("_", "test_")
"""How names of files begin that are no plug-ins: what plug-ins share, and their tests."""
Origin = Literal["predibot", "PREDIBOT_STRATEGIES", "PREDIBOT_TOOLS", "an installed package"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of plug-in, and where its plug-ins are found."""

    noun: str
    group: str
    """The entry points of installed packages."""
    package: str
    """The package whose modules are plug-ins of this kind."""
    holds: Literal["class", "function", "constant"] = "class"
    """What a module defines: a class with its name in CamelCase, a function of its name, or a constant in capitals."""
    folder: Literal["strategies", "tools"] | None = None
    """The folder of single files, to which a user adds folders; None where each plug-in is a package of its own."""
    own: tuple[str, ...] = ()
    """Names that are predibot's own and made in another way; no plug-in may have them."""
    in_studies: str = ""
    """The folder of a study's own plug-ins of this kind; empty where studies have none."""

    def attribute(self, name: str) -> str:
        """Return the name of the plug-in inside the module of this name."""
        if self.holds == "constant":
            return self.noun.upper()
        return name if self.holds == "function" else class_name_of(name)


STUDY = Kind("study", "predibot.studies", "predibot.studies", "constant")
"""What a study is, `predibot.reports.study` says."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """An imported plug-in."""

    noun: str
    name: str
    thing: Any
    """None where its file does not define it."""
    label: str
    path: Path
    origin: Origin
    problem: str = ""
    """Why it cannot be used; empty where it can."""

    @property
    def sha256(self) -> str:
        """Return the digest of its file."""
        return hashlib.sha256(plain_bytes(self.path)).hexdigest()


@contextmanager
def own_code(what: str) -> Iterator[None]:
    """Turn any error of a plug-in's own code, while it is imported or made, into a `PluginError` of one sentence.

    The translation wraps just that code, so mistakes of ours are not taken for the plug-in's. Errors of ours and Ctrl-C
    pass.
    """
    try:
        yield
    except (PredibotError, KeyboardInterrupt):
        raise
    except BaseException as error:
        # The message of a ValueError is meant for the user who gave the value.
        reason = describe_error(error).removeprefix("ValueError: ")
        raise PluginError(f"{what}: {reason}") from error


def names(kind: Kind) -> tuple[str, ...]:
    """Return the names of all plug-ins of a kind but `own` in alphabetical order, without importing any."""
    return tuple(sorted({*module_names(kind), *(point.name for point in _package_points(kind))}.difference(kind.own)))


def module_names(kind: Kind) -> tuple[str, ...]:
    """Return the names of plug-ins in folders, with `own`."""
    folders = (folder for package in _packages(kind) for folder in importlib.import_module(package).__path__)
    found = pkgutil.iter_modules(folders)
    modules = {each.name for each in found if each.ispkg == (kind.folder is None) and each.name.isidentifier()}
    return tuple(sorted(name for name in modules if not name.startswith(_HIDDEN)))


@lru_cache(maxsize=16)
def _packages(kind: Kind) -> tuple[str, ...]:
    """Return the package of a kind, then those of the studies that have more of it."""
    if not kind.in_studies:
        return (kind.package,)
    found = pkgutil.iter_modules(importlib.import_module(_STUDIES).__path__, f"{_STUDIES}.")
    folders = (f"{each.name}.{kind.in_studies}" for each in found if each.ispkg)
    return (kind.package, *(each for each in folders if importlib.util.find_spec(each) is not None))


def _dotted_name(kind: Kind, name: str) -> str:
    """Return the module of a plug-in: the imported one, for which nothing is searched; else where it lies."""
    modules = [f"{package}.{name}" for package in _packages(kind)]
    imported = (each for each in modules if each in sys.modules)
    found = (each for each in modules[1:] if importlib.util.find_spec(each) is not None)
    return next(chain(imported, found), modules[0])


def find(kind: Kind, name: str) -> Plugin:
    """Return a plug-in by its name; one in a folder wins over one of a package.

    Raises `PluginError` if there is none, several packages have one, or it does not load.
    """
    if name not in kind.own:
        if _is_in_folder(kind, name):
            return _load_from_folder(kind, name)
        if points := _package_points(kind, name):
            return _load_from_package(kind, points)
    raise PluginError(f"no {kind.noun} {name[:60]!r}. {unknown_name(kind, name, (*names(kind), *kind.own))}")


def find_all(kind: Kind) -> Iterator[Plugin]:
    """Yield every plug-in of a kind but `own`, imported; a broken one carries its problem. So does a package's plug-in
    under the name of one of predibot's, which is never used.
    """
    for name in module_names(kind):
        if name not in kind.own:
            try:
                yield _load_from_folder(kind, name)
            except PluginError as error:
                yield Plugin(kind.noun, name, None, name, Path(), origin_of(kind, name), str(error))
    for name in sorted({point.name for point in _package_points(kind)}):
        points = _package_points(kind, name)
        in_folder = name in module_names(kind) and name not in kind.own
        if in_folder and origin_of(kind, name) != "predibot":
            # The user's own file replaces it on purpose.
            continue
        try:
            if in_folder or name in kind.own:
                packages = ", ".join(map(_package_name, points))
                raise PluginError(f"predibot has a {kind.noun} {name!r}, so that of package {packages} is never taken")
            yield _load_from_package(kind, points)
        except PluginError as error:
            yield Plugin(kind.noun, name, None, name, Path(), "an installed package", str(error))


def package_files(kind: Kind) -> Iterator[Path]:
    """Yield the code files of every installed package with plug-ins of a kind, without importing any."""
    for name in sorted({point.module.partition(".")[0] for point in _package_points(kind)}):
        spec = importlib.util.find_spec(name)
        folders = () if spec is None else spec.submodule_search_locations or ()
        if spec is not None and spec.origin is not None and not folders:
            yield Path(spec.origin)
        yield from (file for folder in folders for file in sorted(Path(folder).rglob("*.py")))


def forget(kind: Kind) -> None:
    """Have every plug-in but `own` imported anew at its next use: module-level state is lost."""
    kept = {*_packages(kind), *(f"{kind.package}.{name}" for name in kind.own)}
    above = {*_packages(kind), *(point.module for point in _package_points(kind))}
    for name in list(sys.modules):
        if name not in kept and any(name == each or name.startswith(f"{each}.") for each in above):
            del sys.modules[name]


def unknown_name(kind: Kind, name: str, valid: Iterable[str]) -> str:
    """Return help for an unknown name: the most similar one, and a user's folder that is missing or not searched."""
    hint = _folder_hint(kind)
    nearest = did_you_mean(name, valid)
    return f"{nearest}{'' if nearest.endswith('?') else '.'} {hint}" if hint else nearest


def _is_in_folder(kind: Kind, name: str) -> bool:
    # A plug-in that is imported already is not searched for again at each decision.
    modules = [sys.modules[each] for package in _packages(kind) if (each := f"{package}.{name}") in sys.modules]
    if modules and not name.startswith(_HIDDEN):
        return hasattr(modules[0], "__path__") == (kind.folder is None)
    return name in module_names(kind)


def _load_from_folder(kind: Kind, name: str) -> Plugin:
    label = f"{kind.noun} {name!r}" if kind.folder is None else f"{name}.py"
    module = import_plugin_module(kind, name)
    path = Path(module.__file__ or "")
    return Plugin(kind.noun, name, getattr(module, kind.attribute(name), None), label, path, origin_of(kind, name))


def _load_from_package(kind: Kind, points: list[EntryPoint]) -> Plugin:
    """Return the plug-in of an entry point, if no other package has one of its name."""
    point = points[0]
    if len(points) > 1:
        packages = ", ".join(sorted(map(_package_name, points)))
        raise PluginError(f"several packages have a {kind.noun} {point.name!r}: {packages}. Uninstall all but one")
    label = f"{kind.noun} {point.name!r} of package {_package_name(point)} ({point.value})"
    with own_code(f"{label} does not load"):
        thing = point.load()
        is_code = inspect.isclass(thing) or inspect.isfunction(thing)
        path = Path(inspect.getfile(thing if is_code else importlib.import_module(point.module)))
    return Plugin(kind.noun, point.name, thing, label, path, "an installed package")


def _package_points(kind: Kind, name: str | None = None) -> list[EntryPoint]:
    installed = _entry_points(kind.group, tuple((folder, _changed_at(folder)) for folder in sys.path))
    found = installed if name is None else installed.select(name=name)
    return list({(_package_name(point), point.name, point.value): point for point in found}.values())


@lru_cache(maxsize=16)
def _entry_points(group: str, _folders: tuple[tuple[str, int], ...]) -> EntryPoints:
    """Return all entry points of a group; the arguments beside it make a changed folder read again."""
    return entry_points(group=group)


def _changed_at(folder: str) -> int:
    try:
        return Path(folder).stat().st_mtime_ns
    except OSError:
        return 0


def _package_name(point: EntryPoint) -> str:
    return "" if point.dist is None else point.dist.name


def import_plugin_module(kind: Kind, name: str) -> ModuleType:
    """Return the module of a plug-in in a folder."""
    with own_code(f"{name}.py does not load"):
        return importlib.import_module(_dotted_name(kind, name))


def origin_of(kind: Kind, name: str) -> Origin:
    """Return whether a file lies in a folder that the user named, or came with predibot or its checkout."""
    if kind.folder is None:
        return "predibot"
    users: Origin = "PREDIBOT_STRATEGIES" if kind.folder == "strategies" else "PREDIBOT_TOOLS"
    spec = importlib.util.find_spec(f"{kind.package}.{name}")
    lies_in = "" if spec is None or spec.origin is None else str(Path(spec.origin).parent)
    return users if lies_in in folders_from_environment(kind.folder) else "predibot"


def _folder_hint(kind: Kind) -> str:
    if kind.folder is None:
        return ""
    variable = f"PREDIBOT_{kind.folder.upper()}"
    missing = [folder for folder in folders_from_environment(kind.folder) if not Path(folder).is_dir()]
    if missing:
        return f"{variable} names what is no folder: {', '.join(missing)}"
    here = Path(kind.folder).absolute()
    is_unnamed = (
        kind.package.startswith("predibot.") and str(here) not in importlib.import_module(kind.package).__path__
    )
    if not is_unnamed or not here.is_dir():
        return ""
    return f"The folder {kind.folder}/ here is not looked in unasked; set {variable}={here}"


def class_name_of(name: str) -> str:
    """Return the name of the class in a file of this name.

    Examples:
        >>> class_name_of("market_price")
        'MarketPrice'
    """
    return "".join(part.capitalize() for part in name.split("_"))


def summary_of(thing: Any) -> str:
    """Return the first line of a docstring, or of its module's where a class has only a generated one."""
    own = inspect.cleandoc(thing.__doc__ or "")
    if not own or own.startswith(f"{thing.__name__}("):
        own = inspect.cleandoc(inspect.getmodule(thing).__doc__ or "")
    return own.partition("\n")[0]
