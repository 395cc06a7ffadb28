"""Losses and gains: the bets that cost most, and those that brought most."""

from datetime import date

import pytest

from predibot.scoring.records.losses import DayGain, daily_gains, largest_gains, largest_losses
from tests.scoring.made_records import DAY, Bet, Made, Paid, Seen, record_of

RECORD = record_of(
    [
        Made("a", at=0.0, event=1, bets=(Bet(0, 0.5, 0.5, 0.9), Bet(1, -0.5, 0.2, 0.1))),
        Made("b", at=1.0, event=1, bets=(Bet(0, -1.0, 0.5, 0.2),)),
        Made("b", at=2.0, event=2, bets=(Bet(2, 1.0, 0.4),)),
        Made("c", at=2.0, event=2, bets=(Bet(2, 1.0, 0.4, 0.8),), knowledge="contaminated"),
        Made("d", at=3.0, event=2, bets=(Bet(2, 0.8, 0.4, 0.8),), knowledge="unknown"),
        Made("e", at=3.0, event=3, bets=(Bet(3, 1.0, 0.4, 0.8),)),
        Made("f", at=3.0, event=4, bets=(Bet(4, 0.09, 0.02, 0.8),)),
    ],
    seen=[Seen(2, 9.0, 0.1), Seen(4, 9.0, 0.02 - 1e-17)],
    paid={0: Paid(5.0, 0.0), 1: Paid(5.0, 1.0)},
    as_of=10.0,
)


def test_the_largest_loss_comes_first_by_the_payout_or_the_last_price() -> None:
    found = largest_losses(RECORD, 10)
    # 1.00 at .4 is worth .1 / .4; 0.80 likewise; 0.50 on YES and 0.50 on NO lost all.
    assert [(loss.bot, loss.market, round(loss.gain_usd, 6)) for loss in found] == [
        ("b", 2, -0.75), ("d", 2, -0.6), ("a", 0, -0.5), ("a", 1, -0.5),
    ]  # fmt: skip
    assert [(loss.paid, loss.later_price_yes) for loss in found] == [
        (False, 0.1),
        (False, 0.1),
        (True, 0.0),
        (True, 1.0),
    ]


def test_a_loss_carries_what_was_bet_and_said() -> None:
    loss = largest_losses(RECORD, 3)[2]
    assert (loss.decided_at, loss.bet_usd, loss.price_yes, loss.probability) == (0.0, 0.5, 0.5, 0.9)
    silent = largest_losses(RECORD, 1)[0]
    assert (silent.probability, silent.decided_at) == (None, 2.0 * DAY)


def test_as_many_are_listed_as_were_asked_for_and_no_gain_among_them() -> None:
    assert [len(largest_losses(RECORD, most)) for most in (0, 2, 100)] == [0, 2, 4]
    assert all(loss.gain_usd < 0.0 for loss in largest_losses(RECORD, 100))
    assert largest_losses(record_of([], as_of=1.0), 5) == ()


def test_the_largest_gain_comes_first_and_no_loss_is_among_them() -> None:
    made = [
        Made("a", at=0.0, event=1, bets=(Bet(0, 0.5, 0.5, 0.9), Bet(1, 0.5, 0.2, 0.9))),
        Made("b", at=0.0, event=1, bets=(Bet(0, -1.0, 0.5, 0.2),)),
    ]
    record = record_of(made, paid={0: Paid(5.0, 1.0), 1: Paid(5.0, 1.0)}, as_of=10.0)
    # 0.50 at .5 pays 1, at .2 it pays 2.50.
    assert [(each.bot, each.market, each.gain_usd) for each in largest_gains(record, 5)] == [
        ("a", 1, pytest.approx(2.0)),
        ("a", 0, pytest.approx(0.5)),
    ]
    assert [each.bot for each in largest_losses(record, 5)] == ["b"]


@pytest.mark.parametrize("bot", ["a", "b", "c", "d", "e", "f"])
def test_the_days_of_a_bot_add_up_to_its_losses_and_gains(bot: str) -> None:
    bets = [*largest_losses(RECORD, 100), *largest_gains(RECORD, 100)]
    days = daily_gains(RECORD, bot)
    assert sum(day.gain_usd for day in days) == pytest.approx(sum(bet.gain_usd for bet in bets if bet.bot == bot))


def test_a_day_says_of_how_many_bets_nobody_knows_what_they_came_to() -> None:
    assert daily_gains(RECORD, "a") == (DayGain(date(1970, 1, 1), -1.0, 2, 0),)
    assert [(day.day.day, day.gain_usd) for day in daily_gains(RECORD, "b")] == [(2, 1.0), (3, -0.75)]
    assert daily_gains(RECORD, "e") == (DayGain(date(1970, 1, 4), 0.0, 0, 1),)
    # What its models may have known is in no score.
    assert [day.bets for day in daily_gains(RECORD, "c")] in ([], [0])
    assert daily_gains(RECORD, "nobody") == ()
