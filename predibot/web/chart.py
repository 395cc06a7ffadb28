"""A chart of lines over time: axes, bands, names at line ends, and what each point says, as coordinates for SVG."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from statistics import median
from typing import Literal, TypeVar

from predibot.domain.untrusted_text import one_line

WIDTH, HEIGHT = 960.0, 320.0
LEFT, TOP, BOTTOM = 52.0, 12.0, 290.0
_RIGHT_OF_NAMES, _RIGHT = 800.0, 944.0
_MOST_HITS = 240
"""Points that can be pointed at, of all charts of a page together; each takes a hundred bytes of it."""
_MOST_POINTS, _LEAST_POINTS, _POINTS_OF_PAGE = 400, 30, 2_000
"""Points of a line at most, points that each line keeps where charts share a page, and points of such a page."""
_NAME_CHARACTERS = 20
_NAME_HEIGHT = 15.0
_MOST_NAMES = 18
_CUT_AT = 4.0
"""The scale reaches this many times as far as the median line; values farther off get an arrow."""
_NEAR, _WIDE = 1.5, 3.0
"""The scale reaches this many times farther for the last values of lines, and for the leading line's interval."""
_SAME = 1.5
"""Largest distance of lines that hide each other, if they stay within it everywhere."""
_DOT = 9.0
_STEPS_DAYS = (1, 2, 7, 14, 28, 91, 182, 365, 730, 1_825, 3_650)
_MOST_TICKS = 8
LineKind = Literal["line", "dots", "price"]
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """A value at an instant in seconds since 1970, with the ends of its interval if it has one."""

    at: float
    value: float
    low: float | None = None
    high: float | None = None
    text: str = ""
    """What it says when pointed at, in place of its value."""
    is_hollow: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a chart; its name is a text of others."""

    name: str
    points: Sequence[ChartPoint]
    """In order of time."""
    colour: str = ""
    """The class of its colour, as `LedgerCache.colour` returns it."""
    kind: LineKind = "line"
    """`dots` are not connected; `price` has no points to point at, and its ground filled where zero is in sight."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What the vertical axis shows, and how its values are written."""

    write: Callable[[float], str]
    level: float | None = 0.0
    """The height of a line that is always shown, such as zero; None for none."""
    ends: tuple[float, float] | None = None
    """Lowest and highest value; None to take them from the lines, those far off cut."""


@dataclass(frozen=True, slots=True)
class DrawnLine:
    """A line as it is drawn."""

    name: str
    colour: str
    kind: LineKind
    line: str
    """Points of an SVG polyline."""
    band: str
    """Points of an SVG polygon; empty without intervals."""
    hits: tuple[tuple[float, float, str, bool], ...]
    """x, y, words and whether it is hollow of each point to point at; those off the scale lie at its edge."""
    is_lead: bool
    """Whether its band is seen without being pointed at."""
    is_area: bool
    hides: int
    """How many lines of other colours before it lie in the same place."""
    arrows: tuple[tuple[float, float], ...]
    """Where it leaves the scale: x, and y of the upper or the lower edge."""
    label: tuple[float, str] | None
    """y and text of its name at its end; None where there is no room."""


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines over time in a box of 960 by 320, which is stretched to the room there is."""

    title: str
    about: str
    """What the chart shows in a sentence, for those who do not see it."""
    unit: str
    right: float
    """x of the right end of the axis."""
    series: tuple[DrawnLine, ...]
    rows: tuple[tuple[float, str, bool], ...]
    """y, text, and whether it is the level, of each horizontal line."""
    days: tuple[tuple[float, str], ...]
    """x and text of each tick of time."""
    marks: tuple[tuple[float, str], ...]
    """x and words of each mark."""
    names: tuple[tuple[str, str], ...]
    """Name and colour of each line; empty for a single one that is named by the title."""


def chart_of(
    lines: Sequence[Line],
    title: str,
    unit: str,
    scale: Scale,
    marks: Sequence[tuple[float, str]] = (),
    *,
    charts: int = 1,
) -> Chart | None:
    """Return a chart of lines over time; None if no line has two instants.

    Args:
        lines: Those named first get a name at their end if there is no room for all.
        title: Of the chart, a text of others; a single line of that name is not named again.
        marks: Instants in seconds since 1970 with their words; those outside the lines are left out.
        charts: How many charts like this share a page: the more, the fewer points are drawn in each.
    """
    shown = [each for each in lines if each.points]
    instants = [point.at for each in shown for point in each.points]
    if not shown or not any(each.points[0].at < each.points[-1].at for each in shown):
        return None
    first, last = min(instants), max(instants)
    several = (each for each in shown if each.kind == "line" and len(each.points) > 1)
    lead = next((each for each in several if (ends := _interval(each)) and ends[0] < ends[1]), None)
    low, high = scale.ends or _ends(shown, scale, _interval(lead))
    has_names = [each.name for each in shown] != [title]
    dotted = [each for each in shown if each.kind == "dots"]
    # Dots are seldom at the right end: their names stand below.
    right = _RIGHT_OF_NAMES if has_names and not dotted else _RIGHT
    frame = _Frame(first, last, low, high, right)
    places = _name_places(shown, frame) if has_names and not dotted else {}
    most = _MOST_POINTS
    if charts > 1:
        most = min(most, max(_LEAST_POINTS, _POINTS_OF_PAGE // (charts * len(shown))))
    thinned = [replace(each, points=thin_out(each.points, most)) for each in shown]
    pointed = sum(len(each.points) for each in thinned if each.kind != "price")
    step = max(1, math.ceil(charts * pointed / _MOST_HITS))
    room = min(_DOT, 0.45 * (right - LEFT) * 86_400.0 / (last - first) / max(len(dotted), 1))
    drawn = list[DrawnLine]()
    for number, each in enumerate(shown):
        # Dots of one day lie side by side.
        aside = room * dotted.index(each) if each.kind == "dots" else 0.0
        found = _series(thinned[number], frame, scale, step, each.name if has_names else "", places.get(number), aside)
        is_lead = each is lead and all(low <= end <= high for end in _interval(each))
        drawn.append(replace(found, is_lead=is_lead, hides=_count_hidden(each, shown[:number], frame)))
    tick = _value_step(low, high)
    ticks = [n * tick for n in range(math.ceil(low / tick - 1e-9), math.floor(high / tick + 1e-9) + 1)]
    texts = [scale.write(value) if value else "0" for value in ticks]
    whole = [re.sub(r"\.0+$", "", each) for each in texts]
    if not any("." in each for each in whole):
        # Decimals are left out where they are 0 in all of them.
        texts = whole
    return Chart(
        title,
        _about(shown, unit, scale),
        unit,
        right,
        tuple(drawn),
        tuple((frame.y(value), text, value == scale.level) for value, text in zip(ticks, texts, strict=True)),
        tuple((frame.x(at), text) for at, text in time_ticks(first, last)),
        tuple((frame.x(at), one_line(words)) for at, words in marks if first <= at <= last),
        tuple((one_line(each.name), each.colour) for each in shown) if has_names else (),
    )


def _interval(line: Line | None) -> tuple[float, ...]:
    """Return the ends of the interval of the last point; () without."""
    last = line.points[-1] if line else None
    return () if last is None or last.low is None or last.high is None else (last.low, last.high)


@dataclass(frozen=True, slots=True)
class _Frame:
    first: float
    last: float
    low: float
    high: float
    right: float

    def x(self, at: float) -> float:
        return round(LEFT + (at - self.first) / (self.last - self.first) * (self.right - LEFT), 1)

    def y(self, value: float) -> float:
        return round(BOTTOM - (value - self.low) / (self.high - self.low) * (BOTTOM - TOP), 1)

    def inside(self, value: float) -> float:
        return min(max(value, self.low), self.high)


def _count_hidden(line: Line, before: Sequence[Line], frame: _Frame) -> int:
    """Return how many lines of other colours a line would hide."""

    def is_near(one: ChartPoint, other: ChartPoint) -> bool:
        return abs(frame.y(one.value) - frame.y(other.value)) < _SAME and abs(frame.x(one.at) - frame.x(other.at)) < 1.0

    # From their ends, where lines differ most.
    own = thin_out(line.points, _MOST_POINTS)[::-1]
    return sum(
        each.kind == line.kind == "line"
        and each.colour != line.colour
        and len(each.points) == len(line.points) > 1
        and all(map(is_near, own, thin_out(each.points, _MOST_POINTS)[::-1]))
        for each in before
    )


def _ends(lines: Sequence[Line], scale: Scale, interval: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the scale: those of all values, unless some lie much farther off than most lines do.

    Each line has at least one point; `interval` is the leading line's last, shown if it is not too wide.
    """
    values = [point.value for each in lines for point in each.points]
    level = scale.level if scale.level is not None else median(values)
    reaches = [max(abs(point.value - level) for point in each.points) for each in lines]
    # Flat lines say nothing of how far the others should be seen.
    usual = median([each for each in reaches if each] or [0.0])
    reach = max(_CUT_AT * usual, *(1.2 * (each.points[-1].value - level) for each in lines))
    lasts = [abs(each.points[-1].value - level) for each in lines]
    reach = max(reach, *(each for each in lasts if each <= _NEAR * reach))
    widest = max((abs(end - level) for end in interval), default=0.0)
    if len(lines) == 1:
        reach = max(reach, widest, *reaches)
    elif widest <= _WIDE * reach or not reach:
        reach = max(reach, widest)
    else:
        interval = ()
    low = max(min(level, *values, *interval), level - reach)
    high = min(max(level, *values, *interval), level + reach)
    step = _value_step(low, high)
    low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    return (low, high) if low < high else (low - step, high + step)


def _value_step(low: float, high: float) -> float:
    """Return a step of 1, 2 or 5 times a power of ten that divides a range into five or so."""
    rough = ((high - low) or abs(high) or 1.0) / 5.0
    power = 10.0 ** math.floor(math.log10(rough))
    return next(each * power for each in (1.0, 2.0, 5.0, 10.0) if each * power >= rough * 0.999)


def time_ticks(first: float, last: float) -> Iterator[tuple[float, str]]:
    """Yield instants in seconds since 1970 and their texts, at most eight of them: hours, days or months.

    Examples:
        >>> [text for _, text in time_ticks(0.0, 20 * 86_400.0)]
        ['Jan 1', 'Jan 8', 'Jan 15']
    """
    span_days = (last - first) / 86_400.0
    if span_days <= 2.0:
        step = 3_600.0 * next(each for each in (1, 3, 6, 12) if span_days * 24.0 / each < _MOST_TICKS)
        at = math.ceil(first / step) * step
        while at <= last:
            yield at, f"{datetime.fromtimestamp(at, UTC):%b %-d %H:%M}"
            at += step
        return
    step_days = next((each for each in _STEPS_DAYS if span_days / each < _MOST_TICKS), math.ceil(span_days / 7.0))
    day = datetime.fromtimestamp(first, UTC)
    if day.timestamp() % 86_400.0:
        day = day.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    while day.timestamp() <= last:
        yield day.timestamp(), f"{day:%b %Y}" if step_days > 28 else f"{day:%b} {day.day}"
        day += timedelta(days=step_days)


def _series(
    each: Line, frame: _Frame, scale: Scale, step: int, name: str, label: tuple[float, str] | None, aside: float
) -> DrawnLine:
    """Return a line as it is drawn, its dots `aside` to the right of their instants; what hides it is ignored."""
    points = each.points
    known = [(point, point.low, point.high) for point in points if point.low is not None and point.high is not None]
    upper = [f"{frame.x(point.at)},{frame.y(high)}" for point, _, high in known]
    lower = [f"{frame.x(point.at)},{frame.y(low)}" for point, low, _ in reversed(known)]
    pointed = () if each.kind == "price" else thin_out(points, max(2, len(each.points) // step))
    line = [f"{frame.x(point.at)},{frame.y(point.value)}" for point in points]
    is_area = each.kind == "price" and frame.low == 0.0
    if is_area:
        line = [f"{frame.x(points[0].at)},{BOTTOM}", *line, f"{frame.x(points[-1].at)},{BOTTOM}"]
    return DrawnLine(
        one_line(each.name),
        each.colour,
        # A line of one point would not be seen.
        "dots" if each.kind == "line" and len(points) == 1 else each.kind,
        " ".join(line),
        " ".join((*upper, *lower)) if len(known) > 1 else "",
        tuple(
            (
                round(min(frame.x(point.at) + aside, frame.right), 1),
                frame.y(frame.inside(point.value)),
                _words(name, point, scale),
                point.is_hollow,
            )
            for point in pointed
        ),
        False,
        is_area,
        0,
        tuple(_arrows(points, frame)),
        label,
    )


def _value(point: ChartPoint, scale: Scale) -> str:
    if point.low is None or point.high is None:
        return scale.write(point.value)
    return f"{scale.write(point.value)} ({scale.write(point.low)} to {scale.write(point.high)})"


def _words(name: str, point: ChartPoint, scale: Scale) -> str:
    at = datetime.fromtimestamp(point.at, UTC)
    day = at.isoformat(" ", "minutes")[: 10 if (at.hour, at.minute) == (0, 0) else 16]
    return one_line(f"{name}{', ' if name else ''}{day}: {point.text or _value(point, scale)}")


def _arrows(points: Sequence[ChartPoint], frame: _Frame) -> Iterator[tuple[float, float]]:
    """Yield one place for each stretch outside the scale, in its middle."""

    def side(point: ChartPoint) -> int:
        # A value on the edge is inside, also if rounding moved it.
        room = 1e-9 * (frame.high - frame.low)
        return (point.value > frame.high + room) - (point.value < frame.low - room)

    for outside, stretch in groupby(points, key=side):
        if outside:
            own = list(stretch)
            yield frame.x((own[0].at + own[-1].at) / 2.0), TOP if outside > 0 else BOTTOM


def _name_places(lines: Sequence[Line], frame: _Frame) -> dict[int, tuple[float, str]]:
    """Return y and text of names by the place of their lines, moved apart so that none covers another."""
    chosen = list(range(min(len(lines), _MOST_NAMES)))
    ends = {number: frame.y(frame.inside(lines[number].points[-1].value)) + 4.0 for number in chosen}
    order = sorted(chosen, key=lambda number: ends[number])
    found, least = dict[int, tuple[float, str]](), TOP
    for place, number in enumerate(order):
        # Those that follow need room too.
        most = BOTTOM + 4.0 - _NAME_HEIGHT * (len(order) - 1 - place)
        y = max(least, min(ends[number], most))
        least = y + _NAME_HEIGHT
        name = one_line(lines[number].name)
        cut = f"{name[: _NAME_CHARACTERS - 1]}…" if len(name) > _NAME_CHARACTERS else name
        last = lines[number].points[-1].value
        found[number] = (round(y, 1), f"{cut} ↓" if last < frame.low else f"{cut} ↑" if last > frame.high else cut)
    return found


def _about(lines: Sequence[Line], unit: str, scale: Scale) -> str:
    if len(lines) == 1:
        return f"{unit}; in the end {_value(lines[0].points[-1], scale)}"
    ends = [f"{one_line(each.name)} {scale.write(each.points[-1].value)}" for each in lines[:_MOST_NAMES]]
    return f"{unit}; in the end {', '.join(ends)}"


def thin_out(values: Sequence[Value], most: int) -> Sequence[Value]:
    """Return at most `most` values, at least two, evenly spread, with both ends."""
    if len(values) <= most:
        return values
    return [values[round(place * (len(values) - 1) / (most - 1))] for place in range(most)]
