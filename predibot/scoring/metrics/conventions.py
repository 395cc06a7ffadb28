"""Conventions: how predibot and others make annual figures of returns, as data."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median
from types import MappingProxyType
from typing import Literal

from predibot.domain.spelling import nearest
from predibot.scoring.arguments import scalar


@dataclass(frozen=True, slots=True)
class Convention:
    """The choices that turn the same returns into different volatilities and Sharpe ratios.

    It covers annualising only: which bets were made and how returns were measured stay ours.
    """

    name: str
    meaning: str
    source: str
    """The publication or code that states it, and where that differs from here."""
    returns_per: Literal["date", "decision"]
    """One return for all decisions of a date together, or for each alone."""
    ddof: int
    """Deviations divide by n - ddof."""
    risk_free_rate: float = 0.0
    """The annual return without risk, for money on prediction markets."""
    stock_risk_free_rate: float | None = None
    """The same for money on stocks; None where none is stated."""
    days_per_year: float | None = None
    """Divided by a horizon in days this gives its periods a year; None if only the listed have any."""
    periods_by_horizon_days: Mapping[float, float] = field(default_factory=dict)
    """Periods a year of the listed horizons; 1 where figures are not annualised."""
    first_win: int = 1
    """The win rate counts from this return of a curve on."""

    def periods_per_year(self, horizon_days: float) -> float | None:
        """Return how many returns over a horizon a year has, None where the convention does not say.

        Raises `ValueError` if the horizon is not above zero.

        Examples:
            >>> CONVENTIONS["predibench"].periods_per_year(7)
            52.0
            >>> CONVENTIONS["predibench"].periods_per_year(3) is None
            True
        """
        days = scalar("horizon_days", horizon_days)
        if not 0.0 < days < math.inf:
            raise ValueError(f"horizon_days is {horizon_days!r}; it must be above zero")
        return self.days_per_year / days if self.days_per_year is not None else self.periods_by_horizon_days.get(days)


_OF_TRADING_DAYS = MappingProxyType({1.0: 252.0, 7.0: 52.0})
_A_STEP_OF_FOUR_PERCENT = 0.04 / 252.0


def convention_for_stocks(convention: Convention) -> Convention:
    """Return a convention with the rate and the trading days of stocks.

    Without a stated rate it is zero; the convention that does not annualise takes 4 % a year by the step.
    """
    rate = convention.stock_risk_free_rate or 0.0
    if convention.name == "livetradebench_paper":
        rate = _A_STEP_OF_FOUR_PERCENT
    periods = _OF_TRADING_DAYS if convention.days_per_year is not None else convention.periods_by_horizon_days
    return replace(convention, risk_free_rate=rate, days_per_year=None, periods_by_horizon_days=periods)


def convention_named(name: str) -> Convention:
    """Return the convention of that name.

    Raises:
        ValueError: If there is none; says which there are.

    Examples:
        >>> convention_named("livetradebench").ddof
        0
    """
    if not isinstance(name, str):
        raise ValueError(f"a convention's name is text, not {type(name).__name__}; there are: {', '.join(CONVENTIONS)}")
    if name in CONVENTIONS:
        return CONVENTIONS[name]
    found = nearest(name, CONVENTIONS)
    hint = f"Did you mean {found!r}? " if found else ""
    raise ValueError(f"no convention {name!r}. {hint}There are: {', '.join(CONVENTIONS)}")


_PREDIBOT = Convention(
    name="predibot",
    meaning="Ours: one return a date, every day of the year counts, the sample deviation, no risk-free rate.",
    source="The project's scoring contract.",
    returns_per="date",
    ddof=1,
    stock_risk_free_rate=0.0,
    days_per_year=365.0,
)

_PREDIBENCH = Convention(
    name="predibench",
    meaning="PrediBench's: one return a decision, times sqrt(252), sqrt(156), sqrt(52) for 1, 2, 7 days.",
    source=(
        "PrediBench's leaderboard. The factors are those of trading days, of three and of one period a week; "
        "revisions of its code differ, and one neither annualises nor takes decisions, but single bets."
    ),
    returns_per="decision",
    ddof=1,
    periods_by_horizon_days={1.0: 252.0, 2.0: 156.0, 7.0: 52.0},
)

_LIVETRADEBENCH = Convention(
    name="livetradebench",
    meaning="LiveTradeBench's figures: 252 daily returns a year, the deviation of all (ddof 0), 4 % for stocks.",
    source=(
        "Yu, Li and You (2025), arXiv 2511.03628, what Table 2 fits and the authors' metrics script does; "
        "the text of the paper states other definitions (livetradebench_paper)."
    ),
    returns_per="date",
    ddof=0,
    stock_risk_free_rate=0.04,
    periods_by_horizon_days={1.0: 252.0},
)

_LIVETRADEBENCH_PAPER = Convention(
    name="livetradebench_paper",
    meaning="LiveTradeBench's text: returns that are not annualised, the sample deviation, no win on the first day.",
    source=(
        "Yu, Li and You (2025), arXiv 2511.03628, section 5.2: (mean - rate) / deviation with T - 1, a rate of 0 "
        "on its prediction market and of short-term Treasuries, without a number, for stocks. "
        "The win rate begins at the second return. Its Table 2 does not follow it."
    ),
    returns_per="date",
    ddof=1,
    periods_by_horizon_days={1.0: 1.0},
    first_win=2,
)

CONVENTIONS: Mapping[str, Convention] = MappingProxyType(
    {one.name: one for one in (_PREDIBOT, _PREDIBENCH, _LIVETRADEBENCH, _LIVETRADEBENCH_PAPER)}
)


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
