"""The timetable of a replay: the instants at which it decides."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from predibot.domain.clock import format_instant, format_length

MOST_INSTANTS = 10_000


@dataclass(frozen=True, slots=True)
class Timetable:
    """From the first instant on one every so long, up to the last that is allowed.

    Examples:
        >>> from predibot.domain.clock import parse_instant, parse_length
        >>> weekly = Timetable(parse_instant("2025-09-01"), parse_instant("2025-09-20"), parse_length("7d"))
        >>> [f"{instant:%d}" for instant in weekly]
        ['01', '08', '15']
    """

    first: datetime
    last: datetime
    """None is later; the last one may be earlier."""
    every: timedelta

    def __post_init__(self) -> None:
        """Refuse what has no instant, or more than anybody can mean.

        Raises:
            ValueError: If it goes backwards, stands still, or has more than 10,000 instants.
        """
        if self.every <= timedelta(0):
            raise ValueError("the time between two instants is zero or less; write a length like '1d'")
        if self.last < self.first:
            ends, begins = format_instant(self.last), format_instant(self.first)
            raise ValueError(f"it would end at {ends}, before it begins at {begins}; swap the two")
        if len(self) > MOST_INSTANTS:
            raise ValueError(
                f"every {format_length(self.every)} makes {len(self):,} instants, above {MOST_INSTANTS:,}; "
                "ask for fewer, or in parts"
            )

    def __len__(self) -> int:
        """Return how many instants there are."""
        return (self.last - self.first) // self.every + 1

    def __iter__(self) -> Iterator[datetime]:
        """Yield the instants, the earliest first."""
        return (self.first + number * self.every for number in range(len(self)))
