"""The reliability diagram in characters."""

import numpy as np
from rich.cells import cell_len

from predibot.reports.terminal.closeups.bot import reliability_lines
from predibot.scoring import calibration_bins


def test_each_mark_stands_where_its_number_is() -> None:
    said = [0.0] * 8 + [0.5] * 4 + [1.0] * 8
    happened = [0] * 8 + [1, 1, 0, 0] + [1] * 8
    axis, low, middle, high = reliability_lines(calibration_bins(said, happened))
    start = low.index("|") + 1
    # Forty steps from 0 to 100%: said and happened are the same in every bin.
    assert [line.index("◆") - start for line in (low, middle, high)] == [0, 20, 40]
    assert [axis.index(word) - start for word in ("0%", "50%")] == [-1, 19]
    # Symmetric around one half.
    drawn = middle[start : start + 41]
    assert drawn == drawn[::-1] and drawn.strip("─ ") == "◆"


def test_it_fits_a_screen_of_80_whatever_the_numbers() -> None:
    rng = np.random.default_rng(3)
    said = rng.random(200_000)
    lines = list(reliability_lines(calibration_bins(said, rng.random(said.size) < said)))
    assert len(lines) == 11 and max(map(cell_len, lines)) <= 80


def test_empty_bins_have_no_line() -> None:
    assert len(list(reliability_lines(calibration_bins([0.05, 0.95], [0, 1])))) == 3
