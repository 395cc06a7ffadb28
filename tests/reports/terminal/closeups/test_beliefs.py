"""Beliefs on a screen: how far a bot's break the rules of probability, and what was left out."""

import json

from predibot.related.coherence.coherence import Coherence, CoherencePeriod, CoherenceScore
from predibot.related.exposure import Exposure, Exposures
from predibot.reports.terminal.closeups.beliefs import (
    coherence_document,
    coherence_grids,
    exposure_document,
    exposure_grid,
)

ALL = CoherenceScore("all", 0.25, 0.01, 1.0, 0.5, n=4, events=2)


def test_what_binds_nothing_is_not_shown_and_what_might_is_counted() -> None:
    assert list(coherence_grids(Coherence())) == []
    (grid,) = coherence_grids(Coherence(unsure_groups=2, unsure_markets=5))
    assert grid.rows == () and grid.below[0].startswith("Left out: 2 groups of 5 markets")


def test_events_and_periods_are_shown_beside_the_rules() -> None:
    events = tuple(CoherenceScore(f"\x1b[31mevent {n}", 0.1, 0.0, 1.0, 0.0, n=1, events=1) for n in range(12))
    periods = (CoherencePeriod(0.0, 0.0, ALL), CoherencePeriod(86_400.0, 3 * 86_400.0, ALL))
    found = Coherence((ALL,), events, periods, groups=3, exhaustive=1, unsure_groups=1, unsure_markets=2)
    rules, by_event, over_time = coherence_grids(found)
    assert rules.rows == (("all rules", "0.2500", "–", "0.0100", "100%", "50%", "4", "2"),)
    assert "3 groups of markets of one event, 1 of which leave nothing out" in rules.below[0]
    assert len(by_event.rows) == 10 and by_event.below[0].startswith("2 more events")
    assert "\x1b" not in by_event.rows[0][0]
    assert [row[0] for row in over_time.rows] == ["1970-01-01", "1970-01-02 to 1970-01-04"]


def test_the_document_has_everything_and_no_number_that_is_none() -> None:
    found = coherence_document(Coherence((ALL,), (ALL,), (CoherencePeriod(0.0, 1.0, ALL),), groups=1))
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert (found["rules"][0]["breach"], found["rules"][0]["low"], found["unsure_groups"]) == (0.25, None, 0)
    assert found["periods"][0]["first_slot_at"] == "1970-01-01T00:00Z"


def test_exposure_is_told_of_the_largest_groups_first() -> None:
    groups = tuple(Exposure((f"e{n}", "x") if n == 0 else (f"e{n}",), 1.0, 1 / 12, 0.5, 2) for n in range(12))
    spread = Exposures(groups, 12.0)
    grid = exposure_grid(spread, {"e0": "\x1b[31mZero"})
    assert grid is not None and len(grid.rows) == 10 and "\x1b" not in grid.rows[0][0]
    assert grid.rows[1][:3] == ("e1", "8%", "$1.00") and "as over 12.0 of equal size" in grid.below[0]
    assert exposure_grid(Exposures(), {}) is None
    found = exposure_document(spread, {"e0": "Zero"})
    assert found["groups"][0]["events"] == [{"event_id": "e0", "title": "Zero"}, {"event_id": "x", "title": None}]
    assert exposure_document(Exposures(), {})["effective_groups"] is None
