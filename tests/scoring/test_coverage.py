"""Coverage: a few of the simulations that the benchmark measures; docs/coverage.md has them all.

What an interval is exactly is held by `test_by_pairs.py`; here gross errors of what it should be come out.
"""

from functools import cache

import numpy as np
import pytest

from tests.scoring import coverage, worlds
from tests.scoring.coverage import Cell, Mean
from tests.soaks import few

BATCH = coverage.AT_ONCE
MEASURED = [("independent", 30), ("nested", 60), ("exclusive", 20), ("deadline", 20)]


@cache
def intervals(world: str, events: int) -> list[Cell]:
    """Return the cells of a world, drawn once for all tests."""
    return coverage.interval_cells(world, worlds.WORLDS[world], events, BATCH)


def failing(cells: list[Cell]) -> list[Cell]:
    assert cells and all(cell.n >= BATCH for cell in cells)
    return [cell for cell in cells if cell.fails]


@pytest.mark.parametrize(("world", "events"), few(MEASURED, MEASURED[2]))
def test_intervals_hold_the_truth_of_a_fair_world_and_no_equals_are_told_apart(world: str, events: int) -> None:
    cells = [cell for cell in intervals(world, events) if not cell.name[2].startswith("impossible")]
    assert {"1", "2", "7", "now", "settled", "brier", "pair now", "pair settled"} < {cell.name[2] for cell in cells}
    assert failing(cells) == []


@pytest.mark.parametrize(("world", "events"), few(MEASURED, MEASURED[2]))
def test_no_end_is_outside_the_possible(world: str, events: int) -> None:
    cells = [cell for cell in intervals(world, events) if cell.name[2].startswith("impossible")]
    assert [cell for cell in cells if cell.hits] == []


def test_intervals_of_calibrated_forecasts_of_long_odds_hold_their_brier_score() -> None:
    assert failing(coverage.brier_cells(30, 5 * BATCH)) == []


def test_intervals_of_sharpe_ratios_hold_the_truth() -> None:
    assert failing(coverage.sharpe_cells(10 * BATCH)) == []


@pytest.mark.parametrize("world", few(coverage.LOOKED_AT, *list(coverage.LOOKED_AT)[:2]))
def test_no_fair_world_looks_beaten_to_who_looks_daily(world: str) -> None:
    assert failing(coverage.e_value_cells(world, 2 * BATCH)) == []


def test_who_knows_better_than_the_price_is_found_out_and_who_is_as_good_is_not_called_worse() -> None:
    assert failing(coverage.power_cells(3 * BATCH)) == []


def test_now_is_fair_and_the_edge_what_it_should_be_where_events_settle_early_and_settled_is_not() -> None:
    means = {each.name[2:]: each for each in coverage.deadline_means(15 * BATCH)}
    fair = [each for (what, _), each in means.items() if what in ("now", "edge")]
    assert len(fair) == 4 and not [each for each in fair if each.fails]
    assert all(each.expected < 0.0 for (what, _), each in means.items() if what == "edge")
    assert means["settled", "price + .10"].mean > 0.0 > means["settled", "price - .10"].mean
    assert means["settled", "price - .10"].fails


def test_leaving_out_questions_of_no_expected_edge_moves_its_expectation_by_nothing() -> None:
    moved = coverage.left_out_mean(10 * BATCH)
    assert moved.error > 0.0 and not moved.fails


def test_a_cell_fails_only_where_chance_does_not_explain_it() -> None:
    by_chance = Cell(("by hand",), 93, 100, at_least=0.97)
    assert by_chance.misses and not by_chance.fails
    assert not Cell(("by hand",), 97, 100, at_least=0.97).misses
    assert Cell(("by hand",), 91, 100, at_least=0.97).fails
    assert Cell(("by hand",), 91, 100).interval == pytest.approx((0.8087, 0.9603), abs=5e-5)
    assert Cell(("by hand",), 1, 10_000, at_most=0.0).fails
    assert Mean(("by hand",), 1.0, 0.4).fails and not Mean(("by hand",), 1.0, 0.6).fails


def test_what_could_have_been_gained_is_what_each_market_pays_at_worst_and_best() -> None:
    price = np.full((1, 1, 1, worlds.LIFE + 1), 0.25)
    listed, days = np.ones((1, 1, 1), dtype=bool), np.full((1, 1), 3)
    world = worlds.World(price, np.full((1, 1, 1), 5.0), listed, np.zeros((1, 1), dtype=np.int64), days)
    buys_yes = worlds.always_half(np.random.default_rng(1), world)
    # A dollar at .25 is lost or becomes four, on each of three days; by the second there were two.
    assert coverage.possible_returns(world, buys_yes, 1_000, at_once=True) == (-1.0, 3.0)
    buys_no = worlds.market_price(np.random.default_rng(1), world)
    assert coverage.possible_returns(world, buys_no, 2, at_once=True) == pytest.approx((-1.0, 1.0 / 3.0))


def test_what_ends_at_different_instants_may_gain_on_both_sides_of_a_market() -> None:
    price = np.array([0.25, 0.75] + [0.25] * (worlds.LIFE - 1))[None, None, None]
    listed, days = np.ones((1, 1, 1), dtype=bool), np.full((1, 1), 2)
    world = worlds.World(price, np.full((1, 1, 1), 5.0), listed, np.zeros((1, 1), dtype=np.int64), days)
    against = worlds.always_half(np.random.default_rng(1), world)
    # Four shares of YES and then four of NO, at a dollar: in the end one of both is worth nothing.
    assert coverage.possible_returns(world, against, 9, at_once=True) == (1.0, 1.0)
    assert coverage.possible_returns(world, against, 9, at_once=False) == (-1.0, 3.0)
