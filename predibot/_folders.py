"""The folders plug-ins are looked for in, told to the import system before any settings exist."""

import os
from collections.abc import Iterable
from pathlib import Path

_VARIABLES = {"strategies": "PREDIBOT_STRATEGIES", "tools": "PREDIBOT_TOOLS"}
_OUR_PROJECT = 'name = "predibot"'


def plugin_folders(kind: str, packaged: Iterable[str]) -> list[str]:
    """Return the folders of one kind of plug-in, first come first served.

    The user's own folders go first, so that a file there replaces ours of the
    same name. Folders that do not exist are kept: the import system passes
    over them, and a list of plug-ins can say that one is missing.

    Args:
        kind: `strategies` or `tools`.
        packaged: Folders the import system found by itself.

    Returns:
        Absolute folders: those of `PREDIBOT_STRATEGIES` or `PREDIBOT_TOOLS`
        (separated as in `PATH`), the checkout's if this is a checkout, the
        packaged ones.
    """
    folders = [*folders_from_environment(kind), *_checkout_folders(kind), *packaged]
    return list(dict.fromkeys(folders))


def folders_from_environment(kind: str) -> list[str]:
    """Return the absolute folders the user named for one kind of plug-in."""
    named = os.environ.get(_VARIABLES[kind], "").split(os.pathsep)
    return [str(Path(folder).expanduser().absolute()) for folder in named if folder.strip()]


def _checkout_folders(kind: str) -> list[str]:
    """Return the top-level folder of our own checkout, or nothing when installed.

    A pyproject.toml alone proves little: badly packed wheels of others leave
    one, and a `tools` folder, right beside us in site-packages.
    """
    root = Path(__file__).resolve().parent.parent
    project = root / "pyproject.toml"
    if project.is_file() and _OUR_PROJECT in project.read_text(encoding="utf-8").splitlines():
        return [str(root / kind)]
    return []
