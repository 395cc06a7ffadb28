"""The laws of accounts of shares, over random trades, splits, dividends, halts and delistings."""

import math
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from predibot.domain.account import Account, JournalRow
from predibot.domain.price import CorporateAction, CorporateActionKind, Instrument, Price
from predibot.games.accounts import account_of, corporate_rows, value_usd
from predibot.games.fills import FillModel
from predibot.games.rebalance import rebalance

AT = datetime(2026, 1, 5, 21, tzinfo=UTC)
SHARES = tuple(Instrument("stocks", "equity", ticker) for ticker in ("AAA", "BBB", "CCC"))
WHICH = st.sampled_from(SHARES)
RATIOS = st.sampled_from([0.1, 0.5, 1.5, 2.0, 3.0, 4.0, 20.0])
COSTS = st.sampled_from([(0.0, 0.0), (10.0, 0.0), (0.0, 25.0), (5.0, 40.0)])


class ShareAccount(RuleBasedStateMachine):
    """An account of three stocks, one step after the other, beside exact sums of what should have come of it."""

    def __init__(self) -> None:
        super().__init__()
        self.at, self.journal, self.account = AT, list[JournalRow](), Account()
        self.mids = {each: 50.0 for each in SHARES}
        self.halted, self.delisted = set[Instrument](), set[Instrument]()
        self.paid_out = Fraction(0)

    @initialize(cash_usd=st.floats(1.0, 1e6))
    def open(self, cash_usd: float) -> None:
        self._write((JournalRow("deposit", self.at, cash_usd),))

    @rule(weights=st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3), costs=COSTS)
    def trade(self, weights: list[float], costs: tuple[float, float]) -> None:
        """Rebalance at the closes; what is halted or delisted is neither bought nor sold."""
        total = max(1.0, math.fsum(weights))
        targets = {each: weight / total * (1 - 1e-12) for each, weight in zip(SHARES, weights, strict=True)}
        before, prices = self.worth, self._prices(traded=True)
        held = {each: self.account.position(each).shares for each in SHARES if each not in prices}
        fee_bps, spread_bps = costs
        booking = rebalance(
            self.account,
            targets,
            prices,
            FillModel("mid", fee_bps=fee_bps, spread_bps=spread_bps),
            at=self.at,
            frozen={each: self.mids[each] for each in held},
        )
        self._write(booking.journal)
        assert {each: self.account.position(each).shares for each in held} == held
        assert self.worth <= before + 1e-9 * before
        if not any(costs):
            assert self.worth == pytest.approx(before, rel=1e-9, abs=1e-9)

    @rule(which=WHICH, step=st.floats(0.5, 2.0))
    def close_elsewhere(self, which: Instrument, step: float) -> None:
        self.at += timedelta(days=1)
        if which not in self.delisted | self.halted:
            self.mids[which] = min(max(self.mids[which] * step, 0.01), 1e6)

    @rule(which=WHICH)
    def halt_or_resume(self, which: Instrument) -> None:
        self.halted ^= {which}

    @precondition(lambda self: len(self.delisted) < len(SHARES))
    @rule(which=WHICH, ratio=RATIOS)
    def split(self, which: Instrument, ratio: float) -> None:
        """Split a stock at equal company value, whether or not it is traded that day."""
        if which in self.delisted:
            return
        before, held = self.worth, self.account.position(which)
        self._act(which, "split", ratio)
        self.mids[which] /= ratio
        assert self.worth == pytest.approx(before, rel=1e-9, abs=1e-9)
        assert self.account.position(which).cost_usd == held.cost_usd
        assert self.account.position(which).shares == pytest.approx(held.shares * ratio, rel=1e-12)

    @rule(which=WHICH, usd=st.floats(0.0, 5.0))
    def pay(self, which: Instrument, usd: float) -> None:
        """Credit exactly the dividend for the shares that were held before its date."""
        held, before = self.account.position(which).shares, self.account
        if which in self.delisted:
            return
        self._act(which, "dividend", usd)
        self.paid_out += Fraction(held * usd)
        assert self.account.dividends_usd == before.dividends_usd + held * usd
        assert self.account.position(which) == before.position(which)

    @rule(which=WHICH, payout=st.one_of(st.none(), st.just(0.0), st.floats(0.01, 100.0)))
    def delist(self, which: Instrument, payout: float | None) -> None:
        """End a stock: at its payout, or where none is stated at its last close, which nobody can trade at."""
        if which in self.delisted:
            return
        before, held = self.account, self.account.position(which)
        self._act(which, "delisting", payout)
        self.delisted.add(which)
        if payout is None:
            assert self.account == before
        elif held.shares:
            assert which not in self.account.positions
            assert self.account.cash_usd == before.cash_usd + held.shares * payout

    @rule(which=WHICH, ratio=RATIOS, usd=st.floats(0.01, 5.0))
    def act_on_one_date(self, which: Instrument, ratio: float, usd: float) -> None:
        """Pay a dividend and split on one date: it is of the shares of before."""
        held = self.account.position(which).shares
        if which in self.delisted or not held:
            return
        self.at += timedelta(days=1)
        both = [CorporateAction("split", self.at, ratio), CorporateAction("dividend", self.at, usd)]
        self._write(corporate_rows(self.account, {which: both}))
        self.mids[which] /= ratio
        self.paid_out += Fraction(held * usd)

    @invariant()
    def law_of_money(self) -> None:
        """Cash and cost are what was paid in, made and paid out; the sum of dividends is the exact one."""
        if not self.journal:
            return
        account = self.account
        cost_usd = math.fsum(position.cost_usd for position in account.positions.values())
        made = account.paid_in_usd + account.realised_usd + account.dividends_usd - account.fees_usd
        scale = max(1.0, abs(account.paid_in_usd), abs(account.realised_usd), account.cash_usd)
        assert account.cash_usd + cost_usd == pytest.approx(made, abs=1e-9 * scale)
        assert account.dividends_usd == pytest.approx(float(self.paid_out), rel=1e-9, abs=1e-9)
        assert not account.owing

    @property
    def worth(self) -> float:
        return value_usd(self.account, self._prices(traded=False))

    def _prices(self, *, traded: bool) -> dict[Instrument, Price]:
        gone = self.halted | self.delisted if traded else set[Instrument]()
        return {each: Price(self.at, mid) for each, mid in self.mids.items() if each not in gone}

    def _act(self, which: Instrument, kind: CorporateActionKind, value: float | None) -> None:
        self.at += timedelta(days=1)
        self._write(corporate_rows(self.account, {which: [CorporateAction(kind, self.at, value)]}))

    def _write(self, rows: tuple[JournalRow, ...]) -> None:
        self.journal += rows
        self.account = account_of(self.journal)


TestShareAccount = ShareAccount.TestCase
TestShareAccount.settings = settings(max_examples=25, stateful_step_count=30)
