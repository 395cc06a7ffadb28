"""Figures: how a number is written where a person reads it; a missing one is a dash, never zero."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from predibot.domain import price

MISSING = "–"
_BARS = "▁▂▃▄▅▆▇█"


def count(value: int | None) -> str:
    """Return a number of things.

    Examples:
        >>> count(12345)
        '12,345'
    """
    return MISSING if value is None else f"{value:,}"


def probability(value: float | None) -> str:
    """Return a probability or a price.

    Examples:
        >>> probability(0.375), probability(None)
        ('0.38', '–')
    """
    return MISSING if value is None else f"{value:.2f}"


def score(value: float | None) -> str:
    """Return a score, such as Brier's.

    Examples:
        >>> score(0.0024782), score(-0.00001)
        ('0.0025', '0.0000')
    """
    return MISSING if value is None else _no_negative_zero(f"{value:.4f}")


def short_score(value: float | None) -> str:
    """Return a score where there is little room.

    Examples:
        >>> short_score(0.0127), short_score(None)
        ('0.013', '–')
    """
    return MISSING if value is None else _no_negative_zero(f"{value:.3f}")


def thousandths(value: float | None) -> str:
    """Return a difference of scores in thousandths, small ones to a tenth of it.

    Examples:
        >>> thousandths(0.0827), thousandths(-0.00224), thousandths(0.0)
        ('+83', '-2.2', '0.0')
    """
    return MISSING if value is None else _short_signed(1000.0 * value)


def ratio(value: float | None) -> str:
    """Return a ratio, such as Sharpe's.

    Examples:
        >>> ratio(-1.234)
        '-1.23'
    """
    return MISSING if value is None else _no_negative_zero(f"{value:,.2f}")


def signed_score(value: float | None) -> str:
    """Return a difference of scores.

    Examples:
        >>> signed_score(0.01234), signed_score(None)
        ('+0.0123', '–')
    """
    return MISSING if value is None else _no_negative_zero(f"{value:+.4f}")


def interval(low: float | None, high: float | None, *, decimals: int = 3) -> str:
    """Return where a score would lie had other events been asked about.

    Examples:
        >>> interval(-0.01, 0.1234), interval(None, None)
        ('-0.010 to 0.123', '–')
    """
    if low is None or high is None:
        return MISSING
    return " to ".join(_no_negative_zero(f"{end:,.{decimals}f}") for end in (low, high))


def percent_interval(low: float | None, high: float | None) -> str:
    """Return where a return would lie, in percent.

    Examples:
        >>> percent_interval(-0.0123, 0.5)
        '-1.2 to 50.0%'
    """
    if low is None or high is None:
        return MISSING
    return f"{interval(100.0 * low, 100.0 * high, decimals=1)}%"


def thousandths_interval(low: float | None, high: float | None) -> str:
    """Return where a difference of scores would lie, in thousandths.

    Examples:
        >>> thousandths_interval(-0.00224, 0.0827)
        '-2.2 to +83'
    """
    return MISSING if low is None or high is None else f"{thousandths(low)} to {thousandths(high)}"


def p_value(value: float | None) -> str:
    """Return how easily luck alone gives as much.

    Examples:
        >>> p_value(0.04321), p_value(0.0001)
        ('0.043', '<0.001')
    """
    if value is None:
        return MISSING
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def things(n: int, noun: str) -> str:
    """Return how many there are of something.

    Examples:
        >>> things(1, "pair"), things(1200, "pair")
        ('1 pair', '1,200 pairs')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def signed_percent(value: float | None) -> str:
    """Return a return in percent.

    Examples:
        >>> signed_percent(-0.0037782), signed_percent(0.0)
        ('-0.38%', '+0.00%')
    """
    return MISSING if value is None else _no_negative_zero(f"{100.0 * value:+,.2f}%")


def short_percent(value: float | None) -> str:
    """Return a return in percent where there is little room, small ones to a tenth.

    Examples:
        >>> short_percent(0.0151), short_percent(-0.8811), short_percent(0.0)
        ('+1.5%', '-88%', '0.0%')
    """
    return MISSING if value is None else f"{_short_signed(100.0 * value)}%"


def percent(value: float | None) -> str:
    """Return a share in percent; only what is whole reads 100, only what is nothing reads 0.

    Examples:
        >>> percent(0.2), percent(0.999), percent(0.001)
        ('20%', '99%', '1%')
    """
    if value is None:
        return MISSING
    rounded = round(100.0 * value)
    return f"{min(max(rounded, 1), 99) if 0.0 < value < 1.0 else rounded}%"


_NOUNS = {"USD": "dollars", "MANA": "mana"}
_CURRENCY: ContextVar[str] = ContextVar("currency", default="USD")


@contextmanager
def in_currency(currency: str) -> Iterator[None]:
    """Write what bots bet, gain and have in a venue's currency; what models cost stays in dollars.

    It is the same for all that one screen or page shows, which is of one venue.
    """
    token = _CURRENCY.set(currency)
    try:
        yield
    finally:
        _CURRENCY.reset(token)


def money_sign(currency: str = "") -> str:
    """Return what stands before an amount of a currency, or of the venue's."""
    return price.money_sign(currency or _CURRENCY.get())


def money_noun() -> str:
    """Return the venue's currency as a word."""
    return _NOUNS.get(_CURRENCY.get(), _CURRENCY.get())


def usd(value: float | None, currency: str = "") -> str:
    """Return money that somebody has, below zero where it is owed, in a currency or in the venue's.

    Examples:
        >>> usd(1234.5), usd(-12.0), usd(-1e-12), usd(None)
        ('$1,234.50', '-$12.00', '$0.00', '–')
    """
    return (
        MISSING if value is None else f"{'-' if round(value, 2) < 0.0 else ''}{money_sign(currency)}{abs(value):,.2f}"
    )


def gain_usd(value: float | None) -> str:
    """Return money with its direction, a gain or a bet, in the venue's currency.

    Examples:
        >>> gain_usd(0.1234), gain_usd(-1500)
        ('+$0.123', '-$1,500.000')
    """
    if value is None:
        return MISSING
    said, sign = f"{value:+,.3f}", money_sign()
    return _no_negative_zero(said.replace("+", f"+{sign}").replace("-", f"-{sign}"))


def whole_gain_usd(value: float) -> str:
    """Return money gained or lost in whole units of the venue's currency.

    Examples:
        >>> whole_gain_usd(1234.4), whole_gain_usd(-12.6), whole_gain_usd(-0.004)
        ('+$1,234', '-$13', '+$0')
    """
    return f"{'-' if round(value) < 0 else '+'}{money_sign()}{abs(round(value)):,d}"


def cost_usd(value: float | None) -> str:
    """Return money that was spent.

    Examples:
        >>> cost_usd(0.1234), cost_usd(None)
        ('$0.123', '–')
    """
    return MISSING if value is None else f"${value:,.3f}"


def short_cost_usd(value: float | None) -> str:
    """Return money that was spent where there is little room: cents below a hundred dollars.

    Examples:
        >>> short_cost_usd(0.126), short_cost_usd(0.004), short_cost_usd(1234.5), short_cost_usd(0.0)
        ('$0.13', '<$0.01', '$1,234', '$0')
    """
    if value is None:
        return MISSING
    if 0.0 < value < 0.005:
        return "<$0.01"
    return f"${value:,.2f}" if 0.0 < value < 99.995 else f"${value:,.0f}"


def volume_usd(value: float | None) -> str:
    """Return money that was traded, in whole units of the venue's currency.

    Examples:
        >>> volume_usd(1234567.8)
        '$1,234,568'
    """
    if value is None:
        return MISSING
    # No market trades a quadrillion: such a figure is a mistake of the venue's, and is kept short.
    return f"{money_sign()}{value:,.0f}" if abs(value) < 1e15 else f"{money_sign()}{value:.3g}"


def duration(seconds: float) -> str:
    """Return a length of time, as exactly as somebody who waits wants to know it.

    Examples:
        >>> duration(42.4), duration(600), duration(9000)
        ('42 s', '10 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def about(value: int) -> str:
    """Return a count that nobody knows to the last digit.

    Examples:
        >>> about(7), about(93), about(1234)
        ('7', '93', '1,200')
    """
    digits = max(len(str(value)) - 2, 0)
    return f"{round(value, -digits):,}"


def e_value(value: float | None) -> str:
    """Return an e-value; from ten thousand on it is only said that it is beyond.

    Examples:
        >>> e_value(5.13), e_value(410.2), e_value(4.9e11)
        ('5.1', '410', '>9,999')
    """
    if value is None:
        return MISSING
    if value >= 9_999.5:
        return ">9,999"
    return f"{value:,.0f}" if value >= 9.95 else f"{value:.1f}"


def sparkline(values: Sequence[float], cells: int) -> str:
    """Return a curve of numbers, a bar a cell, from the smallest to the largest of them and of zero.

    Of several values in a cell the last is shown.

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


def _no_negative_zero(written: str) -> str:
    """Return the text without a minus where rounding left nothing below zero."""
    if any(digit in written for digit in "123456789"):
        return written
    return written.replace("-", "+") if "$" in written or written.endswith("%") else written.replace("-", "")
