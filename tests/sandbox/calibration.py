"""Whether what is said as a chance happens as often as it says."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np


def assert_calibrated(chances: Any, outcomes: Any, edges: Sequence[float]) -> None:
    """Hold that outcomes are as frequent as the chances between any two neighbouring edges say, by four errors."""
    for low, high in pairwise(edges):
        within = (chances >= low) & (chances < high)
        error = np.sqrt((chances[within] * (1 - chances[within])).sum()) / within.sum() + 0.003
        assert abs(outcomes[within].mean() - chances[within].mean()) < 4 * error
