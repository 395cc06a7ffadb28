"""A seal on a folder: while it holds, this process opens none of the files below it."""

import os
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

_OPENING = frozenset({"open", "os.listdir", "os.scandir", "sqlite3.connect"})
"""Python's audit events whose first argument is a path that is about to be read."""


class Sealed(PermissionError):
    """Somebody opened what is sealed."""


class Seal:
    """Finds out who reads a folder behind everybody's back.

    It sees what goes through Python: a library that opens files in C, or another
    program, is not stopped.
    """

    def __init__(self, folder: Path) -> None:
        """Prepare to seal a folder, as often as it is entered."""
        self._folder = os.path.realpath(folder)
        self._holds = False
        self._watches = False

    def __enter__(self) -> Self:
        """Seal it."""
        if not self._watches:
            # A hook stays for as long as the process lives; a broken seal lets everything through.
            sys.addaudithook(self._refuse)
            self._watches = True
        self._holds = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Break the seal."""
        self._holds = False

    def _refuse(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self._holds or event not in _OPENING or not arguments:
            return
        path = arguments[0]
        if not isinstance(path, str | bytes | os.PathLike):
            return
        whole = os.path.realpath(os.fsdecode(path))
        if whole == self._folder or whole.startswith(f"{self._folder}{os.sep}"):
            raise Sealed(f"{whole} was opened by the strategy itself, where nothing is held back from it")
