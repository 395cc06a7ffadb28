"""Parts: the same bots scored apart by what events are about, how far off they were, and how sure the bot was."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from predibot.scoring import CONVENTIONS, Forecasts, ForecastScore, Scorecard, Uncertainty, forecast_scores, scorecards
from predibot.scoring.arguments import Floats
from predibot.scoring.evaluation.evaluation import PartScore, evidence_scores, part_cards, part_scores
from predibot.scoring.records.grouping import GROUPINGS
from predibot.scoring.records.track_record import settled_forecasts
from tests.scoring.made_records import Bet, Made, Paid, Seen, record_of
from tests.scoring.tables import NAN, TABLES, drawn, table_of

FEW = Uncertainty(seed=5, resamples=100)
COUNTS = ("decisions", "forecasts", "void", "refused", "failed", "abstained", "clean", "contaminated", "unknown")
DECISIONS = st.lists(
    st.builds(
        lambda status, **rest: (
            Made(status=status, bets=(Bet(rest["event"], 0.5, 0.5, 0.7),), **rest)
            if status == "recorded"
            else Made(status=status, **rest)
        ),
        status=st.sampled_from(["recorded", "recorded", "refused", "failed", "abstained"]),
        bot=st.sampled_from(["a", "b"]),
        at=st.floats(0, 90),
        event=st.integers(0, 3),
        category=st.sampled_from(["sports", "weather"]),
        knowledge=st.sampled_from(["clean", "contaminated", "unknown"]),
    ),
    min_size=1,
    max_size=12,
)
PAID = {0: Paid(50, 1.0), 1: Paid(60, 0.5), 2: Paid(70, 0.0)}


def by(made: list[Made], grouping: str) -> tuple[tuple[PartScore, ...], tuple[Scorecard, ...]]:
    record = record_of(made, seen=[Seen(0, 20, 0.6)], paid=PAID, as_of=80)
    return part_cards(record, grouping, (1,), CONVENTIONS["predibot"], FEW), scorecards(record, horizons_days=(1,))


@given(DECISIONS, st.sampled_from(GROUPINGS))
def test_the_counts_of_the_parts_add_up_to_the_whole(made: list[Made], grouping: str) -> None:
    parts, whole = by(made, grouping)
    for card in whole:
        own = [part.card for part in parts if part.card.bot == card.bot]
        for name in COUNTS:
            assert sum(getattr(each, name) for each in own) == getattr(card, name)
        assert sum(each.forecast.n for each in own) == card.forecast.n
        for label, score in card.horizons.items():
            assert sum(each.horizons[label].n for each in own) == score.n
            assert sum(each.horizons[label].n_passed for each in own) == score.n_passed


def test_a_part_is_scored_as_the_bot_alone_on_it() -> None:
    made = [
        Made("a", at=at, event=event, category=category, bets=(Bet(event, 0.5, 0.5, 0.7),))
        for at in (1, 2)
        for event, category in ((0, "sports"), (2, "weather"))
    ]
    parts, _ = by(made, "category")
    alone = record_of([each for each in made if each.category == "weather"], paid=PAID, as_of=80)
    (card,) = scorecards(alone, horizons_days=(1,), uncertainty=FEW)
    (weather,) = (part.card for part in parts if part.group == "weather")
    assert weather.forecast == card.forecast
    assert weather.horizons["settled"] == card.horizons["settled"]


def test_an_event_is_one_cluster_and_has_no_interval() -> None:
    parts, _ = by([Made(at=at, bets=(Bet(0, 0.5, 0.5, 0.7),)) for at in range(5)], "event")
    (part,) = parts
    assert (part.card.forecast.intervals, part.card.horizons["settled"].intervals) == ({}, {})


@given(TABLES)
def test_scores_by_a_number_are_those_of_its_rows_alone(table: Forecasts) -> None:
    assert table.days_ahead is not None
    scores = part_scores("by_lead_time", table, FEW)
    assert sum(each.score.n for each in scores) == table.probability.size
    for each in scores:
        rows = (table.forecaster == table.forecasters.index(each.bot)) & _between(table.days_ahead, each.group)
        alone = forecast_scores(table.only(rows), uncertainty=FEW)[table.forecasters.index(each.bot)]
        # As text, because of two scores without a value neither is the other.
        assert repr(each.score) == repr(replace(alone, adjusted_brier=None))


def _between(days: Floats, group: str) -> NDArray[np.bool_]:
    low, high = {
        "below 1": (0, 1), "1 to 7": (1, 7), "7 to 30": (7, 30), "30 to 90": (30, 90), "90 and more": (90, 999),
    }[group]  # fmt: skip
    return (days >= low) & (days < high)


def test_forecasts_without_a_confidence_are_in_no_part_by_confidence() -> None:
    answers = [(0, 1, 0.9, NAN, 9.0, 1.0), (0, 3, 0.7, NAN, NAN, 1.0), (0, 5, 0.2, NAN, 1.0, 1.0)]
    scores = part_scores("by_confidence", table_of(answers), FEW)
    assert [(each.group, each.score.n) for each in scores] == [("below 2", 1), ("8 and more", 1)]


def test_where_nobody_said_how_sure_it_is_there_are_no_parts() -> None:
    table = table_of([(0, 1, 0.9, NAN, NAN, 1.0)])
    assert (
        part_scores("by_confidence", table, FEW)
        == part_scores("by_confidence", replace(table, confidence=None), FEW)
        == ()
    )
    assert part_scores("by_lead_time", replace(table, days_ahead=None), FEW) == ()


def test_categories_have_their_names_and_a_single_one_is_no_part() -> None:
    table = drawn(6)
    scores = part_scores("by_category", table, FEW)
    assert [(each.bot, each.group, each.score.n) for each in scores[:2]] == [("a", "sports", 6), ("a", "weather", 6)]
    assert part_scores("by_category", replace(table, category=None), FEW) == ()
    assert part_scores("by_category", replace(table, categories=("all",), category=0 * table.cluster), FEW) == ()


def test_parts_of_nothing_are_none() -> None:
    nothing = drawn(6).only(np.zeros(36, dtype=bool))
    assert (part_scores("by_category", nothing, FEW), part_scores("by_lead_time", nothing, FEW)) == ((), ())


def test_contaminated_decisions_are_counted_in_their_part_and_scored_in_none() -> None:
    parts, _ = by([Made(bets=(Bet(0, 0.5, 0.5, 0.7),), knowledge="contaminated")], "event")
    assert (parts[0].card.contaminated, parts[0].card.forecast) == (1, ForecastScore())


def test_forecasts_are_told_apart_by_what_they_rest_on_and_left_out_where_nobody_knows() -> None:
    made = [Made(at=each, bets=(Bet(each, 0.0, 0.5, said),), event=each) for each, said in enumerate((0.5, 0.8, 1.0))]
    record = record_of(made, paid={each: Paid(9.0, 1.0) for each in range(3)}, as_of=10)
    found = evidence_scores(settled_forecasts(record), np.array([0.0, 7.0, NAN]), FEW)
    assert [(each.group, each.score.n) for each in found] == [("none", 1), ("4 to 7", 1)]
    assert [each.score.brier for each in found] == pytest.approx([0.25, 0.04])
