"""Student's t: its tails and its quantiles."""

import math


def t_two_sided(t: float, degrees_of_freedom: float) -> float:
    """Return the chance of a value at least as far from zero as t, which may be infinite.

    Raises `ValueError` if t is NaN, or the degrees of freedom, whole or not, are not above zero.

    Examples:
        >>> t_two_sided(0.0, 5), round(t_two_sided(2.0, 10), 6)
        (1.0, 0.073388)
    """
    # Imported here: it takes a third of a second, and most commands need no t.
    from scipy.special import stdtr

    if t != t or not degrees_of_freedom > 0.0:
        raise ValueError(f"t is {t!r}, degrees of freedom {degrees_of_freedom!r}; give a number, and one above zero")
    return 2.0 * float(stdtr(degrees_of_freedom, -abs(t)))


def t_quantile(probability: float, degrees_of_freedom: float) -> float:
    """Return the value below which Student's t falls with a probability.

    Raises `ValueError` unless the probability is above 0 and below 1, and the degrees of freedom, whole or not, above
    zero.

    Examples:
        >>> round(t_quantile(0.975, 29), 6), round(t_quantile(0.8, 29), 6)
        (2.04523, 0.854192)
    """
    from scipy.special import stdtrit

    if not 0.0 < probability < 1.0:
        raise ValueError(f"a probability is {probability!r}; it must be above 0 and below 1")
    if not degrees_of_freedom > 0.0:
        raise ValueError(f"degrees of freedom are {degrees_of_freedom!r}; give a number above zero")
    # Beyond the largest double scipy forgets the sign.
    return math.copysign(float(stdtrit(degrees_of_freedom, probability)), probability - 0.5)
