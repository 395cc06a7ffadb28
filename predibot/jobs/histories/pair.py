"""A pair's history: the questions that two bots both answered, by how far they differ."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row

from predibot.jobs.histories.gains import number_or_none
from predibot.jobs.histories.snapshot import PartSnapshot, record_of_bots
from predibot.jobs.open_venue import Clock
from predibot.ledger.store import Store
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
        for row in range(questions.market.size):
            found.append(
                SharedQuestion(
                    market=listed[questions.market[row]],
                    knowledge=knowledge,
                    one_at=datetime.fromtimestamp(questions.first_at[row], UTC),
                    other_at=datetime.fromtimestamp(questions.second_at[row], UTC),
                    one=float(questions.first[row]),
                    other=float(questions.second[row]),
                    price_yes=float(questions.price_yes[row]),
                    payout_yes=number_or_none(questions.payout_yes[row]),
                    error_difference=number_or_none(questions.error_difference[row]),
                )
            )
    return tuple(sorted(found, key=lambda each: -abs(each.one - each.other)))
