"""The context of log records: the run, and the bot and subject of its decision."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LogContext:
    """A run, and a decision of it; empty parts are unknown."""

    run: str = ""
    bot: str = ""
    subject: str = ""


_NOTHING = LogContext()
_ABOUT: ContextVar[LogContext | None] = ContextVar("about", default=None)


def about_now() -> LogContext:
    """Return the current context."""
    return _ABOUT.get() or _NOTHING


@contextmanager
def logged_about(what: LogContext) -> Iterator[None]:
    """Give a context to all records in the block and in our threads that it starts."""
    token = _ABOUT.set(what)
    try:
        yield
    finally:
        _ABOUT.reset(token)
