"""Column types: instants, our own texts, and prose of bots and people."""

import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, BindParameter, Dialect, Integer, Text, bindparam
from sqlalchemy.types import TypeDecorator

from predibot.domain.clock import EPOCH

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""PostgreSQL takes no NUL, and half a surrogate pair is no UTF-8."""
MICROSECONDS = 1e6
"""In a second."""
_MICROSECOND = timedelta(microseconds=1)


def to_microseconds(instant: datetime) -> int:
    """Return an aware instant as microseconds since 1970 in UTC."""
    return (instant - EPOCH) // _MICROSECOND


def from_microseconds(microseconds: int) -> datetime:
    """Return the UTC instant of a number of microseconds since 1970."""
    return EPOCH + timedelta(microseconds=microseconds)


def bind_list(rows: Sequence[int]) -> BindParameter[Any]:
    """Return row numbers for `in_`, written into the statement, which allows too few parameters."""
    return bindparam(None, [int(row) for row in rows], expanding=True, literal_execute=True, type_=Integer())


def _stored_text(value: Any) -> str | None:
    if value is not None and type(value) is not str:
        raise TypeError(f"a text in the ledger is of type {type(value).__name__}")
    return value


class Instant(TypeDecorator[datetime]):
    """An aware UTC datetime, stored as whole microseconds since 1970, so that both databases agree exactly."""

    impl = BigInteger
    cache_ok = True

    @property
    def python_type(self) -> type[datetime]:
        """Return the Python type of values."""
        return datetime

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        """Return the microseconds to store; a naive datetime is a mistake of ours and raises."""
        return None if value is None else to_microseconds(value)

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], datetime | None]:
        """Return what makes each value an aware UTC instant; SQLAlchemy's own wrapper would double the calls."""
        return lambda value: None if value is None else from_microseconds(value)


class StoredText(TypeDecorator[str]):
    """Text; somebody else's SQLite file may hold another type in such a column."""

    impl = Text
    cache_ok = True

    @property
    def python_type(self) -> type[str]:
        """Return the Python type of values."""
        return str

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], str | None]:
        """Return what takes only text: it raises `TypeError` for anything else, so that `Store` finds its row."""
        return _stored_text


class Prose(StoredText):
    """Text in which U+FFFD replaces what cannot be stored."""

    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Return the text to store."""
        return None if value is None else UNSTORABLE.sub("\ufffd", value)
