"""Figures: how a number is written where a person reads it; a missing one is a dash, never zero."""

MISSING = "–"


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


def ratio(value: float | None) -> str:
    """Return a ratio, such as Sharpe's.

    Examples:
        >>> ratio(-1.234)
        '-1.23'
    """
    return MISSING if value is None else _no_negative_zero(f"{value:,.2f}")


def signed_percent(value: float | None) -> str:
    """Return a return in percent.

    Examples:
        >>> signed_percent(-0.0037782), signed_percent(0.0)
        ('-0.38%', '+0.00%')
    """
    return MISSING if value is None else _no_negative_zero(f"{100.0 * value:+,.2f}%")


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


def gain_usd(value: float | None) -> str:
    """Return money with its direction: a gain or a bet.

    Examples:
        >>> gain_usd(0.1234), gain_usd(-1500)
        ('$+0.123', '$-1,500.000')
    """
    return MISSING if value is None else _no_negative_zero(f"${value:+,.3f}")


def cost_usd(value: float | None) -> str:
    """Return money that was spent.

    Examples:
        >>> cost_usd(0.1234), cost_usd(None)
        ('$0.123', '–')
    """
    return MISSING if value is None else f"${value:,.3f}"


def volume_usd(value: float | None) -> str:
    """Return money that was traded, in whole dollars.

    Examples:
        >>> volume_usd(1234567.8)
        '$1,234,568'
    """
    if value is None:
        return MISSING
    # No market trades a quadrillion: such a figure is a mistake of the venue's, and is kept short.
    return f"${value:,.0f}" if abs(value) < 1e15 else f"${value:.3g}"


def _no_negative_zero(written: str) -> str:
    """Return the text without a minus where rounding left nothing below zero."""
    if any(digit in written for digit in "123456789"):
        return written
    return written.replace("-", "+") if written.startswith("$") or written.endswith("%") else written.replace("-", "")
