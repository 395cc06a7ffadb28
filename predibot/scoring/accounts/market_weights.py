"""Weights of one market over time: the share of their accounts that bots had in each of its sides, slot by slot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from predibot.scoring.accounts.allocation import weights_held
from predibot.scoring.accounts.record import AccountRecord, AccountsRecord
from predibot.scoring.arguments import Floats


@dataclass(frozen=True, slots=True, eq=False)
class MarketWeights:
    """The weights of a market, or of a stock, at the s slots of a record."""

    instruments: tuple[str, ...]
    """Its sides that any bot held."""
    price: Floats
    """The price of YES, or of the stock; NaN before the first, (s,)."""
    long: Mapping[str, Floats]
    """By bot the weight of YES, or of the stock, after the fills of each slot; NaN where it is unknown, (s,)."""
    short: Mapping[str, Floats]
    """The same of NO."""

    moved: Floats
    """The share of their accounts that bots together moved at each slot; baselines count only among themselves."""

    def net(self, bot: str) -> Floats:
        """Return the weight of YES less that of NO, (s,)."""
        return self.long[bot] - self.short[bot]


def market_weights(record: AccountsRecord, most: int) -> tuple[MarketWeights, ...]:
    """Return the weights of the `most` markets that bots moved most; markets that nobody had are left out."""
    column = record.markets.of_instrument
    of_bots = {each.bot: _weights(record, each) for each in record.accounts}
    movers = [each.bot for each in record.accounts if not each.baseline] or list(of_bots)
    found = []
    for market in range(record.markets.price_yes.shape[1]):
        own = np.flatnonzero(column == market)
        yes, no = own[record.outcome[own] >= 0], own[record.outcome[own] < 0]
        known = record.known_prices
        price = known[:, yes[0]] if yes.size else 1.0 - known[:, no[0]]
        long = {bot: weights[:, yes].sum(axis=1) for bot, weights in of_bots.items()}
        short = {bot: weights[:, no].sum(axis=1) for bot, weights in of_bots.items()}
        steps = [np.abs(np.diff(long[bot] - short[bot], prepend=0.0)) for bot in movers]
        names = tuple(record.instruments[number] for number in own.tolist())
        found.append(MarketWeights(names, price, long, short, np.nansum(steps, axis=0)))
    moving = [each for each in found if each.moved.any()]
    return tuple(sorted(moving, key=lambda each: -float(each.moved.sum()))[:most])


def mean_of_bots(series: Sequence[Floats]) -> Floats:
    """Return the mean over bots at each slot, of those that are known; NaN without any, (s,).

    Examples:
        >>> mean_of_bots([np.array([0.2, np.nan, np.nan]), np.array([0.4, 0.1, np.nan])])
        array([0.3, 0.1, nan])
    """
    stacked = np.array(series)
    known = (~np.isnan(stacked)).sum(axis=0)
    found: Floats = np.nansum(stacked, axis=0) / np.where(known, known, np.nan)
    return found


def _weights(record: AccountsRecord, account: AccountRecord) -> Floats:
    """Return the weights of all instruments at all slots; NaN at slots at which it had no turn, (s, i)."""
    prices = record.prices[account.slot][:, account.held]
    found = np.full((len(record.at), len(record.instruments)), np.nan)
    held = weights_held(prices, account.shares, account.cash_usd)
    found[account.slot] = np.where(np.isnan(held).any(axis=1), np.nan, 0.0)[:, np.newaxis]
    found[np.ix_(account.slot, account.held)] = held
    return found
