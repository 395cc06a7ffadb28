"""Dependence: how many events moved as if they were one, by what they gained on the same days."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.scoring.inference.dependence import dependence, dependence_by_day

ROWS = st.lists(st.tuples(st.floats(-10, 10), st.integers(0, 4), st.integers(0, 5)), min_size=1, max_size=40)


@pytest.mark.parametrize("gained", [[], [0.0, 0.0], [1e-9, 1e-9]])
def test_without_a_move_it_is_one(gained: list[float]) -> None:
    assert dependence(np.array(gained), np.arange(len(gained)), np.zeros(len(gained), dtype=np.int64)) == 1.0


@given(ROWS, st.sampled_from([-8.0, -1.0, 0.5, 64.0]))
def test_neither_unit_nor_sign_changes_it_and_it_is_what_loops_say(
    rows: list[tuple[float, int, int]], unit: float
) -> None:
    rows = [(0.0 if abs(gained) < 1e-3 else gained, event, day) for gained, event, day in rows]
    gained, events, days = zip(*rows, strict=True)
    cells = {(e, d): sum(g for g, of, on in rows if (of, on) == (e, d)) for _, e, d in rows}
    above = sum(sum(g for (_, on), g in cells.items() if on == d) ** 2 for d in set(days))
    below = sum(g**2 for g in cells.values())
    expected = max(1.0, above / below) if max(map(abs, cells.values())) > 1e-6 else 1.0
    assert dependence(np.array(gained) * unit, np.array(events), np.array(days)) == pytest.approx(expected)


def test_by_day_it_stands_at_what_was_known_by_then() -> None:
    gained, days = np.array([0.5, 0.5, 0.1, -0.1]), np.array([1, 1, 3, 3])
    ratio, moved = dependence_by_day(gained, days, 4)
    assert ratio == pytest.approx([0.0, 2.0, 2.0, 1.0 / 0.52])
    assert moved.tolist() == [0, 1, 1, 2]


def test_what_cannot_be_summed_is_refused() -> None:
    with pytest.raises(ValueError, match="far apart"):
        dependence(np.array([1e200, 1e200]), np.array([0, 1]), np.array([1, 1]))
