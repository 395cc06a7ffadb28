"""Accounts: that the contract of games carries one, from the words a bot is told to the fold of its journal."""

import json
import random
import re
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.contracts import Context, Game
from predibot.domain.account import Account, JournalRow, Position
from predibot.domain.decision import Decision, Forecast, Order, Subject
from predibot.domain.price import Instrument, Price, PricePath, PricePoint
from predibot.errors import AnswerError, PluginError, UsageError
from predibot.games.accounts import account_of, accounts_of, value_usd
from predibot.games.fills import FillModel
from predibot.plugins.strategies import load_strategy, spec_of
from tests.agents.scripted import NOW, ScriptedModel, rain, toolbox
from tests.games.toy import SHARE, BuyOrHold, Holding

GAME = BuyOrHold()
PORTFOLIO = Subject("portfolio", SHARE.id)
AT_40, AT_50 = Price(NOW, 40.0, 39.0, 41.0), Price(NOW, 50.0, 49.0, 51.0)


def opened(*more: JournalRow) -> Account:
    return account_of((JournalRow("deposit", NOW, GAME.stake_usd), *more))


def context(account: Account, **more: Any) -> Context:
    view = GAME.view(PORTFOLIO, [rain("m1", price=0.4)], venue="toy", account=account)
    return Context(NOW, view, GAME, random.Random(1), account, **more)


def test_the_toy_keeps_the_contract_of_games() -> None:
    game: Game = GAME
    assert game.subjects([rain("m1"), rain("m2")]) == (PORTFOLIO,)
    with pytest.raises(UsageError, match="is no portfolio"):
        game.view(Subject("event", "e1"), [rain("m1")], venue="toy")


@pytest.mark.parametrize("strategy", ["one_shot", "tool_agent"])
def test_an_agent_that_knows_nothing_of_a_game_buys_sells_and_holds_in_it(strategy: str) -> None:
    account, journal = opened(), [JournalRow("deposit", NOW, GAME.stake_usd)]
    answers = [
        ({"action": "BUY", "amount": 80}, AT_40, (20.0, 2.0)),
        ({"action": "HOLD"}, AT_50, (20.0, 2.0)),
        ({"action": "SELL", "amount": 0.5}, AT_50, (45.0, 1.5)),
    ]
    for said, price, (cash_usd, shares) in answers:
        model = ScriptedModel([json.dumps(said) if strategy == "one_shot" else ("final_answer", said)])
        seen = context(account, model=lambda _name, model=model: model, tools=toolbox())
        more = {"min_searches": 0, "min_pages": 0} if strategy == "tool_agent" else {}
        decision = load_strategy(spec_of(strategy, {"model": "any", **more})).decide(seen)
        assert isinstance(decision, Decision), decision
        told = "\n".join(message.text for message in model.requests[0].messages)
        assert f"${account.cash_usd:g} and {account.position(SHARE).shares:g} shares at $40." in told
        assert not re.search(r"\b(bets?|markets?|probability)\b", told)
        journal += GAME.book(decision, seen.view, account, {SHARE: price}, FillModel("mid")).journal
        account = account_of(journal)
        assert (account.cash_usd, account.position(SHARE).shares) == (cash_usd, shares)
    # Half a share cost $20 of the $80, and brought $25.
    assert (account.realised_usd, account.position(SHARE).cost_usd) == (5.0, 60.0)
    assert GAME.worth_usd(account, AT_50) == 120.0


def test_a_complaint_of_the_game_goes_back_to_the_model() -> None:
    answers = [{"action": "BUY", "amount": 101}, {"action": "SLEEP"}, {"action": "BUY", "amount": 100}]
    model = ScriptedModel([json.dumps(each) for each in answers])
    decision = load_strategy(spec_of("one_shot", {"model": "any"})).decide(context(opened(), model=lambda _: model))
    assert decision == Decision(orders=(Order(SHARE, 100.0),))
    told = [request.messages[-1].text for request in model.requests[1:]]
    assert "you can buy at most 100, and asked for 101; lower it" in told[0]
    assert "'SLEEP'" in told[1] and told[1].index("<<untrusted") < told[1].index("'SLEEP'")


def test_a_strategy_for_events_is_told_that_there_is_none() -> None:
    with pytest.raises(PluginError, match=r"game 'buy_or_hold' is not on one event; read context.view"):
        load_strategy(spec_of("market_price")).decide(context(opened()))


def test_who_fills_at_quotes_pays_the_ask_gets_the_bid_and_waits_where_there_is_none() -> None:
    holding = Holding(opened(), AT_40, NOW)
    bought = GAME.book(
        Decision(orders=(Order(SHARE, 82.0),)), holding, holding.account, {SHARE: AT_40}, FillModel("quote")
    )
    assert [(fill.shares, fill.price, fill.model) for fill in bought.orders[0].fills] == [(2.0, 41.0, "quote")]
    held = opened(*bought.journal)
    sale = Decision(orders=(Order(SHARE, 2.0, "shares", "sell"),))
    sold = GAME.book(sale, Holding(held, AT_50, NOW), held, {SHARE: AT_50}, FillModel("quote"))
    assert opened(*bought.journal, *sold.journal).cash_usd == pytest.approx(18.0 + 98.0)
    waiting = GAME.book(sale, Holding(held, AT_50, NOW), held, {SHARE: Price(NOW, 50.0)}, FillModel("quote"))
    assert (waiting.orders[0].status, waiting.journal) == ("pending", ())


def test_a_price_may_be_above_one_where_its_kind_of_instrument_can_cost_that() -> None:
    points = (PricePoint(NOW, 99_000.0),)
    assert PricePath(SHARE, points).points == points
    with pytest.raises(ValueError, match=r"outside \[0, 1\]"):
        PricePath(Instrument("toy", "binary_outcome", "m1:YES"), points)


AMOUNTS = st.floats(0.01, 1000.0)
STEPS = st.lists(st.tuples(st.sampled_from(["fill", "sale", "fee", "dividend", "split", "deposit"]), AMOUNTS, AMOUNTS))


@given(STEPS)
def test_cash_and_cost_are_what_was_paid_in_and_realised_after_every_row(steps: list[tuple[str, float, float]]) -> None:
    rows: list[JournalRow] = []
    for number, (kind, shares, cash_usd) in enumerate(steps):
        at, held = NOW + timedelta(minutes=number), account_of(rows).position(SHARE).shares
        if kind in ("sale", "split") and not held:
            continue
        if kind == "sale":
            rows.append(JournalRow("fill", at, cash_usd, SHARE, -min(shares, held)))
        elif kind in ("fill", "split"):
            rows.append(JournalRow(kind, at, -cash_usd if kind == "fill" else 0.0, SHARE, shares))  # type: ignore[arg-type]
        else:
            rows.append(JournalRow(kind, at, -cash_usd if kind == "fee" else cash_usd))  # type: ignore[arg-type]
        account = account_of(rows)
        cost_usd = sum(position.cost_usd for position in account.positions.values())
        made_usd = account.paid_in_usd + account.realised_usd + account.dividends_usd - account.fees_usd
        assert account.cash_usd + cost_usd == pytest.approx(made_usd, abs=1e-6)
        assert all(position.shares > 0.0 for position in account.positions.values())


def test_buying_again_averages_cost_and_a_payout_ends_the_position() -> None:
    # The example of the contract: 10 at .4 then 5 at .8 cost 8 together; 5 sold leave 8 x 10/15.
    yes = Instrument("toy", "binary_outcome", "m1:YES")
    rows = [JournalRow("fill", NOW, -4.0, yes, 10.0), JournalRow("fill", NOW, -4.0, yes, 5.0)]
    assert opened(*rows).position(yes) == Position(15.0, 8.0)
    reduced = opened(*rows, JournalRow("fill", NOW, 3.0, yes, -5.0))
    assert reduced.position(yes).cost_usd == pytest.approx(8.0 * 10 / 15)
    won = opened(*rows, JournalRow("settlement", NOW, 15.0, yes, -15.0))
    assert (dict(won.positions), won.realised_usd) == ({}, 7.0)
    with pytest.raises(ValueError, match="takes 16 shares"):
        opened(*rows, JournalRow("settlement", NOW, 16.0, yes, -16.0))
    with pytest.raises(ValueError, match="no price of m1:YES"):
        value_usd(reduced, {})


def test_a_reversed_settlement_leaves_the_account_as_if_it_had_not_been() -> None:
    yes = Instrument("toy", "binary_outcome", "m1:YES")
    bought = [JournalRow("fill", NOW, -4.0, yes, 10.0)]
    won, undone = JournalRow("settlement", NOW, 10.0, yes, -10.0), JournalRow("reversal", NOW, -10.0, yes, 10.0)
    assert opened(*bought, won, undone) == opened(*bought)
    # Settled again, at the other payout.
    lost = opened(*bought, won, undone, JournalRow("settlement", NOW, 0.0, yes, -10.0))
    assert (lost.cash_usd, lost.realised_usd, dict(lost.positions)) == (96.0, -4.0, {})
    # What was won is spent by then: the account owes it.
    spent = [*bought, won, JournalRow("fill", NOW, -105.0, SHARE, 2.0), undone]
    assert (opened(*spent).cash_usd, opened(*spent).position(yes)) == (-9.0, Position(10.0, 4.0))
    for rows, said in ((bought, "was not settled"), ([*bought, won], "a reversal of 9 shares")):
        with pytest.raises(ValueError, match=said):
            opened(*rows, JournalRow("reversal", NOW, -9.0, yes, 9.0))


def test_a_delisted_share_leaves_for_its_stated_payout() -> None:
    gone = opened(JournalRow("fill", NOW, -80.0, SHARE, 2.0), JournalRow("delisting", NOW, 30.0, SHARE, -2.0))
    assert (gone.cash_usd, gone.realised_usd, dict(gone.positions)) == (50.0, -50.0, {})


def test_a_forecast_where_only_orders_are_wanted_is_complained_about() -> None:
    holding = Holding(opened(), AT_40, NOW)
    with pytest.raises(AnswerError, match="only orders are taken"):
        GAME.book(Decision((Forecast("m1", 0.5),)), holding, holding.account, {SHARE: AT_40}, FillModel("mid"))


def test_what_is_not_held_is_named_by_its_id() -> None:
    with pytest.raises(ValueError, match="takes 5 shares of ACME, and 0 are held"):
        account_of([JournalRow("fill", NOW, 1.0, SHARE, -5.0)])


def test_a_split_changes_shares_and_what_one_cost_and_a_dividend_is_cash() -> None:
    bought = JournalRow("fill", NOW, -80.0, SHARE, 2.0)
    four = opened(bought, JournalRow("split", NOW, 0.0, SHARE, 6.0), JournalRow("dividend", NOW, 3.0, SHARE))
    assert (four.position(SHARE), four.cash_usd, four.dividends_usd) == (Position(8.0, 80.0), 23.0, 3.0)
    half = opened(bought, JournalRow("split", NOW, 0.0, SHARE, -1.0), JournalRow("fill", NOW, 90.0, SHARE, -1.0))
    assert (dict(half.positions), half.realised_usd) == ({}, 10.0)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([JournalRow("split", NOW, 0.0, SHARE, 1.0)], "a split of 0 shares"),
        ([JournalRow("fill", NOW, -80.0, SHARE, 2.0), JournalRow("split", NOW, 0.0, SHARE, -2.0)], "a split of 2"),
        ([JournalRow("fill", NOW, -80.0, SHARE, 2.0), JournalRow("split", NOW, 1.0, SHARE, 2.0)], r"for \$1"),
        ([JournalRow("settlement", NOW, 1.0, SHARE, 2.0)], "a settlement adds 2 shares"),
        ([JournalRow("fill", NOW, 1.0)], "a fill of nothing"),
    ],
)
def test_a_row_that_its_kind_does_not_have_is_refused(rows: list[JournalRow], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        opened(*rows)


def test_each_row_of_a_journal_has_its_account() -> None:
    rows = [JournalRow("deposit", NOW, 100.0), JournalRow("fill", NOW, -80.0, SHARE, 2.0)]
    rows += [JournalRow("refund", NOW, 80.0, SHARE, -2.0), JournalRow("reversal", NOW, -80.0, SHARE, 2.0)]
    assert list(accounts_of(rows)) == [account_of(rows[:end]) for end in range(1, 5)]
