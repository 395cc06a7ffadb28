"""The record of accounts: what each was worth and held at each slot, as arrays, and at which prices."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.records.knowledge import Knowledge
from predibot.scoring.standing import BASELINES


@dataclass(frozen=True, slots=True)
class SizedBet:
    """A bet as it was booked: what the Brier score of bets' sizes is made of."""

    amount_usd: float
    """Without the fee."""
    cash_before_usd: float
    """Right before it, after the bets of the same answer that stand before it."""
    won: bool | None = None
    """None where no side won, or nobody knows yet."""


@dataclass(frozen=True, slots=True, eq=False)
class Contestant:
    """A bot with accounts, and what its decisions came to."""

    bot: str
    """Its stable id."""
    strategy: str
    decisions: Mapping[str, int] = field(default_factory=dict, kw_only=True)
    """How many ended with each status."""
    cost_usd: float | None = field(default=0.0, kw_only=True)
    """Of all its decisions; None where a part is unknown."""
    cost_known_usd: float = field(default=0.0, kw_only=True)
    knowledge: Knowledge = field(default="clean", kw_only=True)
    """What the models behind its decisions can have known, the worst of them; with `unknown` it is ranked apart."""

    @property
    def baseline(self) -> bool:
        """Return whether it knows nothing."""
        return self.strategy in BASELINES

    @property
    def failed_share(self) -> float | None:
        """Return the share of its decisions that were refused or failed; None of none."""
        total = sum(self.decisions.values())
        return (self.decisions.get("failed", 0) + self.decisions.get("refused", 0)) / total if total else None


@dataclass(frozen=True, slots=True, eq=False)
class AccountState(Contestant):
    """A bot's account as it is known last."""

    last_usd: float = field(default=0.0, kw_only=True)
    """What it was last worth, which may be after its last slot."""
    last_cash_usd: float = field(default=0.0, kw_only=True)
    """Below zero where it owes, as a payout was reversed."""
    pending: int = field(default=0, kw_only=True)
    """Orders that wait for the next slot."""
    unpriced_marks: int = field(default=0, kw_only=True)
    """Positions valued at a price of before, the market having none or being closed; all slots together."""
    missed: int = field(default=0, kw_only=True)
    """Slots of the recipe since its first in which it had no turn."""


@dataclass(frozen=True, slots=True, eq=False)
class AccountRecord(AccountState):
    """One bot's account through n slots, with the h instruments that it ever held."""

    slot: Ints
    """Which slots of the record it was valued at, increasing, (n,)."""
    value_usd: Floats
    """Before the fills of each, after what was settled by then; the first is its deposit; (n,)."""
    held: Ints
    """Which instruments of the record the columns below are of, (h,)."""
    shares_before: Floats
    """What was held at that valuation, (n, h)."""
    cash_before_usd: Floats
    """The cash at that valuation, (n,)."""
    shares: Floats
    """What was held after the fills of each slot, (n, h)."""
    cash_usd: Floats
    """The cash after them, (n,)."""
    targets: Mapping[int, tuple[Ints, Floats]] = field(default_factory=dict)
    """By row of `slot`: instruments and weights that the orders filled there had asked for; the rest is cash."""


@dataclass(frozen=True, slots=True, eq=False)
class Markets:
    """The m markets of a record at some of its slots."""

    of_instrument: Ints
    """(i,)"""
    price_yes: Floats
    """The last price, before the first one that, (slots, m), never NaN."""
    settled: NDArray[np.bool_]
    """(slots, m)"""
    event: Ints
    """(m,)"""
    group: Ints
    """Of those that exclude each other, -1 for none, (m,)."""

    def at(self, slots: Ints) -> "Markets":
        """Return them at some slots."""
        return replace(self, price_yes=self.price_yes[slots], settled=self.settled[slots])


@dataclass(frozen=True, eq=False)
class AccountsRecord:
    """The accounts of a recipe and a game, of one mode: what may be compared."""

    recipe: str
    game: str
    mode: str
    subject: str
    """Which instance of the game."""
    at: tuple[datetime, ...]
    """The slots, in their order, s of them."""
    instruments: tuple[str, ...]
    """The i instruments anybody held."""
    outcome: Ints
    """1 for YES of a market, -1 for NO, 0 for what has no sides, (i,)."""
    prices: Floats
    """At each slot, the payout from settlement on, NaN where nobody offered one, (s, i)."""
    accounts: tuple[AccountRecord, ...]
    market: Ints | None = None
    """The number of each instrument's market, (i,); an outcome among several that is none of two sides has its own.

    Left out, each instrument stands by itself, and so for the next two.
    """
    event: Ints | None = None
    """The number of its event, (i,)."""
    group: Ints | None = None
    """The number of those of which at most one pays, -1 for none, (i,)."""
    settled: NDArray[np.bool_] | None = None
    """Whether the price is what was paid, (s, i); left out, nothing was."""
    sectors: tuple[str, ...] | None = None
    """Of shares the sector of each instrument, empty where none is named, (i,); None of what are no shares."""

    @cached_property
    def known_prices(self) -> Floats:
        """Return the prices with the last one there was where there is none, (s, i)."""
        return last_known(self.prices)

    @cached_property
    def markets(self) -> Markets:
        """Return the markets at all slots; what is seen of one side is seen of the other."""
        alone = np.arange(len(self.instruments))
        market = alone if self.market is None else self.market
        _, first, column = np.unique(market, return_index=True, return_inverse=True)
        seen = np.where(self.outcome < 0, 1.0 - self.prices, self.prices)
        prices = np.full((seen.shape[0], first.size), np.nan)
        for number, each in enumerate(column.tolist()):
            prices[:, each] = np.where(np.isnan(prices[:, each]), seen[:, number], prices[:, each])
        # Nothing is gained before the first price.
        prices = last_known(last_known(prices)[::-1])[::-1]
        settled = np.zeros(self.prices.shape, np.bool_) if self.settled is None else self.settled
        return Markets(
            column.astype(np.int64),
            np.clip(np.nan_to_num(prices), 0.0, 1.0),
            settled[:, first],
            (alone if self.event is None else self.event)[first],
            (np.full(alone.shape, -1) if self.group is None else self.group)[first],
        )


def last_known(prices: Floats) -> Floats:
    """Return prices with the last one there was where there is none, (slots, ...)."""
    row = np.where(np.isnan(prices), 0, np.arange(prices.shape[0])[:, np.newaxis])
    found: Floats = np.take_along_axis(prices, np.maximum.accumulate(row, axis=0), axis=0)
    return found
