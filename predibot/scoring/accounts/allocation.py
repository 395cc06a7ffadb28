"""Allocations: how an account was divided among cash and assets, slot by slot."""

import numpy as np

from predibot.scoring.arguments import Floats, refuse

_OF_ONE = 1e-6


def turnover(target: Floats, drifted: Floats) -> Floats:
    """Return which share of an account a rebalance moves, slot by slot: half the L1 distance, cash included.

    Args:
        target: The weights asked for, (n, assets and cash), each row summing to 1.
        drifted: The weights before, (n, assets and cash), as prices had left them.

    Returns:
        In [0, 1], (n,).

    Raises:
        ValueError: If the shapes differ, or weights are none.

    Examples:
        >>> turnover(np.array([[0.5, 0.2, 0.3]]), np.array([[0.1, 0.4, 0.5]])).round(6)
        array([0.4])
    """
    if target.shape != drifted.shape:
        raise ValueError(f"targets have shape {target.shape}, the weights before {drifted.shape}")
    moved: Floats = np.abs(_weights("target", target) - _weights("drifted", drifted)).sum(axis=1)
    return 0.5 * moved


def concentration(invested: Floats) -> Floats:
    """Return the Herfindahl index of what is invested, slot by slot: 1 is a single asset, 1 / n is n alike.

    The squares of the weights, cash left out, over the square of their sum.

    Args:
        invested: The weights of the assets, cash left out, (n, assets).

    Returns:
        In (0, 1], (n,); NaN where nothing is invested.

    Examples:
        >>> concentration(np.array([[0.2, 0.2], [0.4, 0.0], [0.0, 0.0]]))
        array([0.5, 1. , nan])
    """
    total = invested.sum(axis=1)
    found = np.full(total.shape, np.nan)
    some = total > 0.0
    found[some] = (invested[some] ** 2).sum(axis=1) / total[some] ** 2
    return found


def slots_in_drawdown(values: Floats) -> int:
    """Return at how many slots an account was worth less than it had been before.

    Examples:
        >>> slots_in_drawdown(np.array([100.0, 110.0, 99.0, 110.0, 120.0]))
        1
    """
    return int((values < np.maximum.accumulate(values)).sum())


def _weights(name: str, weights: Floats) -> Floats:
    refuse(name, weights, ~np.isfinite(weights), "each must be a finite number")
    total = weights.sum(axis=1)
    refuse(f"{name} sums", total, np.abs(total - 1.0) > _OF_ONE, "weights add up to 1, cash included")
    return weights
