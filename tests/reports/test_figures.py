"""Figures: how a number is written where a person reads it."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.reports import figures

WRITERS = [
    figures.count,
    figures.probability,
    figures.score,
    figures.ratio,
    figures.signed_percent,
    figures.percent,
    figures.gain_usd,
    figures.cost_usd,
    figures.volume_usd,
]


@pytest.mark.parametrize("write", WRITERS)
def test_a_missing_number_is_a_dash_and_never_zero(write: Callable[[None], str]) -> None:
    assert write(None) == "–"


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (figures.gain_usd(0.1234), "+$0.123"),
        (figures.gain_usd(-0.0001), "+$0.000"),
        (figures.probability(0.37), "0.37"),
        (figures.signed_percent(0.0123), "+1.23%"),
        (figures.signed_percent(-0.000001), "+0.00%"),
        (figures.signed_percent(-0.5), "-50.00%"),
        (figures.score(-0.000001), "0.0000"),
        (figures.cost_usd(1234.5), "$1,234.500"),
        (figures.count(100_000), "100,000"),
    ],
)
def test_figures_are_written_as_the_house_rules_say(shown: str, expected: str) -> None:
    assert shown == expected


@given(st.floats(0, 1))
def test_only_all_of_it_reads_as_a_hundred_percent(share: float) -> None:
    assert (figures.percent(share) == "100%") == (share == 1.0)
    assert (figures.percent(share) == "0%") == (share == 0.0)
