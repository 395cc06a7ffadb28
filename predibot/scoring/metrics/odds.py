"""Log-odds: probabilities on the scale where evidence adds up."""

import numpy as np

from predibot.scoring.arguments import Floats


def log_odds_of(probabilities: Floats) -> Floats:
    """Return ln(p / (1 - p)), of the same shape: zero for one half, infinite for certainty.

    Args:
        probabilities: Any shape, each in [0, 1]; NaN stays.
    """
    with np.errstate(divide="ignore"):
        return np.log(probabilities) - np.log1p(-probabilities)


def probabilities_of(log_odds: Floats) -> Floats:
    """Return 1 / (1 + exp(-x)), of the same shape, exact to the last digits also next to zero.

    Args:
        log_odds: Any shape, infinite ones too; NaN stays.
    """
    return np.exp(-np.logaddexp(0.0, -log_odds))
