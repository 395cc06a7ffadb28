"""Manifold's bets: what a bet filled, and the price it left."""

import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

_MOST = 1e12
"""The largest shares or money of a row, so that sums stay finite."""


class UnreadableRow(ValueError):
    """A malformed row; the message says why."""


def bet_fills(bet: Mapping[str, Any]) -> Iterator[tuple[datetime, float, float]]:
    """Yield the instant, the mana and the shares of each fill; a bet without a list was filled when it was made."""
    fills = bet.get("fills")
    if fills is None:
        if bet.get("isCancelled") is True or bet.get("isFilled") is False:
            return
        yield instant_of(bet.get("createdTime"), per_second=1000), number_of(bet, "amount"), number_of(bet, "shares")
        return
    if not isinstance(fills, list):
        raise UnreadableRow(f"fills are {type(fills).__name__}; they are a list")
    for fill in fills:
        if not isinstance(fill, Mapping):
            raise UnreadableRow("a fill is no object")
        yield instant_of(fill.get("timestamp"), per_second=1000), number_of(fill, "amount"), number_of(fill, "shares")


def manifold_price(bet: Mapping[str, Any]) -> tuple[datetime, float] | None:
    """Return when a bet was made and the price of YES after it, in [0, 1]; None where it moved nothing.

    This holds for a filled limit order too: the venue later adds fills to it, keeps its price, and lists the bets that
    filled it with prices of their own. A redemption moves nothing, with one exception: where answers add up to one, a
    bet on one of them moves the others by redemptions of no shares that state another price before. Raises
    `UnreadableRow` if it is malformed.
    """
    is_arbitrage = bet.get("shares") == 0 and bet.get("probBefore") not in (None, bet.get("probAfter"))
    if (bet.get("isRedemption") is True and not is_arbitrage) or not any(True for _ in bet_fills(bet)):
        return None
    yes = number_of(bet, "probAfter")
    if not 0.0 <= yes <= 1.0:
        raise UnreadableRow(f"probAfter is {yes}; it is in [0, 1]")
    return instant_of(bet.get("createdTime"), per_second=1000), yes


def instant_of(value: object, *, per_second: int) -> datetime:
    """Return the instant of a count since 1970; raise `UnreadableRow` if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise UnreadableRow(f"an instant is {value!r:.40}; it is a number")
    try:
        return datetime.fromtimestamp(value / per_second, UTC)
    except (OverflowError, OSError, ValueError):
        raise UnreadableRow(f"an instant is {value!r:.40}, which no calendar has") from None


def number_of(row: Mapping[str, Any], name: str) -> float:
    """Return a number of a row, which may be written as text; raise `UnreadableRow` if it is none, or too large."""
    value = row.get(name)
    try:
        number = math.nan if isinstance(value, bool) or not isinstance(value, int | float | str) else float(value)
    except (ValueError, OverflowError):
        number = math.nan
    if not abs(number) <= _MOST:
        raise UnreadableRow(f"{name} is {value!r:.40}; it is a number, and at most {_MOST:g}")
    return number
