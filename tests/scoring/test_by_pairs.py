"""Standard errors and intervals of scorecards against the definitions, done one pair of positions at a time."""

import dataclasses
import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.scoring import Estimate, Pair, TrackRecord, Uncertainty, edge_pairs, return_pairs, scorecards
from predibot.scoring.records.horizon_returns import horizon_returns
from tests.scoring import by_pairs, worlds
from tests.scoring.made_records import Bet, Made, Paid, Seen, record_of
from tests.scoring.worlds import BOTS, WORLDS
from tests.soaks import few

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
    lambda bot, event, at, late, bets: Made(
        bot,
        at + late,
        tuple(dataclasses.replace(bet, market=2 * event + bet.market) for bet in bets),
        event=event,
        slot=at,
    ),
    bot=st.sampled_from(["a", "b"]),
    event=st.integers(0, 2),
    at=NOONS,
    late=st.sampled_from([0.0, 0.0, 0.125, 0.25, 0.375, 0.75, 1.0]),
    bets=st.lists(BETS, min_size=1, max_size=2, unique_by=lambda bet: bet.market),
)


def at_one_price(made: Sequence[Made]) -> list[Made]:
    """Return decisions in which a market has one price at an instant."""
    prices: dict[tuple[int, float], float] = {}
    return [
        dataclasses.replace(
            one,
            bets=tuple(
                dataclasses.replace(bet, price_yes=prices.setdefault((bet.market, one.at), bet.price_yes))
                for bet in one.bets
            ),
        )
        for one in made
    ]


RECORDS = st.builds(
    lambda made, seen, paid, as_of: record_of(at_one_price(made), seen=seen, paid=paid, as_of=as_of, bots=("a", "b")),
    st.lists(DECISIONS, max_size=10, unique_by=lambda made: (made.bot, made.event, made.at, made.slot)),
    st.lists(st.builds(Seen, MARKETS, NOONS, PRICES), max_size=60),
    # What settles after everybody has decided: a bet on what had paid before has no variance to speak of.
    st.dictionaries(MARKETS, st.builds(Paid, st.integers(14, 16), st.sampled_from([0.0, 1.0])), max_size=6),
    st.integers(8, 20),
)


EXCLUSIVE = st.builds(
    lambda made, seen, lost, won, as_of, seed: exclusive_record(made, seen, lost, won, as_of, seed),
    st.lists(
        st.builds(
            lambda bot, event, at, bets: Made(
                bot, at, tuple(dataclasses.replace(bet, market=3 * event + bet.market) for bet in bets), event=event
            ),
            bot=st.sampled_from(["a", "b"]),
            event=st.integers(0, 2),
            at=NOONS,
            bets=st.lists(
                st.builds(
                    Bet,
                    market=st.integers(0, 2),
                    usd=st.sampled_from([-0.5, -0.1, 0.0, 0.2, 0.5]),
                    probability=PRICES | st.just(math.nan),
                ),
                min_size=1,
                max_size=3,
                unique_by=lambda bet: bet.market,
            ),
        ),
        max_size=12,
        unique_by=lambda made: (made.bot, made.event, made.at),
    ),
    st.lists(st.builds(Seen, st.integers(0, 8), st.integers(0, 50).map(lambda step: step / 4), PRICES), max_size=60),
    st.dictionaries(st.integers(0, 8), st.integers(1, 12), max_size=4),
    st.dictionaries(st.integers(0, 2), st.integers(0, 3), max_size=3),
    st.integers(13, 16),
    st.integers(0, 198),
)
"""Of three events with three outcomes that exclude each other, which bots may leave out, and which may be out early."""


def exclusive_record(
    made: list[Made], seen: list[Seen], lost: dict[int, int], won: dict[int, int], as_of: int, seed: int
) -> TrackRecord:
    """Return a record in which every market has a price at the evaluation, and one price at a time for everybody.

    Of each event at most two markets are `lost` early, by market and day; by event, `won` says which pays at the end,
    3 for none of them.
    """
    paid = {market: Paid(day, 0.0) for market, day in lost.items() if market % 3 < 2}
    for event, outcome in won.items():
        for number in range(3):
            paid.setdefault(3 * event + number, Paid(13, float(number == outcome)))
    for event, outcome in won.items():
        if 3 * event + outcome in lost and outcome < 2:
            paid[3 * event + outcome] = Paid(13, 1.0)
    still = [
        dataclasses.replace(
            one,
            bets=tuple(
                dataclasses.replace(bet, price_yes=((seed + 37 * bet.market + 71 * int(one.at)) % 199 + 1) / 200)
                for bet in one.bets
                if bet.market not in paid or paid[bet.market].at > one.at
            ),
        )
        for one in made
    ]
    # A ledger holds one price of a market at an instant.
    once = {(each.market, each.at): each for each in seen}.values()
    seen = [each for each in once if each.market not in paid or paid[each.market].at > each.at]
    seen += [Seen(market, 12.75, (market + 1) / 20) for market in range(9) if market not in paid]
    record = record_of([one for one in still if one.bets], seen=seen, paid=paid, as_of=as_of, bots=("a", "b"))
    markets = record.payout_yes.size
    return dataclasses.replace(record, market_exclusive=np.arange(markets) // 3)


def close(found: float | None, expected: float | None, *, least: float = 1e-9) -> bool:
    if found is None or expected is None:
        return found is expected
    return found == pytest.approx(expected, rel=1e-9, abs=least)


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
        # The root of a variance that cancels but for the last digits.
        assert close(found.price_standard_error or 0.0, expected.price_error, least=1e-7)
    assert close(found.low, expected.low) and close(found.high, expected.high)
    if found.without_best is not None:
        assert close(found.without_best, expected.without_best)


def check_pair(found: Pair, expected: by_pairs.Found | None) -> None:
    if expected is None:
        assert found.n == 0
        return
    assert (found.n, found.clusters) == (expected.n, expected.clusters)
    assert close(found.difference, expected.mean)
    if expected.clusters > 1:
        # The root of a variance that cancels but for the last digits.
        assert close(found.price_standard_error or 0.0, expected.price_error, least=1e-7)
    assert close(found.low, expected.low) and close(found.high, expected.high)


def check_record(record: TrackRecord) -> None:
    """Hold every interval of returns, edges and Brier scores of a record to its definition."""
    for bot, card in enumerate(scorecards(record, uncertainty=FEW)):
        for label, horizon in HORIZONS.items():
            check(card.horizons[label].intervals.get("mean_return"), by_pairs.mean_return(record, bot, horizon))
        check(card.edge.interval, by_pairs.edge(record, bot))
        check(card.forecast.intervals.get("brier"), by_pairs.brier(record, bot))
    pairs = list(combinations(range(len(record.bots)), 2))
    for returns in horizon_returns(record, (1, 2, 7)):
        for (first, second), pair in zip(pairs, return_pairs(record, returns, FEW), strict=True):
            check_pair(pair, by_pairs.return_difference(record, first, second, HORIZONS[returns.label]))
    for (first, second), pair in zip(pairs, edge_pairs(record, FEW), strict=True):
        check_pair(pair, by_pairs.edge_difference(record, first, second))


@given(RECORDS)
def test_intervals_are_those_of_the_definitions(record: TrackRecord) -> None:
    check_record(record)


@given(EXCLUSIVE)
def test_intervals_where_outcomes_exclude_each_other_are_those_of_the_definitions(record: TrackRecord) -> None:
    check_record(record)


@pytest.mark.parametrize("exclusive", [True, False])
def test_beside_a_bot_that_holds_nothing_a_pair_is_the_other_alone(exclusive: bool) -> None:
    # The third outcome has no forecast, so that it belongs to no edge, and is left out the second time.
    made = [
        Made("a", at, (Bet(m, 0.4, 0.3, 0.5), Bet(m + 1, -0.5, 0.2, 0.1), *third), event=event)
        for event, m in enumerate((0, 3, 6))
        for at, third in ((0.5, (Bet(m + 2, 0.1, 0.4),)), (3.5, ()))
    ]
    silent = [
        dataclasses.replace(
            one,
            bot="b",
            bets=tuple(dataclasses.replace(bet, usd=0.0, probability=bet.price_yes) for bet in one.bets),
        )
        for one in made
    ]
    seen = [Seen(market, at, 0.2 + 0.1 * (market % 3)) for market in range(9) for at in (2.0, 5.0)]
    paid = {market: Paid(6, float(market == 1)) for market in range(3)}
    record = record_of([*made, *silent], seen=seen, paid=paid, as_of=7)
    if exclusive:
        record = dataclasses.replace(record, market_exclusive=np.arange(9) // 3)
    (card, _), returns = scorecards(record, uncertainty=FEW), horizon_returns(record, ())
    (edge,) = edge_pairs(record, FEW)
    assert edge.price_standard_error and card.edge.interval is not None
    assert edge.price_standard_error == pytest.approx(card.edge.interval.price_standard_error)
    assert edge.cluster_standard_error == pytest.approx(card.edge.interval.cluster_standard_error)
    assert edge.difference == pytest.approx(card.edge.edge)
    for each in returns:
        (pair,) = return_pairs(record, each, FEW)
        alone = card.horizons[each.label].intervals["mean_return"]
        if each.label == "settled":
            # One event has settled, alone it has no interval.
            assert (pair.clusters, pair.low, alone.low) == (1, None, None)
            continue
        assert pair.price_standard_error and pair.price_standard_error == pytest.approx(alone.price_standard_error)
        assert pair.dependence == pytest.approx(alone.dependence)
        assert pair.cluster_standard_error == pytest.approx(alone.cluster_standard_error)
        assert (pair.low, pair.high) == (pytest.approx(alone.low), pytest.approx(alone.high))
    check_record(record)


def test_what_a_bot_left_out_is_priced_as_it_was_last_seen() -> None:
    # Asked of two outcomes at .4 and .3, and then of the first alone, when the second had come to .6.
    made = [
        Made("a", at, bets, event=event)
        for event, m in enumerate((0, 2))
        for at, bets in ((0.5, (Bet(m, 1.0, 0.4), Bet(m + 1, 1.0, 0.25))), (1.5, (Bet(m, 1.0, 0.2),)))
    ]
    seen = [Seen(m + 1, 0.75, 0.6) for m in (0, 2)]
    record = record_of(made, seen=seen, paid={m: Paid(3, 0.0) for m in range(4)}, as_of=9)
    record = dataclasses.replace(record, market_exclusive=np.arange(4) // 2)
    (card,) = scorecards(record, uncertainty=FEW)
    found = card.horizons["settled"].intervals["mean_return"]

    def q(x: float, y: float, p: float, r: float) -> float:
        return x * x * p + y * y * r - (x * p + y * r) ** 2

    # Shares of 2.5 and 4, and then 5 of the first more.
    of_event = q(2.5, 4.0, 0.4, 0.25) + q(7.5, 4.0, 0.2, 0.6) - q(2.5, 4.0, 0.2, 0.6)
    assert found.price_standard_error == pytest.approx(math.sqrt(2 * of_event) / 4)


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


def test_of_outcomes_that_exclude_each_other_no_end_lets_two_pay() -> None:
    # `all` buys every outcome for a quarter, `none` sells every one; in three of six events the longest odds come in.
    prices, at = (0.02, 0.3, 0.3, 0.3), range(6)
    made = [
        Made(name, 0.5, tuple(Bet(4 * e + m, usd, p, p) for m, p in enumerate(prices)), event=e)
        for e in at
        for name, usd in (("all", 0.25), ("none", -0.25))
    ]
    paid = {4 * e + m: Paid(5, float(m == (0 if e < 3 else 1))) for e in at for m in range(4)}
    record = record_of(made, paid=paid, as_of=9)
    record = dataclasses.replace(record, market_exclusive=np.arange(24) // 4)
    # The longest odds bring 12.5 and the other three nothing; whoever sold loses at most one of its four quarters.
    sold = sum(0.25 / (1.0 - p) for p in prices)
    possible = {"all": (-1.0, 11.5), "none": (sold - 0.25 / 0.7 - 1.0, sold - 1.0)}
    for card in scorecards(record, uncertainty=FEW):
        for label in ("now", "settled"):
            found, (least, most) = card.horizons[label].intervals["mean_return"], possible[card.bot]
            assert found.low is not None and found.high is not None
            assert least - 1e-12 <= found.low < found.high <= most + 1e-12
    for returns in horizon_returns(record, ()):
        (pair,) = return_pairs(record, returns, FEW)
        assert pair.low is not None and pair.low >= -1.0 - (sold - 1.0) - 1e-12
        assert pair.high == pytest.approx(11.5 - (sold - 0.25 / 0.98 - 1.0))
    check_record(record)


@pytest.mark.parametrize("day", few([15, 1_000], 15))
@pytest.mark.parametrize("name", WORLDS)
def test_intervals_in_fair_worlds_are_those_of_the_definitions(name: str, day: int) -> None:
    rng = np.random.default_rng(5)
    world = WORLDS[name](rng, 1, 20)
    record = worlds.record_of(world, {bot: BOTS[bot](rng, world) for bot in ("noisy", "favourite")}, day=day)
    check_record(record)
