"""Returns: what a bet gained by the time its market had another price."""

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import Floats, floats, refuse, within_floats


@within_floats
def horizon_gains(bets_usd: ArrayLike, prices_yes_at_decision: ArrayLike, prices_yes_at_horizon: ArrayLike) -> Floats:
    """Return the gain of each bet in dollars, at the price of a later instant.

    |b| (s / s0 - 1), where s is the price of the side that was bought: p for YES
    (b > 0), 1 - p for NO (b < 0). A bet never loses more than |b|. At the mid:
    no spread, no fee.

    Args:
        bets_usd: Signed dollars, shape (n,): positive bought YES, negative NO.
        prices_yes_at_decision: The price of YES then, shape (n,), in [0, 1]; the
            side that was bought must have cost something.
        prices_yes_at_horizon: The price of YES later, or what it paid, in [0, 1],
            NaN where unknown; shape (n,), or (h, n) for several horizons at once.

    Returns:
        Dollars, of the shape of the last argument, NaN where that is NaN.

    Raises:
        ValueError: If shapes do not fit, or a value is NaN or out of range.

    Examples:
        >>> horizon_gains([0.5, -0.5, 0.5], [0.25, 0.25, 0.25], [0.5, 0.5, float("nan")])
        array([ 0.5       , -0.16666667,         nan])
    """
    later = floats("prices_yes_at_horizon", prices_yes_at_horizon)
    refuse("prices_yes_at_horizon", later, (later < 0.0) | (later > 1.0), "each must be in [0, 1] or NaN")
    bets = _like("bets_usd", bets_usd, later)
    before = _like("prices_yes_at_decision", prices_yes_at_decision, later)
    refuse("bets_usd", bets, ~np.isfinite(bets), "each must be a finite number of dollars")
    refuse("prices_yes_at_decision", before, ~((before >= 0.0) & (before <= 1.0)), "each must be in [0, 1]")
    bought_yes = bets > 0.0
    paid = np.where(bought_yes, before, 1.0 - before)
    refuse("prices_yes_at_decision", before, (paid == 0.0) & (bets != 0.0), "nothing can be bought of a free side")
    worth = np.where(bought_yes, later, 1.0 - later)
    # Adding zero turns the -0.0 of a zero bet into 0.0.
    return np.abs(bets) * (worth / np.where(paid == 0.0, 1.0, paid) - 1.0) + 0.0


def _like(name: str, values: ArrayLike, later: Floats) -> Floats:
    array = floats(name, values)
    try:
        return np.broadcast_to(array, later.shape)
    except ValueError:
        raise ValueError(
            f"{name} has shape {array.shape}, which does not fit the later prices' {later.shape}"
        ) from None
