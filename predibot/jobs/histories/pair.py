"""A pair's history: the questions that two bots both answered, by how far they differ."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row

from predibot.jobs.histories.snapshot import PartSnapshot, record_of_bots
from predibot.jobs.open_venue import Clock
from predibot.ledger.store import Store
from predibot.scoring.arguments import none_if_nan
from predibot.scoring.evaluation.pairs import match_questions
from predibot.scoring.records.knowledge import Knowledge
from predibot.scoring.records.part import EVERYTHING, Part
from predibot.scoring.records.track_record import TrackRecord


@dataclass(frozen=True, slots=True)
class SharedQuestion:
    """A question that two bots answered."""

    market: Row[Any]
    knowledge: Knowledge
    """The ranking in which it counts."""
    one_at: datetime
    other_at: datetime
    one: float
    """The first bot's probability of YES."""
    other: float
    """The second bot's probability of YES."""
    price_yes: float
    """The price at which the first was booked."""
    payout_yes: float | None
    """None while the market is open."""
    error_difference: float | None
    """The first bot's squared error minus the second's; None unless the market paid 0 or 1."""


def shared_questions(
    store: Store, one: str, other: str, part: Part = EVERYTHING, *, clock: Clock, whole: PartSnapshot | None = None
) -> tuple[SharedQuestion, ...]:
    """Return the questions on which two bots are compared, the largest difference first; no venue is asked.

    As in their pair scores, each ranking is compared by itself.

    Args:
        whole: That of the part, if it is at hand.
    """
    record, listed = record_of_bots(store, (one, other), part, clock=clock, whole=whole)
    found = []
    rankings: dict[Knowledge, TrackRecord | None] = {"clean": record.without_apart(), "unknown": record.apart()}
    for knowledge, ranking in rankings.items():
        if ranking is None or not {one, other} <= set(ranking.bots):
            continue
        questions = match_questions(ranking, one, other)
        columns = (
            questions.market,
            questions.first_at,
            questions.second_at,
            questions.first,
            questions.second,
            questions.price_yes,
            questions.payout_yes,
            questions.error_difference,
        )
        for market, one_at, other_at, ours, theirs, price, payout, difference in zip(
            *(each.tolist() for each in columns), strict=True
        ):
            found.append(
                SharedQuestion(
                    market=listed[market],
                    knowledge=knowledge,
                    one_at=datetime.fromtimestamp(one_at, UTC),
                    other_at=datetime.fromtimestamp(other_at, UTC),
                    one=ours,
                    other=theirs,
                    price_yes=price,
                    payout_yes=none_if_nan(payout),
                    error_difference=none_if_nan(difference),
                )
            )
    return tuple(sorted(found, key=lambda each: -abs(each.one - each.other)))
