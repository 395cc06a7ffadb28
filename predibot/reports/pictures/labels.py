"""Where the names of points stand in a picture, so that none lies on another one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

_GAP = 6.0
"""Distance from a point to its name."""
_POINT = 4.0
_BESIDE: tuple[Literal["start"], Literal["end"]] = ("start", "end")
_AWAY = {"start": 1.0, "end": -1.0}
_PART_LEFT = {"start": 0.0, "middle": 0.5, "end": 1.0}
"""Part of a name that is left of its place, by its anchor."""


@dataclass(frozen=True, slots=True)
class LabelPlace:
    """Where a name begins, ends or has its middle."""

    x: float
    y: float
    """Height of its base line, downwards."""
    anchor: Literal["start", "middle", "end"]


def place_labels(
    points: Sequence[tuple[float, float]],
    names: Sequence[str],
    *,
    width: float,
    height: float,
    letter: float,
    line: float,
) -> tuple[LabelPlace | None, ...]:
    """Return a place for each name, None where there is no room within the picture.

    Args:
        points: Each to the right and downwards, from the upper left corner.
        names: A line each.
        width: Of the picture, in the unit of the points, as `height`, the width of a `letter` and the height of a
            `line` are.

    Examples:
        >>> place_labels([(5.0, 50.0)], ["a bot"], width=100.0, height=100.0, letter=5.0, line=10.0)
        (LabelPlace(x=11.0, y=46.0, anchor='start'),)
    """
    taken = [(x - _POINT, y - _POINT, x + _POINT, y + _POINT) for x, y in points]
    found: list[LabelPlace | None] = []
    for (x, y), name in zip(points, names, strict=True):
        beside = [(y + down, anchor) for down in (-4.0, line - 1.0, line / 3.0) for anchor in _BESIDE]
        places = [LabelPlace(x + _AWAY[anchor] * _GAP, at, anchor) for at, anchor in beside]
        places += [LabelPlace(x, at, "middle") for at in (y - _GAP, y + _GAP + 0.8 * line)]
        for place in places:
            left = place.x - letter * len(name) * _PART_LEFT[place.anchor]
            box = (left, place.y - 0.8 * line, left + letter * len(name), place.y + 0.2 * line)
            inside = box[0] >= 0.0 and box[1] >= 0.0 and box[2] <= width and box[3] <= height
            if inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                found.append(place)
                break
        else:
            found.append(None)
    return tuple(found)


def _overlap(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
