"""Folders in which the import system looks for plug-ins; it needs them before any settings exist."""

import os
from collections.abc import Iterable
from pathlib import Path

VARIABLES = {"strategies": "PREDIBOT_STRATEGIES", "tools": "PREDIBOT_TOOLS"}
"""The variable that names folders of one kind of plug-in."""
_OUR_PROJECT = 'name = "predibot"'


def plugin_folders(kind: str, packaged: Iterable[str]) -> list[str]:
    """Return the absolute folders of `strategies` or `tools`; a file replaces its namesakes in later ones.

    First those of `PREDIBOT_STRATEGIES` or `PREDIBOT_TOOLS`, separated as in `PATH`, then a checkout's, then the
    `packaged` ones that the import system found. Folders that do not exist are kept: the import system skips them, and
    a list of plug-ins can say that one is missing.
    """
    return list(dict.fromkeys([*folders_from_environment(kind), *_checkout_folders(kind), *packaged]))


def folders_from_environment(kind: str) -> list[str]:
    """Return the absolute folders that the user named for one kind of plug-in."""
    named = os.environ.get(VARIABLES[kind], "").split(os.pathsep)
    return [str(Path(folder).expanduser().absolute()) for folder in named if folder.strip()]


def _checkout_folders(kind: str) -> list[str]:
    root = checkout()
    return [] if root is None else [str(root / kind)]


def checkout() -> Path | None:
    """Return the folder of our own checkout; None when installed. A pyproject.toml and a `tools` folder prove little:
    badly packed wheels leave them in site-packages.
    """
    root = Path(__file__).resolve().parent.parent
    project = root / "pyproject.toml"
    is_ours = project.is_file() and _OUR_PROJECT in project.read_text(encoding="utf-8").splitlines()
    return root if is_ours else None
