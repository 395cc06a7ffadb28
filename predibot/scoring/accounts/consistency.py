"""Consistency of accounts: how alike a bot divides its money when it is asked the same again."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations, pairwise
from typing import Any, Self

import numpy as np

from predibot.rows import grouped
from predibot.scoring.accounts.implied import days_of
from predibot.scoring.accounts.record import AccountRecord, AccountsRecord
from predibot.scoring.inference.bootstrap import Estimate
from predibot.scoring.inference.uncertainty import Uncertainty
from predibot.scoring.records.consistency import LEAST_MOVE, UNCHANGED_PRICE, Between, estimate_share

_Weights = Mapping[Any, float]
"""Shares of the account by instrument, each above zero and at most 1 together; the rest is cash."""


@dataclass(frozen=True, slots=True)
class AccountConsistency:
    """How far two divisions of a bot's money lie apart that answer the same question, over all such pairs."""

    bot: str
    between: Between
    """Replicates asked at one slot, or an account on two days between which prices hardly moved."""
    n: int
    """Pairs of answers."""
    clusters: int
    """The dates, or the cohorts, that they are of."""
    difference: Estimate
    """The mean of half the sum of |w - w'| over instruments and cash, in [0, 1]: 0 the same, 1 nothing in common."""
    in_common: Estimate
    """The mean share of what either puts money into that both do, in [0, 1]; 1 where both keep cash."""
    weight_deviation: float
    """The standard deviation of one weight, over what either puts money into; 0 where nobody does."""

    @classmethod
    def of(cls, bot: str, between: Between, pairs: Sequence["_Pair"], uncertainty: Uncertainty) -> Self:
        """Return the consistency over one pair or more."""
        clusters = np.unique([pair.cluster for pair in pairs], return_inverse=True)[1].astype(np.int64)
        squares = [square for pair in pairs for square in pair.squares()]
        difference = estimate_share(np.array([pair.difference() for pair in pairs]), clusters, uncertainty)
        in_common = estimate_share(np.array([pair.in_common() for pair in pairs]), clusters, uncertainty)
        deviation = float(np.sqrt(np.mean(squares) / 2.0)) if squares else 0.0
        return cls(bot, between, len(pairs), difference.clusters, difference, in_common, deviation)


def account_consistency(record: AccountsRecord, uncertainty: Uncertainty) -> tuple[AccountConsistency, ...]:
    """Return how consistently bots divided their accounts, where they were asked the same again.

    Answers of replicates at one slot are compared pair by pair. Between days an account and two days in a row on which
    it decided make a pair, if the prices of what either answer puts money into moved by at most `UNCHANGED_PRICE` in
    the mean by weight: in dollars for outcomes, relatively for shares. An answer without orders asks for what is held.
    Bots whose models may know the outcomes are left out. Replicates of the record must be joined; intervals are from
    clusters of dates.
    """
    found = []
    for account in record.accounts:
        if account.knowledge not in ("clean", "unknown"):
            continue
        apart = account.replicates or (account,)
        answers = [dict(_answers(record, each)) for each in apart]
        pairs = [
            _Pair(one[slot], other[slot], int(days_of(record, np.array([slot]))[0]))
            for one, other in combinations(answers, 2)
            for slot in sorted(one.keys() & other.keys())
        ]
        if pairs:
            found.append(AccountConsistency.of(account.bot, "replicates", pairs, uncertainty))
        if pairs := [pair for each in answers for pair in _between_days(record, each)]:
            found.append(AccountConsistency.of(account.bot, "days", pairs, uncertainty))
    return tuple(found)


def cohort_consistency(
    bots: Iterable[tuple[str, Sequence[tuple[datetime, Mapping[str, float]]]]], uncertainty: Uncertainty
) -> tuple[AccountConsistency, ...]:
    """Return how alike the replicates of each bot bet first in each cohort, as shares of the stake.

    Later their accounts differ, and so do their questions. Each bot comes with the start of the cohort and the
    first bets of each of its accounts; intervals are from cohorts.
    """
    found = []
    for bot, first in bots:
        pairs = [
            _Pair(*both, int(start.timestamp()))
            for start, weights in sorted(grouped(first).items())
            for both in combinations(weights, 2)
        ]
        if pairs:
            found.append(AccountConsistency.of(bot, "replicates", pairs, uncertainty))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two answers to one question."""

    one: _Weights
    other: _Weights
    cluster: int

    def difference(self) -> float:
        cash = sum(self.one.values()) - sum(self.other.values())
        return min(1.0, (sum(abs(change) for change in self._changes()) + abs(cash)) / 2.0)

    def in_common(self) -> float:
        either = self.one.keys() | self.other.keys()
        return len(self.one.keys() & self.other.keys()) / len(either) if either else 1.0

    def squares(self) -> Iterator[float]:
        return (change**2 for change in self._changes())

    def _changes(self) -> Iterator[float]:
        either = self.one.keys() | self.other.keys()
        return (self.one.get(name, 0.0) - self.other.get(name, 0.0) for name in either)


def _answers(record: AccountsRecord, account: AccountRecord) -> Iterator[tuple[int, _Weights]]:
    """Yield the slot and the weights above zero of each answer of an account, in order."""
    for row, answer in sorted(account.answers.items()):
        slot = int(account.slot[row])
        if answer is None:
            worth = account.shares[row] * np.nan_to_num(record.known_prices[slot, account.held])
            whole = float(worth.sum() + account.cash_usd[row])
            instruments, weights = account.held, worth / whole if whole > 0.0 else np.zeros_like(worth)
        else:
            instruments, weights = answer
        yield (
            slot,
            {name: share for name, share in zip(instruments.tolist(), weights.tolist(), strict=True) if share > 0.0},
        )


def _between_days(record: AccountsRecord, answers: Mapping[int, _Weights]) -> Iterator[_Pair]:
    for (first, one), (second, other) in pairwise(answers.items()):
        before, after = days_of(record, np.array([first, second])).tolist()
        if before < after and _has_hardly_moved(record, first, second, one, other):
            yield _Pair(one, other, before)


def _has_hardly_moved(record: AccountsRecord, first: int, second: int, one: _Weights, other: _Weights) -> bool:
    """Return whether prices hardly moved between two slots; not where one is unknown."""
    either = [int(name) for name in one.keys() | other.keys()]
    if any(name < 0 for name in either):
        return False
    weights = np.array([one.get(name, 0.0) + other.get(name, 0.0) for name in either])
    before, after = record.prices[first, either], record.prices[second, either]
    moved = np.abs(after - before) / (1.0 if record.sectors is None else before)
    return bool(not either or float(weights @ moved) <= (UNCHANGED_PRICE + LEAST_MOVE) * float(weights.sum()))
