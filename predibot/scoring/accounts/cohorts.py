"""Cohorts: the returns of bots on their stakes, their probabilities, who may be ranked, and how alike they repeat."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from itertools import combinations, pairwise
from typing import Any, Literal, Self

import numpy as np

from predibot.rows import grouped
from predibot.scoring.accounts.implied import days_of
from predibot.scoring.accounts.record import AccountRecord, AccountsRecord, CohortReplicates, Contestant, SizedBet
from predibot.scoring.inference.bootstrap import Estimate
from predibot.scoring.inference.overlap import OverlapInterval, longest_overlap, overlap_interval
from predibot.scoring.inference.uncertainty import Uncertainty
from predibot.scoring.metrics.probability import brier_score
from predibot.scoring.records.consistency import LEAST_MOVE, UNCHANGED_PRICE, Between, estimate_share
from predibot.scoring.records.knowledge import Knowledge
from predibot.scoring.records.replicates import ReplicateSpread
from predibot.scoring.standing import left_out_notes, places

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


Verdict = Literal["gains", "unclear", "loses", "too few"]
_VERDICTS: tuple[Verdict, ...] = ("gains", "unclear", "loses", "too few")
MAX_SHARE = 0.25
"""A bet of this share of the cash is read as certainty."""


@dataclass(frozen=True, slots=True)
class CohortResult:
    """The result of one bot in one cohort, as of an instant."""

    start: datetime
    end: datetime
    """The instant when the cohort was complete, else that of the evaluation."""
    stake_usd: float
    value_usd: float
    won: int = 0
    lost: int = 0
    cancelled: int = 0
    """Positions that paid anything else: a part of a dollar, or their cost."""

    @property
    def profit_usd(self) -> float:
        """Return the profit, negative for a loss."""
        return self.value_usd - self.stake_usd


@dataclass(frozen=True, slots=True)
class CohortScore:
    """The results of a bot over its cohorts."""

    returns: OverlapInterval
    profit_usd: float
    return_on_stakes: float
    """The profit over all stakes together; the mean return where all stakes are alike."""
    win_rate: float | None
    """The share of wins among the positions that won or lost; None without any."""
    cohorts: int
    resolved: int
    """Positions that won, lost or were cancelled."""


@dataclass(frozen=True, slots=True)
class Brier:
    """A Brier score and its number of forecasts."""

    score: float
    n: int


def mean_result(results: Sequence[CohortResult]) -> CohortResult:
    """Return the result of an account with an equal part in each account of one cohort; positions are counted all."""
    n = len(results)
    return replace(
        results[0],
        end=max(each.end for each in results),
        stake_usd=math.fsum(each.stake_usd for each in results) / n,
        value_usd=math.fsum(each.value_usd for each in results) / n,
        won=sum(each.won for each in results),
        lost=sum(each.lost for each in results),
        cancelled=sum(each.cancelled for each in results),
    )


def cohort_score(results: Sequence[CohortResult], *, implied: float = 0.0) -> CohortScore | None:
    """Return the score of a bot over its cohorts, None without any.

    Args:
        results: Of one bot and one methodology, one a cohort, in any order. Raises `ValueError` if a stake is not
            above zero.
        implied: The standard deviation of the mean return that prices imply.
    """
    found = sorted(results, key=lambda each: each.start)
    if not found:
        return None
    if any(not each.stake_usd > 0.0 for each in found):
        raise ValueError("a stake is not above zero; a return is a part of what a cohort began with")
    profit_usd = math.fsum(each.profit_usd for each in found)
    won, lost = sum(each.won for each in found), sum(each.lost for each in found)
    # After a reversal an account may owe more than it holds, but forecasts lose at most the stake.
    returns = [max(-1.0, each.profit_usd / each.stake_usd) for each in found]
    return CohortScore(
        overlap_interval(returns, longest_overlap([(each.start, each.end) for each in found]), implied=implied),
        profit_usd,
        profit_usd / math.fsum(each.stake_usd for each in found),
        won / (won + lost) if won + lost else None,
        len(found),
        won + lost + sum(each.cancelled for each in found),
    )


def stated_brier(forecasts: Sequence[tuple[float, float | None]]) -> Brier | None:
    """Return the Brier score of stated probabilities, None if no side won any of the markets.

    Each forecast is the probability and the payout of YES (None if voided); only payouts of 0 and 1 count.
    """
    return _brier([(probability, paid) for probability, paid in forecasts if paid is not None and paid in (0.0, 1.0)])


def implied_confidence(amount_usd: float, cash_before_usd: float) -> float:
    """Return the confidence that the size of a bet implies: c = min(1, amount / (0.25 x cash before it)).

    It is no probability: $50 of $10,000 on a side at .95 gives .02. Raises `ValueError` unless both are above zero.
    """
    if not (0.0 < amount_usd < math.inf and 0.0 < cash_before_usd < math.inf):
        raise ValueError(f"a bet of ${amount_usd:g} of ${cash_before_usd:g}; both must be above zero")
    return min(1.0, amount_usd / (MAX_SHARE * cash_before_usd))


def implied_confidence_brier(bets: Sequence[SizedBet]) -> Brier | None:
    """Return the mean of (c - won)^2 over bets that won or lost, with c the implied confidence; None without any.

    This published score judges sizes: a small bet on a favourite that wins counts as a bad forecast.
    """
    settled = [(bet, float(bet.won)) for bet in bets if bet.won is not None]
    return _brier([(implied_confidence(bet.amount_usd, bet.cash_before_usd), won) for bet, won in settled])


def _brier(known: Sequence[tuple[float, float]]) -> Brier | None:
    """Return the score of pairs of a probability and its outcome."""
    said, came = [each for each, _ in known], [each for _, each in known]
    return Brier(brier_score(said, came), len(known)) if known else None


@dataclass(frozen=True, slots=True)
class CohortBot(Contestant):
    """The results of one bot in its cohorts; decisions that may know the outcome are in a bot apart."""

    display_name: str
    results: tuple[CohortResult, ...]
    """One a cohort; archived ones only where they are asked for."""
    forecasts: tuple[tuple[float, float | None], ...] = ()
    """The stated probability and the payout of YES, of resolved markets."""
    bets: tuple[SizedBet, ...] = ()
    cannot_bet: int = 0
    """The number of cohorts in which its cash is too little for any bet, but it is not bankrupt."""
    bankrupt: int = 0
    """The number of cohorts in which it has neither cash nor positions."""
    owing: int = 0
    """The number of cohorts in which a reversed payout left it in debt."""
    deviation: float = 0.0
    """The standard deviation of its mean return that prices imply."""
    first_bets: tuple[tuple[datetime, Mapping[str, float]], ...] = ()
    """The start of the cohort of each of its accounts, and the shares of the stake, by outcome, that this bet first."""
    results_apart: tuple[tuple[CohortResult, ...], ...] = ()
    """The results of each replicate; `results` are their means. () for a bot without replicates."""

    @property
    def accounts(self) -> int:
        """Return the number of its accounts."""
        return sum(map(len, self.results_apart)) or len(self.results)

    @property
    def replicates(self) -> CohortReplicates | None:
        """Return the spread of its replicates; None for a bot without."""
        if not self.results_apart:
            return None
        means = [math.fsum(one.profit_usd / one.stake_usd for one in each) / len(each) for each in self.results_apart]
        return CohortReplicates(len(means), ReplicateSpread.of(np.array(means)))

    @property
    def stated(self) -> Brier | None:
        """Return the Brier score of its stated probabilities."""
        return stated_brier(self.forecasts)

    @property
    def implied(self) -> Brier | None:
        """Return the Brier score of the confidence that its bets imply, another score."""
        return implied_confidence_brier(self.bets)


@dataclass(frozen=True, slots=True)
class CohortBotScore(CohortBot):
    """One bot's results with its score."""

    score: CohortScore = field(kw_only=True)

    @property
    def verdict(self) -> Verdict:
        """Return the verdict on its return."""
        found = self.score.returns
        if not found.may_rank or found.low is None or found.high is None:
            return "too few"
        return "gains" if found.low > 0.0 else "loses" if found.high < 0.0 else "unclear"


@dataclass(frozen=True, slots=True)
class CohortBoard:
    """The cohorts of a recipe and a game, of one mode and one methodology, which is what may be compared. Their bots
    have scores after `with_scores`.
    """

    recipe: str
    game: str
    mode: str
    methodology: str
    bots: tuple[CohortBot, ...]
    cohorts: int
    """All of them, also those without a value."""
    complete: int
    """Those in which nothing can happen any more."""
    archived: int = 0
    remarks: tuple[str, ...] = ()
    scores: tuple[CohortBotScore, ...] = ()
    """In the order of the board: those that gain, by the lower end of the return's interval; the unclear ones and
    those that lose, by the size of their return; those on too few cohorts, by their mean return; baselines; and last
    those whose models' cutoff is unknown."""
    notes: tuple[str, ...] = ()
    consistency: tuple[AccountConsistency, ...] = ()
    """How alike replicates bet; empty where it is not asked for."""

    @property
    def ranks(self) -> Mapping[tuple[str, Knowledge], int]:
        """Return the rank of each bot that gains, and whose interval lies above that of every baseline.

        By the lower end, equals alike; nobody has one on fewer than 30 effective cohorts.
        """
        of_baselines = [each.score.returns for each in self.scores if each.baseline]
        highest = max((each.mean if each.high is None else each.high for each in of_baselines), default=0.0)
        ends = {
            (each.bot, each.knowledge): (each.knowledge, each.score.returns.low)
            for each in self.scores
            if each.verdict == "gains" and not each.baseline
            if each.score.returns.low is not None and each.score.returns.low > highest
        }
        return places(ends)


def with_scores(board: CohortBoard) -> CohortBoard:
    """Return a board with the scores of its bots; those whose models may have read the outcomes are named instead."""
    excluded = sorted({each.bot for each in board.bots if each.knowledge in ("ahead", "contaminated")})
    found = [
        CohortBotScore(**{each.name: getattr(bot, each.name) for each in fields(bot)}, score=score)
        for bot in board.bots
        if bot.knowledge in ("clean", "unknown")
        and (score := cohort_score(bot.results, implied=bot.deviation)) is not None
    ]
    return replace(board, scores=tuple(sorted(found, key=_place)), notes=tuple(_notes(board, excluded)))


def _place(each: CohortBotScore) -> tuple[bool, bool, int, float, str]:
    returns = each.score.returns
    far = returns.mean
    if each.verdict == "gains":
        far = returns.low or 0.0
    elif each.verdict != "too few" and returns.high is not None:
        # By the lower end, a loser with less scatter would come first.
        far = returns.mean / (returns.high - returns.mean)
    return each.knowledge != "clean", each.baseline, _VERDICTS.index(each.verdict), -far, each.bot


def _notes(board: CohortBoard, excluded: Sequence[str]) -> Iterator[str]:
    yield from left_out_notes(excluded)
    if board.archived:
        were = "1 archived cohort is" if board.archived == 1 else f"{board.archived} archived cohorts are"
        yield f"{were} left out; --archived counts them too"
    yield from board.remarks
