"""Standings: the groups a board has, and their order."""

from typing import Literal

Standing = Literal["better", "not proven", "worse", "too few", "baseline"]
STANDINGS: tuple[Standing, ...] = ("better", "not proven", "worse", "too few", "baseline")
"""In the order of a board. Only the first has places; baselines are lines apart."""
ALIKE_PLACES = 9
"""Numbers that are equal to so many places order nobody."""
