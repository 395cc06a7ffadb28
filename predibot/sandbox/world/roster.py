"""The roster: when each event of a world is born and how long it lives, for all events at once."""

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from predibot.sandbox.world.calendar import MINUTES_A_DAY, SANDBOX_BEGINS_AT, SANDBOX_ENDS_AT, minute_of
from predibot.sandbox.world.draws import Draws

_LIFE_BANDS = ((0.60, 2.0, 14.0), (0.28, 14.0, 45.0), (0.12, 45.0, 150.0))
"""(share of the events, least days, most days); within a band every length is as likely."""
_LONGEST_LIFE_DAYS = 150
_MEAN_LIFE_DAYS = sum(share * (least + most) / 2 for share, least, most in _LIFE_BANDS)


@dataclass(frozen=True, slots=True)
class Roster:
    """Births and lives, each of shape (events,); an event's number is its place here."""

    known_at_minutes: NDArray[np.int64]
    """From when on the world knows that the event will be; never after its birth."""
    born_at_minutes: NDArray[np.int64]
    life_hours: NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of events, born or not."""
        return len(self.born_at_minutes)


def roster_of(draws: Draws, *, open_events: int) -> Roster:
    """Return births so spaced that about `open_events` events are open at any instant of the calendar.

    Births begin one longest life before the calendar does, so that the number
    of open events is steady from its first day.
    """
    spacing_minutes = _MEAN_LIFE_DAYS * MINUTES_A_DAY / open_events
    first_minute = minute_of(SANDBOX_BEGINS_AT) - _LONGEST_LIFE_DAYS * MINUTES_A_DAY
    count = ceil((minute_of(SANDBOX_ENDS_AT) - first_minute) / spacing_minutes)
    numbers = np.arange(count)
    known_at = first_minute + np.floor(numbers * spacing_minutes).astype(np.int64)
    late, band, length = (
        draws.uniform("roster", event=numbers, item=item, known_at_minute=known_at) for item in range(3)
    )
    upper_shares = np.cumsum([share for share, _, _ in _LIFE_BANDS])
    chosen = np.minimum(np.searchsorted(upper_shares, band), len(_LIFE_BANDS) - 1)
    least = np.array([least for _, least, _ in _LIFE_BANDS])[chosen]
    most = np.array([most for _, _, most in _LIFE_BANDS])[chosen]
    return Roster(
        known_at_minutes=known_at,
        born_at_minutes=known_at + np.floor(late * spacing_minutes).astype(np.int64),
        life_hours=np.floor((least + length * (most - least)) * 24).astype(np.int64),
    )
