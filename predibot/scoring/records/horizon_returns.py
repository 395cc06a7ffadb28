"""Horizons: the return of each decision by some time after it, that of the market baseline, and daily marks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from predibot.domain.decision import STATUSES
from predibot.scoring.arguments import Floats, Ints, instance_of, scalar
from predibot.scoring.metrics.frictions import quote_gains
from predibot.scoring.metrics.returns import horizon_gains
from predibot.scoring.price_lookup import MAX_GAP_SECONDS, as_of_prices, in_order
from predibot.scoring.records.track_record import DAY_SECONDS, TrackRecord

NOW = "now"
SETTLED = "settled"
_RECORDED, _ABSTAINED = STATUSES.index("recorded"), STATUSES.index("abstained")


@dataclass(frozen=True, slots=True, eq=False)
class HorizonReturns:
    """The returns of every decision of a record by one horizon."""

    label: str
    days: float | None
    passed: NDArray[np.bool_]
    """Whether a scored decision's horizon has passed, (n_d,), always for `now` and `settled`; for coverage."""
    value: Floats
    """(n_d,), NaN without one."""
    market_value: Floats
    """The return of `market_price` on all markets asked, (n_d,), NaN if a price is unknown."""
    quote_value: Floats
    """The return if bets were carried out against the book, with fees, (n_d,), else NaN (see `_with_money`)."""
    price_of_bet: Floats
    """The price or payout of YES of each bet's market by then, (n_b,), NaN where unknown."""
    paid: NDArray[np.bool_]


def horizon_returns(
    record: TrackRecord, horizons_days: Sequence[float], *, max_gap_seconds: float = MAX_GAP_SECONDS
) -> tuple[HorizonReturns, ...]:
    """Return the returns of every decision by each horizon, `now` and `settled` last.

    Each decision stands alone: later decisions, of any bot, change nothing. A decision after `as_of`, or one that is
    not scored, has no value. `now` is the payout where a market is settled, else its last price, for all decisions;
    `settled` covers only those that came to an end early.

    Args:
        horizons_days: Times after the decision in units of 24 hours, distinct and above zero (otherwise `ValueError`).
        max_gap_seconds: The greatest age of a horizon's price.
    """
    instance_of("record", record, TrackRecord)
    _check_horizons(horizons_days)
    payout = record.payouts()
    scored, baseline = record.scored_mask(), market_bets_usd(record)
    # Adding whole seconds keeps an instant's rounded fraction, so equal instants stay equal.
    ends = [record.decided_at + days * DAY_SECONDS for days in horizons_days]
    now = np.full(record.decided_at.shape, record.as_of)
    *prices_of_days, prices_now = _prices_at(record, payout, [*ends, now], max_gap_seconds)
    returns = []
    for days, end, prices in zip(horizons_days, ends, prices_of_days, strict=True):
        passed = scored & (end <= record.as_of)
        # As of the evaluation: later settlements have not paid by then.
        paid = record.settled_at[record.bet_market] <= end[record.bet_decision]
        returns.append(_returns_of(record, horizon_label(days), days, passed, passed, prices, paid, baseline))
    finally_paid = payout[record.bet_market]
    settled, may_have_value = ~np.isnan(finally_paid), scored & _has_settled(record, payout)
    returns.append(_returns_of(record, NOW, None, scored, scored, prices_now, settled, baseline))
    every = np.ones(settled.shape, dtype=np.bool_)
    returns.append(_returns_of(record, SETTLED, None, scored, may_have_value, finally_paid, every, baseline))
    return tuple(returns)


def horizon_label(days: float) -> str:
    """Return the name of a horizon, such as `7` or `0.5`."""
    return str(int(days)) if float(days).is_integer() else repr(float(days))


def stakes_open(record: TrackRecord) -> Floats:
    """Return the share of each bot's dollars on markets not settled by the evaluation, NaN without a bet."""
    rows = np.flatnonzero(record.scored_mask()[record.bet_decision])
    bot, staked = record.decision_bot[record.bet_decision[rows]], np.abs(record.bet_usd[rows])
    is_open = np.isnan(record.payouts())[record.bet_market[rows]]
    total = np.bincount(bot, staked, len(record.bots))
    share = np.bincount(bot, staked * is_open, len(record.bots)) / np.where(total > 0.0, total, 1.0)
    return np.where(total > 0.0, share, np.nan)


def observed_prices(record: TrackRecord, market: NDArray[np.int64], at: Floats, after: Floats, gap: float) -> Floats:
    """Return the last price of each market observed within (after, at], (q,), NaN for none older than `gap` seconds.

    `at` must never be later than the evaluation.
    """
    return as_of_prices(
        record.observation_market,
        record.observation_at,
        record.observation_price_yes,
        market,
        at,
        not_before=after,
        max_gap_seconds=gap,
    )


def _check_horizons(horizons_days: Sequence[float]) -> None:
    instance_of("horizons_days", horizons_days, Sequence)
    for days in horizons_days:
        if not (math.isfinite(scalar("a horizon", days)) and days > 0.0):
            raise ValueError(f"a horizon is {days!r} days; it must be above zero")
    labels = [horizon_label(days) for days in horizons_days]
    if len(set(labels)) < len(labels):
        raise ValueError(f"a horizon is asked for twice: {', '.join(labels)}")


def _prices_at(record: TrackRecord, payout: Floats, ends: Sequence[Floats], gap: float) -> Sequence[Floats]:
    """Return the price of each bet's market at each horizon, (n_b,) each, from one look-up: sorting is slow."""
    start = record.decided_at[record.bet_decision]
    prices = [np.full(record.bet_usd.shape, np.nan) for _ in ends]
    asked: list[NDArray[np.int64]] = []
    for end, price in zip(ends, prices, strict=True):
        at = end[record.bet_decision]
        due = at <= record.as_of
        paid = due & (record.settled_at[record.bet_market] <= at)
        price[paid] = payout[record.bet_market[paid]]
        asked.append(np.flatnonzero(due & ~paid))
    at = np.concatenate([end[record.bet_decision[rows]] for end, rows in zip(ends, asked, strict=True)])
    rows = np.concatenate(asked)
    found = observed_prices(record, record.bet_market[rows], at, start[rows], gap)
    parts = np.split(found, np.cumsum([part.size for part in asked])[:-1])
    for price, part, known in zip(prices, asked, parts, strict=True):
        price[part] = known
    return prices


def _has_settled(record: TrackRecord, payout: Floats) -> NDArray[np.bool_]:
    """Return whether a decision without money on anything has a `settled` value, (n_d,).

    Its return is zero, but only once all the markets it was asked about are settled.
    """
    decision, market = record.questions()
    waiting = np.bincount(decision, np.isnan(payout[market]), record.decided_at.size) > 0
    return record.staked_mask() | ~waiting


def _returns_of(
    record: TrackRecord,
    label: str,
    days: float | None,
    passed: NDArray[np.bool_],
    may_have_value: NDArray[np.bool_],
    prices: Floats,
    paid: NDArray[np.bool_],
    baseline_usd: Floats,
) -> HorizonReturns:
    decided = np.isin(record.decision_status, (_RECORDED, _ABSTAINED))
    # A market without a bet needs no price.
    needed = np.where(record.bet_usd == 0.0, record.bet_price_yes, prices)
    value = _sum_by_decision(record, horizon_gains(record.bet_usd, record.bet_price_yes, needed))
    baseline = _sum_by_decision(record, horizon_gains(baseline_usd, record.bet_price_yes, prices))
    # The price of an unanswered market is unknown. So a bot that chooses markets cannot choose its baseline.
    rows, asked = (
        np.bincount(of, minlength=record.decided_at.size) for of in (record.bet_decision, record.questions()[0])
    )
    priced = decided & (rows > 0) & (rows >= asked)
    at_quote = _at_quote(record, prices, paid)
    return HorizonReturns(
        label=label,
        days=days,
        passed=passed,
        value=np.where(may_have_value & decided, value, np.nan),
        market_value=np.where(passed & priced, baseline, np.nan),
        quote_value=_with_money(record, passed, np.where(may_have_value & decided, at_quote, np.nan)),
        price_of_bet=prices,
        paid=paid,
    )


def _at_quote(record: TrackRecord, prices: Floats, paid: NDArray[np.bool_]) -> Floats:
    """Return the return of each decision against the book, (n_d,), NaN where the side of a bet was not offered.

    It is also NaN where an unsettled bet's other side was empty: the spread it would be sold at is unknown.
    A market without money on it needs no book, so a decision without any money returned 0.
    """
    if record.bet_bid_yes is None or record.bet_ask_yes is None:
        return np.full(record.decided_at.shape, np.nan)
    unknown = np.full(record.bet_usd.shape, np.nan)
    gains = quote_gains(
        record.bet_usd,
        record.bet_bid_yes,
        record.bet_ask_yes,
        prices,
        settled=paid,
        fee_rates=unknown if record.bet_fee_rate is None else record.bet_fee_rate,
        fee_exponents=unknown if record.bet_fee_exponent is None else record.bet_fee_exponent,
    )
    return _sum_by_decision(record, gains)


def _with_money(record: TrackRecord, passed: NDArray[np.bool_], values: Floats) -> Floats:
    """Return the values of bots that have one with money on it, or never bet any by then, (n_d,), else NaN.

    Without books, only a bot's decisions without bets have values: zeros, which mean nothing.
    """
    bot, bots, staked = record.decision_bot, len(record.bots), record.staked_mask()
    all_staked = np.bincount(bot[passed & staked], minlength=bots)
    known = np.bincount(bot[staked & ~np.isnan(values)], minlength=bots)
    return np.where(((all_staked > 0) & (known == 0))[bot], np.nan, values)


def market_bets_usd(record: TrackRecord) -> Floats:
    """Return the bets of `market_price`, (n_b,): $1 a decision, equally on favoured sides, YES from 0.5 up."""
    markets = np.bincount(record.bet_decision, minlength=record.decided_at.size)
    favoured = np.where(record.bet_price_yes >= 0.5, 1.0, -1.0)
    return favoured / markets[record.bet_decision]


def _sum_by_decision(record: TrackRecord, gains: Floats) -> Floats:
    return np.bincount(record.bet_decision, gains, record.decided_at.size).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """Prices of markets at midnights after something new, by market and then by day."""

    first: int
    """The first of those midnights, in days since 1970."""
    span: int
    """The number of days plus one, which no day reaches."""
    key: Ints
    """market * span + day since the first, (k,), rising."""
    price: Floats
    at: Floats
    paid: NDArray[np.bool_]
    """Whether it is a payout, (k,), the last mark of its market."""
    ends: Ints
    """The end of each market's marks, (m,)."""

    def first_after(self, market: Ints, at: Floats) -> Ints:
        """Return the first mark of each market seen after an instant, (n,); the number of marks for none."""
        day = np.clip(midnights(at) - self.first, 0, self.span - 1).astype(np.int64)
        wanted = market * self.span + day
        row = np.searchsorted(self.key, wanted)
        if self.key.size == 0:
            return row
        inside = np.minimum(row, self.key.size - 1)
        # That day's mark may be older than the instant.
        row = row + ((self.key[inside] == wanted) & (self.at[inside] <= at))
        return np.where(row < self.ends[market], row, self.key.size)

    def of_whole_days(self, as_of: float) -> "Marks":
        """Return the marks of midnights up to an instant."""
        rows = np.flatnonzero(self.key % self.span + self.first <= math.floor(as_of / DAY_SECONDS))
        if rows.size == self.key.size:
            return self
        ends = np.searchsorted(rows, self.ends).astype(np.int64)
        return replace(
            self, key=self.key[rows], price=self.price[rows], at=self.at[rows], paid=self.paid[rows], ends=ends
        )


def midnights(at: Floats) -> Floats:
    """Return the first midnight not before each instant, in days since 1970."""
    days = np.ceil(at / DAY_SECONDS)
    # The quotient is rounded; whole days are exact.
    days += days * DAY_SECONDS < at
    days -= (days - 1.0) * DAY_SECONDS >= at
    return days


def record_marks(record: TrackRecord) -> Marks:
    """Return the marks of a record's markets."""
    settled_at = np.where(record.settled_at <= record.as_of, record.settled_at, np.nan)
    observed = (record.observation_market, record.observation_at, record.observation_price_yes)
    return daily_marks(record.payout_yes, settled_at, *observed, record.as_of)


def daily_marks(payouts: Floats, settled_at: Floats, market: Ints, at: Floats, prices: Floats, as_of: float) -> Marks:
    """Return the last price of each market by each midnight, if one was seen since the midnight before.

    The day of `as_of` counts too, up to that instant. Payouts and their instants, (m,) each, are NaN for
    open markets; markets, instants and prices of YES have a row for each observation, (o,).
    """
    paid = np.flatnonzero(settled_at <= as_of)
    paid_on = np.full(settled_at.shape, np.inf)
    paid_on[paid] = midnights(settled_at[paid])
    seen_on = midnights(at)
    kept = np.flatnonzero((at <= as_of) & (seen_on < paid_on[market]))
    if kept.size + paid.size == 0:
        nothing = np.zeros(0)
        none = np.zeros(0, dtype=np.int64)
        return Marks(0, 1, none, nothing, nothing, none == 0, np.zeros(payouts.size, dtype=np.int64))
    days = np.concatenate([seen_on[kept], paid_on[paid]])
    first = int(days.min())
    span = int(days.max()) - first + 2
    key = market[kept] * span + (seen_on[kept] - first).astype(np.int64)
    if not in_order(key, at[kept]):
        order = np.lexsort((at[kept], key))
        kept, key = kept[order], key[order]
    latest = np.flatnonzero(np.diff(key, append=-1))
    row = kept[latest]
    key = np.concatenate([key[latest], paid * span + (paid_on[paid] - first).astype(np.int64)])
    order = np.argsort(key, kind="stable")
    key = key[order]
    return Marks(
        first=first,
        span=span,
        key=key,
        price=np.concatenate([prices[row], payouts[paid]])[order],
        at=np.concatenate([at[row], settled_at[paid]])[order],
        paid=order >= row.size,
        ends=np.searchsorted(key, np.arange(1, payouts.size + 1) * span).astype(np.int64),
    )
