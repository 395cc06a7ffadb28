"""Periods: how many steps of a series a year has, and how that is known."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median

from predibot.scoring.arguments import scalar
from predibot.scoring.metrics.conventions import Convention

DAYS_PER_YEAR = 365.0
TRADING_DAYS_PER_YEAR = 252.0
_DAY = timedelta(days=1)
_CLOCK_CHANGE = timedelta(hours=1)
"""Clock changes can move instants a whole number of days apart by so much."""


@dataclass(frozen=True, slots=True)
class Periods:
    """The number of periods in a year, and its reason."""

    per_year: float
    basis: str
    """For a reader: `given`, or what it follows from."""

    def __post_init__(self) -> None:
        """Refuse a number that is not above zero."""
        check_periods_per_year(self.per_year)


def check_periods_per_year(periods_per_year: float) -> float:
    """Return the number if it is above zero and finite; raise `ValueError` otherwise."""
    periods = scalar("periods_per_year", periods_per_year)
    if not 0.0 < periods < float("inf"):
        raise ValueError(f"periods_per_year is {periods_per_year!r}; it must be above zero")
    return periods


def choose_periods(
    instants: Sequence[datetime], *, convention: Convention | None = None, periods_per_year: float | None = None
) -> Periods:
    """Return the periods a year of values at these instants.

    A given number always wins. Else a convention states it for the median spacing
    of the values. Else it follows from the instants alone (see `infer_periods`).

    Raises:
        ValueError: If there are fewer than two instants, one is not later than the one before,
            the convention has no number for their spacing, or the given number is not above zero.
    """
    if periods_per_year is not None:
        return Periods(periods_per_year, "given")
    if convention is None:
        return infer_periods(instants)
    apart_days = spacing_days(instants)
    stated = convention.periods_per_year(apart_days)
    if stated is None:
        raise ValueError(f"{convention.name} has no number of periods a year for {_apart(apart_days)}; give one")
    return Periods(stated, f"{convention.name}, {_apart(apart_days)}")


def infer_periods(instants: Sequence[datetime]) -> Periods:
    """Return the periods a year that the spacing of values suggests.

    365 / the median number of days between neighbours. Values a day apart that skip every weekend are of trading days:
    252. A few days without a weekend between them cannot show that and count as 365; so do values several times a day,
    whether or not they skip nights and weekends: there, give the number.

    Args:
        instants: At least two, each later than the one before (otherwise `ValueError`). Their own weekdays count.

    Examples:
        >>> infer_periods([datetime(2026, 3, day) for day in (1, 2, 3, 4)])
        Periods(per_year=365.0, basis='365 days a year, values 1 day apart')
        >>> infer_periods([datetime(2026, 3, day) for day in (5, 6, 9, 10)]).per_year
        252.0
    """
    apart_days = spacing_days(instants)
    if apart_days == 1.0 and _skips_weekends(instants):
        return Periods(TRADING_DAYS_PER_YEAR, "252 trading days a year, values on weekdays only")
    return Periods(DAYS_PER_YEAR / apart_days, f"365 days a year, {_apart(apart_days)}")


def spacing_days(instants: Sequence[datetime]) -> float:
    """Return the median number of days between neighbours, whole where only clock changes differ.

    Raises `ValueError` if there are fewer than two, or they are out of order.
    """
    if len(instants) < 2:
        raise ValueError(f"spacing needs two instants, there are {len(instants)}; give the number of periods a year")
    gaps = [after - before for before, after in pairwise(instants)]
    for row, gap in enumerate(gaps, start=1):
        if gap <= timedelta(0):
            raise ValueError(f"instants[{row}] is {instants[row].isoformat()}, not later than the one before")
    spacing = timedelta(days=median(gap / _DAY for gap in gaps))
    whole_days = round(spacing / _DAY)
    if whole_days >= 1 and abs(spacing - whole_days * _DAY) <= _CLOCK_CHANGE:
        return float(whole_days)
    return spacing / _DAY


def _skips_weekends(instants: Sequence[datetime]) -> bool:
    """Return whether no value is on a weekend although some weekend lies between them."""
    if any(instant.isoweekday() > 5 for instant in instants):
        return False
    return len({instant.isocalendar()[:2] for instant in instants}) > 1


def _apart(days: float) -> str:
    return "values 1 day apart" if days == 1.0 else f"values {days:g} days apart"
