"""E-values: what an account that bets a forecaster's disagreement with the price would be worth, read on any day."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.scoring import BettingEvidence, Evidence, betting_evidence, record_evidence
from predibot.scoring.evaluation.e_values import FRACTIONS
from tests.scoring.e_values_by_loops import DAY, Prices, Stake, days
from tests.scoring.made_records import Bet, Made, Paid, Seen, record_of

NAN = float("nan")
MEAN_FRACTION = sum(FRACTIONS) / 7
ONE_DAY = 1.0 + 2.0 * math.sqrt(2.0)
"""G where one event moved on one day."""


def evidence(
    stakes: Sequence[Stake],
    as_of: float,
    *,
    paid: Mapping[int, tuple[float, float]] | None = None,
    seen: Sequence[tuple[int, float, float]] = (),
) -> BettingEvidence:
    """Return the evidence of stakes, all times in days."""
    paid = paid or {}
    columns = list(zip(*stakes, strict=True)) or [()] * 6
    usd, price, decision, event, market, at = (np.array(each, dtype=float) for each in columns)
    markets = 1 + max([one.market for one in stakes] + [m for m, *_ in seen] + list(paid), default=-1)
    return betting_evidence(
        usd,
        price,
        decision,
        event,
        market,
        at * DAY,
        payouts_yes=[paid.get(m, (NAN, NAN))[0] for m in range(markets)],
        settled_at=[paid.get(m, (NAN, NAN))[1] * DAY for m in range(markets)],
        observation_market=np.array([m for m, *_ in seen], dtype=int),
        observation_at=np.array([day * DAY for _, day, _ in seen], dtype=float),
        observation_price_yes=np.array([price for *_, price in seen], dtype=float),
        as_of=as_of * DAY,
    )


def world(seed: int) -> tuple[list[Stake], Prices, float]:
    """Return a small world with all that can happen: repeats, midnights, gaps, payouts of a half, late decisions."""
    rng = np.random.default_rng(seed)
    markets = int(rng.integers(1, 7))
    event_of = rng.integers(0, markets // 2 + 1, markets)
    stakes = []
    for decision in range(int(rng.integers(1, 8))):
        event = int(rng.choice(event_of))
        at = float(rng.choice([rng.integers(0, 6), rng.uniform(0.0, 6.0)]))
        own = [m for m in range(markets) if event_of[m] == event]
        for market in own:
            usd = float(rng.choice([rng.uniform(-1.0, 1.0), rng.choice([-1.0, 0.0, 1.0])])) / len(own)
            stakes.append(Stake(usd, float(rng.uniform(0.01, 0.99)), decision, event, market, at))
    seen = [
        (
            int(rng.integers(0, markets)),
            float(rng.choice([rng.integers(0, 9), rng.uniform(0.0, 9.0)])),
            float(rng.choice([rng.random(), 0.0, 1.0])),
        )
        for _ in range(rng.integers(0, 40))
    ]
    paid = {
        m: (float(rng.choice([0.0, 0.5, 1.0])), float(rng.uniform(0.0, 12.0)))
        for m in range(markets)
        if rng.random() < 0.6
    }
    return stakes, Prices(paid, seen), 6.0 + float(rng.uniform(0.0, 4.0))


@pytest.mark.parametrize("seed", range(40))
def test_e_values_are_those_of_plain_loops(seed: int) -> None:
    stakes, prices, as_of = world(seed)
    # Neither the order of the rows nor the numbers of the events change anything.
    rows = np.random.default_rng(seed).permutation(len(stakes))
    renamed = [stakes[row]._replace(event=7 * stakes[row].event + 3) for row in rows]
    expected, found = days(stakes, prices, as_of), evidence(renamed, as_of, paid=prices.paid, seen=prices.seen)
    for name in ("better", "worse", "book"):
        path, own = [1.0] + [getattr(one, name) for one in expected], getattr(found, name)
        assert own.now == pytest.approx(path[-1], rel=1e-9), name
        assert own.largest == pytest.approx(max(path), rel=1e-9)
        if own.largest > 1.0 + 1e-9:
            reached = next(one.day for one in expected if getattr(one, name) >= max(path) * (1 - 1e-12))
            assert own.largest_at == reached * DAY
    for name in ("dependence", "dependence_worse"):
        root = getattr(expected[-1], name)
        assert getattr(found, name) == (None if root is None else pytest.approx(root)), name
    assert found.events == len({one.event for one in stakes if one.usd})


def test_one_bet_by_hand() -> None:
    # Half the account on YES at .5, which pays 1: W = 1 + .5 lambda, at the midnight after the payout.
    found = evidence([Stake(0.5, 0.5, 0, 0, 0, 0.2)], 3.9, paid={0: (1.0, 1.4)})
    assert found.dependence == pytest.approx(ONE_DAY)
    assert found.better.now == pytest.approx((1.0 + 0.5 * MEAN_FRACTION) ** (1 / ONE_DAY))
    assert (found.better.largest, found.better.largest_at) == (found.better.now, 2 * DAY)
    assert found.better.p_value == 1 / found.better.largest
    assert found.worse.now == pytest.approx(1.25 ** (-1 / ONE_DAY))
    assert (found.worse.largest, found.worse.largest_at) == (1.0, None)
    # All that was at stake, .5, was doubled.
    assert found.book.now == pytest.approx(1.0 + MEAN_FRACTION)
    assert (found.days, found.events) == (1, 1)


def test_a_bet_on_no_by_hand() -> None:
    # .3 on NO at .75; seen at .5, NO is worth twice what it cost.
    found = evidence([Stake(-0.3, 0.75, 0, 0, 0, 0.0)], 2.0, seen=[(0, 1.5, 0.5)])
    assert found.better.now == pytest.approx((1.0 + 0.3 * MEAN_FRACTION) ** (1 / ONE_DAY))


def one_night(*, came_true: int) -> BettingEvidence:
    """Return the evidence of 60 events held over 59 quiet days, of which so many, the first ones, come true at once."""
    stakes = [Stake(0.5, 0.5, e, e, e, 0.5) for e in range(60)]
    just_after_noon = 0.5 + 1.0 / DAY
    seen = [
        (e, d + just_after_noon, 0.5 + (0.005 * (-1) ** (e + d) if d else 0.0)) for e in range(60) for d in range(60)
    ]
    return evidence(stakes, 61.0, paid={e: (float(e < came_true), 60 + 1 / 24) for e in range(60)}, seen=seen)


@pytest.mark.parametrize(
    ("came_true", "better", "worse", "g"),
    [(60, 1.461, 1.0, 58.993), (45, 1.523, 1.0, 15.013), (15, 1.0, 1.453, 15.013), (0, 1.0, 1.336, 58.993)],
)
def test_one_night_says_nothing_however_many_events_it_settles(
    came_true: int, better: float, worse: float, g: float
) -> None:
    found = one_night(came_true=came_true)
    # With a mean of daily ratios it was 13 million, 550, 15 thousand and 310 thousand.
    assert (found.better.largest, found.worse.largest) == pytest.approx((better, worse), abs=1e-3)
    assert found.dependence == pytest.approx(g, abs=1e-3)
    if came_true == 60:
        assert found.book.largest == pytest.approx(1.353, abs=1e-3)


@pytest.mark.parametrize(("every_fourth", "better", "worse"), [(False, 156.8, 1.0), (True, 1.0, 1311.0)])
def test_a_night_each_says_as_much_as_it_did(every_fourth: bool, better: float, worse: float) -> None:
    stakes = [Stake(0.5, 0.5, e, e, e, e + 0.5) for e in range(60)]
    paid = {e: (float((e % 4 == 3) == every_fourth), e + 1 + 1 / 24) for e in range(60)}
    found = evidence(stakes, 62.0, paid=paid)
    assert (found.better.largest, found.worse.largest) == pytest.approx((better, worse), rel=5e-4)
    assert found.dependence == pytest.approx(1.365, abs=1e-3)


def test_before_anything_moves_nothing_is_said() -> None:
    nothing = BettingEvidence(events=1)
    assert evidence([Stake(0.5, 0.5, 0, 0, 0, 0.5)], 9.0) == nothing
    assert evidence([Stake(0.5, 0.5, 0, 0, 0, 0.5)], 9.0, seen=[(0, 0.5, 0.9)]) == nothing
    assert evidence([Stake(0.5, 0.5, 0, 0, 0, 0.5)], 9.0, seen=[(0, 2.0, 0.5)]) == nothing
    assert evidence([], 9.0) == BettingEvidence()
    assert nothing.better == Evidence(1.0, 1.0, None)
    assert (nothing.better.p_value, nothing.better.convinces) == (1.0, False)


def test_stakes_that_cancel_but_for_rounding_are_no_change() -> None:
    # The two change by .1 in opposite directions; 1 / .3 * .3 - 1 / .3 * .3 is not quite zero in floats.
    stakes = [Stake(0.1, 0.3, 0, 0, 0, 0.0), Stake(-0.1 * 0.7 / 0.3, 0.3, 0, 0, 1, 0.0)]
    found = evidence(stakes, 9.0, seen=[(0, 1.5, 0.4), (1, 1.5, 0.4)])
    assert (found.days, found.better.largest) == (0, 1.0)


def test_what_was_settled_before_the_decision_proves_nothing() -> None:
    assert evidence([Stake(0.5, 0.5, 0, 0, 0, 2.5)], 9.0, paid={0: (1.0, 2.5)}).days == 0
    assert evidence([Stake(0.5, 0.5, 0, 0, 0, 2.5)], 9.0, paid={0: (1.0, 2.6)}).days == 1


@pytest.mark.parametrize("seed", range(10))
def test_nothing_after_the_last_midnight_is_seen(seed: int) -> None:
    stakes, prices, as_of = world(seed)
    last = math.floor(as_of)
    rng = np.random.default_rng(seed)
    altered = Prices(
        {m: paid if paid[1] <= last else (float(rng.random()), last + 0.1) for m, paid in prices.paid.items()},
        [one if one[1] <= last else (one[0], last + 0.2, float(rng.random())) for one in prices.seen],
    )
    before = evidence(stakes, as_of, paid=prices.paid, seen=prices.seen)
    assert evidence(stakes, last, paid=prices.paid, seen=prices.seen) == before
    assert evidence(stakes, as_of, paid=altered.paid, seen=altered.seen) == before
    # Over more days a sum may be rounded elsewhere, by how the processor adds.
    later = evidence(stakes, last + 5, paid=altered.paid, seen=altered.seen)
    assert later.better.largest >= before.better.largest * (1.0 - 1e-12)


@given(st.lists(st.tuples(st.floats(0.01, 0.99), st.booleans()), min_size=1, max_size=300))
def test_no_account_is_ever_empty_whatever_is_lost(lost: list[tuple[float, bool]]) -> None:
    # Everything on the losing side, again and again, on one event and on many.
    for events in (1, len(lost)):
        stakes = [
            Stake(1.0 if no else -1.0, price, row, row % events, row, row / 400) for row, (price, no) in enumerate(lost)
        ]
        paid = {row: (0.0 if no else 1.0, 2.0) for row, (_, no) in enumerate(lost)}
        found = evidence(stakes, 4.0, paid=paid)
        assert 0.0 < found.better.now < 1.0
        assert found.book.now > 0.0
        assert 1.0 < found.worse.now < math.inf


def test_what_no_float_holds_is_cut_to_what_one_does() -> None:
    rows = range(4_000)
    # A day each, so that nothing moves with anything else.
    stakes = [Stake(1.0, 0.01, row, row, row, float(row)) for row in rows]
    paid = {row: (1.0, row + 0.5) for row in rows}
    found = evidence(stakes, 4_001.0, paid=paid)
    assert found.dependence == pytest.approx(1.0 + 2.0 * math.sqrt(2.0 / 4_000))
    assert found.better.now == pytest.approx(np.finfo(float).max, rel=1e-9)
    assert 0.0 < found.worse.now < 1e-300
    assert 0.0 < found.better.p_value < 1e-300


def made(bot: str, event: int, *bets: Bet, at: float = 0.0, **more: Any) -> Made:
    return Made(bot, at=at, bets=bets, event=event, **more)


def test_a_record_stakes_forecasts_over_the_markets_asked_and_dollars_as_they_were_bet() -> None:
    record = record_of(
        [made("a", 0, Bet(0, 0.4, 0.5, 0.8), Bet(1, -0.2, 0.4, 0.1)), made("b", 0, Bet(0, 2.0, 0.5, 0.2))],
        as_of=9.0,
        seen=[Seen(1, 3.0, 0.6), Seen(2, 3.0, 0.6)],
        paid={0: Paid(2.0, 1.0)},
    )
    asked = replace(record, asked_decision=np.array([0, 0, 0, 1, 1]), asked_market=np.array([0, 1, 2, 0, 1]))
    first, second = record_evidence(asked)
    both = {"paid": {0: (1.0, 2.0)}, "seen": [(1, 3.0, 0.6)]}
    # (.8 - .5) / .5 and (.1 - .4) / .4, over three markets asked.
    said = [Stake(0.6 / 3, 0.5, 0, 0, 0, 0.0), Stake(-0.75 / 3, 0.4, 0, 0, 1, 0.0)]
    assert first.forecasts.better.now == pytest.approx(evidence(said, 9.0, **both).better.now)  # type: ignore[arg-type]
    bet = [Stake(0.4, 0.5, 0, 0, 0, 0.0), Stake(-0.2, 0.4, 0, 0, 1, 0.0)]
    assert first.dollars.better.now == pytest.approx(evidence(bet, 9.0, **both).better.now)  # type: ignore[arg-type]
    # Two asked; two dollars are all there is.
    said, bet = [Stake(-0.6 / 2, 0.5, 0, 0, 0, 0.0)], [Stake(1.0, 0.5, 0, 0, 0, 0.0)]
    assert second.forecasts.better.now == pytest.approx(evidence(said, 9.0, **both).better.now)  # type: ignore[arg-type]
    assert second.dollars.better.now == pytest.approx(evidence(bet, 9.0, **both).better.now)  # type: ignore[arg-type]


def test_only_decisions_that_are_scored_are_evidence() -> None:
    bets = (Bet(0, 1.0, 0.5, 0.9),)
    record = record_of(
        [
            made("a", 0, *bets),
            made("a", 1, Bet(1, 1.0, 0.5, 0.9), knowledge="contaminated"),
            made("a", 2, Bet(2, 1.0, 0.5, 0.9), at=20.0),
            made("a", 3, status="failed"),
            made("none", 3, status="abstained"),
        ],
        as_of=9.0,
        paid={0: Paid(2.0, 1.0), 1: Paid(2.0, 1.0), 2: Paid(2.0, 1.0)},
    )
    scored, silent = record_evidence(record)
    assert scored.forecasts == evidence([Stake(0.8, 0.5, 0, 0, 0, 0.0)], 9.0, paid={0: (1.0, 2.0)})
    assert silent.forecasts == silent.dollars == BettingEvidence()
