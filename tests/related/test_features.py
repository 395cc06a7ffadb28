"""Features: the four ways in which two markets are alike, and S; by hand, by loops, and as laws."""

import datetime
import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from predibot.related.beliefs import Beliefs, daily_prices
from predibot.related.features import PAPER, Block, Features, FeatureWeights, change_points, daily_changes, pairs_from
from predibot.scoring.relatedness.relevance import relevance_class
from tests.related.made import (
    FIRST_DAY,
    from_logits,
    from_prices,
    groups_of,
    logits_in_groups,
    random_words,
    scores_of,
)

FLAT = [0.5, 0.51]
"""Deltas of a hundredth, up and down."""


def with_jumps(days: int, *jumps: int) -> list[float]:
    """Return prices that go up and down by a hundredth, and by two tenths more on some days."""
    level, prices = 0.0, []
    for day in range(days):
        level += 0.2 * (1 if jumps.index(day) % 2 == 0 else -1) if day in jumps else 0.0
        prices.append(round(FLAT[day % 2] + level, 6))
    return prices


def by_loops(beliefs: Beliefs) -> Iterator[tuple[int, int, tuple[float, float, float, float]]]:
    """Yield the four features of any two markets, with the text's by their common words."""
    points = [jumps_by_loops(beliefs, row) for row in range(beliefs.n)]
    words = sorted({word for text in beliefs.texts for word in text.split()})
    df = np.array([sum(word in text.split() for text in beliefs.texts) for word in words])
    weighed = [
        np.array([text.split().count(word) for word in words]) * (np.log((1 + beliefs.n) / (1 + df)) + 1)
        for text in beliefs.texts
    ]
    for a, b in itertools.product(range(beliefs.n), repeat=2):
        (ours, theirs), (x, y) = (points[a], points[b]), (weighed[a], weighed[b])
        s1 = s3 = 0.0
        if ours and theirs:
            hits = [
                [any(abs(t - u) < 2 for u in other) for t in own] for own, other in ((ours, theirs), (theirs, ours))
            ]
            s1 = float(np.mean(hits[0]) + np.mean(hits[1])) / 2
            s3 = 1 / (1 + min(abs(t - u) for t in ours for u in theirs) / 7)
        union = beliefs.tags[a] | beliefs.tags[b]
        s2 = len(beliefs.tags[a] & beliefs.tags[b]) / len(union) if union else math.nan
        s4 = float(x @ y / (np.linalg.norm(x) * np.linalg.norm(y))) if x.any() and y.any() else math.nan
        yield a, b, (s1, s2, s3, s4)


def jumps_by_loops(beliefs: Beliefs, row: int) -> list[int]:
    """Return the days on which a market's price changed by more than two deviations."""
    own = beliefs.prices.market == row
    price = dict(zip(beliefs.prices.day[own].tolist(), beliefs.prices.price_yes[own].tolist(), strict=True))
    change = {day: price[day] - price[day - 1] for day in price if day - 1 in price}
    mean, spread = np.mean(list(change.values())), np.std(list(change.values()), ddof=1)
    return [day for day, each in change.items() if len(change) >= 6 and abs(each - mean) > 2 * spread]


def made(seed: int, n: int = 24) -> Beliefs:
    """Return markets with gaps, tags, texts, and some without."""
    generator = np.random.default_rng(seed)
    logits = logits_in_groups(generator, groups_of(n, n // 4), days=60)
    prices = 1 / (1 + np.exp(-logits))
    prices[generator.random(prices.shape) < 0.05] = np.nan
    texts = ["" if number % 7 == 0 else text for number, text in enumerate(random_words(generator, n))]
    tags = [generator.choice(list("abcdef"), generator.integers(0, 4), replace=False).tolist() for _ in range(n)]
    return from_prices(prices.tolist(), texts=texts, tags=tags, first_days=generator.integers(0, 30, n).tolist())


@pytest.mark.parametrize("seed", range(5))
def test_every_feature_is_what_loops_over_days_tags_and_words_find(seed: int) -> None:
    beliefs = made(seed)
    block = Features(beliefs).block(slice(0, beliefs.n), slice(0, beliefs.n))
    for a, b, expected in by_loops(beliefs):
        assert [each[a, b] for each in block.each] == pytest.approx(expected, nan_ok=True)


def test_without_a_change_point_on_a_side_nothing_is_near() -> None:
    beliefs = from_prices([with_jumps(60, 10), with_jumps(60)], tags=[["a"], ["a"]], texts=["x", "x"])
    block = Features(beliefs).block(slice(0, 1), slice(1, 2))
    assert [each.item() for each in block.each] == [0.0, 1.0, 0.0, pytest.approx(1.0)]
    assert block.scores().item() == 0.5


def test_a_missing_feature_drops_out_and_the_others_are_rescaled() -> None:
    """Synchrony 1 and nearness 1 of weights .4 and .1, text 0 of weight .2; the tags' .3 drops out: .5 / .7."""
    beliefs = from_prices([with_jumps(60, 10)] * 2, texts=["rain", "snow"])
    scores = scores_of(beliefs, replace(PAPER, weights=FeatureWeights(synchrony=0.4, tags=0.3, nearness=0.1, text=0.2)))
    assert scores[0, 1] == pytest.approx(0.5 / 0.7)


def test_nothing_that_has_a_weight_is_no_score() -> None:
    beliefs = from_prices([with_jumps(60, 10)] * 2)
    assert np.isnan(
        scores_of(beliefs, replace(PAPER, weights=FeatureWeights(synchrony=0.0, tags=0.5, nearness=0.0, text=0.5)))
    ).all()


def test_classes_have_their_lower_end_and_the_top_one_both() -> None:
    assert relevance_class([0.0, 0.1999, 0.2, 0.4, 0.5999, 0.6, 0.8, 1.0]).tolist() == [0, 0, 1, 2, 2, 3, 4, 4]


@pytest.mark.parametrize("each", [(0.5, 0.5, 0.5, 0.0), (-0.1, 0.6, 0.3, 0.2)])
def test_weights_that_are_no_shares_of_one_are_refused(each: tuple[float, float, float, float]) -> None:
    with pytest.raises(ValueError, match="add up to 1"):
        FeatureWeights(*each)


@pytest.mark.parametrize("seed", range(3))
def test_s_is_symmetric_in_the_unit_interval_and_the_same_in_any_order_of_the_markets(seed: int) -> None:
    beliefs = made(seed)
    scores = scores_of(beliefs)
    assert (scores == scores.T).all()
    assert ((scores >= 0.0) & (scores <= 1.0)).all()
    order = np.random.default_rng(seed).permutation(beliefs.n)
    assert (scores_of(beliefs.only(order.tolist())) == scores[np.ix_(order, order)]).all()


def test_pairs_above_a_score_are_those_of_the_whole_table() -> None:
    beliefs = made(7, n=40)
    scores, found = scores_of(beliefs), pairs_from(Features(beliefs), 0.4)
    ours, theirs = np.nonzero(np.triu(scores >= 0.4, 1))
    assert (found.first.tolist(), found.second.tolist()) == (ours.tolist(), theirs.tolist())
    assert (found.score == scores[ours, theirs]).all()
    assert found.first.size


def test_change_points_that_count_nowhere_leave_tags_and_text() -> None:
    ones = np.ones((1, 1))
    assert Block(ones, ones, ones, ones).restrict_jumps(np.zeros((1, 1), dtype=np.bool_)).scores().item() == 0.5


class TestChangePoints:
    """Which days of a market's prices count."""

    def test_with_fewer_than_six_changes_there_is_none(self) -> None:
        """Of six changes one of .1: z is (.1 - .1 / 6) / (.1 / sqrt(6)) = 2.04; of five it would be 1.79."""
        for flat, expected in ((2, 1), (1, 0)):
            points = change_points(daily_changes(from_prices([[0.5] * 3 + [0.6] * (flat + 2)]).prices), 1)
            assert points.day.size == expected

    def test_five_changes_are_too_few_whatever_they_are(self) -> None:
        """Nine changes of which one is large, but over gaps only five are told."""
        nan = math.nan
        prices = [0.5, 0.5, nan, 0.5, 0.5, nan, 0.9, 0.9, nan, 0.9, 0.9, 0.9]
        assert change_points(daily_changes(from_prices([prices]).prices), 1).day.size == 0

    def test_changes_that_are_all_alike_are_no_jumps(self) -> None:
        prices = np.round(np.arange(0.1, 0.9, 0.01), 2).tolist()
        assert change_points(daily_changes(from_prices([prices]).prices), 1).day.size == 0

    def test_of_logits_a_jump_near_the_end_of_the_scale_counts_as_much(self) -> None:
        steps = np.where(np.arange(60) == 30, 1.0, 0.01 * (-1.0) ** np.arange(60))
        beliefs = from_logits(np.array([-5.0 + np.cumsum(steps)]))
        assert change_points(daily_changes(beliefs.prices, logits=True), 1).day.tolist() == [FIRST_DAY + 30]


class TestDailyPrices:
    """The last price of each UTC day, without payouts and without the future."""

    def at(self, day: float) -> float:
        return datetime.datetime(2026, 3, 1, tzinfo=datetime.UTC).timestamp() + day * 86_400

    def daily(self, *points: tuple[float, float], settled: float = math.nan, as_of: float = 100.0) -> dict[int, float]:
        at, price = (np.array(column) for column in zip(*points, strict=True))
        found = daily_prices(
            np.zeros(at.size, dtype=np.int64),
            np.array([self.at(day) for day in at]),
            price,
            settled_at=np.array([self.at(settled)]),
            as_of=self.at(as_of),
        )
        first = int(self.at(0) // 86_400)
        return dict(zip((found.day - first).tolist(), found.price_yes.tolist(), strict=True))

    def test_the_last_price_of_each_day_counts_in_any_order(self) -> None:
        points = [(0.2, 0.3), (0.9, 0.4), (1.0, 0.5), (2.5, 0.6)]
        assert self.daily(*points) == {0: 0.4, 1: 0.5, 2: 0.6}
        assert self.daily(*reversed(points)) == {0: 0.4, 1: 0.5, 2: 0.6}

    def test_of_equal_instants_the_last_row_counts(self) -> None:
        assert self.daily((0.5, 0.3), (0.5, 0.4)) == {0: 0.4}

    def test_payouts_are_no_prices(self) -> None:
        assert self.daily((0.5, 0.3), (1.5, 0.97), (2.5, 0.99), settled=2.0) == {0: 0.3, 1: 0.97}
        assert self.daily((0.5, 0.3), (1.5, 1.0), (2.5, 0.0)) == {0: 0.3}

    def test_nothing_later_is_looked_at_and_a_later_settlement_is_not_known(self) -> None:
        early = self.daily((0.5, 0.3), (1.5, 0.4), as_of=2.0)
        assert self.daily((0.5, 0.3), (1.5, 0.4), (2.5, 0.9), settled=1.0 + 2.0, as_of=2.0) == early
        assert self.daily((0.5, 0.3), (1.5, 0.4), (2.5, 0.1), as_of=2.0) == early


def test_change_points_count_as_far_as_tags_or_words_are_common() -> None:
    some, none = np.array([[0.8, 0.8, 0.8]]), np.array([[0.5, np.nan, np.nan]])
    block = Block(some, none, some, np.array([[0.25, 0.75, np.nan]])).scale_jumps()
    assert block.synchrony.tolist() == [[0.4, pytest.approx(0.6), 0.0]]
    assert block.nearness.tolist() == block.synchrony.tolist()
