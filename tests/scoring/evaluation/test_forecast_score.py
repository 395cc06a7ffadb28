"""Forecast scores: how good each forecaster's probabilities were on what is settled."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from scipy import stats
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss

from predibot.scoring import (
    Forecasts,
    ForecastScore,
    Uncertainty,
    cluster_bootstrap_mean,
    cluster_bootstrap_ratio,
    difficulty_adjusted,
    forecast_scores,
)
from tests.scoring.tables import NAN, TABLES, drawn, table_of

FEW = Uncertainty(seed=5, resamples=400)


@given(TABLES)
def test_every_forecaster_is_scored_as_if_alone(table: Forecasts) -> None:
    for row, score in enumerate(forecast_scores(table)):
        own = table.only(table.forecaster == row)
        assert score.n == own.probability.size
        if score.n == 0:
            assert score == ForecastScore()
            continue
        assert score.clusters == len(set(own.cluster.tolist()))
        assert score.brier == pytest.approx(np.mean((own.probability - own.outcome) ** 2))
        priced = ~np.isnan(own.market_probability)
        assert score.n_market == priced.sum()
        if score.n_market:
            market = float(np.mean((own.market_probability - own.outcome)[priced] ** 2))
            assert score.market_brier == pytest.approx(market)
            if market > 0 and score.skill_vs_market is not None:
                brier = np.mean((own.probability - own.outcome)[priced] ** 2)
                assert score.skill_vs_market == pytest.approx(1 - brier / market)
        else:
            assert (score.market_brier, score.market_log_score, score.skill_vs_market) == (None, None, None)


def test_what_is_said_twice_at_once_has_one_interval_in_either_order() -> None:
    answers = [(0, 0, 0.25, NAN, NAN, 1.0), (0, 0, 0.1, NAN, NAN, 1.0), (0, 2, 0.3, NAN, NAN, 1.0)]
    one, other = (
        forecast_scores(table_of(rows), uncertainty=FEW)[0].intervals["brier"] for rows in (answers, answers[::-1])
    )
    assert one == other


def test_scores_agree_with_scikit_learn() -> None:
    table = drawn(40)
    for row, score in enumerate(forecast_scores(table)):
        own = table.only(table.forecaster == row)
        assert score.brier == pytest.approx(brier_score_loss(own.outcome, own.probability))
        assert score.log_score == pytest.approx(log_loss(own.outcome, np.clip(own.probability, 0.01, 0.99)))
        assert score.accuracy == pytest.approx(accuracy_score(own.outcome, own.probability > 0.5))
        assert own.confidence is not None
        rho = stats.spearmanr(own.confidence, own.squared_errors()).statistic
        assert score.confidence_and_error == pytest.approx(rho)


def test_intervals_are_those_of_each_score_alone() -> None:
    table = drawn(40)
    for row, score in enumerate(forecast_scores(table, uncertainty=FEW)):
        own = table.only(table.forecaster == row)
        error, market = own.squared_errors(), (own.market_probability - own.outcome) ** 2
        asked = {"seed": FEW.seed, "resamples": FEW.resamples}
        for name, errors in (("brier", error), ("market_brier", market)):
            alone = cluster_bootstrap_mean(errors, own.cluster, **asked)
            assert score.intervals[name].estimate == pytest.approx(alone.estimate)
            assert score.intervals[name].cluster_standard_error == pytest.approx(alone.cluster_standard_error)
        skill = cluster_bootstrap_ratio(market - error, market, own.cluster, **asked)
        assert score.intervals["skill_vs_market"] == skill
        assert skill.estimate == pytest.approx(score.skill_vs_market)
        right = ((own.probability > 0.5) == (own.outcome == 1.0)).astype(float)
        assert score.intervals["accuracy"] == cluster_bootstrap_mean(right, own.cluster, **asked)
        assert score.intervals["log_score"].estimate == pytest.approx(score.log_score)


def test_without_uncertainty_there_are_no_intervals() -> None:
    assert all(score.intervals == {} for score in forecast_scores(drawn(10)))


def test_adjusted_scores_are_those_of_two_way_fixed_effects() -> None:
    table = drawn(20).only(np.arange(110))
    expected = difficulty_adjusted(table.squared_errors(), table.forecaster, table.question)
    assert [score.adjusted_brier for score in forecast_scores(table)] == pytest.approx(expected.tolist())


def test_a_last_forecaster_without_an_answer_has_no_score_and_breaks_none() -> None:
    table = drawn(20)
    *others, silent = forecast_scores(table.only(table.forecaster < 2))
    assert silent == ForecastScore()
    assert all(score.adjusted_brier is not None for score in others)


@pytest.mark.parametrize("price", [1e-60, 4.8e-117, 1e-154, 1e-162, 5e-324])
def test_prices_as_good_as_certain_make_skills_of_any_size_and_nothing_infinite(price: float) -> None:
    chances = np.random.default_rng(3).random(36)
    sure = [(0, q, float(chances[q]), price if q % 2 == 0 else 1.0, NAN, 1.0) for q in range(36)]
    (score, *_) = forecast_scores(_own_events(table_of(sure)), uncertainty=FEW)
    assert score.skill_vs_market is None or math.isfinite(score.skill_vs_market)
    for estimate in score.intervals.values():
        assert not math.isinf(estimate.estimate)
        assert estimate.interval is None or all(map(math.isfinite, estimate.interval))


def test_no_end_lies_outside_what_is_possible() -> None:
    limits = {"log_score": (-math.log1p(-0.01), -math.log(0.01)), "accuracy": (0, 1), "skill_vs_market": (-math.inf, 1)}
    cut = set()
    for seed, (n, every) in enumerate([(14, 7), (14, 7), (8, 2), (11, 3), (8, 2)]):
        rng = np.random.default_rng(seed)
        # Far from it now and then, and else about right.
        off = np.where(np.arange(n) % every == 1, 0.95, rng.uniform(0.001, 0.02, n))
        priced = rng.uniform(0.3, 0.9, n)
        table = table_of(
            [(0, q, abs(q % 2 - float(off[q])), abs(q % 2 - float(priced[q])), NAN, 1.0) for q in range(n)]
        )
        (score, *_) = forecast_scores(_own_events(table), uncertainty=FEW)
        for name, (least, most) in limits.items():
            estimate = score.intervals[name]
            if estimate.low is not None and estimate.high is not None:
                assert least <= estimate.low <= estimate.estimate <= estimate.high <= most
                cut |= {name} if estimate.high == most or estimate.low == least else set()
    assert {"log_score", "accuracy"} <= cut


def _own_events(table: Forecasts) -> Forecasts:
    return dataclasses.replace(table, cluster=table.question)


def test_alone_or_in_parts_nothing_is_adjusted() -> None:
    table = drawn(10)
    assert forecast_scores(table.only(table.forecaster == 0))[0].adjusted_brier is None
    assert forecast_scores(table, adjust=False)[0].adjusted_brier is None


def test_of_two_stated_confidences_no_correlation_is_made() -> None:
    answers = [(0, 1, 0.9, NAN, 9.0, 1.0), (0, 3, 0.7, NAN, 5.0, 1.0), (0, 5, 0.2, NAN, NAN, 1.0)]
    (score, *_) = forecast_scores(table_of(answers))
    assert (score.confidence_and_error, score.n_confidence) == (None, 2)


def test_of_nobody_there_are_no_scores() -> None:
    assert forecast_scores(table_of([(0, 1, 0.9, NAN, NAN, 1.0)]).only(np.zeros(1, dtype=bool)), uncertainty=FEW) == (
        (ForecastScore(),) * 3
    )
