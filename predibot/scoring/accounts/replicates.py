"""Replicates with accounts: joined to one account in equal parts for their scores, apart for their spread."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from predibot.domain.replicates import joined_bots, split_replicate
from predibot.scoring.accounts.record import AccountRecord, AccountsRecord
from predibot.scoring.arguments import Floats
from predibot.scoring.records.knowledge import KNOWLEDGE
from predibot.scoring.records.replicates import ReplicateSpread


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
