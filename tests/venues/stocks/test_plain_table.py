"""Plain tables of prices: what is read at once is what Python reads cell by cell, and what is not plain is left."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.venues.stocks.folder import read_plain

NAMES = ("date", "open", "close", "adjusted_close")
DECIMALS = st.builds(
    lambda whole, behind: f"{whole}.{behind}" if behind else str(whole),
    st.integers(0, 10_000_000),
    st.text("0123456789", max_size=7),
)
ROWS = st.lists(st.tuples(st.dates(), DECIMALS, DECIMALS, DECIMALS), min_size=1, max_size=20)


def written(rows: list[tuple[object, ...]]) -> bytes:
    return "".join(",".join(map(str, row)) + "\n" for row in rows).encode()


@given(ROWS)
def test_dates_and_decimal_numbers_are_those_that_python_reads(rows: list[tuple[object, ...]]) -> None:
    found = read_plain(written(rows), NAMES, ("close", "adjusted_close"))
    assert found is not None
    days, (close, adjusted) = found
    assert days.tolist() == [row[0] for row in rows]
    # To the last bit.
    assert close.tolist() == [float(str(row[2])) for row in rows]
    assert adjusted.tolist() == [float(str(row[3])) for row in rows]


@pytest.mark.parametrize(
    "line",
    [
        *("2026-02-30,1,2,3", "2026-13-01,1,2,3", "2026-00-01,1,2,3", "2026-01-00,1,2,3", "0000-01-01,1,2,3"),
        *("2026/01/05,1,2,3", "2026-01-5,1,2,3", "20260105,1,2,3", "2026-1a-05,1,2,3", ",1,2,3"),
        *("2026-01-05,1,,3", "2026-01-05,1,.,3", "2026-01-05,1,1.2.3,3", "2026-01-05,1,-2,3", "2026-01-05,1,1e3,3"),
        *("2026-01-05,1,nan,3", "2026-01-05,1, 2,3", "2026-01-05,1,1_0,3", "2026-01-05,1,1234567890123456,3"),
        *("2026-01-05,1,2", "2026-01-05,1,2,3,4", '2026-01-05,"1",2,3', "2026-01-05,\u0661,2,3", ""),
        # One cell too few and one too many in the next line are as many in all.
        "2026-01-05,1,2\n2026-01-06,1,2,3,4",
    ],
)
def test_what_is_written_in_another_way_is_no_plain_table(line: str) -> None:
    good = "2026-01-02,1,2,3\n"
    assert read_plain(good.encode(), NAMES, ("close",)) is not None
    for text in (f"{good}{line}\n", f"{line}\n{good}"):
        assert read_plain(text.encode(), NAMES, ("close", "adjusted_close")) is None


def test_nothing_is_no_table_and_a_last_line_has_an_end() -> None:
    assert read_plain(b"", NAMES, ("close",)) is None
    assert read_plain(b"2026-01-02,1,2,3", NAMES, ("close",)) is None
    assert read_plain(b"2026-01-02\n", ("date",), ()) is None
    assert read_plain(b"1,2026-01-02,2,3\n", ("open", "date", "close", "x"), ("close",)) is None


def test_a_close_in_the_last_column_is_read_too() -> None:
    found = read_plain(b"2026-01-02,3.50\n2026-01-05,.25\n", ("date", "close"), ("close",))
    assert found is not None
    assert np.array_equal(found[1][0], [3.5, 0.25])
