"""Scorecards: how good each bot was, with how many values stand behind every number."""

import math
import statistics
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.domain.decision import STATUSES
from predibot.scoring import TrackRecord, scorecards
from tests.scoring import by_loops
from tests.scoring.made_records import NAN, Bet, Made, Paid, Seen, record_of

QUARTER_DAYS = st.integers(0, 48).map(lambda step: step / 4)
PRICES = st.integers(1, 19).map(lambda step: step / 20)
BETS = st.builds(
    Bet,
    market=st.integers(0, 3),
    usd=st.sampled_from([-0.5, -0.1, 0.0, 0.0, 0.2, 0.5]),
    price_yes=PRICES,
    probability=st.floats(0, 1) | st.just(NAN),
)
DECISIONS = st.builds(
    lambda bot, at, bets, status: Made(bot, at, tuple(bets) if status == "recorded" else (), status),
    bot=st.sampled_from(["a", "b"]),
    at=QUARTER_DAYS,
    bets=st.lists(BETS, min_size=1, max_size=4, unique_by=lambda bet: bet.market),
    status=st.sampled_from(["recorded", "recorded", "recorded", *STATUSES]),
)
SEEN = st.lists(st.builds(Seen, st.integers(0, 3), QUARTER_DAYS, PRICES), max_size=40)
PAID = st.dictionaries(st.integers(0, 3), st.builds(Paid, QUARTER_DAYS, st.sampled_from([0.0, 0.5, 1.0])), max_size=4)
RECORDS = st.builds(
    lambda made, seen, paid, as_of: record_of(made, seen=seen, paid=paid, as_of=as_of, bots=("a", "b")),
    st.lists(DECISIONS, max_size=8),
    SEEN,
    PAID,
    QUARTER_DAYS,
)


def close(found: float | None, expected: float | None) -> bool:
    if found is None or expected is None:
        return found is expected
    return found == pytest.approx(expected, rel=1e-6, abs=1e-9)


@given(RECORDS)
def test_horizons_agree_with_the_definition_one_decision_at_a_time(record: TrackRecord) -> None:
    for bot, card in enumerate(scorecards(record)):
        rows = np.flatnonzero((record.decision_bot == bot) & (record.decided_at <= record.as_of)).tolist()
        for days, score in zip((1, 2, 7, by_loops.NOW, None), card.horizons.values(), strict=True):
            values = {row: one for row in rows if (one := by_loops.value(record, row, days)) is not None}
            market = [one for row in values if (one := by_loops.market_value(record, row, days)) is not None]
            passed = [
                row
                for row in rows
                if days in (None, by_loops.NOW) or record.decided_at[row] + (days or 0) * by_loops.DAY <= record.as_of
            ]
            assert (score.n, score.n_market, score.n_passed) == (len(values), len(market), len(passed))
            assert close(score.mean_return, statistics.fmean(values.values()) if values else None)
            assert close(score.market_mean_return, statistics.fmean(market) if market else None)
            assert close(score.coverage, len(values) / len(passed) if passed else None)
            expected = None if days in (None, by_loops.NOW) else by_loops.sharpe(record, values, days or 0)
            assert close(score.sharpe, expected)


@given(RECORDS)
def test_forecasts_agree_with_the_definition_one_forecast_at_a_time(record: TrackRecord) -> None:
    for bot, card in enumerate(scorecards(record)):
        told: list[tuple[float, float, float]] = []
        open_errors, void, forecasts = [], 0, 0
        for row, decision in enumerate(record.bet_decision.tolist()):
            p, market = float(record.bet_probability[row]), int(record.bet_market[row])
            start = float(record.decided_at[decision])
            if record.decision_bot[decision] != bot or start > record.as_of or math.isnan(p):
                continue
            forecasts += 1
            settled = record.settled_at[market] <= record.as_of
            worth = by_loops.price_at(record, market, start, record.as_of)
            if settled and worth in (0.0, 1.0):
                told.append((p, float(record.bet_price_yes[row]), worth))
            elif settled:
                void += 1
            elif worth is not None:
                open_errors.append((p - worth) ** 2)
        assert (card.forecasts, card.settled, card.n_brier, card.void) == (forecasts, len(told), len(told), void)
        assert close(card.brier, statistics.fmean((p - y) ** 2 for p, _, y in told) if told else None)
        assert close(card.brier_open, statistics.fmean(open_errors) if open_errors else None)
        assert card.n_brier_open == len(open_errors)
        assert close(card.log_score, _log_score(told))
        assert close(card.skill_vs_market, _skill(told))


def _log_score(told: list[tuple[float, float, float]]) -> float | None:
    given_to_truth = [p if y == 1 else 1 - p for p, _, y in told]
    return -statistics.fmean(math.log(min(max(q, 0.01), 0.99)) for q in given_to_truth) if told else None


def _skill(told: list[tuple[float, float, float]]) -> float | None:
    of_market = sum((price - y) ** 2 for _, price, y in told)
    return 1 - sum((p - y) ** 2 for p, _, y in told) / of_market if told else None


def test_a_horizon_is_not_cut_short_by_later_decisions() -> None:
    first = Made(at=0, bets=(Bet(0, 1.0, 0.5),))
    later = Made(at=1, bets=(Bet(0, -1.0, 0.4),))
    seen = [Seen(0, 1, 0.4), Seen(0, 7, 0.8)]
    alone, both = (scorecards(record_of(made, seen=seen, as_of=7))[0] for made in ([first], [first, later]))
    assert alone.horizons["7"] == both.horizons["7"]
    assert both.horizons["7"].mean_return == pytest.approx(0.6)


def test_returns_by_hand() -> None:
    # YES from 0.4 to 0.5: 0.6 * (0.5 / 0.4 - 1) = 0.15. NO, YES from 0.2 to 0.1: 0.4 * (0.9 / 0.8 - 1) = 0.05.
    made = [Made(bets=(Bet(0, 0.6, 0.4), Bet(1, -0.4, 0.2)))]
    card = scorecards(record_of(made, seen=[Seen(0, 1, 0.5), Seen(1, 1, 0.1)], as_of=1))[0]
    assert card.horizons["1"].mean_return == pytest.approx(0.20)
    # The baseline: half a dollar on each favourite, NO at 0.6 now 0.5, NO at 0.8 now 0.9.
    assert card.horizons["1"].market_mean_return == pytest.approx(0.5 * (0.5 / 0.6 - 1) + 0.5 * (0.9 / 0.8 - 1))


def test_instants_in_microseconds_meet_their_horizon_exactly() -> None:
    # 1.7e9 seconds leave less than a microsecond of floating point, so sums come out a hair off.
    starts = 20_000 + np.arange(500) / 500 + 1e-6 / 86_400
    seconds = np.round(starts * 86_400, 6)
    record = record_of([Made(at=0.0, bets=(Bet(row),)) for row in range(500)], as_of=30_000)
    record = replace(
        record,
        decided_at=seconds,
        observation_market=np.arange(500),
        observation_at=np.round(np.round(seconds * 1e6) + 86_400e6) / 1e6,
        observation_price_yes=np.full(500, 0.75),
    )
    horizons = scorecards(record, horizons_days=(1, 4))[0].horizons
    assert (horizons["1"].n, horizons["4"].n) == (500, 500)


def test_a_price_older_than_three_days_is_none() -> None:
    made = [Made(bets=(Bet(0),))]
    scores = scorecards(record_of(made, seen=[Seen(0, 4, 0.9)], as_of=20), horizons_days=(7, 7.25))[0].horizons
    assert (scores["7"].n, scores["7.25"].n) == (1, 0)


def test_without_money_a_decision_waits_for_what_it_was_asked_about_and_for_nothing_else() -> None:
    # Asked about markets 0 and 1, of which it answered the first; of 2 others were asked.
    made = [Made(bets=(Bet(0, 0.0),)), Made(status="abstained"), Made("other", bets=(Bet(0, 0.0), Bet(2, 0.0)))]
    asked = {"asked_decision": np.array([0, 0, 1, 1, 2, 2]), "asked_market": np.array([0, 1, 0, 1, 0, 2])}
    waiting, done = (
        scorecards(replace(record_of(made, paid=paid, as_of=9, seen=[Seen(2, 1, 0.5)]), **asked))
        for paid in ({0: Paid(1, 1.0)}, {0: Paid(1, 1.0), 1: Paid(2, 0.0)})
    )
    assert [card.horizons["settled"].n for card in waiting] == [0, 0]
    assert [card.horizons["settled"].n for card in done] == [2, 0]


def test_refused_and_failed_decisions_have_no_value_and_lower_coverage() -> None:
    made = [Made(bets=(Bet(0),)), Made(status="refused"), Made(status="failed"), Made(status="abstained")]
    card = scorecards(record_of(made, seen=[Seen(0, 1, 0.75)], as_of=1))[0]
    assert (card.decisions, card.refused, card.failed, card.abstained) == (4, 1, 1, 1)
    assert (card.horizons["1"].n, card.horizons["1"].coverage) == (2, 0.5)
    assert card.horizons["1"].mean_return == pytest.approx(0.25)


def test_decisions_after_the_evaluation_count_nowhere() -> None:
    made = [Made(at=0, bets=(Bet(0, probability=0.9),)), Made(at=5, bets=(Bet(0, probability=0.1),), cost_usd=NAN)]
    card = scorecards(record_of(made, paid={0: Paid(1, 1.0)}, as_of=3))[0]
    assert (card.decisions, card.forecasts, card.cost_usd) == (1, 1, 0.0)
    assert card.brier == pytest.approx(0.01)
    assert card.horizons["settled"].n_passed == 1


def test_zero_bets_still_count_in_brier() -> None:
    made = [Made(bets=(Bet(0, 1.0, 0.5, 0.9), Bet(1, 0.0, 0.5, 0.4)))]
    card = scorecards(record_of(made, paid={0: Paid(1, 1.0), 1: Paid(1, 0.0)}, as_of=2))[0]
    assert card.n_brier == 2
    assert card.brier == pytest.approx((0.01 + 0.16) / 2)
    assert card.skill_vs_market == pytest.approx(1 - 0.17 / 0.5)


def test_the_latest_price_is_never_called_the_outcome() -> None:
    made = [Made(bets=(Bet(0, 1.0, 0.5, 0.9), Bet(1, 1.0, 0.5, 0.9)))]
    record = record_of(made, seen=[Seen(0, 1, 1.0), Seen(1, 1, 0.7)], paid={1: Paid(9, 1.0)}, as_of=2)
    card = scorecards(record)[0]
    assert (card.brier, card.n_brier, card.settled) == (None, 0, 0)
    assert card.n_brier_open == 2
    assert card.brier_open == pytest.approx((0.01 + 0.04) / 2)


def test_skill_has_no_value_against_a_perfect_market() -> None:
    made = [Made(bets=(Bet(0, 0.0, 1e-200, 0.1),))]
    card = scorecards(record_of(made, paid={0: Paid(1, 0.0)}, as_of=2))[0]
    assert (card.n_brier, card.skill_vs_market) == (1, None)
    assert card.brier == pytest.approx(0.01)


def test_sharpe_has_one_return_a_date() -> None:
    made = [Made(at=0, bets=(Bet(0),)), Made(at=0.5, bets=(Bet(0),)), Made(at=1, bets=(Bet(0),))]
    seen = [Seen(0, 1, 0.55), Seen(0, 1.5, 0.65), Seen(0, 2, 0.45)]
    score = scorecards(record_of(made, seen=seen, as_of=2))[0].horizons["1"]
    # 0.10 and 0.30 on the first date, -0.10 on the second.
    first, second = 0.20, -0.10
    deviation = math.sqrt(2 * 0.15**2)
    assert score.sharpe == pytest.approx((first + second) / 2 * 365 / (deviation * math.sqrt(365)))


def test_a_cost_with_an_unknown_part_is_none_and_its_known_part_is_kept() -> None:
    made = [
        Made("a", cost_usd=0.25, cost_known_usd=0.25, status="failed"),
        Made("a", cost_usd=NAN, cost_known_usd=0.5, status="refused"),
        Made("b", cost_usd=0.125, cost_known_usd=0.125, status="abstained"),
    ]
    first, second = scorecards(record_of(made, as_of=1))
    assert (first.cost_usd, first.cost_known_usd) == (None, 0.75)
    assert (second.cost_usd, second.cost_known_usd) == (0.125, 0.125)


def test_horizons_are_named_by_their_days_and_settlement_comes_last() -> None:
    card = scorecards(record_of([Made()], as_of=1), horizons_days=(0.5, 1, 30.0))[0]
    assert list(card.horizons) == ["0.5", "1", "30", "now", "settled"]
    assert list(scorecards(record_of([Made()], as_of=1), horizons_days=())[0].horizons) == ["now", "settled"]


@pytest.mark.parametrize("horizons", [(0,), (-1,), (NAN,), (math.inf,), (1, 1.0)])
def test_a_horizon_that_is_none_is_refused(horizons: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="a horizon is"):
        scorecards(record_of([Made()], as_of=1), horizons_days=horizons)


def test_bots_without_decisions_and_records_without_bots_have_nothing() -> None:
    idle = scorecards(record_of([], as_of=1, bots=["idle"]))[0]
    assert (idle.decisions, idle.forecasts, idle.brier, idle.cost_usd) == (0, 0, None, 0.0)
    assert all(score.mean_return is None and score.coverage is None for score in idle.horizons.values())
    assert scorecards(record_of([], as_of=1)) == ()
