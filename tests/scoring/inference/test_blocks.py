"""Blocks: dates drawn anew in runs that stay together."""

import math
from dataclasses import replace

import numpy as np
import pytest

from predibot.scoring.inference.blocks import (
    FEWEST_FOR_DRAWDOWN,
    draw_curves,
    drawdown_estimate,
    growth_difference,
    growth_estimate,
    mean_block,
    sharpe_estimate,
)
from predibot.scoring.inference.uncertainty import Uncertainty
from predibot.scoring.metrics.equity import cumulative_return, max_drawdown
from predibot.scoring.metrics.risk import sharpe_ratio

FEW = Uncertainty(resamples=400)


def returns(dates: int, curves: int = 1, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(0.002, 0.02, (dates, curves))


def test_the_same_seed_gives_the_same_ends_and_another_gives_others() -> None:
    found = [growth_estimate(draw_curves(returns(80), replace(FEW, seed=seed)), 0) for seed in (1, 1, 2)]
    assert found[0] == found[1]
    assert found[0].interval != found[2].interval


def test_an_interval_does_not_depend_on_who_stands_beside() -> None:
    alone = growth_estimate(draw_curves(returns(80, 3)[:, 1:2], FEW), 0)
    beside = growth_estimate(draw_curves(returns(80, 3), FEW), 1)
    assert alone.interval == pytest.approx(beside.interval, rel=1e-12)


def test_an_estimate_is_the_curve_s_own_figure() -> None:
    series = returns(70)
    values = 500.0 * np.concatenate([[1.0], np.cumprod(1.0 + series[:, 0])])
    drawn = draw_curves(series, FEW)
    assert growth_estimate(drawn, 0).estimate == pytest.approx(cumulative_return(values))
    assert drawdown_estimate(drawn, 0, max_drawdown(values)).estimate == max_drawdown(values)


def test_resampled_drawdowns_are_those_of_the_resampled_curves() -> None:
    # Of one return, repeated: every resample is the same curve, which falls 1 % a date.
    drawn = draw_curves(np.full((60, 1), -0.01), FEW)
    assert drawn.drawn_drawdown is not None
    assert drawn.drawn_drawdown == pytest.approx(1.0 - 0.99**60)


def test_a_drawdown_has_no_interval_below_sixty_dates() -> None:
    short, long = (draw_curves(returns(n), FEW) for n in (FEWEST_FOR_DRAWDOWN - 1, FEWEST_FOR_DRAWDOWN))
    assert drawdown_estimate(short, 0, 0.1).interval is None
    assert drawdown_estimate(long, 0, 0.1).interval is not None


@pytest.mark.parametrize("each", [0.0, 0.01, -0.001, 1e-9])
def test_an_account_whose_returns_are_all_alike_has_no_interval(each: float) -> None:
    values = 500.0 * np.cumprod(np.full(41, 1.0 + each))
    found = growth_estimate(draw_curves((values[1:] / values[:-1] - 1.0)[:, np.newaxis], FEW), 0)
    assert found.estimate == pytest.approx(math.expm1(40 * math.log1p(each)), abs=1e-12) and found.interval is None


def test_an_interval_is_as_wide_as_dates_or_prices_say() -> None:
    drawn = draw_curves(returns(40), FEW)
    by_dates, less, more = (growth_estimate(drawn, 0, implied) for implied in (0.0, 1e-6, 2.0))
    assert by_dates.interval == less.interval
    assert more.high is not None
    # t(.975, 39) is 2.0227.
    assert math.log1p(more.high) - drawn.growth[0] == pytest.approx(2 * 2.022691, abs=1e-5)


def test_an_account_that_lost_everything_has_no_interval() -> None:
    series = returns(40)
    series[20:] = 0.0
    series[20] = -1.0
    found = growth_estimate(draw_curves(series, FEW), 0)
    assert found.estimate == pytest.approx(-1.0) and found.interval is None


def test_a_difference_of_a_curve_and_itself_is_nothing_and_turns_with_the_sides() -> None:
    drawn = draw_curves(np.concatenate([returns(50), returns(50), returns(50, seed=1)], axis=1), FEW)
    same, one, other = growth_difference(drawn, 0, 1), growth_difference(drawn, 0, 2), growth_difference(drawn, 2, 0)
    assert (same.estimate, same.low, same.high) == (0.0, None, None)
    assert one.interval is not None and other.interval is not None
    turned = (other.estimate, *reversed(other.interval))
    assert [math.log1p(each) for each in (one.estimate, *one.interval)] == pytest.approx(
        [-math.log1p(each) for each in turned]
    )


def test_blocks_are_as_long_as_said_and_every_date_is_drawn_as_often() -> None:
    drawn = draw_curves(np.eye(64), Uncertainty(resamples=4_000))
    # Each column is 1 on one date: the mean of a resample says how often that date was drawn.
    assert drawn.drawn_mean.mean(axis=0) == pytest.approx(np.full(64, 1 / 64), rel=0.1)
    assert mean_block(64) == pytest.approx(4.0)


def test_what_follows_itself_has_a_wider_interval_than_independent_dates_of_the_same_spread() -> None:
    rng = np.random.default_rng(3)
    independent = rng.normal(0.0, 0.02, 400)
    following = np.convolve(rng.normal(0.0, 0.02, 403), np.ones(4), "valid") / 2.0
    drawn = draw_curves(np.stack([independent, following], axis=1), Uncertainty(resamples=2_000))
    widths = np.ptp(np.quantile(drawn.drawn_growth, [0.025, 0.975], axis=0), axis=0)
    assert widths[1] > 1.4 * widths[0]


def test_a_sharpe_ratio_lies_in_its_interval_and_has_none_where_nothing_moves() -> None:
    series = returns(90)
    ratio = sharpe_ratio(series[:, 0], 365)
    found = sharpe_estimate(draw_curves(series, FEW), 0, ratio, 365, 0.0, 1)
    assert found.interval is not None and found.interval[0] < ratio < found.interval[1]
    flat = sharpe_estimate(draw_curves(np.zeros((90, 1)), FEW), 0, math.nan, 365, 0.0, 1)
    assert flat.interval is None and flat.resamples_without_value == FEW.resamples


def test_a_sharpe_ratio_is_moved_out_to_what_prices_imply_and_has_no_interval_far_beyond_what_happened() -> None:
    series = returns(90)
    drawn, ratio = draw_curves(series, FEW), sharpe_ratio(series[:, 0], 365)
    by_dates = sharpe_estimate(drawn, 0, ratio, 365, 0.0, 1)
    assert by_dates.low is not None and by_dates.high is not None
    half = (by_dates.high - by_dates.low) / 2.0
    # So that H = t(.975, 89) implied / (n sd) sqrt(365) is so many times that half.
    unit = half * 90 * float(series.std(ddof=1)) / (1.986979 * math.sqrt(365))
    wider, beyond = (sharpe_estimate(drawn, 0, ratio, 365, 0.0, 1, times * unit) for times in (2.99, 3.01))
    assert wider.interval == pytest.approx((ratio - 2.99 * half, ratio + 2.99 * half), rel=1e-5)
    assert beyond.interval is None


# The aims stand in docs/coverage.md, with what a thousand simulations measured.
@pytest.mark.parametrize(("dates", "least"), [(30, 0.88), (120, 0.90)])
def test_intervals_hold_the_expected_log_growth(dates: int, least: float) -> None:
    rng = np.random.default_rng(7)
    many = np.clip(rng.normal(0.001, 0.02, (dates, 200)), -0.9, None)
    truth = math.expm1(dates * float(np.log1p(rng.normal(0.001, 0.02, 1_000_000)).mean()))
    drawn = draw_curves(many, Uncertainty(resamples=1_000))
    found = [growth_estimate(drawn, curve) for curve in range(200)]
    assert sum((each.low or 0.0) <= truth <= (each.high or 0.0) for each in found) / 200 >= least
