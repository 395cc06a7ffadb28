"""Documents: what JSON holds of rows."""

import math
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import Enum

from sqlalchemy import NullPool, create_engine, text

from predibot.reports.table import document

AT = datetime(2026, 1, 9, 12, 0, tzinfo=UTC)


class Finding(Enum):
    BETTER = "better"


@dataclass(frozen=True)
class Point:
    on: date
    value: float


@dataclass(frozen=True)
class Whole:
    at: datetime
    edge: float | None
    finding: Finding
    points: tuple[Point, ...]
    counts: dict[str, float]


WHOLE = Whole(AT, math.nan, Finding.BETTER, (Point(date(2026, 1, 9), math.inf),), {"a": 1.5, "b": math.nan})


def test_a_row_is_its_fields_in_order_and_what_is_no_number_is_none() -> None:
    shown = document(WHOLE)
    assert list(shown) == ["at", "edge", "finding", "points", "counts"]
    assert shown == {
        "at": "2026-01-09T12:00Z",
        "edge": None,
        "finding": "better",
        "points": [{"on": "2026-01-09", "value": None}],
        "counts": {"a": 1.5, "b": None},
    }


def test_named_attributes_come_in_the_order_they_are_named_in() -> None:
    assert list(document(WHOLE, "finding at").items()) == [("finding", "better"), ("at", "2026-01-09T12:00Z")]


def test_a_row_of_a_database_is_its_columns_also_within_another() -> None:
    with create_engine("sqlite://", poolclass=NullPool).connect() as connection:
        row = connection.execute(text("SELECT 1 AS n, 'x' AS word")).one()
    assert document(row) == {"n": 1, "word": "x"}
    assert document(Whole(AT, 0.5, Finding.BETTER, (row,), {}), "points") == {"points": [{"n": 1, "word": "x"}]}  # type: ignore[arg-type]
