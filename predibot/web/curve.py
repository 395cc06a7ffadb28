"""Curves as SVG, drawn here: a page needs no script for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from predibot.scoring.metrics.calibration import CalibrationBins

_WIDTH, _HEIGHT, _EDGE = 320.0, 64.0, 4.0
_MOST_POINTS = 400


@dataclass(frozen=True, slots=True)
class Curve:
    """A line, and where zero is, in a box of 320 by 64."""

    points: str
    """As `points` of an SVG polyline."""
    zero: float
    """The height of zero from the top."""
    said: str
    """The same in words."""


def curve_of(values: Sequence[float], said: str) -> Curve | None:
    """Return a curve through values at equal steps, zero always in its box; None of fewer than two.

    Examples:
        >>> curve_of([0.0, 1.0], "up").points
        '4.0,60.0 316.0,4.0'
    """
    if len(values) < 2:
        return None
    if len(values) > _MOST_POINTS:
        values = [values[round(place * (len(values) - 1) / (_MOST_POINTS - 1))] for place in range(_MOST_POINTS)]
    low, high = min(0.0, *values), max(0.0, *values)
    span = high - low or 1.0

    def height(value: float) -> float:
        return round(_HEIGHT - _EDGE - (value - low) / span * (_HEIGHT - 2 * _EDGE), 1)

    step = (_WIDTH - 2 * _EDGE) / (len(values) - 1)
    points = " ".join(f"{round(_EDGE + place * step, 1)},{height(value)}" for place, value in enumerate(values))
    return Curve(points, height(0.0), said)


@dataclass(frozen=True, slots=True)
class History:
    """Prices of a market over time with what bots said of it, in a box of 640 by 200."""

    points: str
    """As `points` of an SVG polyline."""
    dots: tuple[tuple[float, float, str], ...]
    """Of each forecast where it is, and what it says."""
    first: datetime
    last: datetime


def history_of(prices: Sequence[tuple[datetime, float]], said: Sequence[tuple[datetime, float, str]]) -> History | None:
    """Return prices in [0, 1] over time with forecasts among them; None where there is nothing to draw a line of.

    Args:
        prices: Instants and prices, oldest first.
        said: Instant, probability and words of each forecast.
    """
    if len(prices) < 2 or prices[0][0] == prices[-1][0]:
        return None
    first = min([prices[0][0], *(at for at, _, _ in said)])
    last = max([prices[-1][0], *(at for at, _, _ in said)])
    if len(prices) > _MOST_POINTS:
        prices = [prices[round(place * (len(prices) - 1) / (_MOST_POINTS - 1))] for place in range(_MOST_POINTS)]

    def place(at: datetime, value: float) -> tuple[float, float]:
        along = (at - first) / (last - first)
        return round(_EDGE + along * (640.0 - 2 * _EDGE), 1), round(200.0 - _EDGE - value * (200.0 - 2 * _EDGE), 1)

    points = " ".join("{},{}".format(*place(at, price)) for at, price in prices)
    return History(points, tuple((*place(at, value), words) for at, value, words in said), first, last)


@dataclass(frozen=True, slots=True)
class Reliability:
    """What a bot said beside how often it happened, in a box of 200 by 200; a perfect one lies on its diagonal."""

    bot: str
    title: str
    """Its name, and which of its forecasts these are where they are told apart."""
    n: int
    """How many forecasts it is of."""
    bins: tuple[tuple[float, float, float, float, str], ...]
    """Of each bin: across, and the heights of what happened and of its interval's ends, and the same in words."""


def reliability_of(bot: str, bins: CalibrationBins, title: str = "") -> Reliability:
    """Return the diagram of a bot's calibration; empty bins are left out."""

    def height(value: float) -> float:
        return round(200.0 * (1.0 - value), 1)

    shown = []
    for row in range(bins.count.size):
        if not bins.count[row]:
            continue
        said, happened = float(bins.mean_probability[row]), float(bins.mean_outcome[row])
        low, high = float(bins.outcome_low[row]), float(bins.outcome_high[row])
        words = f"said {said:.2f}, happened {happened:.2f} ({low:.2f} to {high:.2f}), {int(bins.count[row])} forecasts"
        shown.append((round(200.0 * said, 1), height(happened), height(high), height(low), words))
    return Reliability(bot, title or bot, int(bins.count.sum()), tuple(shown))
