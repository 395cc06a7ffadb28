"""The log file: records as single lines, of text or of JSON, each with the run and decision it is about."""

import fcntl
import json
import logging
import os
import stat
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from predibot._context import set_within
from predibot.domain.clock import format_instant
from predibot.errors import UsageError
from predibot.plain_file import open_plain


@dataclass(frozen=True, slots=True)
class LogContext:
    """A run, and a decision of it; empty parts are unknown."""

    run: str = ""
    bot: str = ""
    subject: str = ""


_NOTHING = LogContext()
_ABOUT: ContextVar[LogContext | None] = ContextVar("about", default=None)


def current_log_context() -> LogContext:
    """Return the current context."""
    return _ABOUT.get() or _NOTHING


def log_context(what: LogContext) -> AbstractContextManager[None]:
    """Give a context to all records in the block and in our threads that it starts."""
    return set_within(_ABOUT, what)


_SQLITE = b"SQLite format 3\0"
_LOCK_TRIES, _PAUSE_SECONDS = 500, 0.002
OWN = "predibot"
"""The logger whose records below warnings are kept; libraries log addresses and headers there."""


def is_logged(record: logging.LogRecord) -> bool:
    """Return whether a record is kept: ours, or a warning of a library."""
    return record.levelno >= logging.WARNING or record.name.partition(".")[0] == OWN


class LineFormatter(logging.Formatter):
    """Formats a record as one harmless line without secrets."""

    def __init__(self, hidden: Callable[[str], str], *, as_json: bool) -> None:
        """Take a function that removes secrets from a text, and whether lines are JSON objects."""
        super().__init__()
        self._hidden = hidden
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without its end."""
        at = format_instant(datetime.fromtimestamp(record.created, UTC))
        message = self._hidden(record.getMessage())
        about = {name: self._hidden(text) for name, text in asdict(current_log_context()).items() if text}
        failure = self._hidden(self.formatException(record.exc_info)) if record.exc_info else ""
        if self._as_json:
            fields = {"at": at, "level": record.levelname, "logger": record.name, "message": message, **about}
            return json.dumps({**fields, **({"exception": failure} if failure else {})})
        place = "/".join(about.values())
        parts = (at, record.levelname, record.name, *([f"[{place}]"] if place else []), message, failure)
        return _escape(" ".join(part for part in parts if part))


class LogFile(logging.Handler):
    """Writes whole lines into a file that several programs share; a full file becomes the first of its backups."""

    def __init__(self, file: Path, told: Callable[[str], None], *, most_bytes: int, backups: int) -> None:
        """Open the file once, so that a mistake is reported before anything is done.

        `told` is called once if it cannot be written later on; nothing fails because of a log. Raises `UsageError` if
        the file is not writable now.
        """
        super().__init__()
        self._file, self._told, self._most_bytes = file.absolute(), told, most_bytes
        self._places = [self._file, *(self._file.with_name(f"{file.name}.{n}") for n in range(1, backups + 1))]
        self._is_broken = False
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            os.close(self._open_locked())
            with open_plain(self._file) as before:
                if before.read(len(_SQLITE)) == _SQLITE:
                    raise UsageError(f"the log {file} is a database, which it would end up in. Name another --log-file")
        except OSError as error:
            reason = error.strerror or error
            raise UsageError(f"the log {file} cannot be written: {reason}. Name another --log-file") from None

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        try:
            line = f"{self.format(record)}\n".encode("utf-8", "backslashreplace")
            descriptor = self._open_locked(len(line))
            try:
                os.write(descriptor, line)
            finally:
                os.close(descriptor)
            self._is_broken = False
        except Exception as error:  # noqa: BLE001 - whatever is wrong with a record, what it is about goes on
            if not self._is_broken:
                self._is_broken = True
                self._told(f"the log {self._file} cannot be written ({error}); what is done goes on without it")

    def _open_locked(self, room: int = 0) -> int:
        """Open and lock the file; with `room` for so many bytes, whoever else fills it meanwhile."""
        while True:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC
            descriptor = os.open(self._file, flags, 0o666)
            try:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise OSError(f"{self._file.name} is no regular file")
                _lock(descriptor)
                found = os.fstat(descriptor)
                # Another program may have rotated it away at any moment.
                with suppress(FileNotFoundError):
                    if os.path.samestat(found, self._file.stat()):
                        if not room or not found.st_size or found.st_size + room <= self._most_bytes:
                            return descriptor
                        self._rotate()
            except BaseException:
                os.close(descriptor)
                raise
            # Programs that wait for the full file will find that it was moved.
            os.close(descriptor)

    def _rotate(self) -> None:
        for newer, older in reversed(list(pairwise(self._places))):
            if newer.exists():
                newer.replace(older)


def _lock(descriptor: int) -> None:
    """Lock a file; raise `TimeoutError` after a while, so that a stopped program does not block the others for ever."""
    for _ in range(_LOCK_TRIES):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(_PAUSE_SECONDS)
    raise TimeoutError("another program holds it")


def _escape(text: str) -> str:
    """Return a text on one line, with every unprintable character escaped as in JSON."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in text)
