"""Account scores: growth, risk, delays and behaviour of each bot's account, with the counts behind each."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime

import numpy as np

from predibot.scoring.accounts.allocation import concentration, slots_in_drawdown, turnover, weights_held
from predibot.scoring.accounts.implied import ImpliedRisk, days_of, implied_risk
from predibot.scoring.accounts.record import AccountRecord, AccountReplicates, AccountsRecord, AccountState
from predibot.scoring.accounts.rolling_delay import RollingDelay, rolling_delays
from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.inference.blocks import DrawnCurves, drawdown_estimate, growth_estimate, sharpe_estimate
from predibot.scoring.inference.bootstrap import Estimate
from predibot.scoring.metrics.conventions import Convention, spacing_days
from predibot.scoring.metrics.equity import EquityScore, equity_score, owing_score, score_of_curve
from predibot.scoring.records.replicates import ReplicateSpread

PAPER = "livetradebench_paper"
NO_SECTOR = "no sector"
_MEANS = ("cash_share", "turnover", "concentration", "net_exposure")


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How an account was divided; means over slots, None without slots."""

    cash_share: float | None
    """The mean share of the account's value in cash, after the fills of a slot."""
    turnover: float | None
    """The share of the account that a slot's orders moved; a slot without fills counts as zero."""
    concentration: float | None
    net_exposure: float | None
    """Weights of YES less weights of NO."""
    slots_in_drawdown: int
    slots: int
    """Slots at which all its positions had a price."""
    sectors: Mapping[str, float] | None = None
    """The share of the account's value in each sector; None without shares or slots."""


@dataclass(frozen=True, slots=True)
class AccountScore(AccountState):
    """The score of one bot's account."""

    first_at: datetime
    last_at: datetime
    values: tuple[float, ...]
    """In dollars, one a slot before its orders, the deposit first."""
    equity: EquityScore | None
    """None for a single value; lacks figures that the convention or the values do not allow."""
    why_missing: str
    """Empty if none is missing."""
    periods_basis: str
    intervals: Mapping[str, Estimate]
    """Intervals of cumulative_return, sharpe and max_drawdown over dates, where there is one."""
    delays: Mapping[int, RollingDelay]
    """By slots; empty where there are too few."""
    behaviour: Behaviour
    implied: ImpliedRisk = field(default_factory=ImpliedRisk)
    days: int = 0
    repeats: str = ""
    """The name of a baseline with nearly the same weights, or empty."""
    replicates: AccountReplicates | None = None
    """The spread of its replicates; this account is their mean. None for a bot without replicates."""

    @property
    def dates(self) -> int:
        """Return the number of its returns, one for each date after its first value."""
        return len(self.values) - 1

    @property
    def start_usd(self) -> float:
        """Return its first cash."""
        return self.values[0]

    @property
    def cumulative_return(self) -> float | None:
        """Return the return on its first cash by its last slot."""
        return None if self.equity is None else self.equity.cumulative_return

    @property
    def told(self) -> float:
        """Return log growth divided by the width of the upper half of its interval; 0 without an interval.

        Minus infinity for an account that lost everything or owes.
        """
        found = self.intervals.get("cumulative_return")
        if (self.cumulative_return or 0.0) <= -1.0:
            return -math.inf
        if found is None or found.high is None or not -1.0 < found.estimate < found.high:
            return 0.0
        growth = math.log1p(found.estimate)
        return growth / (math.log1p(found.high) - growth)

    @property
    def sharpe_unknown(self) -> bool:
        """Return whether its Sharpe ratio has no interval because prices imply swings that have not happened."""
        sharpe = None if self.equity is None else self.equity.sharpe
        return sharpe is not None and self.implied.deviation > 0.0 and "sharpe" not in self.intervals


@dataclass(frozen=True, slots=True)
class CurveColumn:
    """The resamples of one account."""

    curves: DrawnCurves
    number: int


def is_curve(values: Floats) -> bool:
    """Return whether values have returns: the first is above zero, none is below, and after a zero all are zero."""
    gone = np.maximum.accumulate(values == 0.0)
    return bool(values[0] > 0.0 and (values >= 0.0).all() and not (gone & (values > 0.0)).any())


def returns_of(values: Floats) -> Floats:
    """Return the returns from slot to slot; 0 after a value of 0."""
    before, after = values[:-1], values[1:]
    found = np.zeros(before.shape)
    some = before > 0.0
    found[some] = after[some] / before[some] - 1.0
    return found


def account_score(
    record: AccountsRecord, account: AccountRecord, convention: Convention, column: CurveColumn | None
) -> AccountScore:
    """Return the score of an account, without intervals if nothing was drawn."""
    values, prices_say = account.value_usd, implied_risk(record, account)
    at = [record.at[number] for number in account.slot]
    equity, basis, why = _equity(at, values, convention)
    days = np.unique(days_of(record, account.slot[1:])).size
    return AccountScore(
        **{each.name: getattr(account, each.name) for each in fields(AccountState)},
        first_at=at[0],
        last_at=at[-1],
        values=tuple(values.tolist()),
        equity=equity,
        why_missing=why,
        periods_basis=basis,
        intervals={} if column is None or equity is None else _intervals(column, equity, prices_say, days),
        delays=_delays(record, account, paper=convention.name == PAPER),
        behaviour=_behaviour(record, account),
        implied=prices_say,
        days=days,
        replicates=_replicates(record, account, convention) if account.replicates else None,
    )


def _replicates(record: AccountsRecord, account: AccountRecord, convention: Convention) -> AccountReplicates:
    # Only slots that the mean has, so that a replicate that ran longer does not look different.
    at, own = [record.at[n] for n in account.slot], account.replicates
    found = [_equity(at, each.value_usd[np.searchsorted(each.slot, account.slot)], convention)[0] for each in own]

    def spread(name: str) -> ReplicateSpread | None:
        of = [np.nan if each is None or getattr(each, name) is None else getattr(each, name) for each in found]
        return ReplicateSpread.of(np.array(of, dtype=np.float64))

    return AccountReplicates(len(found), spread("cumulative_return"), spread("sharpe"), spread("max_drawdown"))


def _equity(at: Sequence[datetime], values: Floats, convention: Convention) -> tuple[EquityScore | None, str, str]:
    """Return the figures of a curve, the basis of its periods a year, and why figures are missing."""
    if values.size < 2:
        return None, "", "no figures of growth, as there is a single value"
    if not is_curve(values):
        why = "no figures but return and drawdown, as nothing follows from a value of zero or less"
        return owing_score(values, convention), "", why
    if convention.name == PAPER:
        # Figures that are not annual need no number of periods.
        return score_of_curve(at, values, convention, periods_per_year=1.0).score, "not annualised", ""
    days = spacing_days(at)
    if convention.periods_per_year(days) is None:
        rate, first_win = convention.risk_free_rate, convention.first_win
        score = equity_score(values, None, ddof=convention.ddof, risk_free_rate=rate, first_win=first_win)
        return score, "", f"no annual figures, as {convention.name} has none for values {days:g} days apart"
    curve = score_of_curve(at, values, convention)
    return curve.score, curve.periods.basis, ""


def _intervals(column: CurveColumn, equity: EquityScore, prices_say: ImpliedRisk, days: int) -> Mapping[str, Estimate]:
    curves, number, deviation = column.curves, column.number, prices_say.deviation
    found = {"cumulative_return": growth_estimate(curves, number, deviation)}
    per_year, rate = equity.periods_per_year, equity.risk_free_rate
    if equity.sharpe is not None and per_year is not None:
        found["sharpe"] = sharpe_estimate(curves, number, equity.sharpe, per_year, rate, equity.ddof, deviation)
    found["max_drawdown"] = drawdown_estimate(curves, number, equity.max_drawdown)
    return {name: replace(each, clusters=days) for name, each in found.items() if each.interval is not None}


def _delays(record: AccountsRecord, account: AccountRecord, *, paper: bool) -> Mapping[int, RollingDelay]:
    start = _first_carried_out(record)
    rows = np.flatnonzero(account.slot >= start)
    # At a missed slot, the holdings of the slot before still stand.
    slots = account.slot[rows]
    if slots.size < 2:
        return {}
    every = np.arange(slots[0], slots[-1] + 1)
    as_of = rows[np.searchsorted(slots, every, side="right") - 1]
    prices = record.prices[every][:, account.held]
    return rolling_delays(account.cash_usd[as_of], account.shares[as_of], prices, own_bounds=paper)


def _first_carried_out(record: AccountsRecord) -> int:
    """Return the first slot at which a decision could be carried out; before it there is no holding to delay."""
    filled = [each.slot[(each.shares != each.shares_before).any(axis=1)] for each in record.accounts]
    return min((int(slots[0]) for slots in filled if slots.size), default=0)


def _behaviour(record: AccountsRecord, account: AccountRecord) -> Behaviour:
    """Return how an account was divided; for replicates the mean of theirs, as their sum is more divided."""
    if account.replicates:
        each = [_behaviour(record, one) for one in account.replicates]
        names = sorted({name for one in each for name in one.sectors or ()})
        return Behaviour(
            **{name: _mean_known([getattr(one, name) for one in each]) for name in _MEANS},
            slots_in_drawdown=slots_in_drawdown(account.value_usd),
            slots=min(one.slots for one in each),
            sectors={name: sum((one.sectors or {}).get(name, 0.0) for one in each) / len(each) for name in names}
            if record.sectors is not None and names
            else None,
        )
    prices = record.prices[account.slot][:, account.held]
    weights = weights_held(prices, account.shares, account.cash_usd)
    drifted = weights_held(prices, account.shares_before, account.cash_before_usd)
    rows = np.flatnonzero(~np.isnan(weights).any(axis=1) & ~np.isnan(drifted).any(axis=1))
    weights, drifted = weights[rows], drifted[rows]
    outcome = record.outcome[account.held]
    concentrated = concentration(weights)
    sectors = None
    if record.sectors is not None and rows.size:
        own = [record.sectors[number] or NO_SECTOR for number in account.held.tolist()]
        means = weights.mean(axis=0).tolist()
        sectors = {
            name: float(sum(mean for mean, sector in zip(means, own, strict=True) if sector == name))
            for name in sorted(set(own))
        }
    return Behaviour(
        cash_share=_mean(1.0 - weights.sum(axis=1)),
        turnover=_mean(_turnovers(account, rows, drifted)),
        concentration=_mean(concentrated[~np.isnan(concentrated)]),
        net_exposure=_mean(weights @ outcome.astype(np.float64)) if (outcome != 0).any() or not outcome.size else None,
        slots_in_drawdown=slots_in_drawdown(account.value_usd),
        slots=int(rows.size),
        sectors=sectors,
    )


def _turnovers(account: AccountRecord, rows: Ints, drifted: Floats) -> Floats:
    """Return the turnover of each slot: of the ordered weights where orders were filled, else zero."""
    asked_at = [place for place, row in enumerate(rows.tolist()) if row in account.targets]
    found = np.zeros(rows.size)
    if not asked_at:
        return found
    column = {instrument: number for number, instrument in enumerate(account.held.tolist())}
    # Orders that were never filled have no column yet.
    extra = {each for place in asked_at for each in account.targets[int(rows[place])][0].tolist()} - column.keys()
    column.update({instrument: len(column) + number for number, instrument in enumerate(sorted(extra))})
    target = np.zeros((len(asked_at), len(column)))
    for number, place in enumerate(asked_at):
        instruments, weights = account.targets[int(rows[place])]
        np.add.at(target[number], [column[each] for each in instruments.tolist()], weights)
    before = np.pad(drifted[asked_at], ((0, 0), (0, len(column) - drifted.shape[1])))
    found[asked_at] = turnover(_with_cash(target), _with_cash(before))
    return found


def _with_cash(weights: Floats) -> Floats:
    return np.column_stack([weights, 1.0 - weights.sum(axis=1)])


def _mean_known(values: Sequence[float | None]) -> float | None:
    return _mean(np.array([each for each in values if each is not None], dtype=np.float64))


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if values.size else None
