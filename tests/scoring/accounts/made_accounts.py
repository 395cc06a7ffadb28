"""Accounts made of what they bought at each date, by the accounting and nothing else."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np

from predibot.scoring.accounts.board import AccountBoard, account_board
from predibot.scoring.accounts.record import AccountRecord, AccountsRecord
from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.inference.uncertainty import Uncertainty
from predibot.scoring.metrics.conventions import CONVENTIONS

FIRST = datetime(2026, 1, 1, 12, tzinfo=UTC)
FEW = Uncertainty(resamples=1_000)


def account(bot: str, strategy: str, shares: Floats, prices: Floats, *, start_usd: float = 1_000.0) -> AccountRecord:
    """Return an account that holds so many shares for each dollar it is worth then, slot by slot.

    Args:
        bot: Its name.
        strategy: What it runs.
        shares: After the fills of each slot, for each dollar, (slots, instruments).
        prices: At each slot, (slots, instruments).
        start_usd: What it begins with.
    """
    slots = prices.shape[0]
    value, held, cash = np.empty(slots), np.zeros(prices.shape), np.empty(slots)
    value[0] = start_usd
    for slot in range(slots):
        if slot:
            value[slot] = cash[slot - 1] + held[slot - 1] @ prices[slot]
        held[slot] = shares[slot] * value[slot]
        cash[slot] = value[slot] - held[slot] @ prices[slot]
    every = np.arange(slots)
    before = np.vstack([np.zeros((1, prices.shape[1])), held[:-1]])
    cash_before = np.append(start_usd, cash[:-1])
    return AccountRecord(
        bot, strategy, every, value, np.arange(prices.shape[1]), before, cash_before, held, cash, last_usd=value[-1]
    )


def record_of(
    prices: Floats, *accounts: AccountRecord, event: Ints | None = None, group: Ints | None = None
) -> AccountsRecord:
    """Return a record of accounts on instruments that are each YES of a market, at a slot a day."""
    slots, markets = prices.shape
    at = tuple(FIRST + timedelta(days=day) for day in range(slots))
    names = tuple(f"m{number}" for number in range(markets))
    return AccountsRecord(
        "r", "portfolio_weights", "replay", "main", at, names, np.ones(markets, np.int64), prices, accounts,
        event=event, group=group,
    )  # fmt: skip


def bet_a_date(price: float, won: Sequence[bool]) -> tuple[Floats, Floats]:
    """Return prices, and shares for a dollar on each, of a market a date that pays at the next, (dates + 1, dates)."""
    dates = len(won)
    prices, shares = np.full((dates + 1, dates), price), np.zeros((dates + 1, dates))
    for date, is_won in enumerate(won):
        shares[date, date] = 1.0 / price
        prices[date + 1 :, date] = float(is_won)
    return prices, shares


def board_of(record: AccountsRecord, uncertainty: Uncertainty = FEW) -> AccountBoard:
    return account_board(record, CONVENTIONS["predibot"], uncertainty)


def at_slots(account: AccountRecord, rows: slice | list[int]) -> AccountRecord:
    """Return an account of which only some slots are known."""
    names = ("slot", "value_usd", "shares_before", "cash_before_usd", "shares", "cash_usd")
    return replace(account, **{name: getattr(account, name)[rows] for name in names})  # type: ignore[arg-type]
