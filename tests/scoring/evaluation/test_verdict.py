"""Verdict: what may be said of a bot beside the price, and of two bots beside each other."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.scoring import (
    BettingEvidence,
    Evidence,
    Finding,
    Pair,
    RequiredEvents,
    Verdict,
    events_needed,
    pair_verdict,
    verdict,
)

NO_EVIDENCE = BettingEvidence()


def pair(
    difference: float | None, error: float | None, p_adjusted: float | None, *, events: int = 30, metric: str = "edge"
) -> Pair:
    return Pair(
        "a",
        "b",
        metric,
        events,
        events,
        difference,
        None,
        None,
        p_adjusted,
        p_adjusted,
        None,
        cluster_standard_error=error,
    )


def evidence(better: float = 1.0, worse: float = 1.0) -> BettingEvidence:
    """Return evidence that once was so large, and is no longer."""
    return BettingEvidence(better=Evidence(0.5, better), worse=Evidence(0.5, worse))


def test_an_e_value_of_20_on_any_day_beats_the_price() -> None:
    found = verdict(evidence(20.0), edge=0.001, standard_error=0.01, events=30)
    assert found == Verdict(Finding.BEATS_THE_PRICE, 30, 20.0)
    assert verdict(evidence(19.99), edge=0.001, standard_error=0.01, events=30).finding == Finding.CANNOT_BE_TOLD


def test_an_interval_alone_proves_nothing_either_way() -> None:
    for edge in (0.5, -0.5):
        found = verdict(evidence(3.0, 3.0), edge=edge, standard_error=0.01, events=400)
        assert (found.finding, found.e_value) == (Finding.CANNOT_BE_TOLD, 3.0)
        assert found.needed == RequiredEvents(0, more_than=False)


def test_events_that_moved_together_are_said_to_be_fewer() -> None:
    for g, like in ((None, None), (3.0, None), (15.0, 4.0)):
        moved = replace(evidence(), dependence=g, events=60)
        assert verdict(moved, edge=0.5, standard_error=0.01, events=90).moved_like == like
    assert verdict(replace(moved, better=Evidence(20.0, 20.0)), edge=0.5, standard_error=0.01, events=90) == Verdict(
        Finding.BEATS_THE_PRICE, 90, 20.0
    )


def test_worse_than_the_price_has_its_own_evidence() -> None:
    found = verdict(evidence(1.0, 55.0), edge=-0.02, standard_error=0.01, events=100)
    assert found == Verdict(Finding.WORSE_THAN_THE_PRICE, 100, 55.0)


def test_evidence_needs_an_edge_of_the_same_sign() -> None:
    # Who goes too far on the right side of the price wins money and has no edge.
    assert verdict(evidence(99.0), edge=-0.01, standard_error=0.01, events=90).finding == Finding.CANNOT_BE_TOLD
    assert verdict(evidence(1.0, 99.0), edge=0.01, standard_error=0.01, events=90).finding == Finding.CANNOT_BE_TOLD
    assert verdict(evidence(99.0, 99.0), edge=0.01, standard_error=0.01, events=90).finding == Finding.BEATS_THE_PRICE


@given(st.floats(1, 1e9), st.floats(1, 1e9), st.floats(-1, 1), st.integers(1, 29))
def test_below_30_events_nothing_is_claimed(better: float, worse: float, edge: float, events: int) -> None:
    found = verdict(evidence(better, worse), edge=edge, standard_error=0.1, events=events)
    assert (found.finding, found.needed) == (Finding.TOO_FEW_EVENTS, events_needed(edge, 0.1, events))


def test_what_cannot_be_told_says_how_many_more_events_it_would_take() -> None:
    found = verdict(NO_EVIDENCE, edge=0.015, standard_error=0.01, events=60)
    assert (found.finding, found.needed) == (Finding.CANNOT_BE_TOLD, events_needed(0.015, 0.01, 60))
    found = verdict(NO_EVIDENCE, edge=0.005, standard_error=0.01, events=60)
    assert found.needed is not None
    assert found.needed.more_than


def test_before_there_is_anything_there_is_nothing_to_say() -> None:
    assert verdict(NO_EVIDENCE, edge=None, standard_error=None, events=0) == Verdict(Finding.NOTHING_YET, 0)
    assert verdict(NO_EVIDENCE, edge=float("nan"), standard_error=None, events=0).finding == Finding.NOTHING_YET
    assert pair_verdict(pair(None, None, None, events=0)) == Verdict(Finding.NOTHING_YET, 0)


@pytest.mark.parametrize("error", [None, 0.0])
def test_who_always_says_the_price_is_said_never_to_differ(error: float | None) -> None:
    assert verdict(NO_EVIDENCE, edge=0.0, standard_error=error, events=40).finding == Finding.NEVER_DIFFERED
    assert pair_verdict(pair(0.0, error, 1.0)).finding == Finding.NEVER_DIFFERED


@pytest.mark.parametrize(
    ("difference", "metric", "finding"),
    [
        (0.1, "edge", Finding.FIRST_IS_BETTER),
        (-0.1, "return_7", Finding.SECOND_IS_BETTER),
        (0.1, "brier", Finding.SECOND_IS_BETTER),
        (-0.1, "brier", Finding.FIRST_IS_BETTER),
    ],
)
def test_of_two_the_better_is_named_where_p_is_small_on_events_enough(
    difference: float, metric: str, finding: Finding
) -> None:
    assert pair_verdict(pair(difference, 0.03, 0.05, metric=metric)) == Verdict(finding, 30)
    assert pair_verdict(pair(difference, 0.03, 0.0001, events=29)).finding == Finding.TOO_FEW_EVENTS
    for p_adjusted in (0.051, None):
        found = pair_verdict(pair(difference, 0.03, p_adjusted, metric=metric))
        assert found == Verdict(Finding.CANNOT_BE_TOLD, 30, needed=events_needed(difference, 0.03, 30))


def test_of_two_nothing_is_said_of_what_settled_early() -> None:
    early = replace(pair(0.1, 0.01, 0.001, metric="return_settled"), open_stakes=0.5)
    assert pair_verdict(early).finding == Finding.CANNOT_BE_TOLD


def test_the_larger_standard_error_says_how_many_events_are_needed() -> None:
    both = replace(pair(0.1, 0.05, 0.2), price_standard_error=0.08)
    assert pair_verdict(both).needed == events_needed(0.1, 0.08, 30)
