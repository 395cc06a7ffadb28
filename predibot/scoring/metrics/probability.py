"""Probability scores: how close forecasts of YES were to what happened."""

import math

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import Floats, forecasts_and_outcomes, same_length, scalar, shares

CLIP = 0.01


def brier_score(probabilities: ArrayLike, outcomes: ArrayLike) -> float:
    """Return the mean squared distance between forecasts and outcomes.

    mean((p - y)^2). Zero is perfect, one is worst, 0.25 is the score of always
    forecasting one half. Every forecast counts, also those without money on them.

    Args:
        probabilities: Forecasts of YES, shape (n,), each in [0, 1].
        outcomes: What happened, shape (n,): 1 for YES, 0 for NO.

    Raises:
        ValueError: If there is none, the lengths differ, or a value is NaN or out of range.

    Source:
        Brier (1950), the one-sided form for two outcomes; his own sums over both outcomes and is twice as large.

    Examples:
        >>> brier_score([0.9, 0.2], [1, 0])
        0.025
    """
    forecasts, happened = forecasts_and_outcomes(probabilities, outcomes)
    return float(np.mean((forecasts - happened) ** 2))


def log_score(probabilities: ArrayLike, outcomes: ArrayLike, clip: float = CLIP) -> float:
    """Return the mean surprise at the outcomes, in nats.

    mean(-ln q), where q is the probability given to the outcome. Zero is perfect,
    ln 2 = 0.693 is the score of always forecasting one half.

    Args:
        probabilities: Forecasts of YES, shape (n,), each in [0, 1].
        outcomes: What happened, shape (n,): 1 for YES, 0 for NO.
        clip: In [0, 0.5). Forecasts are first moved into [clip, 1 - clip], so that one certain error does not outweigh
            everything. With zero it does: the score is then infinite.

    Raises:
        ValueError: If there is none, the lengths differ, or a value is NaN or out of range.

    Source:
        Good (1952), with the sign that makes lower better.

    Examples:
        >>> round(log_score([0.8, 0.5], [1, 0]), 4)
        0.4581
        >>> round(log_score([0.0], [1]), 4)
        4.6052
    """
    forecasts, happened = forecasts_and_outcomes(probabilities, outcomes)
    return float(np.mean(surprises(forecasts, happened, clip)))


def brier_skill_score(probabilities: ArrayLike, reference_probabilities: ArrayLike, outcomes: ArrayLike) -> float:
    """Return the share of the reference's Brier score that the forecasts avoid.

    1 - Brier(p) / Brier(reference). One is perfect, zero is no better than the reference, negative is worse.

    Args:
        probabilities: Forecasts of YES, shape (n,), each in [0, 1].
        reference_probabilities: The forecasts to compare with, such as prices, shape (n,), each in [0, 1].
        outcomes: What happened, shape (n,): 1 for YES, 0 for NO.

    Returns:
        NaN where the reference is perfect, or so nearly perfect that no float holds the skill.

    Raises:
        ValueError: If there is none, the lengths differ, or a value is NaN or out of range.

    Examples:
        >>> round(brier_skill_score([0.9, 0.2], [0.8, 0.2], [1, 0]), 4)
        0.375
    """
    reference = shares("reference_probabilities", reference_probabilities)
    forecasts, happened = forecasts_and_outcomes(probabilities, outcomes)
    same_length(probabilities=forecasts, reference_probabilities=reference)
    of_reference = float(np.mean((reference - happened) ** 2))
    if of_reference == 0.0:
        return math.nan
    skill = 1.0 - float(np.mean((forecasts - happened) ** 2)) / of_reference
    return skill if math.isfinite(skill) else math.nan


def surprises(forecasts: Floats, happened: Floats, clip: float = CLIP) -> Floats:
    """Return the surprise of each forecast at its outcome, in nats, shape (n,); `clip` must be in [0, 0.5)."""
    clip = scalar("clip", clip)
    if not 0.0 <= clip < 0.5:
        raise ValueError(f"clip is {clip!r}; it must be in [0, 0.5)")
    given = np.where(happened == 1.0, forecasts, 1.0 - forecasts)
    with np.errstate(divide="ignore"):
        surprise: Floats = -np.log(np.clip(given, clip, 1.0 - clip))
    return surprise


def log_odds_of(probabilities: Floats) -> Floats:
    """Return ln(p / (1 - p)), of the same shape: zero for one half, infinite for certainty; NaN stays."""
    with np.errstate(divide="ignore"):
        return np.log(probabilities) - np.log1p(-probabilities)


def probabilities_of(log_odds: Floats) -> Floats:
    """Return 1 / (1 + exp(-x)), of the same shape, exact to the last digits also next to zero; NaN stays."""
    return np.exp(-np.logaddexp(0.0, -log_odds))
