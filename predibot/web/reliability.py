"""The reliability diagram of a bot: stated probabilities beside observed frequencies, as coordinates for SVG."""

from dataclasses import dataclass

from predibot.reports import figures
from predibot.scoring.metrics.calibration import CalibrationBins

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
