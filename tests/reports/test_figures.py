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
        (figures.count(12345), "12,345"),
        (figures.probability(0.375), "0.38"),
        (figures.probability(None), "–"),
        (figures.score(0.0024782), "0.0025"),
        (figures.score(-1e-05), "0.0000"),
        (figures.short_score(0.0127), "0.013"),
        (figures.short_score(None), "–"),
        (figures.thousandths(0.0827), "+83"),
        (figures.thousandths(-0.00224), "-2.2"),
        (figures.thousandths(0.0), "0.0"),
        (figures.ratio(-1.234), "-1.23"),
        (figures.signed_score(0.01234), "+0.0123"),
        (figures.signed_score(None), "–"),
        (figures.interval(-0.01, 0.1234), "-0.010 to 0.123"),
        (figures.interval(None, None), "–"),
        (figures.percent_interval(-0.0123, 0.5), "-1.2 to 50.0%"),
        (figures.thousandths_interval(-0.00224, 0.0827), "-2.2 to +83"),
        (figures.p_value(0.04321), "0.043"),
        (figures.p_value(0.0001), "<0.001"),
        (figures.things(1, "pair"), "1 pair"),
        (figures.things(1200, "pair"), "1,200 pairs"),
        (figures.signed_percent(-0.0037782), "-0.38%"),
        (figures.signed_percent(0.0), "+0.00%"),
        (figures.short_percent(0.0151), "+1.5%"),
        (figures.short_percent(-0.8811), "-88%"),
        (figures.short_percent(0.0), "0.0%"),
        (figures.percent(0.2), "20%"),
        (figures.percent(0.997), "99.7%"),
        (figures.percent(0.003), "0.3%"),
        (figures.percent(0.01), "1%"),
        (figures.percent(0.99), "99%"),
        (figures.percent(0.0001), "<0.1%"),
        (figures.percent(0.9999), ">99.9%"),
        (figures.probability(0.003), "0.003"),
        (figures.probability(0.01), "0.01"),
        (figures.probability(0.9999), ">0.999"),
        (figures.usd(1234.5), "$1,234.50"),
        (figures.usd(-12.0), "-$12.00"),
        (figures.usd(-1e-12), "$0.00"),
        (figures.usd(None), "–"),
        (figures.gain_usd(-1500), "-$1,500.000"),
        (figures.whole_gain_usd(1234.4), "+$1,234"),
        (figures.whole_gain_usd(-12.6), "-$13"),
        (figures.whole_gain_usd(-0.004), "+$0"),
        (figures.cost_usd(0.1234), "$0.123"),
        (figures.cost_usd(None), "–"),
        (figures.short_cost_usd(0.126), "$0.13"),
        (figures.short_cost_usd(0.004), "<$0.01"),
        (figures.short_cost_usd(1234.5), "$1,234"),
        (figures.short_cost_usd(0.0), "$0"),
        (figures.volume_usd(1234567.8), "$1,234,568"),
        (figures.duration(42.4), "42 s"),
        (figures.duration(600), "10 min"),
        (figures.duration(9000), "2.5 h"),
        (figures.about(7), "7"),
        (figures.about(93), "93"),
        (figures.about(1234), "1,200"),
        (figures.e_value(5.13), "5.1"),
        (figures.e_value(410.2), "410"),
        (figures.e_value(490000000000.0), ">9,999"),
    ],
)
def test_figures_are_written_as_the_house_rules_say(shown: str, expected: str) -> None:
    assert shown == expected


@given(st.floats(0, 1))
def test_only_all_of_it_reads_as_a_hundred_percent(share: float) -> None:
    assert (figures.percent(share) == "100%") == (share == 1.0)
    assert (figures.percent(share) == "0%") == (share == 0.0)
