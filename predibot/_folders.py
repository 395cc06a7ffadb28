"""Folders in which the import system looks for plug-ins; it needs them before any settings exist."""

import os
from collections.abc import Iterable
from pathlib import Path

VARIABLES = {"strategies": "PREDIBOT_STRATEGIES", "tools": "PREDIBOT_TOOLS"}
"""The variable that names folders of one kind of plug-in."""
_OUR_PROJECT = 'name = "predibot"'


def plugin_folders(kind: str, packaged: Iterable[str]) -> list[str]:
    """Return the folders of one kind of plug-in; a file in an earlier one replaces its namesake in a later one.

    Folders that do not exist are kept: the import system skips them, and a list of plug-ins can say that one is
    missing.

    Args:
        kind: `strategies` or `tools`.
        packaged: Folders that the import system found by itself.

    Returns:
        Absolute folders: first those of `PREDIBOT_STRATEGIES` or `PREDIBOT_TOOLS` (separated as in `PATH`), then the
            checkout's if this is a checkout, then the packaged ones.
    """
    folders = [*folders_from_environment(kind), *_checkout_folders(kind), *packaged]
    return list(dict.fromkeys(folders))


def folders_from_environment(kind: str) -> list[str]:
    """Return the absolute folders that the user named for one kind of plug-in."""
    named = os.environ.get(VARIABLES[kind], "").split(os.pathsep)
    return [str(Path(folder).expanduser().absolute()) for folder in named if folder.strip()]


def _checkout_folders(kind: str) -> list[str]:
    """Return the top-level folder of our own checkout, or nothing when installed."""
    root = checkout()
    return [] if root is None else [str(root / kind)]


def checkout() -> Path | None:
    """Return the folder of our own checkout; None when installed.

    A pyproject.toml alone proves little: badly packed wheels leave one, and a `tools` folder, beside us in
    site-packages.
    """
    root = Path(__file__).resolve().parent.parent
    project = root / "pyproject.toml"
    is_ours = project.is_file() and _OUR_PROJECT in project.read_text(encoding="utf-8").splitlines()
    return root if is_ours else None
