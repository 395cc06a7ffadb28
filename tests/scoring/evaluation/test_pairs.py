"""The leaderboard's pairs: whether one bot is better than another on what both did, or only luckier."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from predibot.scoring import (
    Finding,
    Forecasts,
    Pair,
    TrackRecord,
    Uncertainty,
    benjamini_hochberg,
    brier_pairs,
    edge_pairs,
    pair_verdict,
    paired_difference,
    return_pairs,
    scorecards,
    settled_forecasts,
    smallest_detectable,
)
from predibot.scoring.evaluation.pairs import MOST_IN_PAIRS
from predibot.scoring.records.horizon_returns import horizon_returns
from tests.scoring import by_pairs
from tests.scoring.made_records import Bet, Made, Paid, Seen, record_of
from tests.scoring.tables import NAN, TABLES, drawn, table_of

FEW = Uncertainty(seed=5, resamples=400)


def of_returns(record: TrackRecord, days: float = 1) -> tuple[Pair, ...]:
    return return_pairs(record, horizon_returns(record, (days,))[0], FEW)


def test_every_pair_is_what_the_tests_alone_say_of_it() -> None:
    table = drawn(40, forecasters=4)
    errors = table.squared_errors().reshape(4, -1)
    clusters = table.cluster[: errors.shape[1]]
    pairs = brier_pairs(table, FEW)
    assert [(pair.first, pair.second) for pair in pairs] == [
        ("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d"),
    ]  # fmt: skip
    adjusted = benjamini_hochberg([pair.p_value for pair in pairs if pair.p_value is not None])
    for pair, p_adjusted in zip(pairs, adjusted, strict=True):
        first, second = (errors["abcd".index(name)] for name in (pair.first, pair.second))
        alone = paired_difference(first, second, clusters, seed=5, resamples=400)
        assert (pair.difference, pair.low, pair.high, pair.p_value) == (
            alone.difference, alone.low, alone.high, alone.p_value,
        )  # fmt: skip
        assert (pair.n, pair.clusters, pair.metric) == (80, 40, "brier")
        assert pair.p_adjusted == p_adjusted
        spread = stats.sem(np.bincount(clusters, first - second) / np.bincount(clusters))
        assert pair.detectable == pytest.approx(smallest_detectable(float(spread), 40))


@given(TABLES)
def test_only_what_both_answered_counts(table: Forecasts) -> None:
    for pair in brier_pairs(table, FEW):
        both = [_errors(table, name) for name in (pair.first, pair.second)]
        common = sorted(set(both[0]) & set(both[1]))
        assert pair.n == len(common)
        if common:
            differences = [np.mean(both[0][each]) - np.mean(both[1][each]) for each in common]
            assert pair.difference == pytest.approx(np.mean(differences), abs=1e-12)
        else:
            assert pair == Pair(pair.first, pair.second, "brier", 0, 0, *[None] * 6)


def _errors(table: Forecasts, name: str) -> dict[int, list[float]]:
    found: dict[int, list[float]] = {}
    for row in np.flatnonzero(table.forecaster == table.forecasters.index(name)):
        found.setdefault(int(table.question[row]), []).append(float(table.squared_errors()[row]))
    return found


def pair(difference: float | None, p_adjusted: float | None, clusters: int = 50, metric: str = "brier") -> Pair:
    return Pair("a", "b", metric, 99, clusters, difference, None, None, p_adjusted, p_adjusted, None)


@pytest.mark.parametrize(
    ("found", "better"),
    [
        (pair(-0.1, 0.05), "a"),
        (pair(0.1, 0.05), "b"),
        (pair(-0.1, 0.05, metric="return_7"), "b"),
        (pair(0.1, 0.05, metric="return_settled"), "a"),
        (pair(0.1, 0.051), None),
        (pair(0.1, 0.001, clusters=29), None),
        (pair(0.1, 0.001, clusters=30), "b"),
        (pair(0.0, 0.001), None),
        (pair(None, None), None),
    ],
)
def test_who_is_better_is_said_only_of_what_is_no_chance(found: Pair, better: str | None) -> None:
    assert found.better == better


def test_those_who_always_say_the_same_are_never_told_apart() -> None:
    table = drawn(40, forecasters=2)
    once = table.only(np.repeat(np.flatnonzero(table.forecaster == 0), 2))
    twice = replace(once, forecaster=np.tile([0, 1], once.probability.size // 2))
    (found,) = brier_pairs(twice, FEW)
    assert (found.difference, found.p_value, found.low, found.detectable, found.better) == (0.0, 1.0, None, None, None)


def test_who_says_the_same_in_more_recipes_never_differs() -> None:
    # Of three equal numbers the mean is another than they are, in the last digit.
    said = 0.7
    made = [
        Made(bot, 0.01 + 0.001 * recipe, (Bet(event, 0.7, 0.4, said),), event=event, slot=0.0)
        for bot, recipes in (("a", 3), ("b", 1))
        for recipe in range(recipes)
        for event in range(40)
    ]
    seen = [Seen(event, 0.9, 0.4) for event in range(40)]
    record = record_of(made, seen=seen, paid={event: Paid(5, float(event % 2)) for event in range(40)}, as_of=20)
    returns = [pair for each in horizon_returns(record, (1, 7)) for pair in return_pairs(record, each, FEW)]
    found = [*returns, *edge_pairs(record, FEW), *brier_pairs(settled_forecasts(record), FEW)]
    assert [(pair.difference, pair.p_value, pair.n) for pair in found] == [(0.0, 1.0, 40)] * 6
    assert {pair_verdict(pair).finding for pair in found} == {Finding.NEVER_DIFFERED}


def test_what_both_hold_over_many_days_could_not_have_come_out_otherwise() -> None:
    # In thirds of a dollar at other prices each day: what one gains and the other loses leaves a rest of rounding.
    bets = [(event, day, Bet(event, 1 / 3, 0.1 + 0.037 * day)) for event in range(40) for day in range(9)]
    made = [Made(bot, day, (bet,), event=event) for bot in "ab" for event, day, bet in bets]
    record = record_of(made, paid={event: Paid(20, float(event % 2)) for event in range(40)}, as_of=30)
    for returns in horizon_returns(record, ()):
        (found,) = return_pairs(record, returns, FEW)
        assert (found.n, found.difference, found.low, found.high) == (360, 0.0, 0.0, 0.0)


def values_of_all(made: Sequence[Made]) -> list[tuple[Pair, ...]]:
    """Return the pairs of decisions on one market that pays YES on the ninth day, by settlement, edge and Brier."""
    record = record_of(made, paid={0: Paid(9, 1.0)}, as_of=12)
    settled = horizon_returns(record, ())[-1]
    return [
        return_pairs(record, settled, FEW),
        edge_pairs(record, FEW),
        brier_pairs(settled_forecasts(record), FEW),
    ]


def runs(bot: str, hours: Iterable[float], every: float, *, said: float = 0.7) -> list[Made]:
    """Return decisions on event 0 at some hours, in slots of so many hours."""
    return [Made(bot, at=hour / 24, slot=hour // every * every / 24, bets=(Bet(0, 1.0, 0.5, said),)) for hour in hours]


@pytest.mark.parametrize(
    ("first", "second", "n", "apart"),
    [
        # A recipe every six hours and one a day, minutes apart once a day.
        (runs("a", [day * 24 + h + 1 / 12 for day in range(3) for h in (0, 6, 12, 18)], 6),
         runs("b", [day * 24 + 12 + 1 / 6 for day in range(3)], 24), 3, 0),
        # One an hour, and one a day.
        (runs("a", range(72), 1), runs("b", [12.2, 36.2, 60.2], 24), 3, 0),
        # Both every hour, the one always as near to the next of the other as to the last.
        (runs("a", range(24), 1), runs("b", [hour + 0.5 for hour in range(24)], 1), 24, 0),
        (runs("b", range(24), 1), runs("a", [hour + 0.5 for hour in range(24)], 1), 24, 0),
        # Once a day at noon, and once in three days, on the third.
        (runs("a", [12, 36, 60], 24), runs("b", [60], 72), 1, 0),
        (runs("a", [1], 24), runs("b", [7], 24), 1, 0),
        (runs("a", [1], 24), runs("b", [7.01], 24), 0, 1),
        # Across the end of a slot.
        (runs("a", [23.9], 24), runs("b", [24.1], 24), 1, 0),
    ],
)  # fmt: skip
def test_each_others_nearest_within_six_hours_are_compared_whatever_their_slots(
    first: list[Made], second: list[Made], n: int, apart: int
) -> None:
    for (found,) in values_of_all([*first, *second]):
        assert (found.n, found.apart) == (n, apart)


def test_what_two_recipes_asked_in_one_slot_is_compared_by_its_mean() -> None:
    # The second recipe ran an hour later, with the same baseline, which a third ran again on the next day.
    made = [*runs("a", [1], 72), *runs("b", [2], 72, said=0.4)]
    made += [*runs("baseline", [1, 2], 72, said=0.6), *runs("baseline", [26], 72, said=0.1)]
    *_, brier = values_of_all(made)
    of = {(pair.first, pair.second): pair for pair in brier}
    assert [(pair.n, pair.apart) for pair in brier] == [(1, 0)] * 3
    assert of["a", "baseline"].difference == pytest.approx(0.3**2 - 0.4**2)
    assert of["b", "baseline"].difference == pytest.approx(0.6**2 - 0.4**2)


def test_of_two_recipes_at_one_instant_the_mean_counts_whatever_their_slots() -> None:
    made = [*runs("a", [12], 24), *runs("b", [12], 1, said=0.9), *runs("b", [12], 24, said=0.5)]
    *_, (brier,) = values_of_all(made)
    assert (brier.n, brier.difference) == (1, pytest.approx(0.3**2 - (0.1**2 + 0.5**2) / 2))


HOURS = st.lists(st.integers(0, 160).map(lambda step: step / 4), max_size=12, unique=True)


@given(HOURS, HOURS, HOURS, st.sampled_from([1, 6, 24]), st.sampled_from([1, 6, 24]))
def test_a_third_bot_changes_nothing_about_a_pair(
    a: list[float], b: list[float], c: list[float], every: float, other: float
) -> None:
    made = [
        replace(one, bets=(Bet(0, 1.0, 0.5, 0.05 + one.at / 4),)) for one in runs("a", a, every) + runs("b", b, other)
    ]
    alone, beside = values_of_all(made), values_of_all([*made, *runs("c", c, 1)])
    for pairs, more in zip(alone, beside, strict=True):
        if pairs:
            (found,) = [pair for pair in more if {pair.first, pair.second} == {"a", "b"}]
            # But for the correction for all pairs.
            assert replace(found, p_adjusted=None) == replace(pairs[0], p_adjusted=None)
    if a and b:
        expected = by_pairs.matched(moments_by_hand(a, every), moments_by_hand(b, other))
        assert {(pairs[0].n, pairs[0].apart) for pairs in alone} == {(len(expected), int(not expected))}


def test_a_third_bot_that_was_asked_twice_changes_nothing_about_an_edge_pair() -> None:
    # By two recipes at one instant, of two markets by the one and of one market by the other.
    paid = {market: Paid(5, float(market % 3 == 0)) for market in range(70)}
    made = [
        one
        for event in range(35)
        for one in (
            Made("a", 0.5, (Bet(2 * event, 0.1, 0.4, 0.1), Bet(2 * event + 1, 0.1, 0.4, 0.9)), event=event, slot=0.0),
            Made("a", 0.5, (Bet(2 * event, 0.1, 0.4, 0.1),), event=event, slot=0.5),
            Made("b", 0.5, (Bet(2 * event, 0.1, 0.4, 0.45),), event=event, slot=0.5),
        )
    ]
    twice = [Made("c", at, (Bet(0, 0.1, 0.4, 0.5),), slot=1.0) for at in (1.01, 1.02)]
    (alone,) = edge_pairs(record_of(made, paid=paid, as_of=9), FEW)
    beside, *_ = edge_pairs(record_of([*made, *twice], paid=paid, as_of=9), FEW)
    assert replace(beside, p_adjusted=None) == replace(alone, p_adjusted=None)

    def edge(price: float, said: float, market: int) -> float:
        return (price - paid[market].payout_yes) ** 2 - (said - paid[market].payout_yes) ** 2

    # The mean of both decisions, not of all three markets.
    less = [
        ((edge(0.4, 0.1, m) + edge(0.4, 0.9, m + 1)) / 2 + edge(0.4, 0.1, m)) / 2 - edge(0.4, 0.45, m)
        for m in range(0, 70, 2)
    ]
    assert (alone.n, alone.difference) == (35, pytest.approx(np.mean(less)))


def test_of_two_equally_near_to_the_microsecond_the_earlier_counts() -> None:
    made = [*runs("a", [1], 1, said=0.1), *runs("a", [2], 1, said=0.7), *runs("b", [3], 1, said=0.5)]
    record = record_of(made, paid={0: Paid(9, 1.0)}, as_of=12)
    # As seconds since 1970, of which a float holds quarters of a microsecond, the later one seems nearer.
    at = np.array([1_770_000_000_000_002, 1_770_000_000_000_004, 1_770_000_000_000_003]) / 1e6
    assert at[2] - at[0] > at[1] - at[2]
    forecasts = replace(settled_forecasts(record), made_at=at)
    (found,) = brier_pairs(forecasts, FEW)
    assert (found.n, found.difference) == (1, pytest.approx(0.9**2 - 0.5**2))


def test_a_bot_that_answered_nothing_has_no_difference_to_any_bot_and_changes_none() -> None:
    # Everybody is asked about three events; "c" and "d" answer nothing, "e" answers once.
    said = {"a": [0.3] * 3, "b": [0.4] * 3, "c": [NAN] * 3, "d": [NAN] * 3, "e": [0.6, NAN, NAN]}

    def pairs(bots: str) -> dict[tuple[str, str], Pair]:
        made = [
            Made(bot, day, status="abstained" if bot == "d" else "failed", event=day)
            if np.isnan(each)
            else Made(bot, day, (Bet(day, 1.0, 0.5, each),), event=day)
            for bot in bots
            for day, each in enumerate(said[bot])
        ]
        record = record_of(made, paid={day: Paid(5, 1.0) for day in range(3)}, as_of=9)
        asked = {"asked_decision": np.arange(len(made)), "asked_market": record.decision_event}
        return {(pair.first, pair.second): pair for pair in edge_pairs(replace(record, **asked), FEW)}

    found = pairs("abcde")
    missing = [pair for names, pair in found.items() if {"c", "d"} & set(names)]
    assert [(pair.n, pair.difference, pair.p_adjusted) for pair in missing] == [(0, None, None)] * 7
    assert {names: pair for names, pair in found.items() if pair not in missing} == pairs("abe")
    # One that answered once is compared on all three, with an edge of 0 where it failed.
    less = [0.25 - 0.49 - (0.25 - 0.16), 0.25 - 0.49, 0.25 - 0.49]
    assert (found["a", "e"].n, found["a", "e"].difference) == (3, pytest.approx(np.mean(less)))


def moments_by_hand(hours: Sequence[float], every: float) -> list[float]:
    """Return the instants at which a bot counts as having decided, in seconds: in a slot, one within six hours."""
    first: dict[tuple[float, float], float] = {}
    for hour in sorted(hours, reverse=True):
        slot = hour // every
        begin = min(each for each in hours if each // every == slot)
        first[slot, (hour - begin) // 6] = hour * 3600.0
    return sorted(first.values())


def test_one_bot_alone_has_no_pair() -> None:
    record = record_of([Made("a", bets=(Bet(0),))], seen=[Seen(0, 1, 0.6)], as_of=9)
    assert (of_returns(record), brier_pairs(settled_forecasts(record), FEW)) == ((), ())


def test_of_very_many_only_those_with_the_most_answers_are_compared() -> None:
    answers = [
        (who, question, 0.5 + who / 1000, NAN, NAN, 1.0) for who in range(100) for question in range(1 + (who < 70))
    ]
    found = brier_pairs(table_of(answers, tuple(f"f{who}" for who in range(100))), FEW)
    # Of the 70 with two answers the last 60, each with each.
    assert len(found) == MOST_IN_PAIRS * (MOST_IN_PAIRS - 1) // 2
    assert {pair.first for pair in found} | {pair.second for pair in found} == {f"f{who}" for who in range(10, 70)}
    assert {pair.n for pair in found} == {2}


def settled_record(open_events: int, events: int = 40) -> TrackRecord:
    """Return two bots that bet against each other at even odds, of which the first always wins what has settled."""
    made = [
        Made(bot, event=event, bets=(Bet(event, usd, 0.5),))
        for bot, usd in (("a", 1.0), ("b", -1.0))
        for event in range(events)
    ]
    # A day each: what settles at once may be one thing.
    return record_of(made, paid={event: Paid(1 + event, 1.0) for event in range(open_events, events)}, as_of=99)


@pytest.mark.parametrize(("open_events", "better"), [(0, "a"), (4, "a"), (5, None), (9, None)])
def test_nobody_is_better_at_settlement_while_more_than_a_tenth_of_the_dollars_is_open(
    open_events: int, better: str | None
) -> None:
    record = settled_record(open_events)
    (pair,) = return_pairs(record, horizon_returns(record, ())[-1], FEW)
    assert pair.open_stakes == pytest.approx(open_events / 40)
    assert pair.p_adjusted is not None and pair.p_adjusted <= 0.05
    assert pair.better == better


def test_what_was_won_in_one_night_is_won_once() -> None:
    record = settled_record(0)
    night = replace(record, settled_at=np.full(record.settled_at.shape, float(record.settled_at[0])))
    horizon = horizon_returns(night, ())[-1]
    (pair,) = return_pairs(night, horizon, FEW)
    assert (pair.dependence, pair.better) == (pytest.approx(40.0), None)
    alone, other = (each.horizons["settled"].intervals["mean_return"] for each in scorecards(night, uncertainty=FEW))
    assert (alone.dependence, other.dependence) == (pytest.approx(40.0), pytest.approx(40.0))
    assert (alone.low, other.high) == (-1.0, 1.0)
    assert return_pairs(record, horizon_returns(record, ())[-1], FEW)[0].dependence == 1.0


def test_who_forecast_one_night_better_may_have_been_lucky_once() -> None:
    rng = np.random.default_rng(3)
    said = {"high": 0.7 + rng.uniform(-0.1, 0.1, 40), "low": 0.3 + rng.uniform(-0.1, 0.1, 40)}
    made = [
        Made(bot, event=event, bets=(Bet(event, 0.0, 0.5, float(each[event])),))
        for bot, each in said.items()
        for event in range(40)
    ]
    apart = record_of(made, paid={event: Paid(1 + event, float(event % 8 > 0)) for event in range(40)}, as_of=99)
    night = replace(apart, settled_at=np.full(apart.settled_at.shape, float(apart.settled_at[0])))
    (of_apart,) = edge_pairs(apart, FEW)
    (alone,) = brier_pairs(settled_forecasts(apart), FEW, by_edge=[of_apart])
    by_edge = edge_pairs(night, FEW)
    (together,) = brier_pairs(settled_forecasts(night), FEW, by_edge=by_edge)
    assert (alone.better, alone.dependence, together.better) == ("high", 1.0, None)
    assert together.dependence == by_edge[0].dependence > 15.0
    # Nothing is known of days and prices without the edges.
    (plain,) = brier_pairs(settled_forecasts(night), FEW)
    assert plain.low is not None and plain.high is not None and plain.difference is not None
    assert plain.p_value is not None
    wider = together.dependence**0.5
    assert together.low <= max(-1.0, plain.difference + wider * (plain.low - plain.difference)) + 1e-9
    t = stats.t(39).isf(plain.p_value / 2) / wider
    assert together.p_value == pytest.approx(max(2 * stats.t(39).sf(t), by_edge[0].p_value))
    # The same events whose prices imply more than has happened: no narrower than the edges.
    assert of_apart.low is not None and of_apart.high is not None and alone.low is not None and alone.high is not None
    assert alone.first == of_apart.first and alone.difference == pytest.approx(-(of_apart.difference or 0.0))
    assert alone.low <= -of_apart.high + 1e-9 and alone.high >= -of_apart.low - 1e-9
    assert alone.high - alone.low > plain.high - plain.low
