"""Skill: every way to use forecasts beside the price, out of sample, with all tries counted."""

from dataclasses import replace

import numpy as np
import pytest

from predibot.scoring import Forecasts, Skill, SkillTry, Uncertainty, fit_step, skill_of, step_from_price
from predibot.scoring.metrics.probability import log_odds_of, probabilities_of

DAY = 86_400.0
FEW = Uncertainty(resamples=200)


def forecasts(price: object, believed: object, outcome: object, *, days: object = 0.0) -> Forecasts:
    price, believed, outcome = (np.asarray(each, dtype=np.float64) for each in (price, believed, outcome))
    rows = np.arange(price.size)
    made = np.broadcast_to(np.asarray(days) * DAY, price.shape).copy()
    return Forecasts(("bot",), np.zeros_like(rows), rows, rows, believed, outcome, price, made_at=made)


def tried(found: Skill, variant: str, forecaster: str = "bot") -> SkillTry:
    return next(each for each in found.tries if (each.forecaster, each.variant) == (forecaster, variant))


def world(n: int, seed: int, known: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return prices, what a bot believes, and outcomes; it knows so much in log-odds more than the price."""
    rng = np.random.default_rng(seed)
    price = rng.uniform(0.05, 0.95, n)
    shift = rng.choice([-0.5, 0.5], n)
    truth = probabilities_of(log_odds_of(price) + known * shift)
    return price, probabilities_of(log_odds_of(price) + shift), (rng.random(n) < truth).astype(np.float64)


def test_a_variant_is_its_mean_loss_less_that_of_the_price() -> None:
    price, believed, outcome = [0.5, 0.4, 0.3], [0.8, 0.6, 0.1], [1.0, 0.0, 0.0]
    found = skill_of(forecasts(price, believed, outcome), uncertainty=FEW)
    for variant, said in (("as stated", believed), ("blend .1", step_from_price(price, believed, 0.1))):
        losses = (np.array(said) - outcome) ** 2 - (np.array(price) - outcome) ** 2
        assert tried(found, variant).difference == pytest.approx(losses.mean())
    assert (tried(found, "as stated").n, len(found.tries), found.helps) == (3, 5, None)
    assert tried(found, "calibrated").difference == 0.0
    assert found.fitted == {"bot": fit_step(price, believed, outcome)}
    assert skill_of(forecasts(price, price, outcome), uncertainty=FEW) == Skill(())


def test_knowledge_helps_and_noise_does_not_once_all_tries_are_counted() -> None:
    at = np.arange(1_200) // 20
    price, believed, outcome = world(1_200, 1, 1.0)
    knows = skill_of(forecasts(price, believed, outcome, days=at), settled_at=(at + 0.5) * DAY, uncertainty=FEW)
    assert knows.helps is True
    assert tried(knows, "as stated").difference < tried(knows, "blend .2").difference < 0.0
    assert tried(knows, "calibrated").difference < -0.004
    price, believed, outcome = world(1_200, 2, 0.0)
    noise = skill_of(forecasts(price, believed, outcome, days=at), settled_at=(at + 0.5) * DAY, uncertainty=FEW)
    assert noise.helps is False
    assert tried(noise, "calibrated").difference < 0.0003


def test_an_outcome_that_is_known_later_changes_no_fit() -> None:
    price, believed, outcome = world(300, 4, 0.5)
    # The last hundred are steps of nothing, as their prices lie outside the range of steps.
    price[200:], believed[200:], outcome[200:] = 0.05, 0.3, 0.0
    at = np.repeat([0.0, 10.0, 5.0], 100)
    other = np.concatenate([outcome[:200], 1.0 - outcome[200:]])

    def calibrated(happened: np.ndarray, settled: float) -> float:
        known = np.repeat([1.0, 20.0, settled], 100) * DAY
        found = skill_of(forecasts(price, believed, happened, days=at), settled_at=known, uncertainty=FEW)
        return tried(found, "calibrated").difference

    assert calibrated(outcome, 10.5) == calibrated(other, 10.5) != 0.0
    assert calibrated(outcome, 9.0) != calibrated(other, 9.0)


def test_a_gain_of_few_rows_is_told_as_what_could_be_a_leak() -> None:
    price, outcome = np.full(200, 0.5), np.tile([0.0, 1.0], 100)
    believed = np.full(200, 0.52)
    believed[:3] = outcome[:3]
    found = tried(skill_of(forecasts(price, believed, outcome), uncertainty=FEW), "as stated")
    assert found.leak_rows == 3
    assert found.difference < 0.0 < 0.0002 < found.without_best_2  # type: ignore[operator]


def test_pools_take_the_mean_log_odds_and_the_placebo_takes_each_question_once() -> None:
    one = forecasts([0.5, 0.5, 0.4], [0.8, 0.6, 0.7], [1.0, 0.0, 1.0])
    both = replace(one, forecasters=("bot", "other"), forecaster=np.array([0, 1, 0]), question=np.array([0, 0, 1]))
    both = replace(both, outcome=np.ones(3), cluster=both.question)
    found = skill_of(both, earlier_prices=[0.2, 0.2, np.nan], uncertainty=FEW)
    pooled = probabilities_of(log_odds_of(np.array([0.8, 0.6])).mean())
    assert tried(found, "as stated", "all pooled").difference == pytest.approx((pooled - 1.0) ** 2 - 0.25)
    assert found.placebo is not None
    assert (found.placebo.n, len(found.tries)) == (1, 15)
    moved = step_from_price([0.5], [0.2], 0.2)[0]
    assert found.placebo.difference == pytest.approx((moved - 1.0) ** 2 - 0.25)


def test_an_event_weighs_one_a_day_and_pools_of_others_have_no_voice() -> None:
    price, believed, outcome = [0.5, 0.5, 0.5, 0.5], [0.6, 0.6, 0.6, 0.4], [0.0, 0.0, 0.0, 0.0]
    one = replace(forecasts(price, believed, outcome, days=[0, 0, 0, 1]), cluster=np.zeros(4, dtype=np.int64))
    # Three markets on one day, one on the next.
    assert tried(skill_of(one, uncertainty=FEW), "as stated").difference == pytest.approx((0.11 - 0.09) / 2)
    rows = np.arange(12) % 4
    many = replace(one.only(rows), forecasters=("a", "b", "both"), forecaster=np.arange(12) // 4)
    many = replace(many, probability=np.repeat([0.3, 0.6, 0.9], 4))
    found = skill_of(many, pools={"both"}, uncertainty=FEW)
    pooled = probabilities_of(log_odds_of(np.array([0.3, 0.6])).mean())
    assert tried(found, "as stated", "all pooled").difference == pytest.approx(pooled**2 - 0.25)
    assert skill_of(replace(one, probability=np.full(4, 0.50009)), uncertainty=FEW) == Skill(())


def test_a_verdict_rests_on_tries_with_enough_events() -> None:
    few = SkillTry("few", "as stated", 60, 60, -0.02, -0.03, -0.01, 0.001, 0.01, -0.01, -0.01, 9)
    many = replace(few, forecaster="many", events=1_500, difference=-0.01, p_adjusted=0.02)
    for tries, name, helps in (
        ((few,), "few", None),
        ((few, many), "many", True),
        ((few, replace(many, p_adjusted=0.06)), "many", False),
        ((few, replace(many, difference=0.01)), "many", False),
    ):
        found = Skill(tries)
        assert found.best is not None and (found.best.forecaster, found.helps) == (name, helps)
