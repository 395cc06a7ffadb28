"""Conventions: how others, and we, make annual figures of returns, as data."""

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.scoring.metrics.conventions import CONVENTIONS, Convention, convention_named
from predibot.scoring.metrics.risk import sharpe_ratio, volatility
from tests.scoring.published_table import N_RETURNS, POLYMARKET, STOCKS, curve_of

ALL = pytest.mark.parametrize("convention", CONVENTIONS.values(), ids=CONVENTIONS.keys())


@ALL
def test_a_convention_is_found_by_its_name_says_where_it_is_from_and_can_annualise_daily_returns(
    convention: Convention,
) -> None:
    assert convention_named(convention.name) is convention
    assert convention.meaning.endswith(".")
    assert convention.source
    periods = convention.periods_per_year(1)
    assert periods is not None
    assert math.isfinite(sharpe_ratio([0.1, -0.1, 0.2], periods, convention.ddof, convention.risk_free_rate))


def test_a_convention_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        CONVENTIONS["predibot"].ddof = 0  # type: ignore[misc]  # the point of the test
    with pytest.raises(TypeError):
        CONVENTIONS["predibot"] = CONVENTIONS["predibench"]  # type: ignore[index]  # the point of the test


@given(st.floats(0.01, 1000))
def test_our_own_periods_fill_a_year_of_365_days_at_any_horizon(horizon_days: float) -> None:
    periods = CONVENTIONS["predibot"].periods_per_year(horizon_days)
    assert periods is not None
    assert periods * horizon_days == pytest.approx(365.0)


@pytest.mark.parametrize(("horizon_days", "factor"), [(1, 252**0.5), (2, 156**0.5), (7, 52**0.5)])
def test_predibench_multiplies_by_the_roots_it_publishes(horizon_days: float, factor: float) -> None:
    convention = CONVENTIONS["predibench"]
    periods = convention.periods_per_year(horizon_days)
    assert periods is not None
    # Mean 0.02, sample deviation sqrt(0.0002).
    assert sharpe_ratio([0.01, 0.03], periods, convention.ddof) == pytest.approx(0.02 / 0.0002**0.5 * factor)


@pytest.mark.parametrize(
    ("name", "horizon_days"), [("predibench", 3), ("livetradebench", 2), ("livetradebench_paper", 7)]
)
def test_where_a_convention_states_no_periods_it_has_none(name: str, horizon_days: float) -> None:
    assert CONVENTIONS[name].periods_per_year(horizon_days) is None


@pytest.mark.parametrize("name", ["predibot", "predibench"])
@pytest.mark.parametrize("horizon_days", [0.0, -1.0, math.nan, math.inf])
def test_a_horizon_of_no_length_is_refused(name: str, horizon_days: float) -> None:
    with pytest.raises(ValueError, match="horizon_days is"):
        CONVENTIONS[name].periods_per_year(horizon_days)


def test_only_predibench_takes_each_decision_alone() -> None:
    assert [name for name, one in CONVENTIONS.items() if one.returns_per == "decision"] == ["predibench"]


@pytest.mark.parametrize(
    ("market", "model"), [("stocks", model) for model in STOCKS] + [("polymarket", model) for model in POLYMARKET]
)
def test_livetradebench_gives_the_sharpe_ratios_and_volatilities_of_its_table(market: str, model: str) -> None:
    convention = CONVENTIONS["livetradebench"]
    cumulative, sharpe, deviation = (STOCKS if market == "stocks" else POLYMARKET)[model]
    rate = convention.stock_risk_free_rate if market == "stocks" else convention.risk_free_rate
    periods = convention.periods_per_year(1)
    assert rate is not None
    assert periods is not None
    values = curve_of(cumulative, deviation)
    returns = values[1:] / values[:-1] - 1.0
    assert volatility(returns, periods, convention.ddof) == pytest.approx(deviation, abs=5e-5)
    # The table's two decimals of a percent, and a curve that is not theirs, leave this much.
    assert sharpe_ratio(returns, periods, convention.ddof, rate) == pytest.approx(sharpe, abs=0.02)


@pytest.mark.parametrize("model", POLYMARKET)
def test_the_definitions_of_livetradebench_s_paper_do_not_give_its_table(model: str) -> None:
    convention = CONVENTIONS["livetradebench_paper"]
    cumulative, sharpe, deviation = POLYMARKET[model]
    values = curve_of(cumulative, deviation)
    returns = values[1:] / values[:-1] - 1.0
    stated = sharpe_ratio(returns, convention.periods_per_year(1) or math.nan, convention.ddof)
    # Not annualised, and divided by n - 1: sqrt(252 * n / (n - 1)) times smaller, 16.
    fitted = stated * math.sqrt(252.0 * N_RETURNS / (N_RETURNS - 1))
    assert fitted == pytest.approx(sharpe, abs=0.02)
    assert volatility(returns, 1.0, convention.ddof) < deviation / 15


def test_the_paper_s_sharpe_ratio_is_the_mean_over_the_sample_deviation() -> None:
    convention = CONVENTIONS["livetradebench_paper"]
    periods = convention.periods_per_year(1)
    assert periods == 1.0
    assert convention.stock_risk_free_rate is None
    assert sharpe_ratio([0.01, 0.03], periods, convention.ddof) == pytest.approx(0.02 / math.sqrt(0.0002))


def test_a_misspelt_convention_is_answered_with_the_nearest_and_all_names() -> None:
    with pytest.raises(ValueError, match=r"no convention 'predibnch'\. Did you mean 'predibench'") as refused:
        convention_named("predibnch")
    assert all(name in str(refused.value) for name in CONVENTIONS)


def test_an_unknown_convention_is_answered_with_all_names() -> None:
    with pytest.raises(ValueError, match=r"no convention 'x'\. There are: predibot, predibench, livetradebench, "):
        convention_named("x")
