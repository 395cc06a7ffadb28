"""Trading volume: heavy-tailed over events, a new rate every day, and windows that add up."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from predibot.sandbox.world.calendar import MINUTES_A_DAY
from predibot.sandbox.world.draws import Draws
from predibot.sandbox.world.plan import EventPlan

_WINDOWS_DAYS = (1, 7, 30, 365)
_DAYS_A_MARKET = 100_000


@dataclass(frozen=True, slots=True)
class Volume:
    """Dollars traded in the windows that end now; a longer window holds at least as much."""

    day_usd: float
    week_usd: float
    month_usd: float
    year_usd: float
    total_usd: float


Floats = NDArray[np.float64]


def daily_usd_of(draws: Draws, plan: EventPlan, *, until_minute: int) -> Floats:
    """Return the dollars that markets trade on each day of life, shape (markets, days), known as each day begins."""
    days = np.arange(1 + max(0, until_minute - plan.born_minute) // MINUTES_A_DAY)
    rows = np.arange(len(plan.markets))[:, np.newaxis]
    noise = draws.normal(
        "turnover",
        event=plan.number,
        item=rows * _DAYS_A_MARKET + days,
        known_at_minute=np.where(days == 0, plan.known_at_minute, plan.born_minute + days * MINUTES_A_DAY),
    )
    shares = np.array([[market.share] for market in plan.markets])
    return plan.daily_volume_usd * shares * np.exp(0.7 * noise)


def volumes_at(
    plan: EventPlan, daily_usd: Floats, *, minute: int, stopped_minutes: NDArray[np.int64]
) -> tuple[list[Volume], Volume]:
    """Return the volume of each market and their sum at a minute; a stopped market trades no more."""
    starts = np.array([minute - days * MINUTES_A_DAY for days in _WINDOWS_DAYS] + [plan.born_minute])
    traded_usd = _usd_before(plan, daily_usd, np.minimum(minute, stopped_minutes)[:, np.newaxis])
    earlier_usd = _usd_before(plan, daily_usd, np.minimum(starts, stopped_minutes[:, np.newaxis]))
    windows = np.round(traded_usd - earlier_usd, 6)
    return [Volume(*row) for row in windows.tolist()], Volume(*np.round(windows.sum(axis=0), 6).tolist())


def _usd_before(plan: EventPlan, daily_usd: Floats, minutes: NDArray[np.int64]) -> Floats:
    """Return the dollars traded before some minutes, shape (markets, instants); steady within a day."""
    age_minutes = np.maximum(minutes - plan.born_minute, 0)
    day = np.minimum(age_minutes // MINUTES_A_DAY, daily_usd.shape[1] - 1)
    part = age_minutes / MINUTES_A_DAY - day
    rows = np.arange(len(daily_usd))[:, np.newaxis]
    earlier_usd = np.concatenate((np.zeros((len(daily_usd), 1)), np.cumsum(daily_usd, axis=1)), axis=1)
    traded: Floats = earlier_usd[rows, day] + daily_usd[rows, day] * part
    return traded
