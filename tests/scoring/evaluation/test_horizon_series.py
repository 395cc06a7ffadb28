"""Series: the values each average over a horizon is made of, by bot and by cluster."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from predibot.scoring import TrackRecord, scorecards
from predibot.scoring.evaluation.horizon_series import Series, horizon_series
from predibot.scoring.records.horizon_returns import horizon_returns
from tests.scoring.evaluation.test_scorecard import RECORDS
from tests.scoring.made_records import Bet, Made, Paid, Seen, record_of


def series_of(record: TrackRecord, days: float | None = 1) -> dict[str, Series]:
    """Return the series of one horizon."""
    returns = horizon_returns(record, () if days is None else (days,))
    return dict(horizon_series(record, returns[0]))


@pytest.mark.parametrize(
    ("said", "later", "drift"),
    [(0.7, 0.6, 0.1), (0.7, 0.4, -0.1), (0.3, 0.4, 0.1), (0.3, 0.6, -0.1), (0.5001, 0.6, 0.1)],
)
def test_drift_is_above_zero_where_the_price_came_toward_the_forecast(said: float, later: float, drift: float) -> None:
    record = record_of([Made(bets=(Bet(0, 1.0, 0.5, said),))], seen=[Seen(0, 1, later)], as_of=2)
    assert series_of(record)["drift"].values.tolist() == pytest.approx([drift])


def test_a_forecast_that_is_the_price_says_nothing_of_a_direction() -> None:
    record = record_of([Made(bets=(Bet(0, 1.0, 0.5, 0.5),))], seen=[Seen(0, 1, 0.6)], as_of=2)
    assert series_of(record)["drift"].values.size == 0


def test_drift_counts_forecasts_without_money_and_goes_to_the_payout() -> None:
    record = record_of([Made(bets=(Bet(0, 0.0, 0.5, 0.7), Bet(1, 0.0, 0.9, 0.2)))], paid={0: Paid(1, 1.0)}, as_of=2)
    assert series_of(record, None)["drift"].values.tolist() == [0.5]


def test_costs_are_taken_from_the_return_where_they_are_known() -> None:
    made = [
        Made(bets=(Bet(0, 1.0, 0.5),), cost_usd=0.03),
        Made(bets=(Bet(0, 1.0, 0.5),), cost_usd=float("nan"), cost_known_usd=0.5),
    ]
    record = record_of(made, seen=[Seen(0, 1, 0.6)], as_of=2)
    assert series_of(record)["net_mean_return"].values.tolist() == pytest.approx([0.2 - 0.03])


def test_friction_is_what_the_book_takes_on_the_same_decisions_by_hand() -> None:
    booked = Bet(0, 1.0, 0.5, bid=0.48, ask=0.52)
    record = record_of([Made(bets=(booked,)), Made(bets=(Bet(0, 1.0, 0.5),))], seen=[Seen(0, 1, 0.6)], as_of=2)
    series = series_of(record)
    # At the mid 0.6 / 0.5 - 1 = 0.2; at the quote 0.58 / 0.52 - 1. The second decision has no book.
    assert series["mean_return"].values.tolist() == pytest.approx([0.2, 0.2])
    assert series["quote_mean_return"].values.tolist() == pytest.approx([0.58 / 0.52 - 1.0])
    assert series["friction"].values.tolist() == pytest.approx([0.2 - (0.58 / 0.52 - 1.0)])


def test_a_decision_has_no_value_at_the_quote_where_one_of_its_bets_has_no_book() -> None:
    bets = (Bet(0, 0.5, 0.5, bid=0.48, ask=0.52), Bet(1, 0.5, 0.5))
    record = record_of([Made(bets=bets)], seen=[Seen(0, 1, 0.6), Seen(1, 1, 0.6)], as_of=2)
    assert series_of(record)["quote_mean_return"].values.size == 0


def test_a_market_without_money_on_it_needs_no_book() -> None:
    bets = (Bet(0, 1.0, 0.5, bid=0.48, ask=0.52), Bet(1, 0.0, 0.5), Bet(2, 0.0, 0.5, ask=0.52))
    record = record_of([Made(bets=bets)], seen=[Seen(0, 1, 0.6)], as_of=2)
    assert series_of(record)["quote_mean_return"].values.tolist() == pytest.approx([0.58 / 0.52 - 1.0])


def test_without_money_the_return_at_the_quote_is_zero_and_needs_no_book() -> None:
    booked, unbooked = Bet(0, 1.0, 0.5, bid=0.48, ask=0.52), Bet(0, 1.0, 0.5)
    nothing = Bet(1, 0.0, 0.5)
    made = [
        Made(bets=(booked,)),
        Made(bets=(unbooked,)),
        Made(bets=(nothing,)),
        Made(bets=(replace(nothing, bid=0.4, ask=0.6),)),
        Made(status="abstained"),
        Made(status="abstained", bets=(nothing,)),
        Made(status="failed"),
        Made(bets=(booked,), at=1),
    ]
    record = record_of(made, seen=[Seen(0, 1, 0.6)], as_of=1.5)
    # By scoring.md: with money by its book, without any 0, with money and without a book missing.
    by_hand = [0.58 / 0.52 - 1.0, 0.0, 0.0, 0.0, 0.0]
    assert series_of(record)["quote_mean_return"].values.tolist() == pytest.approx(by_hand)
    (card,) = scorecards(record, horizons_days=(1,))
    assert card.horizons["1"].quote_mean_return == pytest.approx(sum(by_hand) / 5)
    assert (card.horizons["1"].n_quote, card.horizons["1"].n, card.horizons["1"].n_passed) == (5, 6, 7)


def test_the_market_is_counted_on_the_same_decisions_only() -> None:
    made = [Made(bets=(Bet(0, 1.0, 0.5),)), Made(bets=(Bet(1, 1.0, 0.5),))]
    record = record_of(made, seen=[Seen(0, 1, 0.6)], as_of=2)
    assert series_of(record)["market_mean_return"].values.tolist() == pytest.approx([0.2])


def test_who_leaves_out_a_market_does_not_choose_the_baseline() -> None:
    # The first answers one of two markets, of the other nobody knows what it was priced at; the second answers both.
    made = [Made(bets=(Bet(0, 1.0, 0.5),)), Made(bets=(Bet(0, 1.0, 0.5), Bet(1, 0.0, 0.8)))]
    record = record_of(made, seen=[Seen(0, 1, 0.6), Seen(1, 1, 0.4)], as_of=2)
    record = replace(record, asked_decision=np.array([0, 0, 1, 1]), asked_market=np.array([0, 1, 0, 1]))
    assert series_of(record)["mean_return"].values.tolist() == pytest.approx([0.2, 0.2])
    assert series_of(record)["market_mean_return"].values.tolist() == pytest.approx([(0.2 - 0.5) / 2])


def test_contaminated_decisions_are_in_no_series() -> None:
    known = Bet(0, 1.0, 0.5, 0.7, bid=0.48, ask=0.52)
    record = record_of([Made(bets=(known,), knowledge="contaminated")], seen=[Seen(0, 1, 0.6)], as_of=2)
    assert {name: each.values.size for name, each in series_of(record).items()} == dict.fromkeys(series_of(record), 0)


@settings(max_examples=50)
@given(RECORDS)
def test_each_bot_has_its_own_values_in_the_order_of_the_rows(record: TrackRecord) -> None:
    for each in series_of(record).values():
        for bot, (values, clusters) in enumerate(each.of_each(len(record.bots))):
            np.testing.assert_array_equal(values, each.values[each.bot == bot])
            np.testing.assert_array_equal(clusters, each.cluster[each.bot == bot])


@settings(max_examples=50)
@given(RECORDS)
def test_drift_lies_between_minus_one_and_one(record: TrackRecord) -> None:
    for days in (1.0, None):
        drift = series_of(record, days)["drift"].values
        assert (np.abs(drift) <= 1.0).all()
