"""The laws of accounts: over random sequences of everything that can happen to one, and for every fill model."""

import math
from collections.abc import Iterable, Mapping
from datetime import timedelta
from fractions import Fraction

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from predibot.domain.account import Account, JournalRow
from predibot.domain.decision import Order
from predibot.domain.price import FeeSchedule, Instrument, Level, Price
from predibot.domain.resolution import Resolution
from predibot.games.accounts import Journal, account_of, accounts_of, settle
from predibot.games.fills import FILL_NAMES, FillModel
from predibot.games.rebalance import rebalance
from tests.games.holdings import AT, outcome, surplus_usd, worth_usd

SIDES = ("YES", "NO")
MARKETS = ("m1", "m2", "m3")
OUTCOMES = {(market, side): outcome(f"{market}:{side}") for market in MARKETS for side in SIDES}
STOCK = Instrument("toy", "equity", "ACME")
EVERYTHING = (*OUTCOMES.values(), STOCK)

MIDS = st.floats(0.02, 0.98)
HALF_SPREADS = st.sampled_from([0.0, 0.001, 0.01])
RATES = st.sampled_from([0.0, 0.02, 0.07])
SIZES = st.sampled_from([0.5, 40.0, 1e9])
PAYOUTS = st.sampled_from([1.0, 0.0, 0.5, 0.37, None])
WEIGHTS = st.lists(st.sampled_from([0.0, 1e-9, 0.1, 0.3, 1.0]) | st.floats(0.0, 1.0), min_size=8, max_size=8)
MODELS = st.sampled_from([FillModel(name) for name in FILL_NAMES])


class Exact:
    """The account that a journal comes to, worked out in fractions and without any of our code for it."""

    def __init__(self) -> None:
        self.cash = self.made = Fraction(0)
        self.shares: dict[Instrument, Fraction] = {}
        self.cost: dict[Instrument, Fraction] = {}
        self.ended: dict[Instrument, list[tuple[Fraction, Fraction]]] = {}

    def add(self, row: JournalRow) -> None:
        """Go on by one row; `made` is all but what is realised."""
        cash, shares = Fraction(row.cash_usd), Fraction(row.shares)
        self.cash += cash
        if row.instrument is None or row.kind in ("deposit", "fee", "dividend"):
            self.made += cash
            return
        held, cost = self.shares.get(row.instrument, Fraction(0)), self.cost.get(row.instrument, Fraction(0))
        if row.kind == "reversal":
            gained, moved = self.ended[row.instrument].pop()
            self.made -= gained
        elif row.kind == "split":
            moved = Fraction(0)
        elif shares > 0:
            moved = -cash
        else:
            moved = cost * shares / held
            self.made += cash + moved
            if row.kind in ("settlement", "refund"):
                self.ended.setdefault(row.instrument, []).append((cash + moved, -moved))
        self.shares[row.instrument], self.cost[row.instrument] = held + shares, cost + moved


class Accounts(RuleBasedStateMachine):
    """One account, three markets with two sides each, and a stock."""

    @initialize(cash_usd=st.floats(1.0, 1_000.0))
    def open(self, cash_usd: float) -> None:
        self.at, self.journal, self.account = AT, list[JournalRow](), Account()
        self.exact, self.snapshots = Exact(), list[tuple[int, Account]]()
        self.mids = dict.fromkeys(EVERYTHING, 0.5) | {STOCK: 20.0}
        self.prices = {each: Price(AT, mid) for each, mid in self.mids.items()}
        self.resolutions: dict[Instrument, list[tuple[int, Resolution]]] = {}
        self._write([JournalRow("deposit", self.at, cash_usd)])

    @rule(cash_usd=st.floats(0.01, 1_000.0))
    def deposit(self, cash_usd: float) -> None:
        self._write([JournalRow("deposit", self.at, cash_usd)])

    @rule(market=st.sampled_from(MARKETS), mid=MIDS, half=HALF_SPREADS, rate=RATES, sizes=st.lists(SIZES, max_size=3))
    def quote(self, market: str, mid: float, half: float, rate: float, sizes: list[float]) -> None:
        """Give both sides of a market another price, with a book or none."""
        for side, middle in zip(SIDES, (mid, 1.0 - mid), strict=True):
            bids = tuple(Level(max(middle - half * (i + 1), 0.001), each) for i, each in enumerate(sizes))
            asks = tuple(Level(min(middle + half * (i + 1), 0.999), each) for i, each in enumerate(sizes))
            best = (bids[0].price, asks[0].price) if sizes else (None, None)
            instrument = OUTCOMES[market, side]
            self.prices[instrument] = Price(self.at, middle, *best, "mid", bids, asks, FeeSchedule(rate))
            self.mids[instrument] = middle

    @rule(price=st.floats(0.5, 5_000.0))
    def trade_stock(self, price: float) -> None:
        self.prices[STOCK], self.mids[STOCK] = Price(self.at, price, price * 0.999, price * 1.001), price

    @rule(instrument=st.sampled_from(EVERYTHING))
    def lose_price(self, instrument: Instrument) -> None:
        self.prices.pop(instrument, None)

    @rule(instrument=st.sampled_from(EVERYTHING), part=st.floats(0.001, 1.0), model=MODELS)
    def buy(self, instrument: Instrument, part: float, model: FillModel) -> None:
        """Buy for a part of the cash, as far as there is cash for the fee too."""
        if instrument in self.prices and self.account.cash_usd * part > 0.0:
            self._fill(Order(instrument, self.account.cash_usd * part), model)

    @rule(instrument=st.sampled_from(EVERYTHING), part=st.floats(0.001, 1.0) | st.just(1.0), model=MODELS)
    def sell(self, instrument: Instrument, part: float, model: FillModel) -> None:
        shares = self.account.position(instrument).shares * part
        if instrument in self.prices and shares > 0.0:
            self._fill(Order(instrument, shares, "shares", "sell"), model)

    @rule(weights=WEIGHTS, model=MODELS)
    def rebalance(self, weights: list[float], model: FillModel) -> None:
        total = max(math.fsum(weights), 1e-300)
        targets = {each: weight / total for each, weight in zip(EVERYTHING, weights, strict=False)}
        before, worth_before = self.account, worth_usd(self.account, self.mids)
        frozen = {each: self.mids[each] for each in before.positions if each not in self.prices}
        booking = rebalance(before, targets, self.prices, model, at=self.at, frozen=frozen)
        self._write(booking.journal)
        # Law 2: value goes nowhere but into spreads and fees, and at the mid without fees nowhere at all.
        fills = [fill for order in booking.orders for fill in order.fills]
        spread_usd = math.fsum(fill.shares * (fill.price - self.mids[fill.instrument]) for fill in fills)
        fees_usd = math.fsum(fill.fee_usd for fill in fills)
        if model.basis == "mid":
            assert abs(spread_usd) <= self._slack()
            # No dust filter: whatever its size, what was asked for is there.
            for instrument in self.prices.keys() & targets.keys():
                held = before.position(instrument).shares
                change = targets[instrument] * max(worth_before, 0.0) / self.mids[instrument] - held
                expected = held + change * (booking.scale if change > 0.0 else 1.0)
                assert self.account.position(instrument).shares == pytest.approx(expected, rel=1e-9, abs=1e-12 * held)
        lost_usd = worth_before - worth_usd(self.account, self.mids)
        assert abs(lost_usd - spread_usd - fees_usd) <= self._slack()
        # Law 3: what nobody traded is what it was, to the bit.
        traded = {fill.instrument for fill in fills}
        untouched = [each for each in EVERYTHING if each not in traded]
        assert all(before.position(each) == self.account.position(each) for each in untouched)
        assert frozen.keys() <= set(untouched)
        assert not (before.owing and any(fill.shares > 0.0 for fill in fills))

    @rule(market=st.sampled_from(MARKETS), payout=PAYOUTS)
    def resolve(self, market: str, payout: float | None) -> None:
        """State, or correct, what a market paid; it trades no more."""
        self.at += timedelta(hours=1)
        known = self.resolutions.get(OUTCOMES[market, "YES"], [])
        if known and known[-1][1].payout_yes == payout:
            return
        number, said = len(known) + 1, Resolution(payout, self.at, "venue", self.at)
        for place, side in enumerate(SIDES):
            instrument = OUTCOMES[market, side]
            self.prices.pop(instrument, None)
            self.resolutions.setdefault(instrument, []).append((number, said.of_outcome(place)))  # type: ignore[arg-type]

    @precondition(lambda self: self.account.positions.keys() - {STOCK} - self.resolutions.keys())
    @rule(price=st.floats(0.5, 100.0), weights=WEIGHTS)
    def spend_a_win_that_is_taken_back(self, price: float, weights: list[float]) -> None:
        """Settle a position as won, buy the stock for all of the cash, and correct the resolution to lost."""
        instrument = min(self.account.positions.keys() - {STOCK} - self.resolutions.keys())
        ((market, side),) = [key for key, each in OUTCOMES.items() if each == instrument]
        self.resolve(market, 1.0 if side == "YES" else 0.0)
        self.settle()
        self.trade_stock(price)
        self.buy(STOCK, 1.0, FillModel("mid"))
        self.resolve(market, 0.0 if side == "YES" else 1.0)
        self.settle()
        self.rebalance(weights, FillModel("mid"))

    @rule()
    def settle(self) -> None:
        """Settle what is resolved, once."""
        rows = settle(Journal().with_rows(self.journal), self.resolutions, as_of=self.at)
        self._write(rows, is_settlement=True)
        assert settle(Journal().with_rows(self.journal), self.resolutions, as_of=self.at) == ()
        assert not self.account.positions.keys() & self.resolutions.keys()
        # Law 5: what stands is paid at the last vector, and what a refund ended realised nothing.
        for instrument, standing in _standing(self.journal).items():
            revision, last = self.resolutions[instrument][-1]
            assert {row.revision for row in standing} == {revision}
            for row in standing if last.payout_yes is not None else ():
                assert row.cash_usd == pytest.approx(-row.shares * last.payout_yes, abs=1e-12)

    @precondition(lambda self: self.account.position(STOCK).shares)
    @rule(ratio=st.sampled_from([0.1, 0.5, 2.0, 3.0]), cash_usd=st.floats(0.01, 10.0), is_end=st.booleans())
    def act_as_issuer(self, ratio: float, cash_usd: float, is_end: bool) -> None:
        shares = self.account.position(STOCK).shares
        if is_end:
            self._write([JournalRow("delisting", self.at, cash_usd, STOCK, -shares)])
        else:
            split = JournalRow("split", self.at, 0.0, STOCK, shares * ratio - shares)
            self._write([split, JournalRow("dividend", self.at, cash_usd, STOCK)])

    @rule()
    def value(self) -> None:
        """Keep what the account is now, to be looked at later."""
        self.snapshots.append((len(self.journal), self.account))

    @invariant()
    def folds_to_what_it_was(self) -> None:
        """Law 6: an earlier part of the journal comes to what the account was then."""
        for rows, account in self.snapshots[-3:]:
            assert account_of(self.journal[:rows]) == account

    def _fill(self, order: Order, model: FillModel) -> None:
        fill = model.fill(order, self.prices[order.instrument])
        if fill is None:
            return
        fee = [JournalRow("fee", self.at, -fill.fee_usd, order.instrument)] if fill.fee_usd else []
        if order.side == "buy" and -fill.cash_usd + fill.fee_usd > self.account.cash_usd:
            return
        self._write([JournalRow("fill", self.at, fill.cash_usd, order.instrument, fill.shares, "order"), *fee])

    def _write(self, rows: Iterable[JournalRow], *, is_settlement: bool = False) -> None:
        """Write rows, and hold the account to the laws after each."""
        before, rows = self.account, list(rows)
        self.journal += rows
        after = list(accounts_of(self.journal))[len(self.journal) - len(rows) :]
        for row, account in zip(rows, after, strict=True):
            self.exact.add(row)
            self.account = account
            # Law 1, and the same account in exact numbers.
            assert abs(surplus_usd(account)) <= self._slack()
            assert abs(self.exact.cash - Fraction(account.cash_usd)) <= self._slack()
            for instrument in EVERYTHING:
                held, shares = account.position(instrument), self.exact.shares.get(instrument, Fraction(0))
                assert abs(held.shares - shares) <= 1e-9 * max(1.0, self._moved())
                assert abs(held.cost_usd - self.exact.cost.get(instrument, Fraction(0))) <= self._slack()
                assert held.shares >= 0.0 and (held.shares > 0.0) == (instrument in account.positions)
        # Law 4: but for a reversal, nobody comes to owe anything, or to owe more.
        if not is_settlement:
            assert self.account.cash_usd >= min(before.cash_usd, 0.0) - self._slack()

    def _slack(self) -> float:
        """Return 1e-9 dollars, and so much more as an account of more than 10,000 has fewer digits behind the point.

        What is rounded adds up over all that was paid, also where little is left of it.
        """
        return 1e-9 * max(1.0, sum(abs(row.cash_usd) for row in self.journal) / 10_000.0)

    def _moved(self) -> float:
        return sum(abs(row.shares) for row in self.journal)


def _standing(journal: Iterable[JournalRow]) -> Mapping[Instrument, list[JournalRow]]:
    standing: dict[Instrument, list[JournalRow]] = {}
    for row in journal:
        if row.kind in ("settlement", "refund") and row.instrument is not None:
            standing.setdefault(row.instrument, []).append(row)
        elif row.kind == "reversal" and row.instrument is not None:
            standing[row.instrument].pop()
    return {instrument: rows for instrument, rows in standing.items() if rows}


def test_accounts_keep_the_laws() -> None:
    run_state_machine_as_test(Accounts, settings=settings(max_examples=25, stateful_step_count=40))
