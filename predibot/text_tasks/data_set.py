"""A data set of comments: the rows of its two files, under salted ids."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from predibot.text_tasks.positions import Action, Side
from predibot.text_tasks.windows import Direction


@dataclass(frozen=True, slots=True)
class LabelledComment:
    """A comment with what its writer held when it was written, under salted ids."""

    platform: str
    split: str
    market: str
    question: str
    comment: str
    user: str
    at: str
    text: str
    side: Side | None
    """None without a position."""
    size: float
    action: Action | None
    """What followed within 48 hours; None without a position, or where the shares held tell nothing."""
    actions: tuple[Action, ...]
    """What followed within each of `ACTION_HOURS`; empty where `action` is None."""
    resolved: int
    """1 for YES, -1 for NO, 0 for anything else."""
    ever_held: bool
    """Whether the writer had ever held anything in the market."""
    truncated: bool
    """Whether its thread may have more comments than were served."""
    volume: float
    """Of the market, in the venue's currency."""
    closed: str
    """When trading in the market ended."""


@dataclass(frozen=True, slots=True)
class LabelledWindow:
    """A window of a market and where its odds went, under salted ids."""

    platform: str
    split: str
    market: str
    question: str
    start: str
    days: int
    price_before: float
    price_after: float
    direction: Direction
    comments: tuple[str, ...]


FILES: Mapping[str, type] = {"comments": LabelledComment, "windows": LabelledWindow}
"""What a line of each file is, by the file's name without its ending."""
Rows = Callable[[str], Iterable[Any]]
"""Reads a file of a data set from its beginning, by its name in `FILES`; comments of a market stand together."""
