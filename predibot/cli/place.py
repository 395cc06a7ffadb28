"""How the program is called here, and how more of it is installed."""

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from itertools import pairwise
from json import loads
from pathlib import Path

from predibot._folders import checkout
from predibot.cli.ending import mask_arguments
from predibot.reports.terminal.hints import CallSite

_WITH_LEDGER = (
    *("account", "bots", "cohort", "decide", "doctor", "evaluate", "export", "graph", "import", "publish", "relate"),
    *("replay", "skill", "report", "runs", "schedule", "serve", "status", "tables", "trace", "track", "verify"),
    *("ledger backup", "ledger compact", "ledger prune", "ledger restore", "ledger stats", "ledger upgrade"),
)
"""Commands with an option `--ledger`; those of a group are named by the group where all of them have it."""


def place_of(arguments: Sequence[str]) -> CallSite:
    """Return how to type commands where the program was called with these arguments."""
    words = mask_arguments(arguments)
    ledger = ""
    for before, word in pairwise(("", *words)):
        if before == "--ledger":
            ledger = f"--ledger {shlex.quote(word)}"
        elif word.startswith("--ledger="):
            ledger = shlex.quote(word)
    return CallSite(_program(), ledger, _WITH_LEDGER, f"{as_module('pip')} install {_package()}")


def _program() -> str:
    script = Path(sys.argv[0])
    # `python -m predibot`, or a program of somebody else that runs it.
    if script.name == "__main__.py" or not script.is_file():
        script = Path(sys.executable).with_name("predibot")
        if not script.exists():
            return as_module("predibot")
    found = shutil.which("predibot")
    return "predibot" if found and Path(found).resolve() == script.resolve() else _shell_word(script)


def as_module(name: str) -> str:
    """Return how a module of this Python is run."""
    return f"{_shell_word(Path(sys.executable))} -m {name}"


def _package() -> str:
    """Return what pip installs with an extra: the checkout, the wheel this came from, or the name on an index."""
    root = checkout()
    if root is not None:
        return f"-e {shlex.quote(f'{_from_here(root)}[{{extra}}]')}"
    try:
        origin = loads(distribution("predibot").read_text("direct_url.json") or "{}").get("url", "")
    except (PackageNotFoundError, ValueError):
        origin = ""
    return shlex.quote(f"predibot[{{extra}}] @ {origin}") if origin else "'predibot[{extra}]'"


def _shell_word(path: Path) -> str:
    """Return a program as it is typed in the current folder; a shell looks for a bare name elsewhere."""
    typed = _from_here(path)
    return shlex.quote(typed if "/" in typed else f"./{typed}")


def _from_here(path: Path) -> str:
    """Return a path as seen from the current folder; links stay, as a virtual environment is one."""
    try:
        here = Path.cwd()
    except OSError:
        # The folder is gone.
        return str(path)
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - `resolve` would follow links
    return str(absolute.relative_to(here) if absolute.is_relative_to(here) else absolute)
