"""Instants in the database: whole microseconds since 1970, so that both databases agree to the digit."""

from datetime import datetime, timedelta

from sqlalchemy import BigInteger, Dialect
from sqlalchemy.types import TypeDecorator

from predibot.domain.clock import EPOCH

_MICROSECOND = timedelta(microseconds=1)


def to_microseconds(instant: datetime) -> int:
    """Return an aware instant as microseconds since 1970 in UTC."""
    return (instant - EPOCH) // _MICROSECOND


def from_microseconds(microseconds: int) -> datetime:
    """Return the UTC instant of a number of microseconds since 1970."""
    return EPOCH + timedelta(microseconds=microseconds)


class Instant(TypeDecorator[datetime]):
    """An aware UTC datetime, stored as an integer."""

    impl = BigInteger
    cache_ok = True

    @property
    def python_type(self) -> type[datetime]:
        """Return what values are outside of the database."""
        return datetime

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        """Return what is stored; a naive datetime is a mistake of ours and raises."""
        return None if value is None else to_microseconds(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        """Return what was stored, aware and in UTC."""
        return None if value is None else from_microseconds(value)
