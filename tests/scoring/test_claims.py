"""Claims: a tenth of the worlds in which the benchmark counts false ones; docs/coverage.md has them all."""

import pytest

from tests.scoring import claims
from tests.soaks import few


@pytest.mark.parametrize("name", few(["night.7", "eight", "daily.8", "nested"], "eight"))
def test_a_fair_price_is_seldom_beaten_where_events_move_together(name: str) -> None:
    cells = claims.better_cells(name, range(2), 30)
    # With a mean of daily ratios it was 27 % in one night, and 24 % in eight.
    assert len(cells) == 6
    assert [cell for cell in cells if cell.hits > claims.allowed(cell.n)] == []


@pytest.mark.parametrize("name", few(["1 night .7", "10 nights .9", "daily .8"], "10 nights .9"))
def test_who_is_halfway_right_is_seldom_called_worse_where_events_move_together(name: str) -> None:
    cells = claims.worse_cells(name, range(1))
    assert len(cells) == 6
    assert [cell for cell in cells if cell.hits > claims.allowed(cell.n)] == []


@pytest.mark.parametrize("name", few(["night.7", "eight"], "eight"))
def test_intervals_hold_the_truth_where_events_move_together(name: str) -> None:
    cells = claims.interval_cells(name, range(1), 20)
    assert {"edge", "edge of a pair", "return 1", "return now", "return settled"} < {cell.name[1] for cell in cells}
    assert [cell for cell in cells if cell.fails] == []


def test_who_knows_more_is_still_found() -> None:
    assert [cell for cell in claims.power_cells(360, 0.01, 0.0, 50, at_least=0.8) if cell.fails] == []


def test_who_knows_something_leads_a_board_and_who_copies_the_price_does_not() -> None:
    assert [cell for cell in claims.board_cells(120, range(1), 20, skilled=0.9) if cell.fails] == []
