"""Sharpe ratios of bots: an interval that knows which events and odds a series of dates is made of."""

import math

import numpy as np
import pytest

from predibot.scoring import CONVENTIONS
from predibot.scoring.evaluation.book import Book
from predibot.scoring.evaluation.sharpe import UNKNOWN_DEVIATION, sharpe_intervals, sharpe_ratios
from predibot.scoring.inference.bootstrap import Estimate
from predibot.scoring.inference.student_t import t_quantile
from predibot.scoring.metrics.risk import sharpe_interval
from predibot.scoring.records.horizon_returns import horizon_returns
from tests.scoring.worlds import ASKED_DAYS, LIFE, Played, World, always_half, independent, random_bet, record_of

OURS = CONVENTIONS["predibot"]


def intervals(world: World, played: dict[str, Played], days: float) -> list[Estimate | None]:
    record = record_of(world, played)
    (returns,) = (each for each in horizon_returns(record, [days]) if each.days == days)
    return sharpe_intervals(record, returns, OURS, Book.of(record), 0.95)


def by_days(world: World, played: Played, days: int) -> tuple[float, float, float]:
    """Return the ratio and half of what dates and events say, with all that is held looked at day by day."""
    price, begins = world.price[0], world.begins[0]
    made = [
        (event, day)
        for event in range(begins.size)
        for day in range(ASKED_DAYS)
        if world.asked()[0, event, :, day].any()
    ]
    side = np.where(played.usd > 0.0, world.entry(), 1.0 - world.entry())
    shares = (played.usd / np.where(side > 0.0, side, 1.0))[0]
    gained = {}
    for event, day in made:
        gain = price[event, :, min(day + days, LIFE)] - price[event, :, day]
        gained[event, day] = float((shares[event, :, day] * gain).sum())
    dates = sorted({begins[event] + day for event, day in made})
    of_date = {date: [each for each in made if begins[each[0]] + each[1] == date] for date in dates}
    series = np.array([np.mean([gained[each] for each in of_date[date]]) for date in dates])
    weight = {each: 1.0 / (len(dates) * len(of)) for of in of_date.values() for each in of}
    moved = np.zeros((begins.size, 60))
    variance = np.zeros(begins.size)
    for event in range(begins.size):
        for market in range(price.shape[1]):
            for day in range(LIFE):
                held = sum(
                    weight[event, start] * shares[event, market, start]
                    for start in range(max(0, day - days + 1), min(day, ASKED_DAYS - 1) + 1)
                    if (event, start) in weight
                )
                before, after = price[event, market, day], price[event, market, day + 1]
                variance[event] += held**2 * (before * (1 - before) - after * (1 - after))
                moved[event, begins[event] + day] += held * (after - before)
    together = max(1.0, float((moved.sum(axis=0) ** 2).sum() / (moved**2).sum()))
    events = sorted({event for event, _ in made})
    added = np.array([sum(weight[e] * gained[e] for e in made if e[0] == event) for event in events])
    shared = np.array([sum(weight[e] for e in made if e[0] == event) for event in events])
    k, sd = len(events), float(series.std(ddof=1))
    differ = math.sqrt(k / (k - 1) * float(((added - series.mean() * shared) ** 2).sum()))
    t = t_quantile(0.975, max(1.0, 1.0 / float((shared**2).sum()) - 1.0))
    to_annual = math.sqrt(365.0 / days)
    found = sharpe_interval(series, np.array(dates, float), horizon_days=days, convention=OURS)
    assert found is not None and found.low is not None and found.high is not None
    of_prices = math.sqrt(float(np.maximum(variance, 0.0).sum()) * together)
    wider = t * max(differ, of_prices) / sd * to_annual
    return float(series.mean() / sd) * to_annual, (found.high - found.low) / 2, wider


@pytest.mark.parametrize("days", [1, 2, 7])
@pytest.mark.parametrize("seed", range(4))
def test_an_interval_is_that_of_holdings_looked_at_day_by_day(seed: int, days: int) -> None:
    rng = np.random.default_rng(seed)
    world = independent(rng, 1, 14)
    played = {"half": always_half(rng, world), "random": random_bet(rng, world)}
    for found, each in zip(intervals(world, played, days), played.values(), strict=True):
        estimate, by_dates, by_events = by_days(world, each, days)
        assert found is not None and found.estimate == pytest.approx(estimate)
        half = max(by_dates, by_events)
        ends = (None, None) if by_events > 3.0 * by_dates else (estimate - half, estimate + half)
        assert (found.low, found.high) == (ends if ends[0] is None else pytest.approx(ends))


def longshots(events: int, price: float) -> tuple[World, Played]:
    """Return a dollar on YES of one market an event and date, each of which lost the day after it was asked."""
    shape = (1, events, 1)
    path = np.zeros((*shape, LIFE + 1))
    path[..., 0] = price
    # So that dates are not all alike.
    usd = np.zeros((*shape, ASKED_DAYS))
    usd[..., 0] = 1.0 - 0.001 * (np.arange(events) % 3)[:, None]
    world = World(path, np.ones(shape), np.ones(shape, bool), np.arange(events)[None], np.ones((1, events), int))
    return world, Played(np.where(usd > 0.0, 0.5, np.nan), usd)


def test_a_series_of_long_odds_that_never_came_in_has_no_interval() -> None:
    world, played = longshots(30, 0.02)
    (found,) = intervals(world, {"a": played}, 1)
    assert found is not None and found.interval is None and found.method == UNKNOWN_DEVIATION


@pytest.mark.parametrize(("events", "shown"), [(4, False), (5, True)])
def test_fewer_than_five_events_have_no_interval(events: int, shown: bool) -> None:
    rng = np.random.default_rng(1)
    world = independent(rng, 1, events)
    (found,) = intervals(world, {"a": always_half(rng, world)}, 1)
    assert found is None or (found.interval is not None) is shown or found.method == UNKNOWN_DEVIATION


def test_a_ratio_is_the_same_with_and_without_an_interval() -> None:
    rng = np.random.default_rng(5)
    world = independent(rng, 3, 9)
    record = record_of(world, {"half": always_half(rng, world)})
    for returns in horizon_returns(record, [1, 7]):
        made = sharpe_intervals(record, returns, OURS, Book.of(record), 0.95)
        ratios = sharpe_ratios(record, returns, OURS)
        assert [None if each is None else each.estimate for each in made] == pytest.approx(ratios)
