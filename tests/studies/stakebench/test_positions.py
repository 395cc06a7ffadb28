"""Positions: what was held at a comment, and what was done next, by hand."""

from datetime import UTC, datetime, timedelta

import pytest

from predibot.studies.stakebench.activity import manifold_changes, polymarket_change
from predibot.studies.stakebench.positions import (
    Action,
    Change,
    first_action,
    holdings_at,
    position_by_mana,
    position_by_shares,
)
from predibot.venues.manifold.bets import UnreadableRow, manifold_price

DAY = datetime(2026, 3, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
SECONDS = int(DAY.timestamp())


def row(kind: str, at: float, size: float, *, index: int = 0, side: str = "BUY", usd: float = 0.0) -> dict[str, object]:
    """Return a row of activity so many hours after midnight."""
    seconds = SECONDS + int(3600 * at)
    return {
        "type": kind, "timestamp": seconds, "size": size, "outcomeIndex": index, "side": side, "usdcSize": usd
    }  # fmt: skip


def changes(*rows: dict[str, object]) -> list[Change]:
    return [change for each in rows if (change := polymarket_change(each)) is not None]


def test_a_split_is_both_sides_and_a_merge_takes_both_and_neither_is_paid_for_a_side() -> None:
    held = changes(row("SPLIT", 0, 100), row("TRADE", 1, 100, index=1, side="SELL", usd=40), row("MERGE", 3, 0))
    assert position_by_shares(holdings_at(held, DAY + 0.5 * HOUR))[0] is None
    assert position_by_shares(holdings_at(held, DAY + 2 * HOUR)) == ("YES", -40.0)


def test_a_conversion_takes_no_of_one_market_and_brings_yes_of_another() -> None:
    bought = row("TRADE", 0, 50, index=1, usd=20)
    assert holdings_at(changes(bought, row("CONVERSION", 1, 50, index=1)), DAY + 2 * HOUR).net == 0.0
    assert position_by_shares(holdings_at(changes(row("CONVERSION", 1, 50)), DAY + 2 * HOUR))[0] == "YES"


def test_the_payout_ends_all_and_is_nobodys_action() -> None:
    held = changes(row("TRADE", 0, 50, usd=20), row("REDEEM", 5, 50, index=999))
    assert first_action(held, "YES", DAY + HOUR) == "hold"
    assert position_by_shares(holdings_at(held, DAY + 6 * HOUR))[0] is None


def test_what_happens_at_the_comments_instant_came_after_it() -> None:
    held = changes(row("TRADE", 1, 50, usd=20))
    assert position_by_shares(holdings_at(held, DAY + HOUR))[0] is None
    assert position_by_shares(holdings_at(held, DAY + HOUR + timedelta(seconds=1)))[0] == "YES"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], "hold"),
        ([row("TRADE", 2, 10, usd=1)], "increase"),
        ([row("TRADE", 2, 10, side="SELL")], "decrease"),
        ([row("TRADE", 2, 50, side="SELL")], "decrease"),
        ([row("TRADE", 2, 80, index=1)], "flip"),
        # Bought and sold within a minute: the first change of the net position comes later.
        ([row("TRADE", 2, 10), row("TRADE", 2.01, 10, side="SELL"), row("TRADE", 4, 5)], "increase"),
        # A split moves no net position.
        ([row("SPLIT", 2, 10), row("TRADE", 3, 5, side="SELL")], "decrease"),
        ([row("TRADE", 50, 10)], "hold"),
        ([row("TRADE", 49, 10)], "increase"),
    ],
)
def test_the_first_action_is_the_first_net_change_within_48_hours(
    rows: list[dict[str, object]], expected: Action
) -> None:
    held = changes(row("TRADE", 0, 50, usd=20), *rows)
    assert first_action(held, "YES", DAY + HOUR) == expected


def bet(outcome: str, amount: float, shares: float, **more: object) -> dict[str, object]:
    made = {"outcome": outcome, "amount": amount, "shares": shares, "createdTime": SECONDS * 1000, "probAfter": 0.6}
    return made | more


def test_a_limit_order_counts_at_each_of_its_fills_and_not_before() -> None:
    fills = [
        {"timestamp": (SECONDS + 3600 * hour) * 1000, "amount": mana, "shares": 2 * mana}
        for hour, mana in ((2, 30.0), (9, 20.0))
    ]
    made = list(manifold_changes(bet("NO", 50, 100, fills=fills, isFilled=True, limitProb=0.5)))
    sizes = [position_by_mana(holdings_at(made, DAY + hour * HOUR)) for hour in (1, 3, 10)]
    assert sizes == [(None, 0.0), ("NO", 30.0), ("NO", 50.0)]
    priced = manifold_price(bet("NO", 50, 100, fills=fills))
    assert priced is not None
    # Its later fills are told by the prices of the bets that filled it.
    assert priced[0] == DAY


def test_cancelled_orders_and_redemptions_hold_nothing() -> None:
    cancelled = bet("YES", 0, 0, isCancelled=True, isFilled=False, fills=[])
    assert list(manifold_changes(cancelled)) == []
    assert list(manifold_changes(bet("YES", 10, 20, isRedemption=True))) == []
    assert manifold_price(cancelled) is None


def test_shares_that_lie_on_the_other_side_tell_no_action() -> None:
    assert first_action([Change(DAY, 10.0, 0.0)], "NO", DAY + HOUR) is None


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"size": "many"}, "size is 'many'"),
        ({"size": 1e300}, r"size is 1e\+300"),
        ({"timestamp": None}, "an instant is None"),
        ({"outcomeIndex": 2}, "none names a side"),
        ({"outcomeIndex": True}, "none names a side"),
        ({"asset": "33"}, "one of the two tokens"),
        ({"type": "GIFT"}, "type is 'GIFT'"),
        ({"type": ["TRADE"]}, r"type is \['TRADE'\]"),
        ({"timestamp": 1e300}, "no calendar"),
    ],
)
def test_a_row_that_cannot_be_read_says_why(wrong: dict[str, object], why: str) -> None:
    with pytest.raises(UnreadableRow, match=why):
        polymarket_change(row("TRADE", 0, 1) | wrong, ("11", "22"))


@pytest.mark.parametrize(
    ("said", "is_yes"),
    [
        ({"asset": "22", "outcome": "No", "outcomeIndex": 999}, False),
        ({"asset": 11, "outcome": "", "outcomeIndex": 999}, True),
        ({"asset": "11", "outcomeIndex": 1}, True),
        ({"asset": "", "outcome": "NO", "outcomeIndex": 0}, False),
        ({"asset": None, "outcome": " yes ", "outcomeIndex": 999}, True),
        ({"outcome": None, "outcomeIndex": 1}, False),
    ],
)
@pytest.mark.parametrize("kind", ["TRADE", "CONVERSION"])
def test_a_row_is_of_the_outcome_its_token_or_its_name_says_and_its_place_comes_last(
    said: dict[str, object], is_yes: bool, kind: str
) -> None:
    # Rows of /trades have 999 for the place since July 2026.
    change = polymarket_change(row(kind, 0, 5) | said, ("11", "22"))
    assert change is not None
    assert (change.yes != 0.0, change.no != 0.0) == (is_yes, not is_yes)


def test_a_place_counts_from_what_its_market_lists_first() -> None:
    first = polymarket_change(row("TRADE", 0, 5, index=0), no_first=True)
    assert first is not None and (first.yes, first.no) == (0.0, 5.0)
