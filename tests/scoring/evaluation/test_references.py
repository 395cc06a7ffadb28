"""References: forecasters made of what a table has, to stand beside its own."""

from statistics import median

import numpy as np
import pytest

from predibot.scoring.evaluation.references import with_market, with_pools
from predibot.scoring.records.track_record import Forecasts


def _table(rows: list[tuple[int, int, float, float]], forecasters: tuple[str, ...] = ("a", "b", "c")) -> Forecasts:
    """Return forecasts of (forecaster, question, probability, price), on questions that all came out YES."""
    who, what, said, price = (np.array(column) for column in zip(*rows, strict=True))
    return Forecasts(
        forecasters, who, what, what // 2, said, np.ones(len(rows)), price, category=what % 2, categories=("x", "y")
    )


def _added(forecasts: Forecasts) -> Forecasts:
    return forecasts.only(forecasts.forecaster == len(forecasts.forecasters) - 1)


def _random(questions: int = 40) -> Forecasts:
    rng = np.random.default_rng(2)
    rows = [(f, q, float(rng.random()), 0.3) for q in range(questions) for f in range(3) if rng.random() < 0.7]
    return _table([rows[index] for index in rng.permutation(len(rows))])


def test_a_pool_is_what_a_loop_over_the_questions_gives() -> None:
    table = _random()
    pool = _added(with_pools(table, ["median"])[0])
    assert sorted(pool.question.tolist()) == sorted(set(table.question.tolist()))
    for question, said in zip(pool.question, pool.probability, strict=True):
        assert said == pytest.approx(median(table.probability[table.question == question].tolist()))
    assert pool.cluster.tolist() == (pool.question // 2).tolist()
    assert pool.category is not None and pool.category.tolist() == (pool.question % 2).tolist()


def test_a_question_that_thousands_answered_does_not_change_the_pools_of_others() -> None:
    # One matrix would have 3,000 columns for 1,500 questions: more than is taken at once.
    rng = np.random.default_rng(3)
    crowd = [(f, 0, float(p), 0.5) for f, p in enumerate(rng.random(3_000))]
    alone = [(0, q, float(p), 0.5) for q, p in enumerate(rng.random(1_499), start=1)]
    table = _table(crowd + alone, tuple(f"f{f}" for f in range(3_000)))
    pool = _added(with_pools(table, ["median"])[0])
    assert pool.probability[0] == pytest.approx(median(said for _, _, said, _ in crowd))
    assert pool.probability[1:].tolist() == [said for _, _, said, _ in alone]


def test_neither_the_market_nor_a_pool_is_in_a_pool() -> None:
    table = _table([(0, 0, 0.2, 0.5), (1, 0, 0.4, 0.5), (2, 0, 0.9, 0.5), (2, 1, 0.9, 0.5)], ("a", "b", "market"))
    found = with_pools(table, ["mean", "median"])[0]
    assert found.forecasters == ("a", "b", "market", "pool_mean", "pool_median")
    assert found.probability[4:] == pytest.approx([0.3, 0.3])


def test_pools_of_one_are_told() -> None:
    table = _table([(0, 0, 0.2, 0.5), (1, 0, 0.4, 0.5), (0, 1, 0.9, 0.5)])
    assert with_pools(table, ["mean"])[1] == ("Pools are of a single forecast on 1 of 2 questions.",)
    assert with_pools(table, [])[0] is table


def test_the_price_of_a_pool_is_the_mean_of_those_stated() -> None:
    nan = float("nan")
    table = _table([(0, 0, 0.2, 0.5), (1, 0, 0.4, 0.7), (2, 0, 0.4, nan), (0, 1, 0.9, nan)])
    assert _added(with_pools(table, ["mean"])[0]).market_probability == pytest.approx([0.6, nan], nan_ok=True)


def test_the_market_says_its_price_once_a_question() -> None:
    nan = float("nan")
    found, remarks = with_market(
        _table([(0, 0, 0.2, 0.1), (1, 0, 0.4, 0.1), (2, 0, 0.9, 0.1), (0, 1, 0.9, nan), (0, 2, 0.9, 0.4)])
    )
    market = _added(found)
    # The mean of thrice 0.1 would be above it by the last bit.
    assert (market.question.tolist(), market.probability.tolist()) == ([0, 2], [0.1, 0.4])
    assert market.market_probability.tolist() == market.probability.tolist()
    assert remarks == ()


def test_without_a_price_or_beside_one_of_that_name_no_market_is_added() -> None:
    unpriced = _table([(0, 0, 0.2, float("nan"))])
    assert with_market(unpriced)[0] is unpriced
    own = _table([(0, 0, 0.2, 0.4)], ("market",))
    assert with_market(own)[0] is own
    assert with_market(own)[1] == ("`market` is a forecaster of the file, so that none is added of that name.",)
