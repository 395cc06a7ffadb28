"""Replicates with accounts: one account in equal parts on the board, and their spread beside it."""

from dataclasses import replace

import numpy as np
import pytest

from predibot.reports.terminal.boards.accounts import board_grid
from predibot.reports.views.accounts import account_rows, board_document
from predibot.scoring.accounts.record import AccountsRecord, join_accounts
from tests.scoring.accounts.made_accounts import account, at_slots, board_of, record_of

PRICES = np.array([[0.5, 0.5], [0.6, 0.5], [0.55, 0.4], [0.7, 0.45]])


def record(*shares: float) -> AccountsRecord:
    """Return the accounts `x#1`, `x#2` and so on, each with so many shares of the first market for a dollar."""
    held = [np.column_stack([np.full(4, each), np.zeros(4)]) for each in shares]
    accounts = [account(f"x#{number}", "one_shot", each, PRICES) for number, each in enumerate(held, 1)]
    return record_of(PRICES, *accounts)


def test_copies_of_an_account_score_as_the_account() -> None:
    (alone,) = board_of(record(1.0)).scores
    (joined,) = board_of(join_accounts(record(1.0, 1.0, 1.0))).scores
    assert (joined.bot, joined.replicates and joined.replicates.count) == ("x", 3)
    for name in ("values", "equity", "delays", "behaviour", "implied"):
        one, other = getattr(alone, name), getattr(joined, name)
        assert str(one) == str(other), name


def test_the_line_is_what_an_equal_part_in_each_comes_to_and_the_spread_is_theirs() -> None:
    apart = {each.bot: each for each in board_of(record(1.0, 0.2)).scores}
    board = board_of(join_accounts(record(1.0, 0.2)))
    (joined,) = board.scores
    assert joined.values == pytest.approx(np.mean([each.values for each in apart.values()], axis=0))
    assert joined.replicates is not None
    returns = [each.cumulative_return or 0.0 for each in apart.values()]
    spread = joined.replicates.cumulative_return
    assert spread is not None and joined.cumulative_return == pytest.approx(spread.mean)
    assert (spread.low, spread.high) == pytest.approx((min(returns), max(returns)))
    cash = [each.behaviour.cash_share or 0.0 for each in apart.values()]
    assert joined.behaviour.cash_share == pytest.approx(np.mean(cash))
    assert board_document(board)["leaderboard"][0]["replicates"]["count"] == 2  # type: ignore[index]
    (row,) = account_rows([board])
    assert (row["replicates"], row["replicates_return_low"]) == (2, pytest.approx(min(returns)))
    assert "2: +4.0% to +20%" in board_grid(board).rows[0]


def test_a_replicate_that_owes_is_named_though_the_mean_account_owes_nothing() -> None:
    found = record(1.0, 0.2)
    debtor = replace(found.accounts[1], last_cash_usd=-5.0)
    board = board_of(join_accounts(replace(found, accounts=(replace(found.accounts[0], last_cash_usd=50.0), debtor))))
    assert board.scores[0].owing_usd == 0.0
    assert any(note.startswith("x#2 owes $5.00") for note in board.notes)


def test_replicates_without_a_common_slot_stay_apart_and_one_that_missed_a_slot_has_the_others() -> None:
    found = record(1.0, 0.2)
    first, second = found.accounts

    def at(*slots: int) -> AccountsRecord:
        return join_accounts(replace(found, accounts=(at_slots(first, [0, 1, 2]), at_slots(second, [*slots]))))

    assert [each.bot for each in at(3).accounts] == ["x#1", "x#2"]
    (joined,) = at(0, 2).accounts
    assert joined.slot.tolist() == [0, 2]
    assert joined.value_usd == pytest.approx((first.value_usd[[0, 2]] + second.value_usd[[0, 2]]) / 2.0)
    (score,) = board_of(at(0, 2)).scores
    returns = [each.value_usd[2] / each.value_usd[0] - 1.0 for each in (first, second)]
    spread = score.replicates and score.replicates.cumulative_return
    assert spread and (spread.low, spread.high) == pytest.approx((min(returns), max(returns)))
