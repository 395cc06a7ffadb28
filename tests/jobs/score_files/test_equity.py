"""Equity files: what somebody's account was worth, date by date."""

import pytest

from predibot.domain.clock import format_instant
from predibot.jobs.score_files.score import read_equity
from tests.jobs.tables import csv_of


def _steps(*dates: str) -> int:
    return read_equity(csv_of("date,value\n" + "".join(f"{date},1\n" for date in dates))).uneven_steps()


def test_values_are_in_the_order_of_time_and_the_file_may_have_another() -> None:
    found = read_equity(csv_of("value,date,name\n3,2026-03-03,x\n1,2026-03-01,x\n2,2026-03-02T01:00+01:00,x\n"))
    assert [(format_instant(point.at), point.value) for point in found.points] == [
        ("2026-03-01T00:00Z", 1.0),
        ("2026-03-02T00:00Z", 2.0),
        ("2026-03-03T00:00Z", 3.0),
    ]
    assert found.sorted_here and not read_equity(csv_of("date,value\n2026-03-01,1\n2026-03-02,1\n")).sorted_here


def test_bad_rows_are_told_and_the_rest_is_kept() -> None:
    text = "date,value\n2026-03-01,100\nsoon,1\n2026-03-02,-1\n2026-03-01,101\n,5\n"
    text += "2026-03-04,0\n2026-03-05,7\n2026-03-06,0\n"
    found = read_equity(csv_of(text))
    assert [point.number for point in found.points] == [2, 7, 9]
    assert [(row.number, row.reason.split(";")[0]) for row in found.file.bad_rows] == [
        (3, "date is 'soon'"),
        (4, "value is '-1'"),
        (5, "date 2026-03-01T00:00Z is in line 2 already"),
        (6, "date is missing"),
        (8, "value is 7 after the account was worth nothing in line 7"),
    ]
    assert found.file.rows == 8


@pytest.mark.parametrize(
    ("dates", "uneven"),
    [
        (["2026-03-01"], 0),
        (["2026-03-01", "2026-03-02", "2026-03-03"], 0),
        # 2026-03-06 is a Friday: the Saturday and Sunday that follow are skipped by all who trade on weekdays.
        (["2026-03-04", "2026-03-05", "2026-03-06", "2026-03-09"], 0),
        (["2026-03-07", "2026-03-08", "2026-03-09", "2026-03-12"], 1),
        (["2026-03-01", "2026-03-08", "2026-03-09", "2026-03-16", "2026-03-23"], 1),
    ],
)
def test_steps_that_are_not_as_long_as_most_are_counted(dates: list[str], uneven: int) -> None:
    assert _steps(*dates) == uneven
