"""Curves as SVG, drawn here: a page needs no script for them."""

from collections.abc import Sequence
from dataclasses import dataclass

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
