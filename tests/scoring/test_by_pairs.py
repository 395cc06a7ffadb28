"""Standard errors and intervals of scorecards against the definitions, done one pair of positions at a time."""

import dataclasses
import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predibot.scoring import Estimate, Pair, TrackRecord, Uncertainty, return_pairs, scorecards
from predibot.scoring.horizon import horizon_returns
from tests.scoring import by_pairs, worlds
from tests.scoring.records import Bet, Made, Paid, Seen, record_of
from tests.scoring.worlds import BOTS, WORLDS

FEW = Uncertainty(resamples=40)
HORIZONS = {"1": 1.0, "2": 2.0, "7": 7.0, "now": "now", "settled": "settled"}

NOONS = st.integers(0, 12).map(lambda step: step + 0.5)
PRICES = st.integers(1, 199).map(lambda step: step / 200)
MARKETS = st.integers(0, 5)
BETS = st.builds(
    Bet,
    market=st.integers(0, 1),
    usd=st.sampled_from([-0.5, -0.1, 0.0, 0.2, 0.5]),
    price_yes=PRICES,
    probability=PRICES | st.just(math.nan),
)
"""On a market of the decision's event, of two."""
DECISIONS = st.builds(
    lambda bot, event, at, bets: Made(
        bot, at, tuple(dataclasses.replace(bet, market=2 * event + bet.market) for bet in bets), event=event
    ),
    bot=st.sampled_from(["a", "b"]),
    event=st.integers(0, 2),
    at=NOONS,
    bets=st.lists(BETS, min_size=1, max_size=2, unique_by=lambda bet: bet.market),
)
RECORDS = st.builds(
    lambda made, seen, paid, as_of: record_of(made, seen=seen, paid=paid, as_of=as_of, bots=("a", "b")),
    st.lists(DECISIONS, max_size=10, unique_by=lambda made: (made.bot, made.event, made.at)),
    st.lists(st.builds(Seen, MARKETS, NOONS, PRICES), max_size=60),
    # What settles after everybody has decided: a bet on what had paid before has no variance to speak of.
    st.dictionaries(MARKETS, st.builds(Paid, st.integers(13, 16), st.sampled_from([0.0, 1.0])), max_size=6),
    st.integers(8, 20),
)


def close(found: float | None, expected: float | None) -> bool:
    if found is None or expected is None:
        return found is expected
    return found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def check(found: Estimate | None, expected: by_pairs.Found | None) -> None:
    """Hold an interval to the definition of it."""
    if expected is None or found is None:
        assert found is None and expected is None
        return
    assert (found.n, found.clusters) == (expected.n, expected.clusters)
    assert close(found.estimate, expected.mean)
    if expected.clusters > 1:
        # What does not vary has no standard error.
        assert close(found.cluster_standard_error or 0.0, expected.cluster_error)
        assert close(found.price_standard_error or 0.0, expected.price_error)
    assert close(found.low, expected.low) and close(found.high, expected.high)


def check_pair(found: Pair, expected: by_pairs.Found | None) -> None:
    if expected is None:
        assert found.n == 0
        return
    assert (found.n, found.clusters) == (expected.n, expected.clusters)
    assert close(found.difference, expected.mean)
    assert close(found.low, expected.low) and close(found.high, expected.high)


def check_record(record: TrackRecord) -> None:
    """Hold every interval of returns and edges of a record to its definition."""
    for bot, card in enumerate(scorecards(record, uncertainty=FEW)):
        for label, horizon in HORIZONS.items():
            check(card.horizons[label].intervals.get("mean_return"), by_pairs.mean_return(record, bot, horizon))
        check(card.edge.interval, by_pairs.edge(record, bot))
    pairs = list(combinations(range(len(record.bots)), 2))
    for returns in horizon_returns(record, (1, 2, 7)):
        for (first, second), pair in zip(pairs, return_pairs(record, returns, FEW), strict=True):
            check_pair(pair, by_pairs.return_difference(record, first, second, HORIZONS[returns.label]))


@settings(max_examples=60, deadline=None)
@given(RECORDS)
def test_intervals_are_those_of_the_definitions(record: TrackRecord) -> None:
    check_record(record)


def test_who_gains_on_both_sides_of_a_market_one_after_the_other_has_an_interval_above_the_mean_too() -> None:
    made = [
        Made("a", 0.5, (Bet(0, 1.0, 0.25),)),
        Made("a", 1.5, (Bet(0, -1.0, 0.75),)),
        Made("a", 0.5, (Bet(1, 1.0, 0.5),), event=1),
    ]
    seen = [Seen(0, 1.5, 0.75), Seen(0, 2.5, 0.25), Seen(1, 1.5, 0.4)]
    (card,) = scorecards(record_of(made, seen=seen, as_of=9), horizons_days=(1,), uncertainty=FEW)
    found = card.horizons["1"].intervals["mean_return"]
    # Held to one end the four shares of YES and of NO bring 2 at most, and the other market 1.
    assert found.estimate == pytest.approx((2.0 + 2.0 - 0.2) / 3)
    assert found.high == pytest.approx((3.0 + 3.0 + 1.0) / 3)


@pytest.mark.parametrize("day", [15, 1_000])
@pytest.mark.parametrize("name", WORLDS)
def test_intervals_in_fair_worlds_are_those_of_the_definitions(name: str, day: int) -> None:
    rng = np.random.default_rng(5)
    world = WORLDS[name](rng, 1, 20)
    record = worlds.record_of(world, {bot: BOTS[bot](rng, world) for bot in ("noisy", "favourite")}, day=day)
    check_record(record)
