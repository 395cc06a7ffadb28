"""Sharpe ratios of bots, from one return a date, with intervals that allow for events and odds."""

import math
from dataclasses import dataclass, replace

import numpy as np

from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.evaluation.averages import Average, Later
from predibot.scoring.evaluation.book import Book, Shares
from predibot.scoring.evaluation.horizon_series import shares_at_mid
from predibot.scoring.inference.bootstrap import FEWEST_FOR_AN_INTERVAL, Estimate
from predibot.scoring.inference.student_t import t_quantile
from predibot.scoring.metrics.conventions import Convention
from predibot.scoring.metrics.risk import sharpe_interval, sharpe_ratio
from predibot.scoring.records.horizon_returns import HorizonReturns
from predibot.scoring.records.track_record import DAY_SECONDS, TrackRecord

UNKNOWN_DEVIATION = "none: the prices imply swings that have not happened, so the deviation is not known"
MOST_WIDER = 3.0
"""How many times wider events and prices may make an interval than dates do."""


@dataclass(frozen=True, slots=True, eq=False)
class _Series:
    """Returns of n decisions on d dates of bots."""

    rows: Ints
    """The decisions with a value, (n,)."""
    date: Ints
    """The date of each, (n,), from zero; those of a bot lie together, in order of time."""
    at: Floats
    bot: Ints
    mean: Floats

    @classmethod
    def of(cls, record: TrackRecord, returns: HorizonReturns, convention: Convention) -> "_Series":
        """Return the series with one return a date, or one a decision."""
        rows = np.flatnonzero(~np.isnan(returns.value))
        bot = record.decision_bot[rows]
        if convention.returns_per == "decision":
            order = np.lexsort((record.decided_at[rows], bot))
            at = record.decided_at[rows][order] / DAY_SECONDS
            return cls(rows[order], np.arange(rows.size), at, bot[order], returns.value[rows][order])
        days, day = np.unique(record.decision_day[rows], return_inverse=True)
        cells, date = np.unique(bot * days.size + day, return_inverse=True)
        mean = np.bincount(date, returns.value[rows], cells.size) / np.bincount(date, minlength=cells.size)
        own, of_date = np.divmod(cells, days.size) if days.size else (cells, cells)
        return cls(rows, date, days[of_date].astype(np.float64), own, mean)

    def of_each(self, bots: int) -> list[tuple[Floats, Floats]]:
        """Return each bot's returns and their days."""
        return [(self.mean[self.bot == row], self.at[self.bot == row]) for row in range(bots)]

    def weights(self) -> Floats:
        """Return the weight of each decision in the mean of its bot's series, (n,); they add up to one."""
        decisions = np.bincount(self.date, minlength=self.bot.size)
        dates = np.bincount(self.bot) if self.bot.size else np.zeros(0)
        return np.asarray(1.0 / (dates[self.bot] * decisions)[self.date], dtype=np.float64)


def sharpe_ratios(record: TrackRecord, returns: HorizonReturns, convention: Convention) -> list[float | None]:
    """Return the annual Sharpe ratio of each bot's returns, None where the convention has none."""
    bots = len(record.bots)
    periods = None if returns.days is None else convention.periods_per_year(returns.days)
    if periods is None:
        return [None] * bots
    found = [
        sharpe_ratio(series, periods, convention.ddof, convention.risk_free_rate) if series.size else math.nan
        for series, _ in _Series.of(record, returns, convention).of_each(bots)
    ]
    return [None if math.isnan(each) else each for each in found]


def sharpe_intervals(
    record: TrackRecord, returns: HorizonReturns, convention: Convention, book: Book, confidence: float
) -> list[Estimate | None]:
    """Return the Sharpe ratio of each bot with its interval, None where the convention has none.

    With omega the weight of a decision in the mean m of the series, an event
    adds a = sum of omega r and has w = sum of omega. The standard error of the mean is
    s = max(s_c, sqrt(V D)): s_c^2 = K / (K - 1) sum (a - m w)^2 over its K events. V
    is the variance that prices imply of omega times the shares, and D how many of its events
    moved as one. With sd the deviation of the series,
    H = t(1 / sum w^2 - 1) s / sd, and half the interval is the larger of H and the half by
    dates. There is none where H is more than three times as large as that, or on fewer
    than 5 dates or events.
    """
    days, bots = returns.days, len(record.bots)
    periods = None if days is None else convention.periods_per_year(days)
    if days is None or periods is None:
        return [None] * bots
    series = _Series.of(record, returns, convention)
    by_dates = [
        sharpe_interval(own, at, horizon_days=days, convention=convention, confidence=confidence) if own.size else None
        for own, at in series.of_each(bots)
    ]
    weight = np.zeros(record.decided_at.size)
    weight[series.rows] = series.weights()
    held = shares_at_mid(book)
    weighed = Shares(held.unit, held.shares * weight[held.unit], held.if_no, held.if_yes)
    later = Later.of(book, returns.price_of_bet, returns.paid, days * DAY_SECONDS)
    spreads = Average(book, np.arange(weight.size), returns.value * weight, weighed, later).spreads()
    found: list[Estimate | None] = []
    for bot, (each, (own, _)) in enumerate(zip(by_dates, series.of_each(bots), strict=True)):
        if each is None or each.low is None or each.high is None:
            found.append(each)
            continue
        mine = series.rows[record.decision_bot[series.rows] == bot]
        _, event = np.unique(book.cluster[mine], return_inverse=True)
        added, weights = np.bincount(event, returns.value[mine] * weight[mine]), np.bincount(event, weight[mine])
        events = weights.size
        if min(events, own.size) < FEWEST_FOR_AN_INTERVAL:
            found.append(replace(each, low=None, high=None))
            continue
        differ = math.sqrt(events / (events - 1) * float(((added - own.mean() * weights) ** 2).sum()))
        error = max(differ, math.sqrt(spreads[bot].variance * spreads[bot].dependence))
        t = t_quantile((1.0 + confidence) / 2.0, max(1.0, 1.0 / float((weights**2).sum()) - 1.0))
        found.append(_widen(each, t * error / float(own.std(ddof=convention.ddof)) * math.sqrt(periods)))
    return found


def _widen(found: Estimate, half: float) -> Estimate:
    """Return a ratio with an interval of at least this half-width, or without one where it is far wider."""
    if found.low is None or found.high is None:
        return found
    by_dates = (found.high - found.low) / 2.0
    if half > MOST_WIDER * by_dates:
        return replace(found, low=None, high=None, method=UNKNOWN_DEVIATION)
    half = max(half, by_dates)
    return replace(found, low=found.estimate - half, high=found.estimate + half)
