"""Cells: what one place of somebody's table holds, as a text, a number or an instant, or refused with a reason."""

import json
import re
from contextlib import suppress
from datetime import datetime
from math import nan
from reprlib import Repr

from predibot.domain.clock import parse_instant
from predibot.jobs.score_files.table_reader import Cell

FLAGS = {"true": True, "yes": True, "t": True, "y": True, "false": False, "no": False, "f": False, "n": False}
"""What programs write for true and false, in any letters, beside 1 and 0."""
_SHOWN_CHARACTERS = 40
_NESTED = Repr()
"""Writes a list or an object that came from JSON no deeper and no longer than a reader would look."""
_LEAST_AMOUNT, _MOST_AMOUNT = 1e-50, 1e50
"""Beyond them nothing is money, and returns no longer fit into a number."""
_UTC = re.compile(r"\s*(\[(Etc/)?(UTC|GMT)\]|UTC|GMT)$", re.IGNORECASE)
_OFFSET_APART = re.compile(r"\s+(?=[+-]\d\d(:?\d\d)?$)")
_OTHER_OFFSET = re.compile(r":.*[+-](?!00(:?00)?$)")


class CellRefused(ValueError):
    """A cell does not hold what its column is for; says what was seen and what to write."""


def text_of(column: str, cell: Cell) -> str:
    """Return a name: a text, a whole number as text, or a list of them as JSON writes it.

    Raises:
        CellRefused: If it is none of them.

    Examples:
        >>> text_of("question", 17)
        '17'
    """
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int) and not isinstance(cell, bool):
        return str(cell)
    if isinstance(cell, list) and cell and all(isinstance(each, str | int) for each in cell):
        return json.dumps(cell, ensure_ascii=False)
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
    """Return what YES paid: 1, 0, or a number between where a market was void; `FLAGS` are 1 and 0.

    Raises:
        CellRefused: If it is anything else.

    Examples:
        >>> payout_of("outcome", True), payout_of("outcome", "FALSE"), payout_of("outcome", "0")
        (1.0, 0.0, 0.0)
    """
    if isinstance(cell, str):
        cell = FLAGS.get(cell.casefold(), cell)
    payout = float(cell) if isinstance(cell, bool) else _number(cell)
    if not 0.0 <= payout <= 1.0:
        raise CellRefused(f"{column} is {shown(cell)}; write 1 or 0, a number between for void, or nothing for open")
    return payout


def instant_of(column: str, cell: Cell) -> datetime:
    """Return a UTC instant; a date is its midnight, and what names no offset is UTC.

    Raises:
        CellRefused: If it is no instant.

    Examples:
        >>> instant_of("date", "2026-03-01 12:00:00 UTC").isoformat()
        '2026-03-01T12:00:00+00:00'
    """
    if isinstance(cell, str):
        text = _OFFSET_APART.sub("", _UTC.sub("", cell))
        # What names UTC and another offset too is refused.
        if not (_UTC.search(cell) and _OTHER_OFFSET.search(text)):
            with suppress(ValueError):
                return parse_instant(text)
    raise CellRefused(f"{column} is {shown(cell)}; write a date like 2026-03-01, or 2026-03-01T12:00Z")


def shown(cell: Cell) -> str:
    """Return a cell as a message shows it: in quotes if it is a text, and never long.

    Examples:
        >>> shown("70%"), shown(None)
        ("'70%'", 'missing')
    """
    if cell is None:
        return "missing"
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
    elif isinstance(cell, bool) or not isinstance(cell, int | float):
        return nan
    try:
        return float(cell)
    except (OverflowError, ValueError):
        return nan
