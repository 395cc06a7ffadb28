"""Conventions: how predibot and others make annual figures of returns, as data."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
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
