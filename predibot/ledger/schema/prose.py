"""Prose in the database: what bots and people wrote, in characters that both databases can store."""

import re

from sqlalchemy import Dialect, Text
from sqlalchemy.types import TypeDecorator

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""PostgreSQL takes no NUL, and half of a surrogate pair is no UTF-8."""


class Prose(TypeDecorator[str]):
    """Text in which what cannot be stored is replaced by the mark for it, U+FFFD."""

    impl = Text
    cache_ok = True

    @property
    def python_type(self) -> type[str]:
        """Return what values are outside of the database."""
        return str

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Return what is stored."""
        return None if value is None else UNSTORABLE.sub("\ufffd", value)
