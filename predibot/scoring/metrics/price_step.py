"""Steps from the price: forecasts that go a part of the way from the price to what a bot believes."""

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import (
    Floats,
    floats,
    forecasts_and_outcomes,
    one_dimensional,
    refuse,
    same_length,
    scalar,
    shares,
    within_floats,
)
from predibot.scoring.metrics.probability import log_odds_of, probabilities_of

MEMBER_CLIP = 0.01
"""A believed probability moves at most so near to 0 and 1, so that one that is sure does not decide alone."""
PRICE_RANGE = (0.1, 0.9)
"""Prices outside stay as they are: there a step costs more than it gains."""
_PRICE_CLIP = 0.001
MAX_STEP = 0.5
PRIOR_EVENTS = 100.0
"""How many events the belief that no step helps weighs as much as."""
_MOST_ITERATIONS = 100
_ROUNDING = 1e-12


@within_floats
def step_from_price(
    prices: ArrayLike, probabilities: ArrayLike, step: float, *, price_range: tuple[float, float] = PRICE_RANGE
) -> Floats:
    """Return forecasts that go a share of the way, in log-odds, from the price to a probability.

    logit q = logit m + step * (logit p - logit m), with p moved into [0.01, 0.99].
    The price stays where it lies outside `price_range`, and where moving p into
    that range took it to the other side of the price.

    Args:
        prices: Prices of YES, shape (n,), each in [0, 1].
        probabilities: What is believed, shape (n,), each in [0, 1].
        step: In [0, 1]; zero repeats the price.
        price_range: Prices from the first to the second are moved.

    Returns:
        Forecasts, shape (n,), each between the price and the probability.

    Raises:
        ValueError: If the lengths differ, or a value is NaN or out of range.

    Examples:
        >>> step_from_price([0.5, 0.5, 0.05], [0.8, 1.0, 0.9], 0.1).round(3)
        array([0.535, 0.613, 0.05 ])
    """
    m, p = shares("prices", prices), shares("probabilities", probabilities)
    same_length(prices=m, probabilities=p)
    low, high = shares("price_range", price_range)
    share = scalar("step", step)
    if not 0.0 <= share <= 1.0 or not low <= high:
        raise ValueError(f"step is {share:g}, the range {low:g} to {high:g}; all are in [0, 1], the range in order")
    believed = np.clip(p, MEMBER_CLIP, 1.0 - MEMBER_CLIP)
    crossed = (believed - m) * (p - m) < 0.0
    if share == 0.0:
        return m.copy()
    inside = (m >= low) & (m <= high) & (m > 0.0) & (m < 1.0) & ~crossed
    forecasts = m.copy()
    at = log_odds_of(m[inside])
    forecasts[inside] = probabilities_of(at + share * (log_odds_of(believed[inside]) - at))
    return forecasts


@within_floats
def fit_step(
    prices: ArrayLike, probabilities: ArrayLike, outcomes: ArrayLike, weights: ArrayLike | None = None
) -> float:
    """Return the step from the price that earlier forecasts have earned, in [0, 0.5].

    The likeliest step of a logistic regression with the log-odds of the price as offset and no intercept, where a
    Gaussian prior around zero weighs as much as 100 events. Without evidence it is 0: the market. Fit it on events that
    had settled before the forecasts it is used on were made.

    Args:
        prices: Prices of YES when the forecasts were made, shape (n,), each in
            [0, 1]; they count as at least 0.001 from certainty.
        probabilities: The forecasts, shape (n,), each in [0, 1], moved into [0.01, 0.99].
        outcomes: What happened, shape (n,): 1 for YES, 0 for NO.
        weights: How much each counts, shape (n,), not below 0; give the markets
            of an event 1 in all. None counts each as 1.

    Returns:
        The step; 0 where there are no forecasts, or all repeat the price.

    Raises:
        ValueError: If the lengths differ, or a value is NaN or out of range.

    Source:
        Genest and Zidek (1986), Statistical Science 1(1), 114-135, for pooling in log-odds.

    Examples:
        >>> fit_step([0.5] * 400, [0.7] * 400, [1] * 280 + [0] * 120)
        0.5
        >>> fit_step([0.5] * 400, [0.7] * 400, [1] * 200 + [0] * 200)
        0.0
    """
    m = shares("prices", prices)
    if m.size == 0:
        return 0.0
    p, happened = forecasts_and_outcomes(probabilities, outcomes)
    w = np.ones(m.size) if weights is None else one_dimensional("weights", floats("weights", weights))
    same_length(prices=m, probabilities=p, weights=w)
    refuse("weights", w, ~((w >= 0.0) & np.isfinite(w)), "each must be 0 or more")
    m = np.clip(m, _PRICE_CLIP, 1.0 - _PRICE_CLIP)
    at = log_odds_of(m)
    distance = log_odds_of(np.clip(p, MEMBER_CLIP, 1.0 - MEMBER_CLIP)) - at
    information = float(np.sum(w * distance**2 * m * (1.0 - m)))
    if information <= 0.0:
        return 0.0
    precision = PRIOR_EVENTS * information / float(np.sum(w))
    step = 0.0
    for _ in range(_MOST_ITERATIONS):
        q = probabilities_of(at + step * distance)
        slope = float(np.sum(w * distance * (happened - q))) - precision * step
        curvature = float(np.sum(w * distance**2 * q * (1.0 - q))) + precision
        before, step = step, min(max(step + slope / curvature, 0.0), MAX_STEP)
        if abs(step - before) < _ROUNDING:
            break
    return step
