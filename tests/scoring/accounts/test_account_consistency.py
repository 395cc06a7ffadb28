"""Consistency of accounts, by hand: weights asked for again by replicates, and on days of the same prices."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from predibot.reports.terminal.boards.accounts import consistency_grid
from predibot.reports.views.accounts import consistency_rows
from predibot.scoring.accounts.cohorts import AccountConsistency, account_consistency
from predibot.scoring.accounts.record import AccountRecord, join_accounts
from predibot.scoring.inference.uncertainty import Uncertainty
from tests.scoring.accounts.made_accounts import account, board_of, record_of

PRICES = np.array([[0.5, 0.2], [0.505, 0.2], [0.6, 0.2], [0.6, 0.2]])
FEW = Uncertainty(resamples=200)
Weights = Mapping[int, float]
Found = Mapping[tuple[str, str], AccountConsistency]


def asked(bot: str, *weights: Weights | None) -> AccountRecord:
    """Return an account of which the bot asked for weights, slot by slot; None for a slot without an answer."""
    answers = {
        slot: (np.array([*each], dtype=np.int64), np.array([*each.values()], dtype=np.float64))
        for slot, each in enumerate(weights)
        if each is not None
    }
    return replace(account(bot, "one_shot", np.zeros((4, 2)), PRICES), answers=answers)


def found(*accounts: AccountRecord, sectors: tuple[str, ...] | None = None) -> Found:
    record = replace(record_of(PRICES, *accounts), sectors=sectors)
    return {(each.bot, each.between): each for each in account_consistency(join_accounts(record), FEW)}


def test_replicates_are_compared_pair_by_pair_at_one_slot_cash_too() -> None:
    first, second = asked("x#1", {0: 0.6, 1: 0.4}, {0: 1.0}), asked("x#2", {0: 0.2}, {1: 1.0}, {0: 1.0})
    again = found(first, second)["x", "replicates"]
    # .4 of each market and .8 of cash apart, halved; then everything.
    assert (again.n, again.clusters, again.difference.estimate) == (2, 2, pytest.approx((0.8 + 1.0) / 2))
    assert again.in_common.estimate == pytest.approx((1 / 2 + 0.0) / 2)
    assert again.weight_deviation == pytest.approx(((2 * 0.4**2 + 2 * 1.0) / 4 / 2) ** 0.5)
    assert again.difference.interval is None


def test_days_are_compared_where_what_was_asked_for_hardly_moved() -> None:
    # The first price moves by .005, .095 and 0; the second never.
    again = found(asked("x", {0: 1.0}, {0: 0.5}, {0: 0.5}, {1: 0.5}))["x", "days"]
    assert (again.n, again.difference.estimate) == (2, pytest.approx((0.5 + 0.5) / 2))
    assert found(asked("x", None, {1: 0.3}, {1: 0.3}))["x", "days"].difference.estimate == 0.0
    # Of one that nobody held no price is known; of both in cash there is nothing to move.
    assert found(asked("x", {-3: 1.0}, {-3: 1.0})) == {}
    assert found(asked("x", {}, {}))["x", "days"].in_common.estimate == 1.0


def test_shares_move_relatively() -> None:
    # .005 of .5 is 1 %, .095 of .505 is not.
    assert found(asked("x", {0: 1.0}, {0: 1.0}), sectors=("", ""))["x", "days"].n == 1
    assert found(asked("x", None, {0: 1.0}, {0: 1.0}), sectors=("", "")) == {}


def test_an_answer_without_orders_asks_for_what_is_held() -> None:
    half = np.column_stack([np.full(4, 1.0), np.zeros(4)])
    holder = replace(account("x#1", "one_shot", half, PRICES), answers={0: None})
    again = found(holder, asked("x#2", {0: 0.5}))["x", "replicates"]
    assert again.difference.estimate == pytest.approx(0.0)


def test_models_that_may_know_the_outcomes_are_left_out() -> None:
    assert found(replace(asked("x", {}, {}), knowledge="contaminated")) == {}


def test_a_board_has_a_table_of_it_and_rows() -> None:
    record = join_accounts(record_of(PRICES, asked("x#1", {0: 0.6}), asked("x#2", {0: 0.2})))
    board = replace(board_of(record), consistency=account_consistency(record, FEW))
    (row,) = consistency_rows([board])
    assert (row["game"], row["bot"], row["between"]) == ("portfolio_weights", "x", "replicates")
    assert row["difference"] == pytest.approx(0.4)
    assert consistency_grid(board).rows == (("x", "replicates", "0.4000", "–", "100%", "–", "0.2828", "1", "1"),)
