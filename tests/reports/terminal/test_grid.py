"""Grids: rows of figures that stay a table on any screen."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from predibot.reports.table import Column, Table
from predibot.reports.terminal.terminal import print_grid

CELLS = st.text("0123456789,.%+-", min_size=1, max_size=12)


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=4), st.integers(15, 60))
def test_a_column_is_there_whole_or_named_below_on_any_width(rows: list[tuple[str, str, str]], width: int) -> None:
    stream = io.StringIO()
    columns = (Column("who", kind="key"), *(Column(name) for name in ("a", "b", "c")))
    grid = Table("title", columns, tuple(("somebody", *row) for row in rows))
    print_grid(Console(file=stream, width=width), grid)
    table, _, left_out = stream.getvalue().partition("no room for: ")
    words = table.split()
    gone = re.findall(r"\b[abc]\b(?=[,;])", left_out)
    for place, name in enumerate("abc"):
        assert name in gone or all(row[place] in words for row in rows)
        assert (name in words) != (name in gone)
    # From the right, where no order is said.
    assert gone == list("cba")[: len(gone)]
    assert len(table.splitlines()) == len(rows) + 2


def printed(grid: Table, width: int) -> list[str]:
    stream = io.StringIO()
    print_grid(Console(file=stream, width=width), grid)
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def test_columns_go_in_the_order_that_the_grid_names() -> None:
    columns = (Column("who", kind="key"), Column("one", drop=2), Column("two", drop=1), Column("three"))
    grid = Table("t", columns, (("somebody", "1", "2", "3"),))
    assert printed(grid, 22)[1:] == ["who      one two three", "somebody   1   2     3"]
    assert printed(grid, 21)[1:3] == ["who       one  three", "somebody    1      3"]
    assert printed(grid, 14)[1:3] == ["who      three", "somebody     3"]
    assert printed(grid, 13)[1:3] == ["who", "somebody"]
    assert " ".join(printed(grid, 14)[3:]) == "no room for: two, one; a wider screen shows them"


def test_columns_without_any_value_go_first() -> None:
    columns = (Column("who", kind="key"), Column("one"), Column("two", drop=1), Column("three"))
    grid = Table("t", columns, (("somebody", "–", "2", "3"), ("other", "–", "–", "1")))
    assert printed(grid, 21)[1:3] == ["who       two  three", "somebody    2      3"]


def test_what_a_table_is_asked_for_stays_on_any_width() -> None:
    columns = (Column("who", kind="key"), Column("one"), Column("two"), Column("cost", drop=0))
    grid = Table("t", columns, (("somebody", "1", "2", "unknown, $0.25 of it known"),))
    assert printed(grid, 38)[1:3] == ["who                             cost", "somebody  unknown, $0.25 of it known"]
    assert printed(grid, 38)[3] == "no room for: two, one; a wider screen shows them"
    # Nothing is cut even where that alone is too wide.
    assert {"somebody", "unknown,", "$0.25", "known"} <= set(" ".join(printed(grid, 20)).split())


def test_names_are_shortened_in_their_middle_before_a_column_goes() -> None:
    columns = (Column("bot", kind="name"), Column("edge"))
    grid = Table("t", columns, (("a_bot_with_a_rather_long_name", "+83"),))
    assert printed(grid, 80)[2] == "a_bot_with_a_rather_long_name   +83"
    assert printed(grid, 22)[2] == "a_bot_with…g_name  +83"
    assert printed(grid, 18)[1] == "bot"


def test_what_is_not_shown_is_not_explained() -> None:
    columns = (Column("name", kind="name"), Column("one", meaning="A"), Column("two", drop=1, meaning="B"))
    grid = Table("t", columns, (("somebody", "1", "2"),))
    assert printed(grid, 80)[-1] == "one: A. two: B."
    narrow = printed(grid, 13)
    assert "one: A." in narrow and not any("B." in line for line in narrow)


def test_what_explains_a_table_stands_below_it() -> None:
    grid = Table("t", (Column("a"),), (("1",),), below=("a: the first letter.",))
    assert printed(grid, 40) == ["t", "a", "1", "a: the first letter."]


def test_a_header_that_is_there_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="a header is there twice: n, n"):
        Table("title", (Column("n"), Column("n")), ())


def test_a_row_that_does_not_match_the_header_is_refused() -> None:
    with pytest.raises(ValueError, match="a row has 1 cells, the header 2"):
        Table("title", (Column("a"), Column("b")), (("1",),))
