"""Pictures as coordinates for SVG, so that no page needs a script: curves, bars, shares, calibration."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from predibot.domain.untrusted_text import one_line
from predibot.reports import figures
from predibot.reports.pictures.labels import LabelPlace, place_labels
from predibot.reports.pictures.series import Cohorts, Curves, Picture, Plot
from predibot.scoring.metrics.calibration import CalibrationBins
from predibot.web.chart import Chart, ChartPoint, Line, Scale, chart_of

WIDTH, HEIGHT = 640.0, 160.0
_EDGE = 4.0
_NOTHING = 1e-6
_MOST_POINTS = 400
_MOST_SHARES = 6
"""The largest assets get a colour each."""


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars side by side, in a box of 640 by 160."""

    title: str
    rows: tuple[tuple[float, str], ...]
    """y and text of zero, and of the lowest and the highest end."""
    days: tuple[tuple[float, str], ...]
    """x and date of the first, the middle and the last bar."""
    bars: tuple[tuple[float, float, float, float, bool, str], ...]
    """x, y, width, height, whether it is below zero, and the words of each."""
    note: str


@dataclass(frozen=True, slots=True)
class StackedShares:
    """Shares of a whole over time, in a box of 640 by 160: a stacked column for each moment."""

    names: tuple[str, ...]
    parts: tuple[tuple[int, float, float, float, float, str], ...]
    """Index into `names`, lowest first, then x, y, width, height, and the words of each."""
    first: datetime
    last: datetime


def curves_of(picture: Picture, colour: Callable[[str], str] = str, *, charts: int = 1) -> tuple[Chart | Bars, ...]:
    """Return the chart of a picture, or the bars of each of its bots; `colour` returns the class of a bot's colour.

    The result is () for other kinds of pictures; `charts` is how many share a page, as `chart_of` takes it.
    """
    if isinstance(picture, Curves):
        lines = [
            # A line of one bot among others begins with its name.
            Line(
                each.name,
                [ChartPoint(one.slot_at, one.total, one.low, one.high) for one in each.of],
                colour(each.name.partition(", ")[0]),
            )
            for each in picture.panels
        ]
        title = f"{picture.title}: {picture.panels[0].name}" if len(lines) == 1 else picture.title
        found = chart_of(lines, title, picture.unit, Scale(figures.ratio, picture.level), picture.marks, charts=charts)
        return () if found is None else (found,)
    if isinstance(picture, Cohorts):
        return tuple(
            bars_of(
                [
                    (one.start, gain, figures.signed_percent(gain))
                    for one in each.of.results
                    for gain in [one.profit_usd / one.stake_usd]
                ],
                f"{picture.title}: {each.name}",
                "Return of each cohort by its start.",
                figures.signed_percent,
            )
            for each in picture.panels
            if each.of.results
        )
    return ()


def bars_of(
    values: Sequence[tuple[datetime, float, str]], title: str, note: str, write: Callable[[float], str]
) -> Bars:
    """Return bars at equal steps, zero always in the box.

    Args:
        values: Instant, height and words of each; one at least.
        write: Returns the text of a height at the axis.
    """
    heights = [value for _, value, _ in values]
    low, high = min(0.0, *heights), max(0.0, *heights)
    step = (WIDTH - 2 * _EDGE) / len(values)
    zero = _height(0.0, low, high)
    bars = []
    for place, (at, value, said) in enumerate(values):
        top = _height(value, low, high)
        x, y = round(_EDGE + place * step, 1), min(top, zero)
        width, height = round(max(step * 0.8, 0.5), 1), round(abs(top - zero), 1)
        bars.append((x, y, width, height, value < 0, f"{at:%Y-%m-%d}: {said}"))
    ends = {0.0: "0"} | {each: write(each) for each in (low, high) if each}
    return Bars(
        title,
        tuple((_height(each, low, high), text) for each, text in ends.items()),
        tuple(
            (bars[place][0] + bars[place][2] / 2.0, f"{values[place][0]:%Y-%m-%d}")
            for place in sorted({0, (len(bars) - 1) // 2, len(bars) - 1} if len(bars) > 4 else {0, len(bars) - 1})
        ),
        tuple(bars),
        note,
    )


def shares_of(
    moments: Sequence[tuple[datetime, Sequence[tuple[str, float]]]], rest: str, first: str = ""
) -> StackedShares | None:
    """Return stacked shares over time; None without moments.

    Args:
        moments: In order of time, each with its parts as shares of the whole in [0, 1].
        rest: Name of what the parts leave of the whole.
        first: The part that lies lowest, and is shown however small it is.
    """
    if not moments:
        return None
    sizes = dict[str, float]()
    for _, parts in moments:
        for name, share in parts:
            sizes[name] = sizes.get(name, 0.0) + share
    own = sorted(sizes, key=lambda name: (name != first, -sizes[name]))[:_MOST_SHARES]
    others = "others" if len(sizes) > len(own) else ""
    is_left = any(1.0 - sum(share for _, share in parts) > _NOTHING for _, parts in moments)
    names = (*own, *([others] if others else []), *([rest] if is_left else []))
    step, found = (WIDTH - 2 * _EDGE) / len(moments), []
    for place, (at, parts) in enumerate(moments):
        column = dict.fromkeys(names, 0.0)
        for name, share in parts:
            column[name if name in own else others] += share
        if is_left:
            column[rest] = max(0.0, 1.0 - sum(column.values()))
        # Debt is not drawn; the other parts then add up to more than one, and are scaled down.
        whole, below = max(1.0, sum(max(0.0, share) for share in column.values())), 0.0
        for number, name in enumerate(names):
            share = max(0.0, column[name]) / whole
            if share > _NOTHING:
                top = HEIGHT - _EDGE - (below + share) * (HEIGHT - 2 * _EDGE)
                box = (_EDGE + place * step, top, max(step * 0.92, 0.5), share * (HEIGHT - 2 * _EDGE))
                x, y, width, height = (round(each, 1) for each in box)
                text = f"{at:%Y-%m-%d %H:%M} {name} {figures.percent(column[name])}"
                found.append((number, x, y, width, height, text))
            below += share
    return StackedShares(names, tuple(found), moments[0][0], moments[-1][0])


def _height(value: float, low: float, high: float) -> float:
    """Return the distance of a value from the top of a box."""
    return round(HEIGHT - _EDGE - (value - low) / ((high - low) or 1.0) * (HEIGHT - 2 * _EDGE), 1)


@dataclass(frozen=True, slots=True)
class Dots:
    """Bots by two figures, in a box of 320 by 200."""

    title: str
    dots: tuple[tuple[float, float, str, str, LabelPlace | None], ...]
    """x, y, bot and words of each, and where its name stands; names are texts of others."""
    ends: tuple[tuple[str, ...], tuple[str, ...]]
    """Lowest and highest figure across and upwards; one for both if they are the same."""
    note: str


def whiskers_of(intervals: Sequence[tuple[float, float, float] | None]) -> list[tuple[str, float] | None]:
    """Return the interval of each row, low, mean and high, in boxes of 190 by 22: an SVG path, and x of the mean.

    Zero is in the middle of all; None where there is no interval. The scale reaches from the narrow ones on: what lies
    far from zero has an arrow.

    Examples:
        >>> whiskers_of([(-1.0, 0.0, 1.0), None])
        [('M6.0 11H184.0M6.0 7v8M184.0 7v8', 95.0), None]
    """
    reaches = [max(abs(low), abs(high)) for low, _, high in filter(None, intervals) if low < high]
    reach = (2.0 * median(reaches) if len(reaches) > 2 else max(reaches, default=0.0)) or 1.0
    reach = min(reach, max(reaches, default=reach))

    def x(value: float) -> float:
        return round(95.0 + 89.0 * min(max(value / reach, -1.0), 1.0), 1)

    def end(value: float) -> str:
        if abs(value) <= reach * (1.0 + 1e-9):
            return f"M{x(value)} 7v8"
        return f"M{x(value) + math.copysign(5.0, -value)} 7L{x(value)} 11l{math.copysign(5.0, -value):g} 4"

    return [
        None if each is None else (f"M{x(each[0])} 11H{x(each[2])}{end(each[0])}{end(each[2])}", x(each[1]))
        for each in intervals
    ]


_NAME = 24
"""Characters of a name beside its dot."""


def dots_of(panel: Plot[Mapping[str, tuple[float, float]]], across: str) -> Dots:
    """Return the dots of a panel; one value for all lies in the middle, and names without room are in the note."""
    pairs = list(panel.of.values())
    ends = [(min(values), max(values)) for values in zip(*pairs, strict=True)]

    def share(place: int, value: float) -> float:
        low, high = ends[place]
        return 0.5 if low == high else (value - low) / (high - low)

    points = [(round(12.0 + 296.0 * share(0, x), 1), round(188.0 - 168.0 * share(1, y), 1)) for x, y in pairs]
    names = [one_line(bot)[:_NAME] for bot in panel.of]
    places = place_labels(points, names, width=320.0, height=200.0, letter=6.3, line=11.0)
    dots = tuple(
        (x, y, bot, f"{bot}: {across} {one:,.6g}, {panel.name} {other:,.4g}", place)
        for (x, y), place, (bot, (one, other)) in zip(points, places, panel.of.items(), strict=True)
    )
    across_ends, up_ends = (tuple(dict.fromkeys(_write_number(end, high) for end in (low, high))) for low, high in ends)
    nameless = ", ".join(name for name, place in zip(names, places, strict=True) if place is None)
    texts = [f"{across} across", f"{panel.name} up", panel.note]
    texts += [f"no room for the names of {nameless}"] if nameless else []
    return Dots(f"{panel.name} by {across}", dots, (across_ends, up_ends), "; ".join(filter(None, texts)))


def _write_number(end: float, highest: float) -> str:
    return f"{end:,.3g}" if highest < 1_000 else f"{end:,.0f}"


SIZE = 240.0
_STRIP = 30.0
"""Height of the bars of counts below the square."""


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Forecasts of about the same probability."""

    x: float
    y: float
    """Observed frequency as the height of its dot; the stated one is across."""
    is_off: bool
    """Whether it lies outside the band of chance."""
    bar: tuple[float, float, float]
    """x, y and height of its bar of counts."""
    count: str
    words: str


@dataclass(frozen=True, slots=True)
class Reliability:
    """A diagram in a box of 240 by 240, with bars of counts below; a perfect bot lies on its diagonal."""

    bot: str
    title: str
    """The bot, and which of its forecasts if there are several kinds."""
    n: int
    bins: tuple[ReliabilityBin, ...]
    band: str
    """Points of an SVG polygon in which 95 % of the dots of a perfect bot lie; empty for a single bin."""


def reliability_of(bot: str, bins: CalibrationBins, title: str = "") -> Reliability:
    """Return the diagram of a bot's calibration; empty bins are left out."""
    low, high = bins.chance_range()
    most = max(1, int(bins.count.max(initial=1)))
    shown, upper, lower = list[ReliabilityBin](), list[str](), list[str]()
    for row in range(bins.count.size):
        if not (count := int(bins.count[row])):
            continue
        said, happened = float(bins.mean_probability[row]), float(bins.mean_outcome[row])
        ends = float(low[row]), float(high[row])
        x, height = round(SIZE * said, 1), round(_STRIP * count / most, 1)
        upper.append(f"{x},{_y(ends[1])}")
        lower.append(f"{x},{_y(ends[0])}")
        words = (
            f"forecast {figures.percent(said)}, happened {figures.percent(happened)}, "
            f"{figures.things(count, 'forecast')}; by chance {figures.percent(ends[0])} to {figures.percent(ends[1])}"
        )
        middle = SIZE * float(bins.lower[row] + bins.upper[row]) / 2.0
        bar = (round(middle - 9.0, 1), round(SIZE + 52.0 - height, 1), height)
        is_off = not ends[0] - 1e-9 <= happened <= ends[1] + 1e-9
        shown.append(ReliabilityBin(x, _y(happened), is_off, bar, _short(count), words))
    band = " ".join((*upper, *reversed(lower))) if len(shown) > 1 else ""
    return Reliability(bot, title or bot, int(bins.count.sum()), tuple(shown), band)


def _y(share: float) -> float:
    return round(SIZE * (1.0 - share), 1)


def _short(count: int) -> str:
    """Return a count in four characters at most, up to a million: `12k`."""
    return f"{count}" if count < 10_000 else f"{count / 1_000:.0f}k"
