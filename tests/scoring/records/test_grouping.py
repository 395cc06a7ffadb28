"""Groups: the same bots scored on parts of what they did, by what the events are about or when."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.scoring import Forecasts
from predibot.scoring.records.grouping import CONFIDENCES, GROUPINGS, LEAD_TIMES_DAYS, forecasts_by, record_by
from tests.scoring.made_records import Bet, Made, record_of
from tests.scoring.tables import NAN, TABLES, table_of

DECISIONS = st.lists(
    st.builds(
        Made,
        bot=st.sampled_from(["a", "b"]),
        at=st.floats(0, 400),
        event=st.integers(0, 3),
        category=st.sampled_from(["sports", "weather"]),
    ),
    min_size=1,
    max_size=12,
)


@given(DECISIONS, st.sampled_from(GROUPINGS))
def test_every_decision_is_in_one_part_of_its_own_bot(made: list[Made], grouping: str) -> None:
    record = record_of(made, as_of=500)
    split, parts = record_by(record, grouping)
    assert len(split.bots) == len(parts) == len(set(parts))
    for row, one in enumerate(made):
        part = parts[split.decision_bot[row]]
        expected = {
            "event": str(one.event),
            "category": one.category,
            "month": datetime.fromtimestamp(int(one.at) * 86_400, tz=UTC).strftime("%Y-%m"),
        }
        assert part == (one.bot, expected[grouping])
    assert Counter(split.decision_bot.tolist()).keys() == set(range(len(parts)))


def test_parts_are_by_bot_and_then_by_part() -> None:
    made = [Made("b", event=2), Made("a", event=1), Made("b", event=1)]
    _, parts = record_by(record_of(made, as_of=9), "event")
    assert list(parts) == [("b", "1"), ("b", "2"), ("a", "1")]


def test_events_have_their_titles_and_one_that_recurs_its_number() -> None:
    names = {1: "Bitcoin up?", 2: "Bitcoin up?", 3: "Rain?"}
    record = replace(record_of([Made(event=event) for event in (1, 2, 3, 4)], as_of=9), event_names=names)
    _, parts = record_by(record, "event")
    assert [group for _, group in parts] == ["Bitcoin up? #1", "Bitcoin up? #2", "Rain?", "4"]


def test_without_categories_all_is_in_none() -> None:
    _, parts = record_by(record_of([Made("a"), Made("b")], as_of=9), "category")
    assert list(parts) == [("a", "no category"), ("b", "no category")]


def test_of_nothing_there_are_no_parts() -> None:
    for grouping in GROUPINGS:
        split, parts = record_by(record_of([], as_of=9, bots=("a",)), grouping)
        assert (split.bots, parts) == ((), ())


def test_a_grouping_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="no grouping 'colour'; there are event, category, month"):
        record_by(record_of([Made(bets=(Bet(0),))], as_of=9), "colour")


@given(TABLES)
def test_every_forecast_with_a_number_is_in_one_bin_of_its_own_forecaster(table: Forecasts) -> None:
    assert table.confidence is not None
    split, parts = forecasts_by(table, table.confidence, CONFIDENCES)
    said = ~np.isnan(table.confidence)
    assert split.probability.tolist() == table.probability[said].tolist()
    for row, (who, sure) in enumerate(zip(table.forecaster[said], table.confidence[said], strict=True)):
        part = parts[split.forecaster[row]]
        assert part[0] == table.forecasters[who]
        assert part[1] == _bin(float(sure))


def _bin(sure: float) -> str:
    if sure < 2.0:
        return "below 2"
    return next((f"{low} to {low + 2}" for low in (2, 4, 6) if low <= sure < low + 2), "8 and more")


@pytest.mark.parametrize(
    ("days", "group"),
    [
        (0.0, "below 1"),
        (0.999, "below 1"),
        (1.0, "1 to 7"),
        (7.0, "7 to 30"),
        (29.9, "7 to 30"),
        (30.0, "30 to 90"),
        (90.0, "90 and more"),
    ],
)
def test_the_lower_edge_of_a_bin_is_in_it(days: float, group: str) -> None:
    table = table_of([(0, 1, 0.5, NAN, NAN, days)])
    assert table.days_ahead is not None
    (part,) = forecasts_by(table, table.days_ahead, LEAD_TIMES_DAYS)[1]
    assert part[1] == group
