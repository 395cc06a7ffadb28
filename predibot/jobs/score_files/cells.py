"""Cells: what one place of somebody's table holds, as a text, a number or an instant, or refused with a reason."""

from datetime import UTC, date, datetime
from decimal import Decimal
from math import nan
from reprlib import Repr

from predibot.domain.clock import parse_instant

Cell = object
"""A text from CSV, anything that JSON or Parquet can hold, or None where there is nothing."""
_SHOWN_CHARACTERS = 40
_NESTED = Repr()
"""Writes a list or an object that came from JSON no deeper and no longer than a reader would look."""
_LEAST_AMOUNT, _MOST_AMOUNT = 1e-50, 1e50
"""Beyond them nothing is money, and returns no longer fit into a number."""


class CellRefused(ValueError):
    """A cell does not hold what its column is for; says what was seen and what to write."""


def text_of(column: str, cell: Cell) -> str:
    """Return a name: a text, or a whole number as text.

    Raises:
        CellRefused: If it is neither.

    Examples:
        >>> text_of("question", 17)
        '17'
    """
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int) and not isinstance(cell, bool):
        return str(cell)
    raise CellRefused(f"{column} is {shown(cell)}; write a text")


def share_of(column: str, cell: Cell) -> float:
    """Return a number in [0, 1].

    Raises:
        CellRefused: If it is anything else, NaN, infinity and percent among it.

    Examples:
        >>> share_of("probability", "0.7")
        0.7
    """
    share = _number(cell)
    if not 0.0 <= share <= 1.0:
        raise CellRefused(f"{column} is {shown(cell)}; write a number from 0 to 1, such as 0.7")
    return share


def amount_of(column: str, cell: Cell) -> float:
    """Return an amount of money: zero, or a number above it that somebody could have.

    Raises:
        CellRefused: If it is anything else.

    Examples:
        >>> amount_of("value", "1e3")
        1000.0
    """
    amount = _number(cell)
    if amount != 0.0 and not _LEAST_AMOUNT <= amount <= _MOST_AMOUNT:
        raise CellRefused(f"{column} is {shown(cell)}; write a number of zero or more, such as 1000.5")
    return amount


def payout_of(column: str, cell: Cell) -> float:
    """Return what YES paid: 1, 0, or a number between where a market was void; true and false are 1 and 0.

    Raises:
        CellRefused: If it is anything else.

    Examples:
        >>> payout_of("outcome", True), payout_of("outcome", "0")
        (1.0, 0.0)
    """
    if isinstance(cell, bool):
        return float(cell)
    payout = _number(cell)
    if not 0.0 <= payout <= 1.0:
        raise CellRefused(f"{column} is {shown(cell)}; write 1 or 0, a number between for void, or nothing for open")
    return payout


def instant_of(column: str, cell: Cell) -> datetime:
    """Return a UTC instant; a date is its midnight, and what names no offset is UTC.

    Raises:
        CellRefused: If it is no instant.

    Examples:
        >>> instant_of("date", "2026-03-01").isoformat()
        '2026-03-01T00:00:00+00:00'
    """
    if isinstance(cell, datetime):
        return cell.replace(tzinfo=UTC) if cell.tzinfo is None else cell.astimezone(UTC)
    if isinstance(cell, date):
        return datetime(cell.year, cell.month, cell.day, tzinfo=UTC)
    if isinstance(cell, str):
        try:
            return parse_instant(cell)
        except ValueError:
            pass
    raise CellRefused(f"{column} is {shown(cell)}; write a date like 2026-03-01, or 2026-03-01T12:00Z")


def shown(cell: Cell) -> str:
    """Return a cell as a message shows it: in quotes if it is a text, and never long.

    Examples:
        >>> shown("70%"), shown(None)
        ("'70%'", 'empty')
    """
    if cell is None:
        return "empty"
    # The text of a number with a million digits takes a while, and Python refuses it.
    if isinstance(cell, int) and cell.bit_length() > 256:
        return "a very large number"
    if isinstance(cell, str):
        written = repr(cell[: _SHOWN_CHARACTERS + 1])
    else:
        written = _NESTED.repr(cell) if isinstance(cell, list | dict) else str(cell)
    return written if len(written) <= _SHOWN_CHARACTERS else f"{written[:_SHOWN_CHARACTERS]}..."


def _number(cell: Cell) -> float:
    """Return the number a cell holds, NaN where it holds none."""
    if isinstance(cell, str):
        # `float` also takes 0_5, and the digits of every script.
        if "_" in cell or not cell.isascii():
            return nan
    elif isinstance(cell, bool) or not isinstance(cell, (int, float, Decimal)):
        return nan
    try:
        return float(cell)
    except (OverflowError, ValueError):
        return nan
