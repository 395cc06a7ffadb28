"""The questions two bots both answered: what each said, beside the price and what happened, as their pair has them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from predibot.scoring.arguments import Floats, Ints, instance_of
from predibot.scoring.records.horizon_returns import payouts_as_of
from predibot.scoring.records.moments import Moments
from predibot.scoring.records.track_record import TrackRecord


@dataclass(frozen=True, slots=True, eq=False)
class ComparedQuestions:
    """The n_q questions on which two bots are compared one to one: a market, at moments at most six hours apart."""

    market: Ints
    """The row of the market, (n_q,)."""
    first_at: Floats
    """When the first said it, (n_q,), in seconds since 1970, as the next one."""
    second_at: Floats
    first: Floats
    """What the first said of YES, (n_q,), the mean where it said several things at that moment; as all below."""
    second: Floats
    price_yes: Floats
    """The price of YES the first was booked at, (n_q,)."""
    payout_yes: Floats
    """What YES had paid, (n_q,), NaN where the market is open."""
    error_difference: Floats
    """The squared error of the first less that of the second, (n_q,), NaN where the market paid neither 0 nor 1.

    Its mean is the difference of their pair by Brier score.
    """


def compared_questions(record: TrackRecord, first: str, second: str) -> ComparedQuestions:
    """Return the questions on which two bots are compared, those that are not settled too.

    They are matched as `brier_pairs` matches them: each is the other's nearest on the market.

    Args:
        record: What was said; of it what counts (`TrackRecord.scored`).
        first: The name of a bot.
        second: That of another.

    Raises:
        ValueError: If it is no record, or has no bot of such a name, or both are the same.
    """
    instance_of("record", record, TrackRecord)
    for name in (first, second):
        if name not in record.bots:
            raise ValueError(f"the record has no bot {name!r}; it has: {', '.join(record.bots)}")
    if first == second:
        raise ValueError(f"a bot is compared with another, not {first!r} with itself")
    both = np.array([record.bots.index(first), record.bots.index(second)])
    decider = record.decision_bot[record.bet_decision]
    told: NDArray[np.bool_] = ~np.isnan(record.bet_probability) & record.scored()[record.bet_decision]
    rows = np.flatnonzero(told & np.isin(decider, both))
    decision, market = record.bet_decision[rows], record.bet_market[rows]
    _, slot = np.unique(record.slots()[decision], return_inverse=True)
    asked = slot * max(record.payout_yes.size, 1) + market
    made_at, is_second = record.decided_at[decision], (decider[rows] == both[1]).astype(np.int64)
    moments = Moments.of(is_second, market, asked, made_at, 2)
    ours, theirs, _ = moments.matched(0, 1)
    said, payout = record.bet_probability[rows], payouts_as_of(record)[market]
    outcome = np.where((payout == 0.0) | (payout == 1.0), payout, np.nan)
    means, errors = moments.means(said), moments.means((said - outcome) ** 2)
    row, other = moments.row[ours], moments.row[theirs]
    return ComparedQuestions(
        market=market[row],
        first_at=made_at[row],
        second_at=made_at[other],
        first=means[ours],
        second=means[theirs],
        price_yes=moments.means(record.bet_price_yes[rows])[ours],
        payout_yes=payout[row],
        error_difference=errors[ours] - errors[theirs],
    )
