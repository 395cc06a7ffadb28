"""Cohort scores: what a bot made of the stake of each weekly cohort, and how good its probabilities were."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from predibot.scoring.accounts.record import SizedBet
from predibot.scoring.inference.overlap import OverlapInterval, longest_overlap, overlap_interval
from predibot.scoring.metrics.probability import brier_score

MAX_SHARE = 0.25
"""Of cash, that one bet may take: such a bet is taken for certainty."""


@dataclass(frozen=True, slots=True)
class CohortResult:
    """What became of one bot in one cohort, as of an instant."""

    start: datetime
    end: datetime
    """When the cohort was complete, or the instant as of which this is."""
    stake_usd: float
    value_usd: float
    """At the last valuation."""
    won: int = 0
    """Positions that paid one dollar a share."""
    lost: int = 0
    """Positions that paid nothing."""
    cancelled: int = 0
    """Positions that were paid anything else: a part of a dollar, or what they cost."""
    archived: bool = False

    @property
    def profit_usd(self) -> float:
        """Return what was gained, negative where it was lost."""
        return self.value_usd - self.stake_usd


@dataclass(frozen=True, slots=True)
class CohortScore:
    """What a bot made over its cohorts."""

    returns: OverlapInterval
    """Of the mean return on a cohort's stake."""
    profit_usd: float
    """Over all cohorts."""
    return_on_stakes: float
    """The profit over the stakes of all cohorts together; the mean return where all stakes are alike."""
    win_rate: float | None
    """Of the positions that won or lost; None where there is none."""
    cohorts: int
    resolved: int
    """Positions that won, lost or were cancelled."""


@dataclass(frozen=True, slots=True)
class Brier:
    """A Brier score, and of how many forecasts."""

    score: float
    n: int


def cohort_score(
    results: Sequence[CohortResult], *, archived: bool = False, implied: float = 0.0
) -> CohortScore | None:
    """Return what a bot made over its cohorts, None where there is none.

    Args:
        results: Of one bot and one methodology, in any order.
        archived: Whether archived cohorts count too.
        implied: How far the mean return may come out otherwise by the prices of what was held.

    Raises:
        ValueError: If a stake is not above zero, or two results are of one cohort.
    """
    found = sorted((each for each in results if archived or not each.archived), key=lambda each: each.start)
    if not found:
        return None
    if any(not each.stake_usd > 0.0 for each in found):
        raise ValueError("a stake is not above zero; a return is a part of what a cohort began with")
    if len({each.start for each in found}) < len(found):
        raise ValueError("two results are of one cohort; results of two methodologies are never mixed")
    profit_usd = math.fsum(each.profit_usd for each in found)
    won, lost = sum(each.won for each in found), sum(each.lost for each in found)
    # After a reversal an account may owe more than it holds; nobody loses more than the stake by a forecast.
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
    """Return the Brier score of stated probabilities, None where none is of a market that a side has won.

    Args:
        forecasts: The probability of YES, in [0, 1], and what a share of YES
            paid; None where it was voided. What paid neither 0 nor 1 is left out.

    Examples:
        >>> stated_brier([(0.9, 1.0), (0.2, 0.0), (0.5, 0.5)])
        Brier(score=0.025, n=2)
    """
    known = [(probability, paid) for probability, paid in forecasts if paid in (0.0, 1.0)]
    if not known:
        return None
    return Brier(brier_score([each for each, _ in known], [paid for _, paid in known]), len(known))


def implied_confidence(amount_usd: float, cash_before_usd: float) -> float:
    """Return the confidence that the size of a bet is taken for: c = min(1, amount / (0.25 x cash before it)).

    Not a probability: $50 of $10,000 on a side at .95 come out as .02.

    Raises:
        ValueError: If the amount or the cash is not above zero.

    Examples:
        >>> implied_confidence(50.0, 10_000.0), implied_confidence(2_500.0, 10_000.0)
        (0.02, 1.0)
    """
    if not (0.0 < amount_usd < math.inf and 0.0 < cash_before_usd < math.inf):
        raise ValueError(f"a bet of ${amount_usd:g} of ${cash_before_usd:g}; both must be above zero")
    return min(1.0, amount_usd / (MAX_SHARE * cash_before_usd))


def implied_confidence_brier(bets: Sequence[SizedBet]) -> Brier | None:
    """Return the mean of (c - won)^2 over bets that won or lost, c being the confidence their size implies.

    None where there is none. It is the published score under its own name: it
    judges sizes, and calls a small bet on a favourite that wins a bad forecast.

    Examples:
        >>> round(implied_confidence_brier([SizedBet(50.0, 10_000.0, True)]).score, 6)
        0.9604
    """
    known = [(implied_confidence(bet.amount_usd, bet.cash_before_usd), bet.won) for bet in bets if bet.won is not None]
    if not known:
        return None
    return Brier(brier_score([each for each, _ in known], [float(won) for _, won in known]), len(known))
