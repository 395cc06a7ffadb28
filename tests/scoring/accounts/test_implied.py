"""What prices imply of accounts: favourites that have not lost, long odds that have not come in, one swing for all."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from predibot.reports.views.accounts import conclusions
from predibot.scoring.accounts.implied import distance, implied_risk
from predibot.scoring.accounts.score import AccountScore
from tests.scoring.accounts.made_accounts import FIRST, account, at_slots, bet_a_date, board_of, record_of


def scored(price: float, stake: float, won: list[bool]) -> tuple[AccountScore, str]:
    """Return how an account did that bets so much of itself at a price a date, beside cash, and its group."""
    prices, shares = bet_a_date(price, won)
    made = record_of(
        prices, account("bot", "tool_agent", shares * stake, prices), account("cash", "all_cash", shares * 0.0, prices)
    )
    board = board_of(made)
    return next(each for each in board.scores if each.bot == "bot"), board.standings["bot"]


def ends(score: AccountScore) -> tuple[float, float, float]:
    found = score.intervals["cumulative_return"]
    assert found.low is not None and found.high is not None
    return round(found.estimate, 4), round(found.low, 4), round(found.high, 4)


def test_thirty_favourites_without_a_loss_are_no_certainty() -> None:
    score, standing = scored(0.95, 0.1, [True] * 30)
    assert score.implied.variance == pytest.approx(0.0157895, abs=5e-8)
    assert score.implied.dependence == 1.0
    assert ends(score) == (0.1706, -0.0947, 0.5136) and standing == "not proven"
    half = np.log1p(score.intervals["cumulative_return"].high) - np.log1p(score.cumulative_return)
    assert half == pytest.approx(0.256996, abs=5e-7)


def test_one_loss_of_thirty_makes_it_no_narrower_than_the_prices_say() -> None:
    score, standing = scored(0.95, 0.1, [True] * 29 + [False])
    estimate, low, high = ends(score)
    assert (estimate, standing) == (0.0480, "not proven")
    assert low <= -0.1895 and high >= 0.3551


def test_thirty_long_shots_that_all_lost_may_yet_have_been_fair() -> None:
    score, standing = scored(0.05, 0.01, [False] * 30)
    assert score.implied.variance == pytest.approx(0.057, abs=5e-7)
    assert ends(score) == (-0.2603, -0.5461, 0.2054) and standing == "not proven"


def test_of_no_bet_at_all_there_is_no_interval_no_rank_and_no_claim() -> None:
    score, standing = scored(0.5, 0.0, [True] * 40)
    assert "cumulative_return" not in score.intervals and standing == "not proven"


def test_no_and_yes_of_a_market_are_one_thing() -> None:
    prices = np.column_stack([np.full(31, 0.4), np.full(31, 0.6)])
    prices[-1] = 1.0, 0.0
    both, none = np.full((31, 2), 0.5), np.zeros((31, 2))
    made = record_of(prices, account("both", "b", both, prices), account("no", "b", both * [0.0, 1.0], prices))
    sides = {"outcome": np.array([1, -1]), "market": np.array([7, 7]), "event": np.array([3, 3])}
    made = replace(made, **sides)
    assert implied_risk(made, made.accounts[0]).variance == 0.0 and not none.any()
    # 0.5 shares for a dollar through one settlement: .25 q(.4), whichever side it is.
    assert implied_risk(made, made.accounts[1]).variance == pytest.approx(0.25 * 0.24)
    assert implied_risk(made, *made.accounts).variance == pytest.approx(0.25 * 0.24)


def test_of_outcomes_that_exclude_each_other_all_together_are_worth_one_dollar_for_certain() -> None:
    prices = np.full((3, 4), 0.25)
    prices[2] = 1.0, 0.0, 0.0, 0.0
    every = np.full((3, 4), 0.5)
    alone = account("all", "b", every, prices)
    apart, group = record_of(prices, alone), record_of(prices, alone, group=np.zeros(4, np.int64))
    assert implied_risk(apart, alone).variance == pytest.approx(4 * 0.25 * 0.25 * 0.75)
    assert implied_risk(group, alone).variance == 0.0
    one = account("one", "b", every * [1.0, 0.0, 0.0, 0.0], prices)
    # By hand: Q = .25 * .25 - (.5 * .25)^2 before, nothing after.
    assert implied_risk(record_of(prices, one, group=np.zeros(4, np.int64)), one).variance == pytest.approx(
        0.0625 - 0.015625
    )


def test_events_that_moved_as_one_count_as_one_and_a_bot_on_them_gets_no_rank() -> None:
    dates, events = 40, 10
    rng = np.random.default_rng(3)
    swing = np.where(rng.random(dates) < 0.9, 1.0, -1.0)
    prices = 0.5 + 0.001 * np.vstack([np.zeros((1, events)), np.cumsum(np.tile(swing[:, None], events), axis=0)])
    shares = np.full(prices.shape, 0.05)
    made = record_of(
        prices, account("bot", "tool_agent", shares, prices), account("cash", "all_cash", shares * 0.0, prices)
    )
    board = board_of(made)
    score = next(each for each in board.scores if each.bot == "bot")
    assert score.implied.dependence == pytest.approx(10.0)
    assert board.standings["bot"] == "not proven" and board.ranks == {}
    assert any("moved like one (D = 10.0)" in note for note in board.notes)


@pytest.mark.parametrize(("share", "few"), [(0.25, False), (0.2501, True)])
def test_a_quarter_of_an_account_in_one_event_is_the_most(share: float, few: bool) -> None:
    for price in (0.5, 0.9):
        prices, shares = bet_a_date(price, [True, False] * 20)
        made = record_of(prices, account("bot", "b", shares * share, prices), event=np.arange(40))
        assert implied_risk(made, made.accounts[0]).few_decide is few


def test_a_missing_price_is_the_last_one_and_before_the_first_nothing_moves() -> None:
    prices = np.array([[np.nan], [0.4], [np.nan], [1.0]])
    shares = np.full((4, 1), 1.0)
    filled = np.array([[0.4], [0.4], [0.4], [1.0]])
    bot = account("bot", "b", shares, filled)
    assert implied_risk(record_of(prices, bot), bot) == implied_risk(record_of(filled, bot), bot)


def test_a_copy_of_a_baseline_is_named_and_another_account_is_not() -> None:
    prices, shares = bet_a_date(0.5, [True, False] * 20)
    base = account("same", "equal_weights", shares * 0.1, prices)
    near, far = (account(name, "b", shares * part, prices) for name, part in (("near", 0.104), ("far", 0.12)))
    made = record_of(prices, base, near, far)
    assert distance(made, near, base) == pytest.approx(0.008 * 40 / 41)
    repeats = {each.bot: each.repeats for each in board_of(made).scores}
    assert repeats == {"same": "", "near": "same", "far": ""}


def skilled(slots: int) -> tuple[np.ndarray, np.ndarray]:
    """Return prices and shares of bets of a tenth at even odds that win four times of five."""
    return bet_a_date(0.5, [number % 5 > 0 for number in range(slots)])


def test_who_is_told_has_a_place_by_the_nearest_baseline_and_baselines_and_losers_have_none() -> None:
    prices, shares = skilled(200)
    accounts = [
        account(name, strategy, shares * part, prices)
        for name, strategy, part in (
            *(("good", "a", 0.1), ("better", "a", 0.2), ("wrong", "a", -0.2)),
            *(("cash", "all_cash", 0.0), ("some", "random_weights", 0.01)),
        )
    ]
    board = board_of(record_of(prices, *accounts))
    assert [each.bot for each in board.scores] == ["better", "good", "wrong", "some", "cash"]
    assert board.ranks == {"better": 1, "good": 2}
    assert [board.standings[each.bot] for each in board.scores] == ["better"] * 2 + ["worse"] + ["baseline"] * 2
    assert board.least["good"] < board.least["better"]
    # Without any baseline nobody is better than all.
    assert board_of(record_of(prices, accounts[0])).standings == {"good": "not proven"}


@pytest.mark.parametrize(("stake", "better"), [(0.2, "bot"), (0.3, None)])
def test_a_difference_names_nobody_where_few_outcomes_decide_of_the_bot(stake: float, better: str | None) -> None:
    prices, shares = skilled(200)
    bot, cash = account("bot", "a", shares * stake, prices), account("cash", "all_cash", shares * 0.0, prices)
    board = board_of(record_of(prices, bot, cash))
    (pair,) = board.pairs
    assert pair.difference.low is not None and pair.difference.low > 0.0
    assert pair.better == better and board.standings["bot"] == ("not proven" if better is None else "better")


def test_a_baseline_of_which_few_outcomes_decide_is_better_than_nobody() -> None:
    prices, shares = skilled(200)
    small, large = (
        account("small", "a", shares * 0.01, prices),
        account("large", "market_favourite", shares * 0.3, prices),
    )
    (pair,) = board_of(record_of(prices, small, large)).pairs
    assert pair.difference.high is not None and pair.difference.high < 0.0 and pair.better is None


def test_who_lost_everything_stands_behind_who_lost_a_little() -> None:
    prices, shares = bet_a_date(0.5, [number % 2 > 0 and number != 35 for number in range(40)])
    broke, little = shares * 0.0, shares * 0.1
    broke[35] = shares[35]
    board = board_of(record_of(prices, account("broke", "a", broke, prices), account("little", "a", little, prices)))
    assert [board.standings[each.bot] for each in board.scores] == ["not proven"] * 2
    assert [each.bot for each in board.scores] == ["little", "broke"]
    assert -1.0 < board.scores[0].told < 0.0 and board.scores[1].told == -np.inf


def test_hours_of_few_days_are_few_dates_and_a_baseline_that_came_late_says_nothing() -> None:
    prices, shares = skilled(200)
    accounts = (account("good", "a", shares * 0.1, prices), account("cash", "all_cash", shares * 0.0, prices))
    made = record_of(prices, *accounts)
    hourly = replace(made, at=tuple(FIRST + timedelta(hours=hour) for hour in range(len(made.at))))
    board = board_of(hourly)
    assert board.standings["good"] == "too few" and board.ranks == {}
    assert board.pairs[0].few_dates and board.pairs[0].better is None
    late = board_of(replace(made, accounts=(accounts[0], at_slots(accounts[1], slice(180, None)))))
    assert late.standings["good"] == "not proven"


def test_few_dates_are_the_reason_of_no_claim_only_where_all_bots_have_few() -> None:
    prices, shares = skilled(200)
    good, cash = account("good", "a", shares * 0.0, prices), account("cash", "all_cash", shares * 0.0, prices)
    late, no = (
        replace(at_slots(good, slice(180, None)), bot="late"),
        "No bot is proven to do better than every baseline",
    )
    said = [tuple(conclusions(board_of(record_of(prices, *bots, cash)))) for bots in ((good, late), (late,))]
    assert said == [(f"{no}.",), (f"{no}: there are fewer than 30 dates.",)]
