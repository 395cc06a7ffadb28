"""Activity: a user's trades on a venue, read as changes of holdings."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from predibot.studies.stakebench.positions import Change
from predibot.venues.manifold.bets import UnreadableRow, bet_fills, instant_of, number_of

_MOVES_NO_SHARES = frozenset(
    {"REWARD", "YIELD", "MAKER_REBATE", "TAKER_REBATE", "REFERRAL_REWARD", "DEPOSIT", "WITHDRAWAL", "TIP"}
)


def polymarket_change(row: Mapping[str, Any], tokens: Sequence[str] = (), *, no_first: bool = False) -> Change | None:
    """Return the change of holdings by one row of the Data API's activity; None where it moves nothing.

    The outcome is that of the token (`asset`), else of the name (`outcome`), else of the place: `outcomeIndex` is 999
    in rows since July 2026 (Polymarket/rs-clob-client and others).

    TRADE buys or sells one outcome. SPLIT turns a dollar into a share of both, MERGE is the reverse. REDEEM is the
    payout. CONVERSION turns NO of some markets of a group into YES of the others; a row removes NO or adds YES of one
    market. Only trades move money.

    Args:
        row: As the Data API wrote it. An UnreadableRow if it lacks what its type needs.
        tokens: YES and NO of its market; empty if unknown.
        no_first: Whether its market lists No before Yes; places count in that order.

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
    shares = number_of(row, "size")
    if kind in ("SPLIT", "MERGE"):
        moved = shares if kind == "SPLIT" else -shares
        return Change(at, moved, moved)
    is_yes = _is_yes(row, tokens, no_first=no_first)
    if kind == "CONVERSION":
        return Change(at, shares, 0.0) if is_yes else Change(at, 0.0, -shares)
    if kind != "TRADE" or row.get("side") not in ("BUY", "SELL"):
        raise UnreadableRow(f"type is {kind!r}, side {row.get('side')!r}; it is a trade that buys or sells")
    sign = 1.0 if row["side"] == "BUY" else -1.0
    moved, paid = sign * shares, sign * number_of(row, "usdcSize")
    return Change(at, moved, 0.0, yes_paid=paid) if is_yes else Change(at, 0.0, moved, no_paid=paid)


def _is_yes(row: Mapping[str, Any], tokens: Sequence[str], *, no_first: bool) -> bool:
    token, name, place = row.get("asset"), row.get("outcome"), row.get("outcomeIndex")
    if tokens and token not in (None, ""):
        if str(token) not in tokens:
            raise UnreadableRow(f"asset is {token!r:.40}; it is one of the two tokens of its market")
        return str(token) == tokens[0]
    label = name.strip().casefold() if isinstance(name, str) else ""
    if label in ("yes", "no"):
        return label == "yes"
    if place not in (0, 1) or isinstance(place, bool):
        raise UnreadableRow(
            f"asset, outcome and outcomeIndex are {token!r:.40}, {name!r:.40}, {place!r}; none names a side"
        )
    return bool(place == int(no_first))


def manifold_changes(bet: Mapping[str, Any]) -> Iterator[Change]:
    """Yield the changes of holdings by a bet; a limit order changes them at each fill.

    Fills of an order that was cancelled later count. Redemptions are left out: they pair shares that are worth the same
    either way, and are no stake. An UnreadableRow if the bet lacks what it needs.
    """
    if bet.get("isRedemption") is True:
        return
    outcome = bet.get("outcome")
    if outcome not in ("YES", "NO"):
        raise UnreadableRow(f"outcome is {outcome!r}; it is YES or NO")
    for at, mana, shares in bet_fills(bet):
        if outcome == "YES":
            yield Change(at, shares, 0.0, yes_paid=mana)
        else:
            yield Change(at, 0.0, shares, no_paid=mana)
