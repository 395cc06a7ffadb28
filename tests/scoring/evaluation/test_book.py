"""Daily gains: what holdings of a record's bets gained, cluster by cluster and UTC day by day.

That they are those of plain loops in all records is held by `test_by_pairs.py`.
"""

import numpy as np
import pytest

from predibot.scoring import Uncertainty, scorecards
from predibot.scoring.evaluation.book import DailyPrices
from predibot.scoring.records.horizon_returns import record_marks
from tests.scoring.made_records import Bet, Made, Paid, Seen, record_of

DAY = 86_400.0


def daily(*seen: Seen, paid: dict[int, Paid] | None = None, as_of: float = 9.0) -> DailyPrices:
    """Return what prices did from a bet at noon of day 0 on, at .5."""
    record = record_of([Made("a", 0.5, (Bet(0, 1.0, 0.5),))], seen=seen, paid=paid, as_of=as_of)
    return DailyPrices.of(record, np.zeros(1, dtype=np.int64), record_marks(record))


def by_day(found: DailyPrices, gained: list[float]) -> dict[int, float]:
    """Return what was gained by the day that a midnight ends."""
    return {
        found.marks.first + int(day): pytest.approx(each)  # type: ignore[misc]
        for day, each in zip(found.day_of_cell, gained, strict=True)
    }


def test_a_day_has_what_moved_since_its_midnight_and_the_last_one_as_far_as_it_had_come() -> None:
    found = daily(Seen(0, 0.75, 0.6), Seen(0, 0.9, 0.55), Seen(0, 1.25, 0.7), Seen(0, 2.1, 0.4), as_of=2.2)
    gains = found.gains(slice(None), np.array([2.0])).tolist()
    assert by_day(found, gains) == {1: 0.1, 2: 0.3, 3: -0.6}


def test_what_is_held_for_a_time_gains_up_to_its_end_and_not_what_came_later_that_day() -> None:
    found = daily(Seen(0, 0.75, 0.6), Seen(0, 1.25, 0.7), Seen(0, 1.75, 0.9), paid={0: Paid(3.0, 0.0)})
    after = found.marks_until(np.array([1.5 * DAY]))
    gains = found.gains(slice(None), np.array([1.0]), after=after, later=np.array([0.7])).tolist()
    assert by_day(found, gains) == {1: 0.1, 2: 0.1, 3: 0.0}


def test_nothing_is_gained_of_what_was_seen_before_or_settled_by_then() -> None:
    found = daily(Seen(0, 0.4, 0.9), paid={0: Paid(0.25, 1.0)})
    assert not found.gains(slice(None), np.array([1.0])).any()


@pytest.mark.parametrize(("hour", "dependence"), [(6, 30.0), (18, 30.0)])
def test_a_swing_counts_as_one_whatever_the_hour_of_the_evaluation(hour: int, dependence: float) -> None:
    made = [Made("a", 0.5, (Bet(event, 0.0, 0.5, 0.7),), event=event) for event in range(30)]
    # Not yet midnight: what paid today counts.
    record = record_of(made, paid={event: Paid(5.1, 1.0) for event in range(30)}, as_of=5.0 + hour / 24.0)
    (card,) = scorecards(record, uncertainty=Uncertainty(resamples=40))
    assert card.edge.interval is not None
    assert card.edge.interval.dependence == pytest.approx(dependence)
