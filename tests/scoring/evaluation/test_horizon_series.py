"""Series: the values each average over a horizon is made of, by bot and by cluster."""

from dataclasses import replace

import numpy as np
import pytest

from predibot.scoring import CONVENTIONS, TrackRecord, Uncertainty, scorecards
from predibot.scoring.evaluation.evaluation import part_cards
from predibot.scoring.evaluation.horizon_series import Series, horizon_series
from predibot.scoring.evaluation.notes import notes
from predibot.scoring.records.horizon_returns import horizon_returns
from tests.scoring.made_records import Bet, Made, Paid, Seen, record_of


def series_of(record: TrackRecord, days: float | None = 1) -> dict[str, Series]:
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


@pytest.mark.parametrize(
    ("bet", "at_settlement"),
    [
        (Bet(0, 1.0, 0.5, ask=0.8), 1.0 / 0.8 - 1.0),
        (Bet(0, -1.0, 0.5, bid=0.2), -1.0),
        (Bet(0, 1.0, 0.5, bid=0.2), None),
        (Bet(0, -1.0, 0.5, ask=0.8), None),
    ],
)
def test_where_a_side_is_empty_a_bet_needs_the_side_it_buys_and_has_no_value_before_it_settles(
    bet: Bet, at_settlement: float | None
) -> None:
    without_fee = "1 bet at the quote of markets that state no fee: none is charged."
    booked = Made("other", bets=(Bet(1, 1.0, 0.5, bid=0.48, ask=0.52, fee_rate=0.0),))
    record = record_of([Made(bets=(bet,)), booked], seen=[Seen(0, 1, 0.6)], paid={0: Paid(2, 1.0)}, as_of=3)
    (card, other) = scorecards(record, horizons_days=(1,), uncertainty=Uncertainty(resamples=100))
    known = at_settlement is not None
    assert (card.horizons["1"].quote_mean_return, card.horizons["1"].n_unquoted) == (None, 1)
    for label in ("now", "settled"):
        found = card.horizons[label]
        assert found.quote_mean_return == (pytest.approx(at_settlement) if known else None)
        assert (found.n_quote, found.n_unquoted) == (int(known), int(not known))
    assert (without_fee in notes(record, (card, other))) == known


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


def test_of_a_bot_without_any_book_what_it_did_not_stake_says_nothing_at_the_quote() -> None:
    idle = (Made("a", bets=(Bet(0, 0.0),), category="x"), Made("a", status="abstained", category="x"))
    staked, booked = Bet(0, 1.0, 0.5), Bet(0, 1.0, 0.5, bid=0.48, ask=0.52)
    made = [
        *idle,
        Made("a", bets=(staked,), category="x"),
        Made("a", bets=(booked,), category="y"),
        *(replace(one, bot="b") for one in idle),
        Made("b", bets=(staked,)),
        *(replace(one, bot="never") for one in idle),
        # What it staked has not come to its horizon.
        *(replace(one, bot="later") for one in idle),
        Made("later", bets=(staked,), at=1),
    ]
    record = record_of(made, seen=[Seen(0, 1, 0.6)], as_of=1.5)
    cards = {card.bot: card for card in scorecards(record, horizons_days=(1,), uncertainty=Uncertainty(resamples=100))}
    day = {bot: card.horizons["1"] for bot, card in cards.items()}
    gained = 0.58 / 0.52 - 1.0
    assert {bot: (each.quote_mean_return, each.n_quote, each.n_unquoted, each.n) for bot, each in day.items()} == {
        "a": (pytest.approx(gained / 3), 3, 1, 4),
        "b": (None, 0, 1, 3),
        "never": (0.0, 2, 0, 2),
        "later": (0.0, 2, 0, 2),
    }
    assert (day["b"].friction, day["b"].quote_mean_return_by_event) == (None, None)
    assert not {"friction", "quote_mean_return"} & set(day["b"].intervals)
    parts = part_cards(record, "category", (1,), CONVENTIONS["predibot"], Uncertainty(resamples=100))
    of_part = {(each.card.bot, each.group): each.card.horizons["1"].quote_mean_return for each in parts}
    assert (of_part["a", "x"], of_part["a", "y"]) == (None, pytest.approx(gained))


def test_the_net_return_may_be_as_low_as_all_of_the_stake_and_the_cost() -> None:
    made = [Made(bets=(Bet(market, 0.5, 0.5),), event=market, cost_usd=0.4) for market in range(4)]
    # One that abstained for nothing, and one whose cost nobody knows.
    made += [Made(status="abstained", event=4), Made(bets=(Bet(5),), event=5, cost_usd=float("nan"))]
    paid = {market: Paid(1, float(market == 0)) for market in range(6)}
    (card,) = scorecards(record_of(made, paid=paid, as_of=9), uncertainty=Uncertainty(resamples=100))
    net = card.horizons["settled"].intervals["net_mean_return"]
    assert net.estimate == pytest.approx((0.1 - 3 * 0.9) / 5)
    # Between losing every stake and winning every one.
    assert (net.low, net.high) == (pytest.approx(-4 * 0.9 / 5), pytest.approx(4 * 0.1 / 5))


@pytest.mark.parametrize("paid", [True, False])
def test_the_friction_lies_between_nothing_and_all_that_the_book_takes(paid: bool) -> None:
    # Of two events in three bought at nearly the mid, so that the interval would reach below 0.
    bets = [
        Bet(m, usd, 0.5, bid=0.5 - h, ask=0.5 + h) for m, usd, h in ((0, 1.0, 0.1), (1, -1.0, 0.1), (2, 1.0, 0.001))
    ]
    made = [Made(bets=(bet,), event=bet.market) for bet in bets]
    record = record_of(
        made,
        seen=[] if paid else [Seen(market, 1, 0.1) for market in range(3)],
        paid={market: Paid(1, 0.0) for market in range(3)} if paid else None,
        as_of=1,
    )
    (card,) = scorecards(record, horizons_days=(1,), uncertainty=Uncertainty(resamples=100))
    for label in ("1", "now", *(["settled"] if paid else [])):
        friction = card.horizons[label].intervals["friction"]
        # A share that was bought at c is worth the bid, 1 - 0.1 at most, until it pays 1.
        most = sum(1 / 0.5 - (1.0 if paid else 1.0 - h) / (0.5 + h) for h in (0.1, 0.1, 0.001)) / 3
        assert friction.estimate > 0.0
        assert friction.low == pytest.approx(0.0) and friction.low >= 0.0
        assert friction.high is not None and friction.high == pytest.approx(most)


def test_where_the_displayed_price_lies_beyond_a_wide_book_buying_at_the_ask_may_gain() -> None:
    # Bid and ask are .15 apart, so that p0 is what the venue displays: .6, when the ask was .5.
    made = [Made(bets=(Bet(m, 1.0, 0.6, bid=0.35, ask=0.5),), event=m) for m in range(4)]
    record = record_of(made, paid={m: Paid(1, float(m < 2)) for m in range(4)}, as_of=9)
    (card,) = scorecards(record, uncertainty=Uncertainty(resamples=100))
    friction = card.horizons["settled"].intervals["friction"]
    assert friction.estimate == pytest.approx((1 / 0.6 - 1 / 0.5) / 2)
    assert (friction.low, friction.high) == (pytest.approx(1 / 0.6 - 1 / 0.5), pytest.approx(0.0))


def test_who_leaves_out_a_market_does_not_choose_the_baseline() -> None:
    # The first answers one of two markets, of the other nobody knows what it was priced at; the second answers both.
    made = [Made(bets=(Bet(0, 1.0, 0.5),)), Made(bets=(Bet(0, 1.0, 0.5), Bet(1, 0.0, 0.8)))]
    record = record_of(made, seen=[Seen(0, 1, 0.6), Seen(1, 1, 0.4)], as_of=2)
    record = replace(record, asked_decision=np.array([0, 0, 1, 1]), asked_market=np.array([0, 1, 0, 1]))
    assert series_of(record)["mean_return"].values.tolist() == pytest.approx([0.2, 0.2])
    assert series_of(record)["market_mean_return"].values.tolist() == pytest.approx([(0.2 - 0.5) / 2])


def test_each_bot_has_its_own_values_in_the_order_of_the_rows() -> None:
    made = [Made(bot, event=event, bets=(Bet(event, 1.0, 0.5),)) for event, bot in enumerate("baabc")]
    record = record_of(made, seen=[Seen(m, 1, 0.5 + m / 20) for m in range(4)], as_of=2, bots=("a", "b", "c"))
    found = series_of(record)["mean_return"]
    assert found.values.round(9).tolist() == [0.0, 0.1, 0.2, 0.3]
    assert (found.bot.tolist(), found.cluster.tolist()) == ([1, 0, 0, 1], [0, 1, 2, 3])
