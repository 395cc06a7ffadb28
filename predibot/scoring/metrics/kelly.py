"""Kelly: the share of one's money to bet at a price."""

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from predibot.domain.sizing import kelly_share
from predibot.scoring.arguments import Floats, floats, not_empty, refuse, within_floats

_Many = Sequence[float] | NDArray[Any]


@overload
def kelly_fraction(probability: float, price: float) -> float: ...
@overload
def kelly_fraction(probability: _Many, price: ArrayLike) -> Floats: ...
@overload
def kelly_fraction(probability: ArrayLike, price: _Many) -> Floats: ...
@within_floats
def kelly_fraction(probability: ArrayLike, price: ArrayLike) -> Floats | float:
    """Return the share of one's money whose logarithm grows fastest when bet at a price.

    (p - m) / (1 - m) above the price, to be bet on YES; (p - m) / m below it,
    negative, to be bet on NO at 1 - m. Zero where p is the price. It is for one
    bet alone, without fee or spread. Most people bet a part of it, because
    forecasts are less certain than they say.

    Args:
        probability: Of YES, in [0, 1]: one number, or any shape that fits.
        price: What a share that pays 1 for YES costs, strictly between 0 and 1 except where it is the probability.

    Returns:
        In [-1, 1]; an array of the shape both have together, a float for two numbers.

    Raises:
        ValueError: If there is none, the shapes do not fit, or a value is NaN or out of range.

    Source:
        Kelly (1956), Bell System Technical Journal 35(4), 917-926.

    Examples:
        >>> kelly_fraction(0.75, 0.5)
        0.5
        >>> kelly_fraction([0.2, 0.4, 0.7], 0.4)
        array([-0.5,  0. ,  0.5])
    """
    chance, cost = _in_unit("probability", probability), _in_unit("price", price)
    try:
        chance, cost = np.broadcast_arrays(chance, cost)
    except ValueError:
        raise ValueError(f"price has shape {cost.shape}, which does not fit the probability's {chance.shape}") from None
    edge = chance - cost
    certain = (cost == 0.0) | (cost == 1.0)
    refuse("price", cost, certain & (edge != 0.0), "where it is not the probability it must be strictly inside (0, 1)")
    # Without an edge the other side may cost nothing.
    other_price = np.where(edge == 0.0, 1.0, np.where(edge > 0.0, 1.0 - cost, cost))
    shares: Floats = kelly_share(edge, other_price)
    return shares if shares.ndim else float(shares)


def _in_unit(name: str, values: ArrayLike) -> Floats:
    array = floats(name, values)
    not_empty(name, array)
    refuse(name, array, ~((array >= 0.0) & (array <= 1.0)), "each must be in [0, 1]")
    return array
