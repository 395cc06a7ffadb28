"""Activity: what venues say of somebody's trades, read as changes of what is held."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from predibot.text_tasks.positions import Change

_MOST = 1e12
"""Shares or money of one row: more there is not, and sums of them stay numbers."""
_MOVES_NO_SHARES = frozenset(
    {"REWARD", "YIELD", "MAKER_REBATE", "TAKER_REBATE", "REFERRAL_REWARD", "DEPOSIT", "WITHDRAWAL", "TIP"}
)


class Unreadable(ValueError):
    """A row that cannot be read; the message says why."""


def polymarket_change(row: Mapping[str, Any], tokens: Sequence[str] = (), *, no_first: bool = False) -> Change | None:
    """Return what one row of the Data API's activity did to what is held of its market; None where it moves nothing.

    Which outcome a row is of is told by its token (`asset`), else by its name
    (`outcome`), and only else by its place: `outcomeIndex` is 999 in rows since
    July 2026 (Polymarket/rs-clob-client and others).

    TRADE buys or sells one outcome. SPLIT makes a share of both out of a
    dollar, MERGE is the reverse. REDEEM is the payout. CONVERSION turns NO of
    some markets of a group into YES of the others; a row says one outcome of
    one market, NO going and YES coming. Only trades are paid or sold.

    Args:
        row: As the Data API wrote it.
        tokens: Of YES and NO of its market; empty where they are not known.
        no_first: Whether its market lists No before Yes, which is what a place counts from.

    Raises:
        Unreadable: If it lacks what its type needs.

    Examples:
        >>> row = {"type": "TRADE", "side": "BUY", "timestamp": 0, "outcome": "No", "size": 5, "usdcSize": "2"}
        >>> polymarket_change(row).no
        5.0
    """
    kind = row.get("type")
    at = instant_of(row.get("timestamp"), per_second=1)
    if isinstance(kind, str) and kind in _MOVES_NO_SHARES:
        return None
    if kind == "REDEEM":
        return Change(at, 0.0, 0.0, ends=True)
    shares = _number(row, "size")
    if kind in ("SPLIT", "MERGE"):
        moved = shares if kind == "SPLIT" else -shares
        return Change(at, moved, moved)
    is_yes = _is_yes(row, tokens, no_first=no_first)
    if kind == "CONVERSION":
        return Change(at, shares, 0.0) if is_yes else Change(at, 0.0, -shares)
    if kind != "TRADE" or row.get("side") not in ("BUY", "SELL"):
        raise Unreadable(f"type is {kind!r}, side {row.get('side')!r}; it is a trade that buys or sells")
    sign = 1.0 if row["side"] == "BUY" else -1.0
    moved, paid = sign * shares, sign * _number(row, "usdcSize")
    return Change(at, moved, 0.0, yes_paid=paid) if is_yes else Change(at, 0.0, moved, no_paid=paid)


def _is_yes(row: Mapping[str, Any], tokens: Sequence[str], *, no_first: bool) -> bool:
    """Return whether a row is of YES, by its token, its name or its place, the surest that it states."""
    token, name, place = row.get("asset"), row.get("outcome"), row.get("outcomeIndex")
    if tokens and token not in (None, ""):
        if str(token) not in tokens:
            raise Unreadable(f"asset is {token!r:.40}; it is one of the two tokens of its market")
        return str(token) == tokens[0]
    label = name.strip().casefold() if isinstance(name, str) else ""
    if label in ("yes", "no"):
        return label == "yes"
    if place not in (0, 1) or isinstance(place, bool):
        raise Unreadable(
            f"asset, outcome and outcomeIndex are {token!r:.40}, {name!r:.40}, {place!r}; none names a side"
        )
    return bool(place == int(no_first))


def manifold_changes(bet: Mapping[str, Any]) -> Iterator[Change]:
    """Yield what a bet did to what its bettor holds, a limit order at each of its fills.

    What a cancelled order had filled before was staked, and what it had not
    never is. Redemptions pair shares that are worth the same either way, and
    are left out: neither side's net stake comes from them.

    Raises:
        Unreadable: If it lacks what it needs.
    """
    if bet.get("isRedemption") is True:
        return
    outcome = bet.get("outcome")
    if outcome not in ("YES", "NO"):
        raise Unreadable(f"outcome is {outcome!r}; it is YES or NO")
    for at, mana, shares in _fills(bet):
        if outcome == "YES":
            yield Change(at, shares, 0.0, yes_paid=mana)
        else:
            yield Change(at, 0.0, shares, no_paid=mana)


def _fills(bet: Mapping[str, Any]) -> Iterator[tuple[datetime, float, float]]:
    """Yield the instant, the mana and the shares of each fill; a bet that names none was filled when it was made."""
    fills = bet.get("fills")
    if fills is None:
        if bet.get("isCancelled") is True or bet.get("isFilled") is False:
            return
        yield instant_of(bet.get("createdTime"), per_second=1000), _number(bet, "amount"), _number(bet, "shares")
        return
    if not isinstance(fills, list):
        raise Unreadable(f"fills are {type(fills).__name__}; they are a list")
    for fill in fills:
        if not isinstance(fill, Mapping):
            raise Unreadable("a fill is no object")
        yield instant_of(fill.get("timestamp"), per_second=1000), _number(fill, "amount"), _number(fill, "shares")


@dataclass(frozen=True, slots=True)
class PricedBet:
    """The price of YES after a bet, and when it was that."""

    at: datetime
    yes: float


def manifold_price(bet: Mapping[str, Any]) -> PricedBet | None:
    """Return the price that a bet left the market at when it was made; None where it moved nothing.

    A limit order's too, once it was filled: what fills it later are bets of
    others, whose own prices tell of it. The venue adds to the order's fills
    then, and leaves its price as it was. A redemption moves nothing. Where
    answers add up to one, a bet on one of them moves the others: rows say so
    that are called redemptions too, but are of no shares, and state another
    price before.

    Raises:
        Unreadable: If it lacks what it needs.
    """
    is_arbitrage = bet.get("shares") == 0 and bet.get("probBefore") not in (None, bet.get("probAfter"))
    if (bet.get("isRedemption") is True and not is_arbitrage) or not any(True for _ in _fills(bet)):
        return None
    yes = _number(bet, "probAfter")
    if not 0.0 <= yes <= 1.0:
        raise Unreadable(f"probAfter is {yes}; it is in [0, 1]")
    return PricedBet(instant_of(bet.get("createdTime"), per_second=1000), yes)


def instant_of(value: object, *, per_second: int) -> datetime:
    """Return the instant of a count since 1970.

    Raises:
        Unreadable: If it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise Unreadable(f"an instant is {value!r:.40}; it is a number")
    try:
        return datetime.fromtimestamp(value / per_second, UTC)
    except (OverflowError, OSError, ValueError):
        raise Unreadable(f"an instant is {value!r:.40}, which no calendar has") from None


def _number(row: Mapping[str, Any], name: str) -> float:
    value = row.get(name)
    try:
        number = math.nan if isinstance(value, bool) or not isinstance(value, int | float | str) else float(value)
    except (ValueError, OverflowError):
        number = math.nan
    if not abs(number) <= _MOST:
        raise Unreadable(f"{name} is {value!r:.40}; it is a number, and at most {_MOST:g}")
    return number
