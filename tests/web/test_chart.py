"""Charts of lines over time: their scale, their names, and what their points say."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest

from predibot.web.chart import BOTTOM, LEFT, TOP, ChartPoint, Line, Scale, chart_of, time_ticks

DAY = 86_400.0
SCALE = Scale("{:+.0f}".format)


def line(name: str, *values: float) -> Line:
    return Line(name, [ChartPoint(DAY * at, value) for at, value in enumerate(values)])


def test_a_line_lies_between_the_first_and_the_last_instant_and_its_band_around_it() -> None:
    found = chart_of(
        [Line("a", [ChartPoint(0.0, 0.0), ChartPoint(DAY, 1.0, 0.0, 2.0), ChartPoint(2 * DAY, 2.0, 0.0, 4.0)])],
        "a",
        "",
        SCALE,
    )
    assert found is not None
    (a,) = found.series
    # The scale goes from 0 to 4, the axis from 52 to 944, and from 290 up to 12.
    assert a.line == "52.0,290.0 498.0,220.5 944.0,151.0"
    assert a.band == "498.0,151.0 944.0,12.0 944.0,290.0 498.0,290.0"
    assert found.about == "; in the end +2 (+0 to +4)" and a.label is None
    assert a.hits[1] == (498.0, 220.5, "1970-01-02: +1 (+0 to +2)", False)


def test_what_lies_far_off_is_cut_with_an_arrow_and_the_others_can_be_told_apart() -> None:
    found = chart_of([line("a", 1, 2, 3), line("b", 0, -1, -2), line("far", -9, -90, -80)], "", "", SCALE)
    assert found is not None
    heights = [float(y) for each in found.series[:2] for point in each.line.split() for y in [point.split(",")[1]]]
    assert min(heights) >= TOP and max(heights) <= BOTTOM and max(heights) - min(heights) > 0.2 * (BOTTOM - TOP)
    (far,) = (each for each in found.series if each.name == "far")
    assert far.arrows and far.arrows[0][1] == BOTTOM and far.label is not None and far.label[1] == "far ↓"
    assert far.hits[1][1:] == (BOTTOM, "far, 1970-01-02: -90", False)
    assert not found.series[0].arrows


def test_on_the_second_day_the_axis_holds_the_interval_and_a_line_of_one_day_is_a_dot() -> None:
    wide = Line("a", [ChartPoint(0.0, 0.5, -30.0, 30.0), ChartPoint(DAY, 0.4, -14.0, 15.0)])
    found = chart_of([wide], "a", "", SCALE)
    assert found is not None
    band = [float(each.split(",")[1]) for each in found.series[0].band.split()]
    assert TOP <= band[1] < band[2] <= BOTTOM, "the last interval is inside; the first, wider one is cut"
    assert band[2] - band[1] > 0.7 * (BOTTOM - TOP)
    several = chart_of([line("a", 1, 2), line("b", 1, -7), Line("late", [ChartPoint(DAY, 1.0)])], "", "", SCALE)
    assert several is not None and not any(each.arrows for each in several.series)
    assert [each.kind for each in several.series] == ["line", "line", "dots"]


def test_lines_in_one_place_are_told_apart_and_the_interval_of_the_first_is_drawn_where_it_fits() -> None:
    def leading(reach: float) -> list[tuple[bool, int]]:
        first = Line("a", [ChartPoint(0.0, 1.0), ChartPoint(DAY, 2.0, 2.0 - reach, 2.0 + reach)], "c1")
        others = [replace(line(name, 1, 2), colour=name) for name in ("c2", "c3", "c1")]
        found = chart_of([first, *others, line("apart", 1, -1)], "", "", SCALE)
        assert found is not None
        return [(each.is_lead, each.hides) for each in found.series]

    assert leading(3.0) == [(True, 0), (False, 1), (False, 2), (False, 2), (False, 0)]
    assert not any(is_lead for is_lead, _ in leading(300.0)), "it would fill the chart, and is seen by pointing"


def test_dots_of_a_day_lie_side_by_side_and_their_names_below() -> None:
    dots = [Line(name, [ChartPoint(DAY / 2, 0.5)], name, "dots") for name in ("c1", "c2")]
    price = Line("price", [ChartPoint(0.0, 0.4), ChartPoint(9 * DAY, 0.6)], kind="price")
    found = chart_of([price, *dots], "", "", Scale("{:.2f}".format, None, (0.0, 1.0)))
    assert found is not None
    (x, y, _, _), (beside, same, _, _) = (each.hits[0] for each in found.series[1:])
    assert y == same and beside == round(x + 9.0, 1)
    assert found.names == (("price", ""), ("c1", "c1"), ("c2", "c2"))
    assert [each.label for each in found.series] == [None] * 3 and found.series[0].is_area
    zoomed = chart_of([price, *dots], "", "", Scale("{:.2f}".format, None, (0.35, 0.65)))
    assert zoomed is not None and not zoomed.series[0].is_area


def test_names_at_line_ends_do_not_cover_each_other_and_those_of_others_are_cut() -> None:
    found = chart_of([line(name, 0, 1) for name in ("a", "b", "c" * 60, "\u202ed")], "", "", SCALE)
    assert found is not None
    labels = [each.label for each in found.series if each.label is not None]
    heights = sorted(y for y, _ in labels)
    assert len(labels) == 4 and all(b - a >= 15.0 for a, b in pairwise(heights))
    assert max(len(text) for _, text in labels) == 20 and not any("\u202e" in text for _, text in labels)


def test_of_one_instant_there_is_no_chart() -> None:
    assert chart_of([], "", "", SCALE) is None
    assert chart_of([line("a", 1.0)], "", "", SCALE) is None


def test_many_points_are_drawn_and_few_of_them_can_be_pointed_at() -> None:
    lines = [line(str(bot), *range(200)) for bot in range(20)]
    # Six charts of a page share what can be pointed at, at least both ends of each line.
    for charts, points, hits in ((1, 200, 240), (2, 50, 120), (6, 30, 40)):
        found = chart_of(lines, "", "", SCALE, charts=charts)
        assert found is not None
        assert sum(len(each.hits) for each in found.series) <= hits
        assert all(len(each.line.split()) == points and each.hits[-1][0] == found.right for each in found.series)


def test_marks_stand_at_their_instants_and_those_outside_are_left_out() -> None:
    marks = [(-1.0, "before"), (0.0, "first"), (DAY / 2, "between"), (9 * DAY, "after")]
    found = chart_of([line("a", 1, 1)], "a", "", Scale("{:+.0f}".format, 1.0), marks)
    assert found is not None
    # One value for all lies in the middle.
    assert [y for y, _, _ in found.rows if y == 151.0] and found.series[0].line == f"{LEFT},151.0 944.0,151.0"
    assert found.marks == ((LEFT, "first"), (498.0, "between"))


@pytest.mark.parametrize(
    ("days", "texts"),
    [
        (0.5, ["Jan 1 00:00", "Jan 1 03:00", "Jan 1 06:00", "Jan 1 09:00", "Jan 1 12:00"]),
        (5, ["Jan 1", "Jan 2", "Jan 3", "Jan 4", "Jan 5", "Jan 6"]),
        (400, ["Jan 1970", "Apr 1970", "Jul 1970", "Oct 1970", "Dec 1970"]),
    ],
)
def test_ticks_of_time_are_hours_days_or_months(days: float, texts: Sequence[str]) -> None:
    assert [text for _, text in time_ticks(0.0, days * DAY)] == texts
