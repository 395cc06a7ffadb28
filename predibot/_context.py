"""Values that hold within a block, for all that is called in it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def set_within(variable: ContextVar[T], value: T) -> Iterator[None]:
    """Give a variable a value in this block and thread, and in what they start."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)
