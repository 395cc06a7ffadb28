"""The record of accounts: value and positions of each at each slot, as arrays, and replicates joined to one account."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from predibot.domain.account import ROUNDING_USD
from predibot.domain.replicates import joined_bots, split_replicate
from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.records.knowledge import KNOWLEDGE, Knowledge
from predibot.scoring.records.replicates import ReplicateSpread
from predibot.scoring.standing import BASELINES


@dataclass(frozen=True, slots=True)
class SizedBet:
    """A booked bet, for the Brier score of the sizes of bets."""

    amount_usd: float
    cash_before_usd: float
    """Right before it, after the earlier bets of the same answer."""
    won: bool | None = None
    """None where no side won, or it is not known yet."""


@dataclass(frozen=True, slots=True, eq=False)
class Contestant:
    """A bot with accounts, and counts of its decisions."""

    bot: str
    strategy: str
    decisions: Mapping[str, int] = field(default_factory=dict, kw_only=True)
    cost_usd: float | None = field(default=0.0, kw_only=True)
    """The cost of all its decisions; None where a part is unknown."""
    cost_known_usd: float = field(default=0.0, kw_only=True)
    knowledge: Knowledge = field(default="clean", kw_only=True)
    """The worst of what the models of its decisions can have known; `unknown` is ranked apart."""

    @property
    def baseline(self) -> bool:
        """Return whether its strategy is a baseline."""
        return self.strategy in BASELINES

    @property
    def failed_share(self) -> float | None:
        """Return the share of its decisions that were refused or failed, None without decisions."""
        total = sum(self.decisions.values())
        return (self.decisions.get("failed", 0) + self.decisions.get("refused", 0)) / total if total else None


@dataclass(frozen=True, slots=True, eq=False)
class AccountState(Contestant):
    """The last known state of a bot's account."""

    last_usd: float = field(default=0.0, kw_only=True)
    """Its last value, which may be later than its last slot."""
    last_cash_usd: float = field(default=0.0, kw_only=True)
    """Below zero if it owes a reversed payout."""
    pending: int = field(default=0, kw_only=True)
    unpriced_marks: int = field(default=0, kw_only=True)
    """Positions valued at an older price, over all slots: the market had no price or was closed."""
    missed: int = field(default=0, kw_only=True)
    """Slots since its first in which it had no turn."""

    @property
    def owing_usd(self) -> float:
        """Return its debt, 0 for most; rounding is no debt."""
        return -self.last_cash_usd if self.last_cash_usd < -ROUNDING_USD else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class AccountRecord(AccountState):
    """One bot's account through n slots, with the h instruments that it ever held."""

    slot: Ints
    """The slots of the record at which it was valued, increasing, (n,)."""
    value_usd: Floats
    """At each slot, before its fills and after settlements; the first is its deposit; (n,)."""
    held: Ints
    """The instruments of the record in the columns below, (h,)."""
    shares_before: Floats
    cash_before_usd: Floats
    shares: Floats
    """Shares after the fills of each slot, (n, h)."""
    cash_usd: Floats
    targets: Mapping[int, tuple[Ints, Floats]] = field(default_factory=dict)
    """By row of `slot`: instruments and weights of the orders filled there; the rest is cash."""
    answers: Mapping[int, tuple[Ints, Floats] | None] = field(default_factory=dict)
    """By row of `slot`: the instruments and weights that its decision there asked for; None for what it held. An
    instrument that no account of the record ever held is below zero."""
    replicates: "tuple[AccountRecord, ...]" = ()
    """The accounts that it is the mean of; () for an account of its own."""


@dataclass(frozen=True, slots=True, eq=False)
class Markets:
    """The m markets of a record at some of its slots."""

    of_instrument: Ints
    price_yes: Floats
    """The last price, or before any the first, (slots, m), never NaN."""
    settled: NDArray[np.bool_]
    event: Ints
    group: Ints
    """Markets of one group exclude each other; -1 for none, (m,)."""

    def at(self, slots: Ints) -> "Markets":
        """Return the markets at some slots only."""
        return replace(self, price_yes=self.price_yes[slots], settled=self.settled[slots])


@dataclass(frozen=True, eq=False)
class AccountsRecord:
    """The accounts of a recipe and a game, of one mode: what may be compared."""

    recipe: str
    game: str
    mode: str
    subject: str
    at: tuple[datetime, ...]
    """The s slots, in order."""
    instruments: tuple[str, ...]
    """The i instruments that any account held."""
    outcome: Ints
    """1 for YES of a market, -1 for NO, 0 for instruments without sides, (i,)."""
    prices: Floats
    """At each slot, (s, i): the payout from settlement on, NaN without a price."""
    accounts: tuple[AccountRecord, ...]
    market: Ints | None = None
    """The market of each instrument, (i,); an outcome among several has a market of its own. By default each
    instrument stands by itself, also for the next two."""
    event: Ints | None = None
    group: Ints | None = None
    """The group of instruments in which at most one pays, -1 for none, (i,)."""
    settled: NDArray[np.bool_] | None = None
    """Whether the price is the payout, (s, i); by default none is."""
    sectors: tuple[str, ...] | None = None
    """The sector of each share, empty where it has none, (i,); None for outcomes."""

    @cached_property
    def known_prices(self) -> Floats:
        """Return the prices, with the last known one where there is none, (s, i)."""
        return fill_forward(self.prices)

    @cached_property
    def markets(self) -> Markets:
        """Return the markets at all slots; a price of one side counts for the other too."""
        alone = np.arange(len(self.instruments))
        market = alone if self.market is None else self.market
        _, first, column = np.unique(market, return_index=True, return_inverse=True)
        seen = np.where(self.outcome < 0, 1.0 - self.prices, self.prices)
        prices = np.full((seen.shape[0], first.size), np.nan)
        for number, each in enumerate(column.tolist()):
            prices[:, each] = np.where(np.isnan(prices[:, each]), seen[:, number], prices[:, each])
        # Before the first price there is no gain.
        prices = fill_forward(fill_forward(prices)[::-1])[::-1]
        settled = np.zeros(self.prices.shape, np.bool_) if self.settled is None else self.settled
        return Markets(
            column.astype(np.int64),
            np.clip(np.nan_to_num(prices), 0.0, 1.0),
            settled[:, first],
            (alone if self.event is None else self.event)[first],
            (np.full(alone.shape, -1) if self.group is None else self.group)[first],
        )


def fill_forward(prices: Floats) -> Floats:
    """Return prices, with the last known one where there is none, (slots, ...)."""
    row = np.where(np.isnan(prices), 0, np.arange(prices.shape[0])[:, np.newaxis])
    return np.take_along_axis(prices, np.maximum.accumulate(row, axis=0), axis=0)


@dataclass(frozen=True, slots=True)
class AccountReplicates:
    """The scores of a bot's replicates, each of its own account."""

    count: int
    cumulative_return: ReplicateSpread | None
    sharpe: ReplicateSpread | None
    max_drawdown: ReplicateSpread | None


@dataclass(frozen=True, slots=True)
class CohortReplicates:
    """The mean returns of a bot's replicates over their cohorts."""

    count: int
    mean_return: ReplicateSpread | None


def join_accounts(record: AccountsRecord) -> AccountsRecord:
    """Return a record with the accounts of a bot's replicates as one account, which is ranked once.

    It has the mean of their cash and shares at their common slots, as if one put an equal part into each. Replicates
    without a common slot, and one without a sibling, stay as they are.
    """
    joined = joined_bots(each.bot for each in record.accounts)
    if not joined:
        return record
    of = defaultdict[str, list[AccountRecord]](list)
    for each in record.accounts:
        bot, _ = split_replicate(each.bot)
        of[bot if bot in joined else each.bot].append(each)
    accounts = [each for bot, own in of.items() for each in (_join(bot, own) if len(own) > 1 else own)]
    return replace(record, accounts=tuple(accounts))


def _join(bot: str, own: Sequence[AccountRecord]) -> Sequence[AccountRecord]:
    slot = reduce(np.intersect1d, [each.slot for each in own])
    if not slot.size:
        return own
    held = np.unique(np.concatenate([each.held for each in own]))
    rows = [np.searchsorted(each.slot, slot) for each in own]
    strategies, costs = {each.strategy for each in own}, [each.cost_usd for each in own]

    def mean(name: str) -> Floats:
        found: Floats = np.mean([getattr(each, name)[at] for each, at in zip(own, rows, strict=True)], axis=0)
        return found

    def mean_shares(name: str) -> Floats:
        found = np.zeros((slot.size, held.size))
        for each, at in zip(own, rows, strict=True):
            found[:, np.searchsorted(held, each.held)] += getattr(each, name)[at] / len(own)
        return found

    return [
        AccountRecord(
            bot=bot,
            strategy=strategies.pop() if len(strategies) == 1 else "",
            slot=slot.astype(np.int64),
            value_usd=mean("value_usd"),
            held=held.astype(np.int64),
            shares_before=mean_shares("shares_before"),
            cash_before_usd=mean("cash_before_usd"),
            shares=mean_shares("shares"),
            cash_usd=mean("cash_usd"),
            decisions=dict(sum((Counter(each.decisions) for each in own), Counter())),
            cost_usd=None if None in costs else sum(each for each in costs if each is not None),
            cost_known_usd=sum(each.cost_known_usd for each in own),
            knowledge=KNOWLEDGE[max(KNOWLEDGE.index(each.knowledge) for each in own)],
            last_usd=float(np.mean([each.last_usd for each in own])),
            last_cash_usd=float(np.mean([each.last_cash_usd for each in own])),
            pending=sum(each.pending for each in own),
            unpriced_marks=sum(each.unpriced_marks for each in own),
            missed=sum(each.missed for each in own),
            replicates=tuple(own),
        )
    ]
