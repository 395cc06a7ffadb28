"""Where the names of points stand in a picture, so that none lies on another one."""

from collections.abc import Sequence
from dataclasses import dataclass

_GAP = 6.0
"""From a point to its name."""
_POINT = 4.0


@dataclass(frozen=True, slots=True)
class LabelPlace:
    """Where a name begins, or ends if it stands to the left of its point."""

    x: float
    y: float
    """Of the line that it stands on, downwards."""
    is_left: bool


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
        (LabelPlace(x=11.0, y=46.0, is_left=False),)
    """
    taken = [(x - _POINT, y - _POINT, x + _POINT, y + _POINT) for x, y in points]
    found: list[LabelPlace | None] = []
    for (x, y), name in zip(points, names, strict=True):
        places = [
            LabelPlace(x + (-_GAP if is_left else _GAP), y + down, is_left)
            for down in (-4.0, line - 1.0, line / 3.0)
            for is_left in (False, True)
        ]
        for place in places:
            far = place.x + letter * len(name) * (-1.0 if place.is_left else 1.0)
            box = (min(place.x, far), place.y - 0.8 * line, max(place.x, far), place.y + 0.2 * line)
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
