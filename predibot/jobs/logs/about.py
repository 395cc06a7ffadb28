"""What a record of a log is about: the run, and the bot and the subject of its decision."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LogContext:
    """A run, and of it a decision where it is about one; empty where it is about none."""

    run: str = ""
    bot: str = ""
    subject: str = ""


_NOTHING = LogContext()
_ABOUT: ContextVar[LogContext | None] = ContextVar("about", default=None)


def about_now() -> LogContext:
    """Return what is logged about here."""
    return _ABOUT.get() or _NOTHING


@contextmanager
def logged_about(what: LogContext) -> Iterator[None]:
    """Let whatever is logged in the block, and in threads of ours that it starts, be about this."""
    token = _ABOUT.set(what)
    try:
        yield
    finally:
        _ABOUT.reset(token)
