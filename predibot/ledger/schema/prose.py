"""Texts in the database: of ours, and prose that bots and people wrote, in characters that both databases can store."""

import re
from typing import Any

from sqlalchemy import Dialect, Text
from sqlalchemy.types import TypeDecorator

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""PostgreSQL takes no NUL, and half of a surrogate pair is no UTF-8."""


class Words(TypeDecorator[str]):
    """Text, which a SQLite file of somebody else need not hold where it says so."""

    impl = Text
    cache_ok = True

    @property
    def python_type(self) -> type[str]:
        """Return what values are outside of the database."""
        return str

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        """Return what was stored.

        Raises:
            TypeError: If it is no text; who reads the ledger finds out where it stands.
        """
        if value is not None and type(value) is not str:
            raise TypeError(f"a text in the ledger is of type {type(value).__name__}")
        return value


class Prose(Words):
    """Text in which what cannot be stored is replaced by the mark for it, U+FFFD."""

    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Return what is stored."""
        return None if value is None else UNSTORABLE.sub("\ufffd", value)
