"""What scoring reads of accounts: the fold of each journal, slot by slot, and the prices there."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from predibot.games.accounts import account_of
from predibot.jobs.evaluate import evaluate
from predibot.ledger.read.accounts.scoring import account_records
from predibot.ledger.read.accounts.statement import find_accounts, statement_of
from predibot.ledger.store import Store
from predibot.ledger.write.accounts import read_journal
from predibot.reports.views.accounts import account_rows
from predibot.scoring.accounts.board import account_board, rank_agreements
from predibot.scoring.accounts.cohorts import account_consistency
from predibot.scoring.accounts.record import AccountsRecord
from predibot.scoring.inference.uncertainty import Uncertainty
from predibot.scoring.metrics.conventions import CONVENTIONS
from predibot.scoring.records.part import EVERYTHING, Part
from tests.benchmarks.account_ledgers import Portfolios, fill_accounts, slot
from tests.benchmarks.ledgers import BEGIN
from tests.ledger.statements import altered, found
from tests.worlds import Worlds

SIZE = Portfolios(bots=4, days=40)
LATER = datetime(2030, 1, 1, tzinfo=UTC)
FEW = Uncertainty(resamples=200)


def accounts() -> None:
    """Make `accounts.db`."""
    with Store.open("sqlite:///accounts.db") as store:
        fill_accounts(store, SIZE, np.random.default_rng(5))


@pytest.fixture
def played(tmp_path: Path, worlds: Worlds) -> Iterator[Store]:
    with Store.open(f"sqlite:///{worlds.copy(accounts, tmp_path)}/accounts.db") as store:
        yield store


def record_of(store: Store, as_of: datetime = LATER, part: Part = EVERYTHING) -> AccountsRecord:
    with store.read() as connection:
        (record,) = account_records(connection, "sandbox", as_of, part)
    return record


def test_holdings_before_and_after_each_slot_are_the_fold_of_the_journal_up_to_there(played: Store) -> None:
    record = record_of(played)
    with played.read() as connection:
        journals = {row + 1: read_journal(connection, row + 1) for row in range(SIZE.bots)}
    turns = found(played, "SELECT account_id, journal_number FROM turns ORDER BY account_id, slot_at")
    for number, account in enumerate(record.accounts, 1):
        names = [record.instruments[each] for each in account.held]
        for row, (_, end) in enumerate(each for each in turns if each[0] == number):
            held = account_of(journals[number][:end])
            shares = {name: share for name, share in zip(names, account.shares[row], strict=True) if share}
            assert shares == {each.id: position.shares for each, position in held.positions.items()}
            assert account.cash_usd[row] == pytest.approx(held.cash_usd, abs=1e-9)


def test_replicates_are_one_account_with_the_mean_of_theirs_and_what_each_asked_for(played: Store) -> None:
    apart = {each.bot: each for each in record_of(played).accounts}
    for table, column in (("accounts", "bot"), ("bots", "name")):
        for number in (1, 2):
            altered(played, f"UPDATE {table} SET {column} = 'x#{number}' WHERE {column} = 'bot_{number}'")
    amounts = found(
        played,
        "SELECT orders.amount FROM orders JOIN decisions ON decisions.id = orders.decision_id JOIN bots ON "
        "bots.id = decisions.bot_id WHERE bots.name = 'x#1' AND orders.unit = 'weight' ORDER BY decision_id",
    )
    now = {each.bot: each for each in record_of(played).accounts}
    assert "x" in now and "x#1" not in now and len(now) == len(apart) - 1
    assert now["x"].value_usd == pytest.approx((apart["bot_1"].value_usd + apart["bot_2"].value_usd) / 2)
    first, second = now["x"].replicates
    assert (first.bot, second.bot, len(first.answers)) == ("x#1", "x#2", first.slot.size)
    assert [w for each in first.answers.values() if each is not None for w in each[1].tolist()] == amounts
    again = account_consistency(record_of(played), FEW)
    assert ("x", "replicates", first.slot.size) in [(each.bot, each.between, each.n) for each in again]
    assert [each.bot for each in record_of(played, part=Part(bots=("x#2",))).accounts] == ["x#2"]
    with played.read() as connection:
        assert [each.bot for each in find_accounts(connection, "x", None)] == ["x#1", "x#2"]


def test_values_are_those_of_the_valuations_and_of_what_was_held_before_the_fills(played: Store) -> None:
    record = record_of(played)
    for account in record.accounts:
        prices = np.nan_to_num(record.prices[account.slot][:, account.held])
        worth = (account.shares_before * prices).sum(axis=1) + account.cash_before_usd
        assert account.value_usd == pytest.approx(worth)
        assert account.value_usd[0] == 500.0


def test_a_price_is_the_payout_from_the_settlement_on(played: Store) -> None:
    record = record_of(played)
    first = [number for number, name in enumerate(record.instruments) if name in ("m1:YES", "m1:NO")]
    paid = {name: record.prices[30:, number] for number in first for name in (record.instruments[number],)}
    assert paid and all((prices == (name == "m1:YES")).all() for name, prices in paid.items())


def test_a_quote_of_one_side_is_one_of_the_other_which_nobody_held_then(played: Store) -> None:
    # Rows of NO are even: what was quoted is dearer for YES than what was observed.
    altered(played, "UPDATE marks SET price = price + .1 - .2 * (instrument_row % 2 = 0)")
    record = record_of(played)
    assert record.market is not None
    both = [np.flatnonzero(record.market == each) for each in np.unique(record.market)]
    prices = [record.prices[:, each] for each in both if each.size == 2]
    summed = np.concatenate([each.sum(axis=1) for each in prices])
    assert prices and summed[~np.isnan(summed)] == pytest.approx(1.0)


def test_nothing_later_than_the_instant_is_read(played: Store) -> None:
    whole, early = record_of(played), record_of(played, BEGIN + timedelta(days=20))
    assert len(early.at) == 21
    for account, before in zip(whole.accounts, early.accounts, strict=True):
        assert before.value_usd.tolist() == account.value_usd[:21].tolist()
        assert sum(before.decisions.values()) == 21


@pytest.mark.parametrize("day", [20, SIZE.days - 1])
def test_orders_that_ended_later_are_pending_as_of_an_instant_and_their_fills_unseen(played: Store, day: int) -> None:
    as_of = BEGIN + timedelta(days=day)
    fills = "INSERT INTO fills SELECT decision_id, number, number, 2.0, 0.5, 0.0, -1.0, 'mid' FROM orders"
    altered(played, f"{fills} WHERE status = 'filled'")
    altered(played, "UPDATE orders SET note = 'nobody offered all' WHERE status = 'filled'")
    with played.read() as connection:
        (name,) = find_accounts(connection, "bot_1", None)
        *before, last = statement_of(connection, name, as_of).allocations
    assert {order.status for each in before for order in each.orders} == {"filled"}
    assert {order.note for each in before for order in each.orders} == {"nobody offered all"}
    assert last.orders and last.pending == last.orders
    assert {(order.shares, order.cash_usd, order.note) for order in last.orders} == {(0.0, 0.0, "")}
    pending = {each.bot: each.pending for each in record_of(played, as_of).accounts}
    assert pending["bot_1"] == len(last.orders) == 10 and pending["all_cash"] == 0


def test_only_what_is_asked_for_is_read(played: Store) -> None:
    assert [each.bot for each in record_of(played, part=Part(bots=("bot_1",))).accounts] == ["bot_1"]
    with played.read() as connection:
        assert account_records(connection, "sandbox", LATER, Part(recipe="another")) == ()
        assert account_records(connection, "polymarket", LATER) == ()


def test_a_correction_of_a_valuation_takes_its_place(played: Store) -> None:
    before = record_of(played).accounts[0]
    again = "INSERT INTO valuations SELECT account_id, at, 2, journal_number, cash_usd, 123.0 FROM valuations"
    altered(played, f"{again} WHERE account_id = 1 AND at = :at", at=slot(3))
    after = record_of(played).accounts[0]
    assert after.value_usd[3] == 123.0
    assert np.delete(after.value_usd, 3).tolist() == np.delete(before.value_usd, 3).tolist()
    assert (after.shares == before.shares).all()


def test_a_board_has_baselines_as_lines_and_no_rank_for_luck(played: Store) -> None:
    board = account_board(record_of(played), CONVENTIONS["predibot"], FEW)
    assert [board.standings[each.bot] for each in board.scores] == ["not proven", *["baseline"] * 3]
    assert board.ranks == {}
    cash = next(each for each in board.scores if each.bot == "all_cash")
    assert (cash.last_usd, cash.behaviour.cash_share, cash.behaviour.turnover) == (500.0, 1.0, 0.0)
    assert {pair.baseline for pair in board.pairs} == {"all_cash", "bot_0", "bot_1"}
    assert board.delay_bands[0].bots == 1


def test_a_bot_whose_model_may_have_read_the_end_is_in_no_score_and_one_without_a_cutoff_apart(played: Store) -> None:
    for bot, cutoff in (("bot_1", "2027-01-01"), ("bot_2", None)):
        with_model = "UPDATE bots SET model = 'm', knowledge_cutoff = :cutoff WHERE name = :bot"
        altered(played, with_model, bot=bot, cutoff=cutoff)
    # In the sandbox nobody can have read anything.
    altered(played, "UPDATE runs SET venue_name = 'recorded'")
    board = account_board(record_of(played), CONVENTIONS["predibot"], FEW)
    assert "bot_1" not in {each.bot for each in board.scores}
    assert any("bot_1" in note for note in board.notes)
    assert board.scores[-1].bot == "bot_2" and board.scores[-1].knowledge == "unknown"


def test_every_convention_makes_figures(played: Store) -> None:
    record = record_of(played)
    for convention in CONVENTIONS.values():
        for score in account_board(record, convention, FEW).scores:
            assert score.equity is not None and not score.why_missing
            assert score.cumulative_return == pytest.approx(score.values[-1] / 500.0 - 1.0)


@pytest.mark.parametrize("convention", ["livetradebench", "predibench"])
def test_slots_that_a_convention_has_no_year_for_miss_only_what_is_annual(played: Store, convention: str) -> None:
    days = 7 if convention == "livetradebench" else 3
    record = record_of(played)
    record = replace(record, at=tuple(BEGIN + timedelta(days=days * row) for row in range(len(record.at))))
    board = account_board(record, CONVENTIONS[convention], FEW)
    ours = {each.bot: each for each in account_board(record, CONVENTIONS["predibot"], FEW).scores}
    annual = ("annualized_return", "volatility", "sharpe", "sortino", "calmar", "periods_per_year")
    for score in board.scores:
        assert score.equity is not None and {getattr(score.equity, name) for name in annual} == {None}
        same = ours[score.bot].equity
        for name in ("cumulative_return", "max_drawdown", "win_rate", "value_at_risk", "longest_losing_run"):
            assert getattr(score.equity, name) == getattr(same, name) is not None
        assert score.intervals.get("cumulative_return") == ours[score.bot].intervals.get("cumulative_return")
        assert "sharpe" not in score.intervals
    note = f"all accounts: no annual figures, as {convention} has none for values {days} days apart"
    assert note in board.notes
    (row, *_) = account_rows([board])
    assert row["sharpe"] is None and row["cumulative_return"] is not None


def test_an_account_that_fell_below_zero_shows_its_return_and_its_fall(played: Store) -> None:
    record = record_of(played)
    values = record.accounts[0].value_usd.copy()
    values[-3:] = (-50.0, -20.0, -25.0)
    owing = replace(record.accounts[0], value_usd=values, last_usd=-25.0, last_cash_usd=-25.0)
    owed = replace(record, accounts=(owing, *record.accounts[1:]))
    board = account_board(owed, CONVENTIONS["predibot"], FEW)
    in_mana = account_board(owed, CONVENTIONS["predibot"], FEW, currency="MANA")
    for said, sign in ((board, "$"), (in_mana, "M$")):
        assert any(note.startswith(f"{owing.bot} owes {sign}25.00: a payout was reversed") for note in said.notes)
    score = board.scores[-1]
    assert (score.bot, score.cumulative_return, score.last_usd) == (owing.bot, -1.05, -25.0)
    assert score.equity is not None and score.equity.max_drawdown == pytest.approx(1.0 + 50.0 / values.max())
    assert score.equity.win_rate is score.equity.sharpe is None and not score.intervals
    assert any(note.startswith(f"{owing.bot}: no figures but return and drawdown") for note in board.notes)


def test_an_evaluation_that_was_kept_is_the_same_and_is_made_again_after_a_new_valuation(played: Store) -> None:
    def worth() -> list[tuple[str, float]]:
        (board,) = evaluate(store=played, venue_name="sandbox", as_of=LATER).accounts
        return [(each.bot, each.last_usd) for each in board.scores]

    assert worth() == worth()
    altered(played, "UPDATE valuations SET value_usd = 2000.0 WHERE account_id = 4 AND at = :at", at=slot(39))
    assert dict(worth())["all_cash"] == 2000.0


def test_orders_of_bots_agree_as_spearman_says_and_two_bots_are_too_few() -> None:
    agreed = rank_agreements({"a": list("wxyz"), "b": list("xwyz"), "c": list("zw")})
    assert [(each.one, each.other, each.bots) for each in agreed] == [("a", "b", 4), ("a", "c", 2), ("b", "c", 2)]
    # 1 - 6 * (1 + 1) / (4 * 15).
    assert agreed[0].correlation == pytest.approx(0.8)
    assert agreed[1].correlation is None
