"""Disorder: how far a venue's list is from the order it was asked in, which is a hint and no promise."""

from collections.abc import Sequence

_TOLERANCE = 0.05
"""Volumes move while a list is read, so a small step in the wrong direction is no broken order."""


def disorder(volumes: Sequence[float | None]) -> tuple[str, ...]:
    """Return a note on a list that should have had the highest volume first; none where it has.

    Examples:
        >>> disorder([9.0, 7.0, None, 8.0, 1.0])
        ('1 of the 5 events listed stand below one with less volume; they are ranked here',)
        >>> disorder([9.0, None, 8.0])
        ()
    """
    lowest, late = float("inf"), 0
    for volume in volumes:
        if volume is not None:
            late += volume > lowest * (1.0 + _TOLERANCE) + _TOLERANCE
            lowest = min(lowest, volume)
    if not late:
        return ()
    return (f"{late} of the {len(volumes)} events listed stand below one with less volume; they are ranked here",)
