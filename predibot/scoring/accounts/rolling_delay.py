"""Rolling delays: what an account would have made with its holdings of some slots before."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import Floats, Ints, floats, indices, instance_of, numbers, refuse, within_floats

DELAYS = (1, 2, 4, 8, 16)
"""In slots."""
_ROUNDING = 1e-12
"""Returns of the same holdings differ by less, as when one of them holds settled positions as cash."""


@dataclass(frozen=True, slots=True)
class RollingDelay:
    """The return with the holdings of k slots before, beside the actual one over the same slots."""

    delay_slots: int
    cumulative_return: float
    actual_return: float
    n: int
    """Slots with a return for all delays."""

    @property
    def difference(self) -> float:
        """Return Delta_k; below zero, newer decisions were worth something."""
        return self.cumulative_return - self.actual_return


@within_floats
def rolling_delays(
    cash_usd: ArrayLike,
    shares: ArrayLike,
    prices: ArrayLike,
    delays: Sequence[int] = DELAYS,
    *,
    own_bounds: bool = False,
) -> Mapping[int, RollingDelay]:
    """Return the returns with the holdings of some slots before, by delay; empty on too few slots.

    r_t = q_{t-k} . (p_{t+1} - p_t) / q_{t-k} . p_t, compounded over all slots t
    from the longest delay to the last but one. These slots are the same for every
    delay, so for holdings that never change every difference is zero. A slot is
    skipped for all delays if one of them holds something without a price at t or
    t + 1. Settled positions have their payout as price from then on.

    Args:
        cash_usd: The cash after the fills of each slot, (n,).
        shares: Shares of each instrument then, (n, i).
        prices: The price of each instrument at each slot, its payout from settlement on, NaN for none, (n, i).
        delays: In slots, each above zero.
        own_bounds: Whether each delay has slots of its own, t = k .. T - k - 1,
            as in the paper; delay 0 then has all slots, and differences mix
            spans of different lengths.

    Raises:
        ValueError: If the shapes do not fit each other, a delay is none, or
            numbers are infinite, or NaN where they are no prices.

    Source:
        Yu, Li and You (2025), arXiv 2511.03628, equation 6. Differs in the slots, unless `own_bounds` is set: with it
        an account that gains .1 % a slot and never trades has a difference of -3.3 points at a delay of 16.

    Examples:
        >>> prices = np.array([[0.5], [0.6], [0.3], [0.6]])
        >>> held = np.array([[0.0], [1.0], [0.0], [0.0]])
        >>> found = rolling_delays(np.array([1.0, 0.4, 0.7, 0.7]), held, prices, [1])[1]
        >>> found.n, round(found.cumulative_return, 6), round(found.actual_return, 6)
        (2, 0.428571, -0.3)
    """
    cash, held, offered = numbers("cash_usd", cash_usd), floats("shares", shares), floats("prices", prices)
    n, each = cash.size, indices("delays", delays).tolist()
    instance_of("own_bounds", own_bounds, bool)
    refuse("shares", held, ~np.isfinite(held), "each must be a finite number")
    refuse("prices", offered, np.isinf(offered), "each must be a finite number, or NaN for none")
    if held.ndim != 2 or held.shape != offered.shape or held.shape[0] != n:
        raise ValueError(f"{n} cash, shares {held.shape} and prices {offered.shape} are of other runs or instruments")
    if not each or min(each) < 1:
        raise ValueError(f"the delays are {each}; give one or more, each above zero")
    unpriced, known = np.isnan(offered), np.nan_to_num(offered)

    def returns(slots: Ints, delay: int) -> Floats:
        """Return r_t of some slots with the holdings of `delay` slots before, NaN if a held one has no price."""
        then, now, after = held[slots - delay], known[slots], known[slots + 1]
        worth_usd = np.einsum("ti,ti->t", then, now) + cash[slots - delay]
        gain_usd = np.einsum("ti,ti->t", then, after - now)
        lacking = ((then != 0.0) & (unpriced[slots] | unpriced[slots + 1])).any(axis=1)
        is_worth = (worth_usd > 0.0) & ~lacking
        found = np.full(slots.shape, np.nan)
        found[is_worth] = gain_usd[is_worth] / worth_usd[is_worth]
        return found

    return _with_own_bounds(returns, n, each) if own_bounds else _over_the_same(returns, n, each)


_Returns = Callable[[Ints, int], Floats]


def _over_the_same(returns: _Returns, n: int, delays: Sequence[int]) -> Mapping[int, RollingDelay]:
    slots = np.arange(max(delays), n - 1)
    if not slots.size:
        return {}
    table = np.stack([returns(slots, delay) for delay in (0, *delays)])
    table = table[:, ~np.isnan(table).any(axis=0)]
    if not table.shape[1]:
        return {}
    actual, *delayed = (_compound(each) for each in table)
    return {
        delay: RollingDelay(delay, _snap(found, actual), actual, table.shape[1])
        for delay, found in zip(delays, delayed, strict=True)
    }


def _with_own_bounds(returns: _Returns, n: int, delays: Sequence[int]) -> Mapping[int, RollingDelay]:
    every = _drop_nan(returns(np.arange(n - 1), 0))
    found = {}
    for delay in delays:
        own = _drop_nan(returns(np.arange(delay, n - 1 - delay), delay))
        if own.size:
            found[delay] = RollingDelay(delay, _compound(own), _compound(every), own.size)
    return found


def _drop_nan(returns: Floats) -> Floats:
    return returns[~np.isnan(returns)]


def _compound(returns: Floats) -> float:
    return float(np.prod(1.0 + returns)) - 1.0


def _snap(found: float, actual: float) -> float:
    """Return the return, or exactly the actual one where only rounding differs."""
    return actual if abs(found - actual) <= _ROUNDING * (1.0 + abs(actual)) else found
