"""Relevance: the five classes of S."""

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import Ints

CLASSES = ("very weak", "weak", "medium", "strong", "very strong")
_CLASS_ENDS = (0.2, 0.4, 0.6, 0.8)


def relevance_class(scores: ArrayLike) -> Ints:
    """Return which of `CLASSES` each score is in, from 0; each has its lower end, the last its upper one too.

    Examples:
        >>> relevance_class([0.0, 0.2, 0.59, 0.6, 1.0]).tolist()
        [0, 1, 2, 3, 4]
    """
    return np.searchsorted(_CLASS_ENDS, np.asarray(scores, dtype=np.float64), side="right").astype(np.int64)
