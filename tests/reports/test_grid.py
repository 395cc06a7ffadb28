"""Grids: rows of figures that stay whole on any screen."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from predibot.reports.grid import Column, Grid, print_grid

CELLS = st.text("0123456789,.%+-", min_size=1, max_size=12)


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=4), st.integers(15, 60))
def test_every_number_is_there_whole_on_any_width(rows: list[tuple[str, str, str]], width: int) -> None:
    stream = io.StringIO()
    columns = (Column("who", "key"), *(Column(name) for name in ("a", "b", "c")))
    grid = Grid("title", columns, tuple(("somebody", *row) for row in rows))
    print_grid(Console(file=stream, width=width), grid)
    words = stream.getvalue().split()
    assert all(cell in words for row in rows for cell in row)


def test_a_row_that_does_not_match_the_header_is_refused() -> None:
    with pytest.raises(ValueError, match="a row has 1 cells, the header 2"):
        Grid("title", (Column("a"), Column("b")), (("1",),))
