"""Series: the values each average over a horizon is made of, and the shares behind them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.averages import Average, Book, Rows, Units
from predibot.scoring.edge import Edges
from predibot.scoring.frictions import quote_shares
from predibot.scoring.horizon import HorizonReturns, market_bets_usd
from predibot.scoring.record import TrackRecord

_DAY_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """m values that are known, whose they are, and which belong together by chance."""

    values: Floats
    bot: Ints
    cluster: Ints

    def of_each(self, bots: int) -> Iterator[tuple[Floats, Ints]]:
        """Yield the values and clusters of each bot, in order."""
        order = np.argsort(self.bot, kind="stable")
        ends = np.searchsorted(self.bot[order], np.arange(bots + 1))
        for start, end in pairwise(ends):
            rows = order[start:end]
            yield self.values[rows], self.cluster[rows]


def horizon_series(record: TrackRecord, returns: HorizonReturns) -> Mapping[str, Series]:
    """Return what is averaged over one horizon, by the name of the average.

    `mean_return` is of decisions at the mid, `market_mean_return` of the market
    on the same decisions, `quote_mean_return` of those against the book with
    fees, `friction` of what that takes from the return at the mid, and
    `net_mean_return` less what they cost, where that is known. `drift`
    is of forecasts: how far the price moved toward what was said, in [-1, 1];
    one that said the price itself says nothing of a direction.
    """
    decision, event = record.bet_decision, record.decision_event
    found = {name: _known(each, record.decision_bot, event) for name, each in _of_decisions(record, returns).items()}
    found["drift"] = _known(_drifts(record, returns), record.decision_bot[decision], event[decision])
    return found


def horizon_averages(record: TrackRecord, returns: HorizonReturns, book: Book) -> Mapping[str, Average]:
    """Return the same averages with what was held behind each; the friction is no gain, and has no shares.

    Args:
        record: What was done.
        returns: What it returned.
        book: That of the record.
    """
    values = _of_decisions(record, returns)
    subject = subjects(record.decision_event, record.slots())
    mid = _rows(record, returns, record.bet_usd, _mid_shares(record, record.bet_usd))
    market_usd = market_bets_usd(record)
    rows = {
        "mean_return": mid,
        "market_mean_return": _rows(record, returns, market_usd, _mid_shares(record, market_usd)),
        "net_mean_return": mid,
    }
    if record.bet_bid_yes is not None and record.bet_ask_yes is not None:
        bought = quote_shares(
            record.bet_usd, record.bet_bid_yes, record.bet_ask_yes, record.bet_fee_rate, record.bet_fee_exponent
        )
        quote = _rows(record, returns, record.bet_usd, bought)
        rows |= {"quote_mean_return": quote, "friction": _between(mid, quote)}
    held = None if returns.days is None else returns.days * _DAY_SECONDS
    found = {
        name: Average(Units(record.decision_bot, record.decision_event, subject, values[name]), each, book, held)
        for name, each in rows.items()
    }
    found["drift"] = _drift_average(record, returns, book, held)
    return found


def edge_average(record: TrackRecord, found: Edges, book: Book) -> Average:
    """Return the average of the edges with what would have been held, had the forecasts been bets.

    Args:
        record: What was asked and said.
        found: Its edges.
        book: That of the record.
    """
    price = record.bet_price_yes[found.bet]
    between = (price + record.bet_probability[found.bet]) / 2.0
    return Average(
        Units(found.bot, found.event, subjects(found.event, found.slot), found.value),
        Rows(
            unit=found.cell,
            bet=found.bet,
            shares=found.shares,
            price_yes=price,
            later_yes=found.later,
            paid=found.paid,
            if_no=-found.shares * between,
            if_yes=found.shares * (1.0 - between),
        ),
        book,
        limits=(-1.0, 1.0),
    )


def subjects(event: Ints, slot: Floats) -> Ints:
    """Return a number for each event and slot, (n,): what bots are compared on."""
    _, slots = np.unique(slot, return_inverse=True)
    events, code = np.unique(event, return_inverse=True)
    found: Ints = slots * max(events.size, 1) + code
    return found


def _of_decisions(record: TrackRecord, returns: HorizonReturns) -> Mapping[str, Floats]:
    known = ~np.isnan(returns.value)
    return {
        "mean_return": returns.value,
        "market_mean_return": np.where(known, returns.market_value, np.nan),
        "quote_mean_return": returns.quote_value,
        "friction": returns.value - returns.quote_value,
        "net_mean_return": returns.value - record.decision_cost_usd,
    }


def _mid_shares(record: TrackRecord, bets_usd: Floats) -> Floats:
    """Return how many shares of YES the dollars buy at the mid, negative for NO, (n_b,)."""
    price = record.bet_price_yes
    return bets_usd / np.where(bets_usd > 0.0, price, 1.0 - price)


def _rows(record: TrackRecord, returns: HorizonReturns, bets_usd: Floats, shares: Floats) -> Rows:
    paid_for = np.abs(bets_usd)
    return Rows(
        unit=record.bet_decision,
        bet=np.arange(bets_usd.size),
        shares=shares,
        price_yes=record.bet_price_yes,
        later_yes=returns.price_of_bet,
        paid=returns.paid,
        if_no=np.maximum(-shares, 0.0) - paid_for,
        if_yes=np.maximum(shares, 0.0) - paid_for,
    )


def _between(mid: Rows, quote: Rows) -> Rows:
    """Return rows without shares, that say how far the one can be above the other."""
    most, least = np.maximum, np.minimum
    return replace(
        mid,
        shares=np.zeros(mid.shares.shape),
        if_no=least(mid.if_no, mid.if_yes) - most(quote.if_no, quote.if_yes),
        if_yes=most(mid.if_no, mid.if_yes) - least(quote.if_no, quote.if_yes),
    )


def _drift_average(record: TrackRecord, returns: HorizonReturns, book: Book, held: float | None) -> Average:
    decision, price, bets = record.bet_decision, record.bet_price_yes, np.arange(record.bet_usd.size)
    side = np.sign(np.nan_to_num(record.bet_probability - price))
    return Average(
        Units(record.decision_bot[decision], record.decision_event[decision], bets, _drifts(record, returns)),
        Rows(bets, bets, side, price, returns.price_of_bet, returns.paid, -side * price, side * (1.0 - price)),
        book,
        held,
    )


def _drifts(record: TrackRecord, returns: HorizonReturns) -> Floats:
    """Return how far the price of each bet's market moved toward the forecast, (n_b,), NaN where nothing is known."""
    said = record.bet_probability - record.bet_price_yes
    counted = returns.passed[record.bet_decision] & (said != 0.0)
    moved = np.sign(said) * (returns.price_of_bet - record.bet_price_yes)
    return np.where(counted, moved, np.nan)


def _known(values: Floats, bot: Ints, cluster: Ints) -> Series:
    rows = np.flatnonzero(~np.isnan(values))
    return Series(values[rows], bot[rows], cluster[rows])
