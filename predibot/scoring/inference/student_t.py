"""Student's t: its distribution and its quantiles, without the half second that scipy takes to be imported."""

import math
from functools import lru_cache
from statistics import NormalDist

_TERMS = 10_000
_ENOUGH = 3e-15
_TINY = 1e-300


def t_probability(t: float, degrees_of_freedom: float) -> float:
    """Return the chance of a value of at most t.

    Args:
        t: Any number, infinities among them.
        degrees_of_freedom: Above zero, whole or not.

    Raises:
        ValueError: If t is NaN, or the degrees of freedom are not above zero.

    Examples:
        >>> t_probability(0.0, 5), round(t_probability(2.0, 10), 6)
        (0.5, 0.963306)
    """
    if math.isnan(t) or not degrees_of_freedom > 0.0:
        raise ValueError(f"t is {t!r}, degrees of freedom {degrees_of_freedom!r}; give a number, and one above zero")
    tail = 0.5 * _tails(abs(t), degrees_of_freedom)
    return tail if t < 0.0 else 1.0 - tail


def t_two_sided(t: float, degrees_of_freedom: float) -> float:
    """Return the chance of a value at least as far from zero as t: exact where it is far too small for 1 - p.

    Raises:
        ValueError: As `t_probability`.
    """
    return 2.0 * t_probability(-abs(t), degrees_of_freedom)


@lru_cache(maxsize=10_000)
def t_quantile(probability: float, degrees_of_freedom: float) -> float:
    """Return the value below which Student's t falls with a probability.

    Args:
        probability: Above 0 and below 1.
        degrees_of_freedom: Above zero, whole or not.

    Raises:
        ValueError: If an argument is out of range.

    Source:
        Newton's method, from the expansion of Cornish and Fisher, on the
        incomplete beta function by the continued fraction of Lentz (Numerical
        Recipes, 6.4).

    Examples:
        >>> round(t_quantile(0.975, 29), 6), round(t_quantile(0.8, 29), 6)
        (2.04523, 0.854192)
    """
    if not 0.0 < probability < 1.0:
        raise ValueError(f"a probability is {probability!r}; it must be above 0 and below 1")
    if probability == 0.5:
        # Checks the degrees of freedom too.
        return t_probability(0.0, degrees_of_freedom) - 0.5
    tail = min(probability, 1.0 - probability)
    low, high, found = 0.0, math.inf, _guess(tail, degrees_of_freedom)
    for _ in range(200):
        beyond = t_probability(-found, degrees_of_freedom) - tail
        low, high = (found, high) if beyond > 0.0 else (low, found)
        step = found + beyond / _density(found, degrees_of_freedom)
        if not low < step < high:
            step = (low + high) / 2.0 if high < math.inf else 2.0 * found
        if abs(step - found) <= 1e-12 * step:
            break
        found = step
    return found if probability > 0.5 else -found


def _guess(tail: float, n: float) -> float:
    """Return about where so much lies above: Cornish and Fisher's expansion about the normal quantile."""
    z = -NormalDist().inv_cdf(tail)
    first = (z**3 + z) / 4.0
    second = (5.0 * z**5 + 16.0 * z**3 + 3.0 * z) / 96.0
    third = (3.0 * z**7 + 19.0 * z**5 + 17.0 * z**3 - 15.0 * z) / 384.0
    return max(z + first / n + second / n**2 + third / n**3, z)


def _density(t: float, n: float) -> float:
    log = math.lgamma((n + 1.0) / 2.0) - math.lgamma(n / 2.0) - 0.5 * math.log(n * math.pi)
    return max(math.exp(log - (n + 1.0) / 2.0 * math.log1p(t * t / n)), _TINY)


def _tails(t: float, n: float) -> float:
    """Return the chance of a value at least as far from zero as t."""
    if t == 0.0 or math.isinf(t):
        return 1.0 if t == 0.0 else 0.0
    a, b = n / 2.0, 0.5
    # x = n / (n + t^2), and 1 - x without the loss of digits.
    x, rest = 1.0 / (1.0 + t * t / n), (t * t / n) / (1.0 + t * t / n)
    if x == 0.0:
        return 0.0
    log = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest or _TINY)
    if x < (a + 1.0) / (a + b + 2.0):
        return math.exp(log) * _fraction(a, b, x) / a
    return 1.0 - math.exp(log) * _fraction(b, a, rest) / b


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function."""
    c, d = 1.0, 1.0 / _away(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for m in range(1, _TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        for term in (even, odd):
            d, c = 1.0 / _away(1.0 + term * d), _away(1.0 + term / c)
            value *= d * c
        if abs(d * c - 1.0) < _ENOUGH:
            break
    return value


def _away(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
