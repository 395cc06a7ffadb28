"""Recalibration: corrected forecasts, learned from the outcomes of earlier ones."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import Floats, forecasts_and_outcomes, instance_of, shares, within_floats
from predibot.scoring.metrics.probability import log_odds_of, probabilities_of

RecalibrationMethod = Literal["isotonic", "logistic"]
MIN_PROBABILITY = 0.001
"""`logistic` moves forecasts at least so far from 0 and 1, whose log-odds are infinite."""
_MOST_STEPS = 100
_ROUNDING = 1e-12
"""A smaller step is none, and a loss that grows by less, relative to itself, does not grow."""


@dataclass(frozen=True, slots=True, eq=False)
class IsotonicRecalibration:
    """Straight lines between the outcomes at earlier forecasts, never falling."""

    seen: Floats
    """The forecasts it was fitted on, (k,), rising, each once."""
    fitted: Floats
    """The corrected forecasts, (k,), never falling, each in [0, 1]."""

    def __call__(self, probabilities: ArrayLike) -> Floats:
        """Return corrected forecasts, (n,); outside the earlier ones, those at the end."""
        # The last bit of a straight line may be above its upper end.
        return np.clip(np.interp(shares("probabilities", probabilities), self.seen, self.fitted), 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class LogisticRecalibration:
    """Log-odds shifted and stretched: intercept + slope * ln(p / (1 - p))."""

    intercept: float
    """Above zero where YES happened more often than forecast."""
    slope: float
    """Above 1 for too timid forecasts, below 1 for too bold ones, below 0 for the wrong direction."""

    def __call__(self, probabilities: ArrayLike) -> Floats:
        """Return corrected forecasts, (n,)."""
        return probabilities_of(self.intercept + self.slope * _log_odds(shares("probabilities", probabilities)))


Recalibration = IsotonicRecalibration | LogisticRecalibration


@within_floats
def fit_recalibration(
    probabilities: ArrayLike, outcomes: ArrayLike, *, method: RecalibrationMethod = "isotonic"
) -> Recalibration:
    """Return the function that turns a forecast into what it should have been.

    It takes probabilities of shape (n,) and returns as many, each in [0, 1]. Fit it on questions that had settled
    before the forecasts it is used on were made: on its own forecasts it makes any bot look calibrated.

    `isotonic` takes the rising function with the least mean squared distance to the outcomes: equal forecasts are one
    point with their weight, neighbours that fall are pooled, and it is linear between points. It needs hundreds of
    forecasts. `logistic` shifts and stretches the log-odds so that the outcomes are likeliest, and needs tens;
    forecasts within 0.001 of certainty count as 0.001 from it.

    Args:
        probabilities: Earlier forecasts of YES, shape (n,), each in [0, 1].
        outcomes: What happened, shape (n,): 1 for YES, 0 for NO.
        method: `isotonic` or `logistic`.

    Raises:
        ValueError: If there is none, the lengths differ, a value is NaN or out of range, or there is no such method;
            and for `logistic`, where no stretch is the likeliest: all outcomes are the same, all forecasts are, or some
            forecast separates every YES from every NO.

    Source:
        Zadrozny and Elkan (2002), KDD 8, 694-699, for `isotonic`. Platt (1999) for `logistic`, on log-odds and not on
        scores, and without his smoothing of the outcomes.

    Examples:
        >>> fitted = fit_recalibration([0.2, 0.2, 0.4, 0.6], [0, 1, 0, 1])
        >>> fitted([0.1, 0.3, 0.5, 0.9])
        array([0.33333333, 0.33333333, 0.66666667, 1.        ])
        >>> bold = fit_recalibration([0.1] * 5 + [0.9] * 5, [1, 0, 0, 0, 0, 1, 1, 1, 1, 0], method="logistic")
        >>> bold([0.1, 0.5, 0.9]).round(4)
        array([0.2, 0.5, 0.8])
    """
    forecasts, happened = forecasts_and_outcomes(probabilities, outcomes)
    instance_of("method", method, str)
    if method == "isotonic":
        return _isotonic(forecasts, happened)
    if method == "logistic":
        return _logistic(forecasts, happened)
    raise ValueError(f"no method {method!r}; there are {', '.join(get_args(RecalibrationMethod))}")


def _isotonic(forecasts: Floats, happened: Floats) -> IsotonicRecalibration:
    # Imported here: it loads a large part of scipy.
    from scipy.optimize import isotonic_regression

    seen, which, ties = np.unique(forecasts, return_inverse=True, return_counts=True)
    rates = np.bincount(which, happened) / ties
    return IsotonicRecalibration(seen, isotonic_regression(rates, weights=ties).x)


def _logistic(forecasts: Floats, happened: Floats) -> LogisticRecalibration:
    log_odds = _log_odds(forecasts)
    _refuse_without_a_likeliest(log_odds, happened)
    # Scaled by their spread, log-odds that hardly differ are fitted as well as others.
    middle, spread = float(np.mean(log_odds)), float(np.std(log_odds))
    intercept, slope = _likeliest((log_odds - middle) / spread, happened)
    return LogisticRecalibration(intercept - slope * middle / spread, slope / spread)


def _refuse_without_a_likeliest(log_odds: Floats, happened: Floats) -> None:
    yes, no = log_odds[happened == 1.0], log_odds[happened == 0.0]
    if yes.size == 0 or no.size == 0:
        seen = f"all {log_odds.size} outcomes are {happened[0]:g}"
    elif np.ptp(log_odds) == 0.0:
        seen = f"all {log_odds.size} forecasts are the same"
    elif yes.min() >= no.max() or yes.max() <= no.min():
        seen = f"forecasts of what was YES were {_range(yes)}, of what was NO {_range(no)}"
    else:
        return
    raise ValueError(f"{seen}, so no logistic is the likeliest; give forecasts that overlap, or take 'isotonic'")


def _range(log_odds: Floats) -> str:
    least, most = probabilities_of(np.array([log_odds.min(), log_odds.max()]))
    return f"{least:.3g} to {most:.3g}"


def _likeliest(values: Floats, happened: Floats) -> tuple[float, float]:
    """Return the intercept and slope of the likeliest logistic, by Newton's method."""
    design = np.column_stack([np.ones_like(values), values])
    found = np.zeros(2)
    for _ in range(_MOST_STEPS):
        chance = probabilities_of(design @ found)
        information = (design * (chance * (1.0 - chance))[:, np.newaxis]).T @ design
        step = np.linalg.solve(information, design.T @ (happened - chance))
        most = _surprise(design @ found, happened) * (1.0 + _ROUNDING)
        while _surprise(design @ (found + step), happened) > most:
            step /= 2.0
        found += step
        if np.abs(step).max() <= _ROUNDING * max(1.0, np.abs(found).max()):
            break
    return float(found[0]), float(found[1])


def _surprise(log_odds: Floats, happened: Floats) -> float:
    return float(np.sum(np.logaddexp(0.0, np.where(happened == 1.0, -log_odds, log_odds))))


def _log_odds(forecasts: Floats) -> Floats:
    return log_odds_of(np.clip(forecasts, MIN_PROBABILITY, 1.0 - MIN_PROBABILITY))
