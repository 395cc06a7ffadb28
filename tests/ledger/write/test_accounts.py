"""Accounts in the ledger: what a game books is kept whole, and read back as what it comes to."""

import random
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy.exc import IntegrityError

from predibot.domain.account import Account, JournalRow
from predibot.domain.clock import format_instant
from predibot.domain.decision import Decision, Label, Order, Subject
from predibot.domain.price import Instrument, Price
from predibot.errors import ClaimLost
from predibot.games.accounts import account_of
from predibot.games.fills import FillModel
from predibot.jobs.verify import verify
from predibot.ledger.read.export import export_rows
from predibot.ledger.read.scoring_arrays import track_record
from predibot.ledger.store import Store
from predibot.ledger.write.accounts import (
    AccountValue,
    add_to_journal,
    add_valuations,
    claim_with_account,
    open_account,
    read_account,
    read_journal,
)
from predibot.ledger.write.claims import Claim, Claimant, claim
from predibot.ledger.write.decisions import DecisionResult, read_decisions
from predibot.ledger.write.runs import StoredRun
from tests.games.toy import SHARE, BuyOrHold, Holding
from tests.ledger.by_hand import DAY, NOW, a_run, claimant, decide, event_of, finished_with, put, rows_of
from tests.ledger.statements import altered, found
from tests.worlds import Worlds

GAME = BuyOrHold()
EVENT = event_of(1)
PORTFOLIO = Subject("portfolio", SHARE.id)
BUY, SELL = Order(SHARE, 82.0), Order(SHARE, 0.5, "shares", "sell")
AT_40, AT_50 = Price(NOW, 40.0, 39.0, 41.0), Price(NOW + DAY, 50.0, 49.0, 51.0)


def opened(store: Store, number: int = 0) -> tuple[StoredRun, int]:
    """Store the run of a day and return it with the account of its bot."""
    at = NOW + number * DAY
    run = a_run(store, EVENT, key=f"daily@{number}", slot_at=at, as_of=at, game=GAME.name)
    with store.write() as connection:
        account = open_account(
            connection, run, "a", PORTFOLIO, mode="replay", deposit_usd=GAME.stake_usd, at=NOW - timedelta(hours=1)
        )
    return run, account


def journal_in(store: Store, account_id: int = 1) -> tuple[JournalRow, ...]:
    """Return the journal of an account."""
    return store.run_read(lambda connection: read_journal(connection, account_id))


def asked(store: Store, run: StoredRun, account_id: int, who: Claimant, *, now: datetime = NOW) -> Claim | str:
    """Ask for the claim on the decision of a run with its account."""
    bot_id, _ = rows_of(store, run, "a")
    with store.write() as connection:
        return claim_with_account(connection, account_id, run, bot_id, PORTFOLIO, who, now=now)


def play(store: Store, number: int, price: Price, *orders: Order, fills: FillModel | None = None) -> Account:
    """Decide on the account of the ledger in the run of a day, and return what the ledger says of it then."""
    run, account_id = opened(store, number)
    before = account_of(journal_in(store, account_id))
    view = GAME.view(PORTFOLIO, [EVENT], venue="toy", account=before)
    decision = Decision(orders=orders)
    booking = GAME.book(decision, replace(view, at=price.at), before, {SHARE: price}, fills or FillModel("mid"))
    done = DecisionResult("recorded", price.at, (EVENT,), decision=decision, booking=booking, account_id=account_id)
    held = asked(store, run, account_id, claimant(began_at=price.at), now=price.at)
    assert isinstance(held, Claim)
    put(store, run, "a", held, replace(done, prices={SHARE: price}))
    return account_of(journal_in(store, account_id))


def test_an_account_is_restored_from_the_ledger_in_run_after_run(store: Store) -> None:
    assert play(store, 0, AT_40, BUY, fills=FillModel("quote")).position(SHARE).shares == 2.0
    held = play(store, 1, AT_50, SELL)
    assert (held.cash_usd, held.position(SHARE).shares, held.position(SHARE).cost_usd) == (18.0 + 25.0, 1.5, 61.5)
    assert (held.paid_in_usd, held.realised_usd) == (100.0, 4.5)
    assert play(store, 2, AT_50) == held
    assert found(store, "SELECT side, unit, amount, price, status FROM orders ORDER BY decision_id") == [
        ("buy", "usd", 82.0, 40.0, "filled"),
        ("sell", "shares", 0.5, 50.0, "filled"),
    ]
    fills = found(store, "SELECT shares, price, cash_usd, model FROM fills ORDER BY decision_id")
    assert fills == [(2.0, 41.0, -82.0, "quote"), (-0.5, 50.0, 25.0, "mid")]
    instrument = "SELECT currency, lowest_price, highest_price FROM instruments WHERE kind = 'equity'"
    assert found(store, instrument) == [("USD", 0.0, None)]
    assert [(row.kind, row.at, row.follows_from) for row in journal_in(store)] == [
        ("deposit", NOW - timedelta(hours=1), ""),
        ("fill", NOW, "decision 1"),
        ("fill", NOW + DAY, "decision 2"),
    ]
    assert verify(store).broken == ()


def test_an_order_that_nobody_takes_is_pending_and_books_nothing(store: Store) -> None:
    held = play(store, 0, Price(NOW, 40.0), Order(SHARE, 10.0), fills=FillModel("quote"))
    assert (held.cash_usd, held.positions) == (100.0, {})
    assert found(store, "SELECT status, note FROM orders") == [("pending", "nobody offers it")]
    assert verify(store).broken == ()


def test_what_an_account_orders_is_no_bet_on_an_event(store: Store) -> None:
    play(store, 0, AT_40, BUY)
    run = a_run(store, EVENT, key="events")
    decide(store, run, "a", finished_with(EVENT, {"m1a": (0.5, 0.6)}))
    with store.read() as connection:
        assert [row["subject_kind"] for row in export_rows(connection, "bets")] == ["event"]
        assert track_record(connection, "polymarket", NOW + DAY).bet_usd.tolist() == [0.5]
        assert [len(each.bets) for each in read_decisions(connection, run.id)] == [1]


def test_labels_are_kept_with_their_decision_which_has_no_money(store: Store) -> None:
    run, account_id = opened(store)
    assert account_id == 1
    bot_id, _ = rows_of(store, run, "a")
    subject = Subject("comment", "c1")
    said = Decision(labels=(Label("c1", "spam", {"spam": 0.75, "ham": 0.25}), Label("c2", "ham")))
    booking = GAME.book(Decision(), Holding(Account(), AT_40, NOW), Account(), {}, FillModel("mid"))
    done = DecisionResult("recorded", NOW, (EVENT,), decision=said, booking=replace(booking, unallocated_usd=None))
    with store.write() as connection:
        held = claim(connection, run.id, bot_id, subject, claimant(), now=NOW)
    assert isinstance(held, Claim)
    put(store, run, "a", held, done)
    labels = found(store, "SELECT item_id, label, probabilities_json FROM labels ORDER BY number")
    assert labels == [("c1", "spam", '{"spam": 0.75, "ham": 0.25}'), ("c2", "ham", "{}")]


def test_a_valuation_is_written_once_and_corrected_by_a_revision(store: Store) -> None:
    play(store, 0, AT_40, Order(SHARE, 80.0))

    def valued(at: datetime, price: Price) -> tuple[object, ...]:
        with store.write() as connection:
            marked = AccountValue(at, read_account(connection, 1), {SHARE: price})
            add_valuations(connection, 1, [marked], interval=timedelta(minutes=10))
            *_, last = export_rows(connection, "valuations")
        return last["at"], last["revision"], last["value_usd"]

    later = NOW + timedelta(minutes=17, seconds=3)
    floored = format_instant(NOW + timedelta(minutes=10))
    assert valued(later, AT_50) == (floored, 1, 120.0)
    assert valued(later + timedelta(minutes=2), AT_50) == (floored, 1, 120.0)
    assert valued(later, AT_40) == (floored, 2, 100.0)
    assert found(store, "SELECT revision, value_usd FROM valuations ORDER BY revision") == [(1, 120.0), (2, 100.0)]
    assert verify(store).broken == ()
    with pytest.raises(ValueError, match="no price of ACME"), store.write() as connection:
        add_valuations(connection, 1, [AccountValue(NOW, read_account(connection, 1))], interval=timedelta(minutes=10))


BROKEN = {
    "UPDATE journal SET cash_usd = cash_usd + 1 WHERE kind = 'fill'": "accounts are their journals",
    "UPDATE journal SET shares = -5 WHERE kind = 'fill'": "accounts are their journals",
    "UPDATE journal SET cash_usd = cash_usd + 1 WHERE kind = 'deposit'": "valuations are folds",
    "UPDATE valuations SET value_usd = value_usd + 0.001": "valuations are folds",
    "UPDATE valuations SET cash_usd = cash_usd + 0.001": "valuations are folds",
    "UPDATE marks SET price = price * 2": "valuations are folds",
    "DELETE FROM marks": "valuations are folds",
    "UPDATE orders SET amount = amount / 2": "fills belong to orders",
    "UPDATE orders SET price = NULL, price_source = NULL": "fills belong to orders",
    "UPDATE fills SET cash_usd = cash_usd * 2": "fills belong to orders",
}


def valued_account() -> None:
    """Make `ledger.db`, in which an account bought shares and was valued a day later."""
    with Store.open("sqlite:///ledger.db") as store:
        play(store, 0, AT_40, Order(SHARE, 80.0))
        with store.write() as connection:
            worth = AccountValue(NOW + DAY, read_account(connection, 1), {SHARE: AT_50})
            add_valuations(connection, 1, [worth], interval=DAY)
        assert verify(store).broken == ()


@pytest.mark.parametrize(("statement", "check"), BROKEN.items())
def test_what_was_changed_in_an_account_is_found_and_named(
    tmp_path: Path, worlds: Worlds, statement: str, check: str
) -> None:
    with Store.open(f"sqlite:///{worlds.copy(valued_account, tmp_path)}/ledger.db") as store:
        altered(store, statement)
        assert check in {each.check for each in verify(store).broken}


def test_any_journal_comes_to_the_same_in_every_database(store: Store) -> None:
    _, account_id = opened(store)
    rng, written = random.Random(4), [JournalRow("deposit", NOW - timedelta(hours=1), GAME.stake_usd)]
    yes = Instrument("toy", "binary_outcome", "m1:YES")
    for number in range(150):
        at, kind = NOW + timedelta(minutes=number), rng.choice(["buy", "sale", "fee", "dividend", "split", "deposit"])
        instrument, usd = rng.choice([SHARE, yes]), rng.uniform(0.001, 900.0)
        held = account_of(written).position(instrument).shares
        if kind == "buy":
            row = JournalRow("fill", at, -usd, instrument, rng.uniform(0.0001, 50.0))
        elif kind in ("sale", "split"):
            if not held:
                continue
            shares = -held * rng.choice([1.0, 0.3]) if kind == "sale" else held
            row = JournalRow("fill" if kind == "sale" else "split", at, usd * (kind == "sale"), instrument, shares)
        else:
            row = JournalRow(kind, at, -usd if kind == "fee" else usd)  # type: ignore[arg-type]
        written.append(row)
    with store.write() as connection:
        for row in written[1:]:
            add_to_journal(connection, account_id, [row])
    assert journal_in(store, account_id) == tuple(written)


def test_what_an_account_cannot_do_is_not_written(store: Store) -> None:
    _, account_id = opened(store)
    with pytest.raises(ValueError, match="takes 1 shares of"), store.write() as connection:
        add_to_journal(connection, account_id, [JournalRow("fill", NOW, 40.0, SHARE, -1.0)])
    with pytest.raises(IntegrityError), store.write() as connection:
        add_to_journal(connection, account_id, [JournalRow("dividend", NOW, 1.0)], resolution=(1, 1))
    assert [row.kind for row in journal_in(store, account_id)] == ["deposit"]


def bought(store: Store, run: StoredRun, account_id: int, held: Claim) -> None:
    """Store the end of a claimed decision that bought a share."""
    before, said = account_of(journal_in(store, account_id)), Decision(orders=(Order(SHARE, 40.0),))
    booking = GAME.book(said, Holding(before, AT_40, NOW), before, {SHARE: AT_40}, FillModel("mid"))
    done = DecisionResult("recorded", NOW, (EVENT,), decision=said, booking=booking, account_id=account_id)
    put(store, run, "a", held, replace(done, prices={SHARE: AT_40}))


def test_an_account_has_one_writer_at_a_time_in_the_order_of_slots(store: Store) -> None:
    (first, account_id), (second, _), (third, _) = (opened(store, number) for number in range(3))
    held = asked(store, first, account_id, claimant())
    assert isinstance(held, Claim)
    assert asked(store, second, account_id, claimant("other")) == "claimed"
    bought(store, first, account_id, held)
    later = asked(store, third, account_id, claimant())
    assert isinstance(later, Claim)
    assert asked(store, second, account_id, claimant()) == "missed"
    bought(store, third, account_id, later)
    assert asked(store, third, account_id, claimant()) == "recorded"
    assert account_of(journal_in(store, account_id)).position(SHARE).shares == 2.0
    assert verify(store).broken == ()


def test_who_was_away_while_his_account_went_on_stores_nothing(store: Store) -> None:
    (first, account_id), (second, _) = (opened(store, number) for number in range(2))
    away = asked(store, first, account_id, claimant("away"))
    assert isinstance(away, Claim)
    held = asked(store, second, account_id, claimant(gone="away"))
    assert isinstance(held, Claim)
    with pytest.raises(ClaimLost, match="this account went on with another run"):
        bought(store, first, account_id, away)
    bought(store, second, account_id, held)
    assert [row.kind for row in journal_in(store, account_id)] == ["deposit", "fill"]


def test_a_replay_and_a_live_run_have_accounts_of_their_own(store: Store) -> None:
    run, account_id = opened(store)
    with store.write() as connection:
        live = open_account(connection, run, "a", PORTFOLIO, mode="live", deposit_usd=7.0, at=NOW)
        again = open_account(connection, run, "a", PORTFOLIO, mode="live", deposit_usd=9.0, at=NOW)
    assert (live, again) == (account_id + 1, account_id + 1)
    assert account_of(journal_in(store, live)).cash_usd == 7.0
