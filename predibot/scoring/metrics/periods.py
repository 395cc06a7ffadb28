"""Periods: how many of a series' steps a year has, and how that is known."""

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
"""Instants a whole number of days apart may be off by so much when clocks are changed."""


@dataclass(frozen=True, slots=True)
class Periods:
    """How many periods a year has, and why that many."""

    per_year: float
    basis: str
    """How it is known, for a reader: `given`, or what it follows from."""

    def __post_init__(self) -> None:
        """Refuse a year without periods."""
        check_periods_per_year(self.per_year)


def check_periods_per_year(periods_per_year: float) -> float:
    """Return the number of periods, unless it is none.

    Raises:
        ValueError: If it is zero, negative, NaN or infinite.
    """
    periods = scalar("periods_per_year", periods_per_year)
    if not 0.0 < periods < float("inf"):
        raise ValueError(f"periods_per_year is {periods_per_year!r}; it must be above zero")
    return periods


def choose_periods(
    instants: Sequence[datetime], *, convention: Convention | None = None, periods_per_year: float | None = None
) -> Periods:
    """Return the periods a year of values at these instants.

    A number that is given always wins. Else a convention says it, for values as
    far apart as the median of these. Else it follows from the instants alone
    (see `infer_periods`).

    Args:
        instants: When the values were taken, each later than the one before.
        convention: Whose number to take.
        periods_per_year: The number itself, above zero.

    Raises:
        ValueError: If there are fewer than two instants, they are out of order,
            the convention has no number for their spacing, or the one given is
            out of range.

    Examples:
        >>> days = [datetime(2026, 3, day) for day in (2, 9, 16)]
        >>> choose_periods(days, periods_per_year=12)
        Periods(per_year=12, basis='given')
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
    """Return the periods a year that the spacing of values speaks for.

    365 / the median number of days between neighbours. Where values are a day
    apart and skip every weekend they pass, they are of trading days: 252. A few
    days without a weekend between them cannot show that, and count as 365; so do
    values several times a day, whether or not they skip nights and weekends:
    there, give the number.

    Args:
        instants: When the values were taken, each later than the one before.
            Weekdays are those of their own calendar: hand over UTC.

    Raises:
        ValueError: If there are fewer than two, or they are out of order.

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
    """Return the median number of days between neighbours, whole where clocks made the difference.

    Raises:
        ValueError: If there are fewer than two, or they are out of order.
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
    """Return whether no value is of a weekend though there was one between two of them."""
    if any(instant.isoweekday() > 5 for instant in instants):
        return False
    return len({instant.isocalendar()[:2] for instant in instants}) > 1


def _apart(days: float) -> str:
    return "values 1 day apart" if days == 1.0 else f"values {days:g} days apart"
