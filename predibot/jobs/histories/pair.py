"""A pair's history: the questions that two bots both answered, by how far they differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sqlalchemy import Row

from predibot.jobs.histories.snapshot import PartSnapshot, rankings_of, record_of_bots
from predibot.jobs.open_venue import Clock
from predibot.ledger.store import Store
from predibot.scoring.arguments import none_if_nan
from predibot.scoring.evaluation.pairs import PairQuestions, match_questions
from predibot.scoring.records.knowledge import Knowledge
from predibot.scoring.records.part import EVERYTHING, Part


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


@dataclass(frozen=True, slots=True, eq=False)
class SharedQuestions(Sequence[SharedQuestion]):
    """The questions on which two bots are compared; each is made when it is asked for."""

    _found: Sequence[tuple[Knowledge, PairQuestions]]
    _listed: Sequence[Row[Any]]
    _order: Sequence[tuple[int, int]]
    """A place in `_found` and a row of each question."""

    def __len__(self) -> int:
        """Return their number."""
        return len(self._order)

    def __getitem__(self, at: Any) -> Any:
        """Return a question, or a tuple of them for a slice."""
        if isinstance(at, slice):
            return tuple(self._make(*each) for each in self._order[at])
        return self._make(*self._order[at])

    def _make(self, place: int, row: int) -> SharedQuestion:
        knowledge, questions = self._found[place]
        return SharedQuestion(
            market=self._listed[questions.market[row]],
            knowledge=knowledge,
            one_at=datetime.fromtimestamp(questions.first_at[row], UTC),
            other_at=datetime.fromtimestamp(questions.second_at[row], UTC),
            one=float(questions.first[row]),
            other=float(questions.second[row]),
            price_yes=float(questions.price_yes[row]),
            payout_yes=none_if_nan(questions.payout_yes[row]),
            error_difference=none_if_nan(questions.error_difference[row]),
        )


def shared_questions(
    store: Store, one: str, other: str, part: Part = EVERYTHING, *, clock: Clock, whole: PartSnapshot | None = None
) -> SharedQuestions:
    """Return the questions on which two bots are compared, the largest difference first; no venue is asked.

    As in their pair scores, each ranking is compared by itself.

    Args:
        whole: That of the part, if it is at hand.
    """
    record, listed = record_of_bots(store, (one, other), part, clock=clock, whole=whole)
    found = [
        (knowledge, match_questions(ranking, one, other))
        for knowledge, ranking in rankings_of(record).items()
        if {one, other} <= set(ranking.bots)
    ]
    rows = [(place, row) for place, (_, each) in enumerate(found) for row in range(each.market.size)]
    differences = np.concatenate([np.zeros(0), *(np.abs(each.first - each.second) for _, each in found)])
    order = np.argsort(-differences, kind="stable").tolist()
    return SharedQuestions(found, listed, [rows[each] for each in order])
