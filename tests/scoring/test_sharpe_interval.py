"""The interval of a Sharpe ratio: how annual figures would have come out, had other events been played."""

import math

import numpy as np
import pytest

from predibot.scoring.bootstrap import Estimate, cluster_bootstrap
from predibot.scoring.risk import sharpe_ratio
from predibot.scoring.sharpe_interval import sharpe_interval
from predibot.scoring.uncertainty import Uncertainty

DRAWS = Uncertainty(seed=3, resamples=4_000)


def ratio_of(values: np.ndarray, dates: np.ndarray) -> float:
    """Return the Sharpe ratio of the means of dates, the short way."""
    means = [values[dates == date].mean() for date in np.unique(dates)]
    return sharpe_ratio(means, 365.0)


def found(values: np.ndarray, dates: np.ndarray, clusters: np.ndarray) -> Estimate:
    return sharpe_interval(
        values,
        dates,
        clusters,
        sharpe=ratio_of(values, dates),
        periods_per_year=365.0,
        ddof=1,
        risk_free_rate=0.0,
        uncertainty=DRAWS,
    )


def drawn(decisions: int = 120) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    return rng.normal(0.01, 0.1, decisions), np.arange(decisions) % 10, rng.integers(0, 40, decisions)


def test_it_is_the_percentile_interval_of_the_ratio_done_one_draw_at_a_time() -> None:
    values, dates, clusters = drawn()
    slow = cluster_bootstrap(lambda rows: ratio_of(values[rows], dates[rows]), clusters, seed=11, resamples=4_000)
    quick = found(values, dates, clusters)
    # Other draws of the same: the ends agree as far as 4,000 draws tell them.
    assert slow.low is not None and slow.high is not None
    width = slow.high - slow.low
    assert quick.low == pytest.approx(slow.low, abs=0.06 * width)
    assert quick.high == pytest.approx(slow.high, abs=0.06 * width)
    assert (quick.estimate, quick.n, quick.clusters) == (slow.estimate, 120, slow.clusters)


def test_the_ratio_lies_within_and_the_order_of_rows_changes_nothing() -> None:
    values, dates, clusters = drawn()
    one, other = found(values, dates, clusters), found(values[::-1], dates[::-1], clusters[::-1])
    assert one.low is not None and one.high is not None
    assert one.low < one.estimate < one.high
    assert (one.low, one.high) == pytest.approx((other.low, other.high))


def test_one_event_has_no_interval() -> None:
    values, dates, clusters = drawn()
    assert found(values, dates, np.zeros_like(clusters)).interval is None


def test_where_too_many_draws_lose_their_dates_there_is_no_interval() -> None:
    values, dates = np.array([0.1, -0.2]), np.array([0, 1])
    alone = found(values, dates, np.array([0, 1]))
    assert alone.interval is None
    assert alone.resamples_without_value == pytest.approx(2_000, abs=200)


def test_many_events_and_dates_get_fewer_draws_and_say_so() -> None:
    rng = np.random.default_rng(1)
    n = 4_000
    many = found(rng.normal(0.0, 0.1, n), rng.integers(0, 200, n), np.arange(n))
    assert many.resamples == 400
    assert math.isfinite(many.estimate) and many.interval is not None
