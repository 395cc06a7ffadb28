"""Allocations: how an account was divided among cash and assets, slot by slot."""

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import Floats, floats, numbers, refuse, within_floats

_OF_ONE = 1e-6


@within_floats
def turnover(target: ArrayLike, drifted: ArrayLike) -> Floats:
    """Return the share of an account that a rebalance moves, slot by slot: half the L1 distance, cash included.

    Args:
        target: The target weights, (n, assets and cash), each row summing to 1.
        drifted: The weights before, (n, assets and cash), after moves of prices.

    Returns:
        In [0, 1], (n,).

    Raises:
        ValueError: If the shapes differ, or a sum is not 1.

    Examples:
        >>> turnover(np.array([[0.5, 0.2, 0.3]]), np.array([[0.1, 0.4, 0.5]])).round(6)
        array([0.4])
    """
    wanted, before = _weights("target", target), _weights("drifted", drifted)
    if wanted.shape != before.shape:
        raise ValueError(f"targets have shape {wanted.shape}, the weights before {before.shape}")
    for name, weights in (("target", wanted), ("drifted", before)):
        total = weights.sum(axis=1)
        refuse(f"{name} sums", total, np.abs(total - 1.0) > _OF_ONE, "weights add up to 1, cash included")
    moved: Floats = np.abs(wanted - before).sum(axis=1)
    return 0.5 * moved


@within_floats
def concentration(invested: ArrayLike) -> Floats:
    """Return the Herfindahl index of the invested part, slot by slot: 1 for a single asset, 1 / n for n alike.

    The squares of the weights without cash, over the square of their sum.

    Args:
        invested: The weights of the assets, cash left out, (n, assets).

    Returns:
        In (0, 1], (n,); NaN where nothing is invested.

    Raises:
        ValueError: If NaN or infinite.

    Examples:
        >>> concentration(np.array([[0.2, 0.2], [0.4, 0.0], [0.0, 0.0]]))
        array([0.5, 1. , nan])
    """
    weights = _weights("invested", invested)
    total = weights.sum(axis=1)
    found = np.full(total.shape, np.nan)
    some = total > 0.0
    found[some] = ((weights[some] / total[some, np.newaxis]) ** 2).sum(axis=1)
    return found


@within_floats
def weights_held(prices: Floats, shares: Floats, cash_usd: Floats) -> Floats:
    """Return the weight of each asset in an account, slot by slot, (n, assets); the rest of one is cash.

    A row is NaN where a held asset has no price, or the account is worth nothing.

    Args:
        prices: NaN without one, (n, assets).
        shares: The holdings, (n, assets).
        cash_usd: Below zero for a debt, (n,).

    Examples:
        >>> weights_held(np.array([[0.5, np.nan]]), np.array([[100.0, 0.0]]), np.array([150.0]))
        array([[0.25, 0.  ]])
    """
    usd = shares * np.nan_to_num(prices)
    worth = usd.sum(axis=1) + cash_usd
    unknown = (np.isnan(prices) & (shares != 0.0)).any(axis=1) | (worth <= 0.0)
    return usd / np.where(unknown, np.nan, worth)[:, np.newaxis]


def drawdowns(values: Floats) -> Floats:
    """Return how far an account is below its highest value so far, as a share of that: 0 to -1, slot by slot.

    Its first value is above zero.

    Examples:
        >>> drawdowns(np.array([100.0, 200.0, 150.0]))
        array([ 0.  ,  0.  , -0.25])
    """
    return values / np.maximum.accumulate(values) - 1.0


def slots_in_drawdown(values: ArrayLike) -> int:
    """Return the number of slots at which an account was below an earlier value.

    Args:
        values: Its values, in the order of time, (n,).

    Raises:
        ValueError: If one is NaN or infinite.

    Examples:
        >>> slots_in_drawdown(np.array([100.0, 110.0, 99.0, 110.0, 120.0]))
        1
    """
    worth = numbers("values", values)
    return int((worth < np.maximum.accumulate(worth)).sum())


def _weights(name: str, weights: ArrayLike) -> Floats:
    array = floats(name, weights)
    if array.ndim != 2:
        raise ValueError(f"{name} has shape {array.shape}; give two dimensions, (n, assets)")
    refuse(name, array, ~np.isfinite(array), "each must be a finite number")
    return array
