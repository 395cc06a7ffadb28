"""How long scoring takes: printed, never judged."""

from time import perf_counter

import numpy as np
import pytest

from predibot.domain.decision import STATUSES
from predibot.scoring import TrackRecord, as_of_prices, notes, scorecards

pytestmark = pytest.mark.benchmark

DAY = 86_400.0


def _record(*, decisions: int, markets_each: int, markets: int, observations_each: int, bots: int) -> TrackRecord:
    rng = np.random.default_rng(0)
    bets, days = decisions * markets_each, 365
    day = np.sort(rng.integers(0, days, decisions))
    started = rng.uniform(0, days, markets) * DAY
    seen = (started[:, None] + np.arange(observations_each) * DAY / 4).ravel()
    settles = rng.random(markets) < 0.5
    return TrackRecord(
        as_of=days * DAY,
        bots=tuple(f"bot_{index}" for index in range(bots)),
        decision_bot=rng.integers(0, bots, decisions),
        decision_status=np.zeros(decisions, dtype=np.int8),
        decided_at=(day + rng.random(decisions)) * DAY,
        decision_day=day,
        decision_event=rng.integers(0, markets // markets_each, decisions),
        decision_cost_usd=np.zeros(decisions),
        decision_cost_known_usd=np.zeros(decisions),
        bet_decision=np.repeat(np.arange(decisions), markets_each),
        bet_market=rng.integers(0, markets, bets),
        bet_usd=rng.uniform(-0.2, 0.2, bets),
        bet_price_yes=rng.uniform(0.01, 0.99, bets),
        bet_probability=rng.random(bets),
        payout_yes=np.where(settles, np.round(rng.random(markets)), np.nan),
        settled_at=np.where(settles, started + 30 * DAY, np.nan),
        observation_market=np.repeat(np.arange(markets), observations_each),
        observation_at=seen,
        observation_price_yes=rng.random(seen.size),
    )


@pytest.mark.parametrize("observations_each", [20, 200])
def test_time_of_scorecards_of_100_000_decisions_on_5_markets_each(observations_each: int) -> None:
    assert STATUSES[0] == "recorded"
    record = _record(decisions=100_000, markets_each=5, markets=10_000, observations_each=observations_each, bots=10)
    start = perf_counter()
    cards = scorecards(record)
    middle = perf_counter()
    notes(record, cards)
    print(
        f"\nscorecards of 100,000 decisions x 5 markets, {record.observation_at.size:,} observations: "
        f"{middle - start:.2f} s, notes {perf_counter() - middle:.2f} s"
    )


def test_time_of_a_million_prices_among_a_million_observations() -> None:
    rng = np.random.default_rng(0)
    n = 1_000_000
    market, at, price = rng.integers(0, 20_000, n), rng.uniform(0, 1e7, n), rng.random(n)
    asked, asked_at = rng.integers(0, 20_000, n), rng.uniform(0, 1e7, n)
    start = perf_counter()
    as_of_prices(market, at, price, asked, asked_at)
    print(f"\n1,000,000 prices as of an instant among 1,000,000 observations: {perf_counter() - start:.2f} s")
