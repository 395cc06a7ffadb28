"""Figures: how numbers and instants are written for people; a missing number is a dash, never zero."""

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar

from predibot._context import set_within
from predibot.domain import price
from predibot.domain.clock import short_instant
from predibot.domain.spelling import count_noun

instant = short_instant
"""Writes an instant, cut to the second."""

MISSING = "–"
things = count_noun
_BARS = "▁▂▃▄▅▆▇█"


def count(value: int | None) -> str:
    """Return a number of things, such as `12,345`."""
    return MISSING if value is None else f"{value:,}"


def probability(value: float | None) -> str:
    """Return a probability or a price, such as `0.38`; within a hundredth of 0 or 1, such as `0.003` or `0.997`."""
    if value is None:
        return MISSING
    if _is_at_an_end(value):
        return "<0.001" if value < 0.0005 else ">0.999" if value >= 0.9995 else f"{value:.3f}"
    return f"{value:.2f}"


def score(value: float | None) -> str:
    """Return a score such as Brier's, `0.0025`."""
    return MISSING if value is None else _no_negative_zero(f"{value:.4f}")


def short_score(value: float | None) -> str:
    """Return a score where there is little room, such as `0.013`."""
    return MISSING if value is None else _no_negative_zero(f"{value:.3f}")


def thousandths(value: float | None) -> str:
    """Return a difference of scores in thousandths, such as `+83`; small ones to a tenth, such as `-2.2`."""
    return MISSING if value is None else _short_signed(1000.0 * value)


def ratio(value: float | None) -> str:
    """Return a ratio such as Sharpe's, `-1.23`."""
    return MISSING if value is None else _no_negative_zero(f"{value:,.2f}")


def signed_score(value: float | None) -> str:
    """Return a difference of scores, such as `+0.0123`."""
    return MISSING if value is None else _no_negative_zero(f"{value:+.4f}")


def interval(low: float | None, high: float | None, *, decimals: int = 3) -> str:
    """Return the ends of an interval, such as `-0.010 to 0.123`."""
    if low is None or high is None:
        return MISSING
    return " to ".join(_no_negative_zero(f"{end:,.{decimals}f}") for end in (low, high))


def percent_interval(low: float | None, high: float | None) -> str:
    """Return the ends of an interval of returns, such as `-1.2 to 50.0%`."""
    if low is None or high is None:
        return MISSING
    return f"{interval(100.0 * low, 100.0 * high, decimals=1)}%"


def thousandths_interval(low: float | None, high: float | None) -> str:
    """Return the ends of an interval of differences, in thousandths, such as `-2.2 to +83`."""
    return MISSING if low is None or high is None else f"{thousandths(low)} to {thousandths(high)}"


def p_value(value: float | None) -> str:
    """Return a p-value, such as `0.043` or `<0.001`."""
    if value is None:
        return MISSING
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def share_interval(low: float | None, high: float | None) -> str:
    """Return the ends of an interval of shares, such as `12.0% to 50.0%`."""
    return MISSING if low is None or high is None else f"{percent(low)} to {percent(high)}"


def signed_percent(value: float | None) -> str:
    """Return a return in percent, such as `-0.38%`."""
    return MISSING if value is None else _no_negative_zero(f"{100.0 * value:+,.2f}%")


def short_percent(value: float | None) -> str:
    """Return a return in percent where there is little room, such as `+1.5%` or `-88%`."""
    return MISSING if value is None else f"{_short_signed(100.0 * value)}%"


def percent(value: float | None) -> str:
    """Return a share in percent, such as `38%`; within one of 0 or 100, such as `0.3%`, `99.7%` or `<0.1%`."""
    if value is None:
        return MISSING
    if _is_at_an_end(value):
        return "<0.1%" if value < 0.0005 else ">99.9%" if value >= 0.9995 else f"{100.0 * value:.1f}%"
    return f"{round(100.0 * value)}%"


_NOUNS = {"USD": "dollars", "MANA": "mana"}
_CURRENCY: ContextVar[str] = ContextVar("currency", default="USD")


def in_currency(currency: str) -> AbstractContextManager[None]:
    """Write bets, gains and values in the currency of a venue inside the block; costs of models stay in dollars."""
    return set_within(_CURRENCY, currency)


def money_sign(currency: str = "") -> str:
    """Return the sign before an amount of a currency; left out, of that of `in_currency`."""
    return price.money_sign(currency or _CURRENCY.get())


def money_noun() -> str:
    """Return the currency of `in_currency` as a word."""
    return _NOUNS.get(_CURRENCY.get(), _CURRENCY.get())


def usd(value: float | None, currency: str = "") -> str:
    """Return an amount that somebody has, such as `$1,234.50`, or owes, such as `-$12.00`."""
    return (
        MISSING if value is None else f"{'-' if round(value, 2) < 0.0 else ''}{money_sign(currency)}{abs(value):,.2f}"
    )


def bet(value_usd: float | None) -> str:
    """Return a bet in words, such as `$0.36 on NO`, below zero on NO; `no bet` for zero."""
    if value_usd is None:
        return MISSING
    size = usd(abs(value_usd)) if abs(value_usd) >= 0.005 else f"<{money_sign()}0.01"
    return f"{size} on {'YES' if value_usd > 0.0 else 'NO'}" if value_usd else "no bet"


def gain_usd(value: float | None) -> str:
    """Return a gain or a bet with its direction, such as `+$0.123`."""
    if value is None:
        return MISSING
    said, sign = f"{value:+,.3f}", money_sign()
    return _no_negative_zero(said.replace("+", f"+{sign}").replace("-", f"-{sign}"))


def whole_gain_usd(value: float) -> str:
    """Return a gain in whole units, such as `+$1,234`."""
    return f"{'-' if round(value) < 0 else '+'}{money_sign()}{abs(round(value)):,d}"


def cost_usd(value: float | None) -> str:
    """Return a cost in dollars, such as `$0.123`."""
    return MISSING if value is None else f"${value:,.3f}"


def short_cost_usd(value: float | None) -> str:
    """Return a cost where there is little room, such as `$0.13`, `<$0.01` or `$1,234`."""
    if value is None:
        return MISSING
    if 0.0 < value < 0.005:
        return "<$0.01"
    return f"${value:,.2f}" if 0.0 < value < 99.995 else f"${value:,.0f}"


def volume_usd(value: float | None) -> str:
    """Return a traded amount in whole units, such as `$1,234,568`."""
    if value is None:
        return MISSING
    # No market trades a quadrillion: such a figure is a mistake of the venue's, and is kept short.
    return f"{money_sign()}{value:,.0f}" if abs(value) < 1e15 else f"{money_sign()}{value:.3g}"


def duration(seconds: float) -> str:
    """Return a length of time, as exact as somebody who waits wants it: `42 s`, `10 min` or `2.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def horizon(label: str) -> str:
    """Return a horizon from its label, such as `7 days`; others, such as `now`, stay."""
    return f"{label} day{'' if label == '1' else 's'}" if label[0].isdigit() else label


def about(value: int) -> str:
    """Return a count that is not known to its last digit: 1,234 reads `1,200`."""
    digits = max(len(str(value)) - 2, 0)
    return f"{round(value, -digits):,}"


def e_value(value: float | None) -> str:
    """Return an e-value, such as `5.1` or `410`; beyond ten thousand it reads `>9,999`."""
    if value is None:
        return MISSING
    if value >= 9_999.5:
        return ">9,999"
    return f"{value:,.0f}" if value >= 9.95 else f"{value:.1f}"


def sparkline(values: Sequence[float], cells: int) -> str:
    """Return a curve as bars, one for each cell, scaled to the values and zero; it shows the last value of a cell.

    Examples:
        >>> sparkline([0.0, 0.5, 1.0], 10), sparkline([1.0, -1.0], 10), sparkline([], 10)
        ('▁▅█', '█▁', '–')
    """
    if not values:
        return MISSING
    width = min(cells, len(values))
    shown = [values[math.ceil((cell + 1) * len(values) / width) - 1] for cell in range(width)]
    low, high = min(0.0, *shown), max(0.0, *shown)
    if low == high:
        return _BARS[0] * width
    return "".join(_BARS[min(int((value - low) / (high - low) * len(_BARS)), len(_BARS) - 1)] for value in shown)


def _short_signed(value: float) -> str:
    return _no_negative_zero(f"{value:+.1f}" if abs(value) < 9.95 else f"{value:+,.0f}").replace("+0.0", "0.0")


def _is_at_an_end(value: float) -> bool:
    """Return whether a share is so near 0 or 1, but not equal, that it needs more digits than hundredths."""
    return 0.0 < value < 0.0095 or 0.9905 < value < 1.0


def _no_negative_zero(written: str) -> str:
    """Return the text without its minus if it was rounded to zero."""
    if any(digit in written for digit in "123456789"):
        return written
    return written.replace("-", "+") if "$" in written or written.endswith("%") else written.replace("-", "")
