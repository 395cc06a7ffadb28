"""Checks of what is stored: whether the bets of an account keep the rules."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from predibot.domain.account import JournalRow
from predibot.games.weekly_cohort.methodology import MAX_SHARE, MIN_BET_USD, Methodology

_TOLERANCE_USD = 1e-6
"""Of what is a sum of floats."""


def misplayed(journal: Sequence[JournalRow], orders: Mapping[str, Sequence[Any]], rules: Methodology) -> Iterator[str]:
    """Yield what an account did that its rules forbid: by its journal, whose cash is that before each row."""
    cash_usd, before, bet_usd = 0.0, dict[str, float](), defaultdict[str, float](float)
    for number, row in enumerate(journal, start=1):
        if row.kind == "fill" and row.shares > 0.0:
            began_usd = before.setdefault(row.follows_from, cash_usd)
            bet_usd[row.follows_from] += -row.cash_usd
            most = MAX_SHARE * (cash_usd if rules.cap == "leg" else began_usd)
            spent = -row.cash_usd if rules.cap == "leg" else bet_usd[row.follows_from]
            if spent > most + _TOLERANCE_USD:
                yield f"row {number} makes bets of ${spent:,.2f}, of which ${most:,.2f} are allowed"
        cash_usd += row.cash_usd
    for decision, of_one in orders.items():
        if len({row.side for row in of_one}) > 1:
            yield f"{decision} buys and sells at once"
        bought = [row for row in of_one if row.side == "buy"]
        if any(row.amount < MIN_BET_USD - _TOLERANCE_USD for row in bought):
            yield f"{decision} has a bet of less than ${MIN_BET_USD:g}"
        if rules.all_or_nothing and any(row.status != "filled" for row in bought):
            yield f"{decision} has bets that were not booked, beside some that were"
