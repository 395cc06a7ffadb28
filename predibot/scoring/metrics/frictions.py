"""Frictions: what a bet gains when it is bought at the ask, valued at the bid, and pays a fee."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from predibot.scoring.arguments import (
    Floats,
    booleans,
    floats,
    numbers,
    one_dimensional,
    refuse,
    same_length,
    shares,
    within_floats,
)


@within_floats
def quote_gains(
    bets_usd: ArrayLike,
    bids_yes: ArrayLike,
    asks_yes: ArrayLike,
    prices_yes_later: ArrayLike,
    *,
    settled: ArrayLike,
    fee_rates: ArrayLike,
    fee_exponents: ArrayLike,
) -> Floats:
    """Return the gain of each bet in dollars, if it is carried out against the book.

    A share of YES costs the ask, one of NO 1 - bid, each with the taker's fee
    rate * (c (1 - c))^exponent on top, with c its cost. So the dollars buy fewer
    shares, and a bet still never loses more than itself. Before the settlement a
    share is worth its selling price: the later price less half the spread when it
    was bought, because the later book is not recorded. At the settlement it is
    worth its payout, without further cost.

    Args:
        bets_usd: Signed dollars, shape (n,): positive bought YES, negative NO.
        bids_yes: What YES could be sold at when buying, shape (n,), in [0, 1] or NaN.
        asks_yes: What YES could be bought at then, shape (n,), in [0, 1] or NaN.
        prices_yes_later: The later price of YES or what it paid, shape (n,), in [0, 1] or NaN.
        settled: Whether that is what it paid, shape (n,).
        fee_rates: Shape (n,), zero or more; NaN where the venue states none: none is charged.
        fee_exponents: Shape (n,), zero or more; NaN reads as 1.

    Returns:
        Dollars, shape (n,). Zero for a bet of zero; else NaN where the later price or that of the side bought is
        unknown or nothing was on offer; before the settlement also where the other side's price is unknown.

    Raises:
        ValueError: If shapes do not fit, or a value is out of range.

    Source:
        The fee is that of the venue's schedules. Published systems trade at the
        mid for free; the difference is what their paper results hide.

    Examples:
        A dollar at an ask of 0.50 buys two shares, worth the bid of 0.58 each.

        >>> nothing = [float("nan")]
        >>> quote_gains(
        ...     [1.0], [0.46], [0.50], [0.60], settled=[False], fee_rates=nothing, fee_exponents=nothing
        ... ).round(6)
        array([0.16])
    """
    bets = numbers("bets_usd", bets_usd)
    bid, ask = shares("bids_yes", bids_yes, allow_nan=True), shares("asks_yes", asks_yes, allow_nan=True)
    later = shares("prices_yes_later", prices_yes_later, allow_nan=True)
    paid = booleans("settled", settled)
    rate, exponent = _fees(fee_rates, 0.0, "fee_rates"), _fees(fee_exponents, 1.0, "fee_exponents")
    same_length(bets=bets, bids=bid, asks=ask, later=later, settled=paid, fee_rates=rate, fee_exponents=exponent)
    half_spread = np.where(paid, 0.0, np.maximum(ask - bid, 0.0) / 2.0)
    worth = np.maximum(np.where(bets > 0.0, later, 1.0 - later) - half_spread, 0.0)
    return np.where(bets == 0.0, 0.0, np.abs(bets) * (worth / _costs(bets > 0.0, bid, ask, rate, exponent) - 1.0))


def quote_shares(
    bets_usd: Floats, bids_yes: Floats, asks_yes: Floats, fee_rates: Floats | None, fee_exponents: Floats | None
) -> Floats:
    """Return the shares of YES that each bet buys against the book, negative for NO, (n,), as in `quote_gains`."""
    unstated = np.full(bets_usd.shape, np.nan)
    rate = _fees(unstated if fee_rates is None else fee_rates, 0.0, "fee_rates")
    exponent = _fees(unstated if fee_exponents is None else fee_exponents, 1.0, "fee_exponents")
    return np.where(bets_usd == 0.0, 0.0, bets_usd / _costs(bets_usd > 0.0, bids_yes, asks_yes, rate, exponent))


def _costs(yes: NDArray[np.bool_], bid: Floats, ask: Floats, rate: Floats, exponent: Floats) -> Floats:
    """Return the cost of a share of each side with the fee, (n,), NaN where nothing was offered."""
    cost = np.where(yes, ask, 1.0 - bid)
    cost = np.where(cost > 0.0, cost, np.nan)
    base = cost * (1.0 - cost)
    # Nearly every venue's exponent is 1, and a power takes twenty times as long.
    return cost + rate * (base if (exponent == 1.0).all() else base**exponent)


def _fees(values: ArrayLike, unstated: float, name: str) -> Floats:
    array = one_dimensional(name, floats(name, values))
    refuse(name, array, (array < 0.0) | np.isinf(array), "each must be zero or more, or NaN")
    return np.where(np.isnan(array), unstated, array)
