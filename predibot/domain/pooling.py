"""Pooling: many probabilities of the same thing made into one."""

import math
import statistics
from collections.abc import Sequence
from typing import Literal

PoolingRule = Literal["median", "trimmed_mean", "log_odds"]
POOLING_RULES: tuple[PoolingRule, ...] = ("median", "trimmed_mean", "log_odds")
TRIMMED_SHARE = 0.2
"""What `trimmed_mean` leaves out at each end, rounded down to whole forecasts."""
MIN_PROBABILITY = 0.001
"""What goes into `log_odds` and comes out of it stays between this and one minus this.

One forecast that is sure shall not decide alone, nor many be pooled to certainty.
"""


def pooled(rule: PoolingRule, probabilities: Sequence[float], *, extremising: float = 1.0) -> float:
    """Return one probability for many.

    Args:
        rule: `median`, `trimmed_mean` (a fifth left out at each end) or
            `log_odds` (the mean of the logarithms of the odds).
        probabilities: (n,), each in [0, 1], at least one.
        extremising: What the mean of `log_odds` is multiplied by; above 1 it
            moves away from one half, because each forecaster knows only part of
            what all know together. The other rules take 1 only.

    Raises:
        ValueError: If nothing is given, a number is out of its range, or a
            rule is told to extremise that cannot.

    Source:
        Satopää et al. (2014), International Journal of Forecasting 30(2),
        344-356; extremising as in Baron et al. (2014), Decision Analysis 11(2).

    Examples:
        >>> pooled("median", [0.1, 0.4, 0.9])
        0.4
        >>> round(pooled("log_odds", [0.6, 0.8], extremising=2.0), 4)
        0.8571
    """
    if not probabilities:
        raise ValueError("there is nothing to pool")
    if any(not 0.0 <= each <= 1.0 for each in probabilities):
        raise ValueError(f"a probability is between 0 and 1; given were {list(probabilities)[:20]}")
    if not 0.0 < extremising < math.inf or (extremising != 1.0 and rule != "log_odds"):
        raise ValueError(f"an extremising of {extremising!r} does not go with {rule}; log_odds takes any above 0")
    if rule == "median":
        return statistics.median(probabilities)
    if rule == "trimmed_mean":
        return _trimmed_mean(sorted(probabilities))
    if rule == "log_odds":
        return _probability(extremising * statistics.fmean(map(_log_odds, probabilities)))
    raise ValueError(f"no pooling rule {rule!r}; there are {', '.join(POOLING_RULES)}")


def _trimmed_mean(ordered: Sequence[float]) -> float:
    cut = int(len(ordered) * TRIMMED_SHARE)
    return statistics.fmean(ordered[cut : len(ordered) - cut])


def _log_odds(probability: float) -> float:
    within = _bounded(probability)
    return math.log(within / (1.0 - within))


def _probability(log_odds: float) -> float:
    # Beyond 700 `exp` overflows, and the bound is reached at 7.
    return _bounded(1.0 / (1.0 + math.exp(-max(-700.0, log_odds))))


def _bounded(probability: float) -> float:
    return min(max(probability, MIN_PROBABILITY), 1.0 - MIN_PROBABILITY)
