"""Pictures drawn on the server: where things lie in their boxes."""

from datetime import UTC, datetime, timedelta

import pytest

pytest.importorskip("fastapi", reason="needs predibot[web]")

from predibot.reports.pictures.series import Plot
from predibot.web.drawing import bars_of, dots_of, shares_of, whiskers_of

DAY = datetime(2026, 3, 1, tzinfo=UTC)


def test_bars_rise_from_zero_and_hang_below_it() -> None:
    found = bars_of([(DAY, 1.0, "one"), (DAY + timedelta(days=1), -1.0, "less")], "Profit", "", "{:+.0f}".format)
    assert found.rows == ((80.0, "0"), (156.0, "-1"), (4.0, "+1"))
    assert [text for _, text in found.days] == ["2026-03-01", "2026-03-02"]
    assert [(y, height, below, said) for _, y, _, height, below, said in found.bars] == [
        (4.0, 76.0, False, "2026-03-01: one"),
        (80.0, 76.0, True, "2026-03-02: less"),
    ]
    nothing = bars_of([(DAY, 0.0, "nothing")], "Profit", "", str)
    assert [height for *_, height, _, _ in nothing.bars] == [0.0]


def test_shares_fill_their_column_and_what_is_not_known_is_said() -> None:
    found = shares_of([(DAY, [("cash", 0.25), ("a", 0.75)]), (DAY, [("cash", 0.5), ("b", 0.25)])], "without a price")
    assert found is not None and found.names == ("cash", "a", "b", "without a price")
    columns = [[part for part in found.parts if part[1] == x] for x in (4.0, 320.0)]
    assert [[round(height / 152.0, 2) for *_, height, _ in column] for column in columns] == [
        [0.25, 0.75],
        [0.5, 0.25, 0.25],
    ]
    assert all(sum(height for *_, height, _ in column) == pytest.approx(152.0) for column in columns)
    assert shares_of([], "cash") is None


def test_many_assets_are_told_as_others_and_a_debt_leaves_no_column() -> None:
    found = shares_of([(DAY, [(f"a{each}", 0.1) for each in range(10)])], "cash")
    assert found is not None and len(found.names) == 7 and found.names[-1] == "others"
    assert found.parts[-1][5].endswith("others 40%")
    owing = shares_of([(DAY, [("cash", -0.5), ("a", 1.5)])], "without a price")
    assert owing is not None and [(each[5], each[4]) for each in owing.parts] == [("2026-03-01 00:00 a 150%", 152.0)]


def test_the_part_that_is_to_lie_lowest_does_and_is_never_among_the_others() -> None:
    parts = [(f"a{each}", 0.1) for each in range(9)]
    found = shares_of([(DAY, [*parts, ("cash", 0.1)]), (DAY, [*parts, ("cash", 0.0)])], "without a price", "cash")
    assert found is not None and found.names[0] == "cash" and found.names[6] == "others"


def test_whiskers_have_zero_in_the_middle_and_an_arrow_where_they_leave_the_scale_of_all() -> None:
    near, far, none, other = whiskers_of([(-0.1, 0.0, 0.1), (-0.9, -0.8, 0.1), None, (0.0, 0.05, 0.1)])
    assert none is None and near is not None and far is not None and other is not None
    # The scale reaches twice as far as the median of .1, .9 and .1.
    assert near == ("M50.5 11H139.5M50.5 7v8M139.5 7v8", 95.0)
    assert far[1] == 6.0 and far[0].endswith("M11.0 7L6.0 11l5 4M139.5 7v8")


def test_dots_lie_between_the_ends_of_both_figures_and_one_value_in_the_middle() -> None:
    found = dots_of(Plot("edge", {"a": (2.0, 0.1), "b": (6.0, 0.1), "c": (4.0, 0.1)}, "rho –"), "pages")
    assert [(x, y) for x, y, *_ in found.dots] == [(12.0, 104.0), (308.0, 104.0), (160.0, 104.0)]
    assert found.dots[0][3] == "a: pages 2, edge 0.1"
    assert found.note == "pages across; edge up; rho –"
    assert found.ends == (("2", "6"), ("0.1",))
