"""The laws of accounts in the ledger: what is stored on either database is, to the bit, what it was in memory."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import count

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule, run_state_machine_as_test

from predibot.domain.account import JournalRow
from predibot.domain.decision import Subject
from predibot.domain.price import Instrument, Price
from predibot.games.accounts import account_of
from predibot.ledger.read.accounts.invariants import checks_of_accounts
from predibot.ledger.read.invariants import Checked
from predibot.ledger.store import Store
from predibot.ledger.write.accounts import (
    AccountValue,
    add_to_journal,
    add_valuations,
    open_account,
    read_account,
    read_journal,
)
from predibot.ledger.write.events import catalogue
from predibot.ledger.write.prices_and_resolutions import add_resolutions
from tests.games.holdings import AT, bought
from tests.laws.test_account_laws import MARKETS, OUTCOMES, PAYOUTS, SIDES, STOCK, Accounts
from tests.ledger.by_hand import a_run, event_of
from tests.ledger.databases import address, postgres, store
from tests.soaks import ONE_DATABASE

__all__ = ["address", "postgres", "store"]

EVERY = timedelta(minutes=10)
UNDECIDED = ("follows from no decision", "of decision None")
"""What verify says of these accounts, whose rows follow from no decision."""
# To look for a smaller failure takes minutes of writing to databases; the laws without one find it first.
UNSHRUNK = settings(max_examples=8, stateful_step_count=12, phases=[Phase.generate])


class StoredAccounts(Accounts):
    """The same account, each row of which is written to a ledger."""

    def __init__(self, ledger: Store, number: int) -> None:
        super().__init__()
        self.ledger, self.number, self.account_id = ledger, number, 0

    @initialize(cash_usd=st.floats(1.0, 1_000.0))
    def open(self, cash_usd: float) -> None:
        """Open an account on three markets that no other example plays."""
        event = event_of(self.number, len(MARKETS))
        run = a_run(self.ledger, event, key=f"daily@{self.number}", as_of=AT, game="buy_or_hold")
        with self.ledger.write() as connection:
            subject = Subject("portfolio", str(self.number))
            self.account_id = open_account(connection, run, "a", subject, mode="replay", deposit_usd=cash_usd, at=AT)
            rows = catalogue(connection, run.id).market_rows
        self.row_of = {name: rows[market.id] for name, market in zip(MARKETS, event.markets, strict=True)}
        self.stored_as = {STOCK: replace(STOCK, id=f"ACME{self.number}")} | {
            OUTCOMES[name, side]: market.ref.instrument("polymarket", side)  # type: ignore[arg-type]
            for name, market in zip(MARKETS, event.markets, strict=True)
            for side in SIDES
        }
        super().open(cash_usd)

    def _write(self, rows: Iterable[JournalRow], *, is_settlement: bool = False) -> None:
        rows = list(rows)
        with self.ledger.write() as connection:
            # The first deposit was made when it was opened.
            for row in rows if self.journal else ():
                market_row = self.row_of[self._market(row.instrument)] if row.revision and row.instrument else 0
                resolution = (market_row, row.revision) if row.revision else None
                add_to_journal(connection, self.account_id, [self._stored(row)], resolution=resolution)
        super()._write(rows, is_settlement=is_settlement)

    @rule(market=st.sampled_from(MARKETS), payout=PAYOUTS)
    def resolve(self, market: str, payout: float | None) -> None:
        before = len(self.resolutions.get(OUTCOMES[market, "YES"], ()))
        super().resolve(market, payout)
        new = [said for _, said in self.resolutions.get(OUTCOMES[market, "YES"], ())[before:]]
        with self.ledger.write() as connection:
            add_resolutions(connection, self.row_of[market], new, stored=before, seen_at=self.at)

    @rule()
    def value(self) -> None:
        self.at += EVERY
        super().value()
        prices = {self.stored_as[each]: Price(self.at, mid) for each, mid in self.mids.items()}
        with self.ledger.write() as connection:
            worth = AccountValue(self.at, read_account(connection, self.account_id), prices)
            add_valuations(connection, self.account_id, [worth], interval=EVERY)

    def teardown(self) -> None:
        if not self.account_id:
            return
        with self.ledger.read() as connection:
            read = account_of(read_journal(connection, self.account_id))
        known = {self.stored_as[each]: position for each, position in self.account.positions.items()}
        assert read == replace(self.account, positions=known)
        assert not list(broken(self.ledger))

    def _stored(self, row: JournalRow) -> JournalRow:
        return replace(row, instrument=row.instrument and self.stored_as[row.instrument])

    @staticmethod
    def _market(instrument: Instrument | None) -> str:
        return next(name for (name, _), each in OUTCOMES.items() if each == instrument)


def broken(ledger: Store) -> Iterator[str]:
    """Yield what verify says of accounts, but for what follows from no decision: here nobody decides."""
    with ledger.read() as connection:
        for check in checks_of_accounts(connection, Checked()):
            yield from (each.seen for each in check if not any(word in each.seen for word in UNDECIDED))


@ONE_DATABASE
def test_stored_accounts_keep_the_laws(store: Store) -> None:
    numbers = count(1)
    run_state_machine_as_test(lambda: StoredAccounts(store, next(numbers)), settings=UNSHRUNK)


@ONE_DATABASE
@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([bought(STOCK, 2.0, 60.0)], "leaves $-20; money is never borrowed"),
        ([bought(STOCK, 1.0, 100.0), JournalRow("fee", AT, -1.0)], "a fee, leaves $-1; money is never borrowed"),
        ([bought(STOCK, 1.0, 150.0), bought(STOCK, 1.0, 1.0)], "row 3 buys while the account owes $50"),
    ],
)
def test_money_that_was_borrowed_is_found(store: Store, rows: list[JournalRow], said: str) -> None:
    run = a_run(store, event_of(1), as_of=AT, game="buy_or_hold")
    with store.write() as connection:
        subject = Subject("portfolio", "one")
        account_id = open_account(connection, run, "a", subject, mode="replay", deposit_usd=100.0, at=AT)
        add_to_journal(connection, account_id, rows)
    assert any(said in seen for seen in broken(store))
