"""Scoring: anybody's forecasts, or the value of anybody's account."""

import numpy as np
import pytest

from predibot.errors import UsageError
from predibot.jobs.score_files.score import (
    EquityReport,
    read_settled_forecasts,
    score_equity,
    score_forecasts,
)
from predibot.scoring.evaluation.evaluation import Evaluation, Question
from predibot.scoring.evaluation.scorecard import Scorecard
from predibot.scoring.inference.uncertainty import Uncertainty
from predibot.scoring.metrics.conventions import CONVENTIONS
from predibot.scoring.metrics.pooling import PoolingMethod
from tests.jobs.tables import HEADER, csv_of
from tests.scoring.published_table import N_RETURNS

ASKED = Question(uncertainty=Uncertainty(resamples=100))
WITH_MARKET = f"""{HEADER},market_probability
ann,q1,0.9,1,0.7
bob,q1,0.6,1,0.7
ann,q2,0.2,0,0.4
bob,q2,0.5,0,0.4
ann,q3,0.3,0.5,0.4
bob,q4,0.3,,0.4
"""


def _scored(text: str, *pools: PoolingMethod, extremize: float = 1.0, strict: bool = False) -> Evaluation:
    return score_forecasts(read_settled_forecasts(csv_of(text), pools=pools, extremize=extremize, strict=strict), ASKED)


def _cards(found: Evaluation) -> dict[str, Scorecard]:
    return {card.bot: card for card in found.cards}


def _equity(text: str, convention: str = "predibot", **annual: float) -> EquityReport:
    return score_equity(csv_of(f"date,value\n{text}"), CONVENTIONS[convention], strict=False, **annual)


def test_scores_are_those_computed_by_hand() -> None:
    cards = _cards(_scored(WITH_MARKET))
    # ann: (0.1^2 + 0.2^2) / 2 = 0.025; bob: (0.4^2 + 0.5^2) / 2 = 0.205; the market: (0.3^2 + 0.4^2) / 2 = 0.125.
    assert [cards[name].brier for name in ("ann", "bob", "market")] == pytest.approx([0.025, 0.205, 0.125])
    skills = [cards[name].skill_vs_market for name in ("ann", "bob", "market")]
    assert skills == pytest.approx([1 - 0.025 / 0.125, 1 - 0.205 / 0.125, 0.0])


def test_open_and_void_forecasts_are_counted_beside_the_scores() -> None:
    settled = read_settled_forecasts(csv_of(WITH_MARKET), strict=False)
    found = score_forecasts(settled, ASKED)
    cards = _cards(found)
    assert [(card.forecasts, card.settled, card.void) for card in (cards["ann"], cards["bob"])] == [
        (3, 2, 1),
        (3, 2, 0),
    ]
    assert settled.found.n_open == {"bob": 1}
    assert "Forecasts void: 1 (ann 1); their questions ended neither with 1 nor with 0." in found.notes
    assert "Forecasts open: 1 (bob 1); their questions have no outcome yet." in found.notes


def test_pools_stand_beside_those_they_are_made_of() -> None:
    cards = _cards(_scored(WITH_MARKET, "median", "log_odds", extremize=2.0))
    assert list(cards) == ["ann", "bob", "pool_median", "pool_log_odds", "market"]
    # Of two the median is the mean: 0.75 and 0.35, with odds of 3 and 7/13, which extremizing squares.
    said = np.array([9 / 10, 49 / 218])
    assert cards["pool_median"].brier == pytest.approx(np.mean((said - [1, 0]) ** 2))
    assert cards["pool_median"].forecast.n_market == 2


def test_a_pool_of_a_name_that_is_taken_is_refused() -> None:
    with pytest.raises(
        UsageError, match=r"some\.csv: 'pool_mean' is a forecaster of the file already\. Rename it there"
    ):
        _scored(f"{HEADER}\npool_mean,q1,0.5,1\n", "mean")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("", "some.csv has no row below its header"),
        ("a,q,0.5,\nb,q,0.5,\na,r,0.5,0.5\n", "3 rows, 2 on questions without an outcome, 1 on void questions"),
        ("a,q,5,1\n", "of 1 row, 1 bad. Give outcomes of 1 or 0; the first: line 2: probability is '5'"),
    ],
)
def test_a_file_with_nothing_to_score_says_what_it_has(rows: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        _scored(f"{HEADER}\n{rows}")


def test_open_forecasts_on_what_others_say_is_settled_are_told() -> None:
    notes = _scored(f"{HEADER}\nann,q1,0.9,1\nbob,q1,0.1,\n").notes
    assert "1 open forecast on questions that other rows give an outcome of: not scored." in notes


def test_instants_that_keep_forecasters_apart_are_told() -> None:
    row = "{},q1,0.9,1,2026-03-01T12:{}"
    apart, together = ("\n".join((f"{HEADER},date", row.format("a", "00"), row.format("b", b))) for b in ("01", "00"))
    assert any(note.startswith("No two forecasters answered") for note in _scored(apart).notes)
    assert not any(note.startswith("No two forecasters answered") for note in _scored(together).notes)


def test_the_order_of_rows_changes_no_score_and_no_interval() -> None:
    rows = [f"{bot},q{q},{said:.2f},{q % 2}" for q in range(12) for bot, said in (("ann", q / 12), ("bob", 0.4))]
    first, second = (_scored("\n".join((HEADER, *order))) for order in (rows, [*rows[8:], *rows[:8]]))
    for one, other in zip(first.cards, second.cards, strict=True):
        assert one.brier == pytest.approx(other.brier)
        assert one.forecast.adjusted_brier == pytest.approx(other.forecast.adjusted_brier)
        assert one.forecast.intervals["log_score"] == other.forecast.intervals["log_score"]
    assert first.pairs == second.pairs


def test_an_account_has_the_figures_computed_by_hand() -> None:
    found = _equity("2026-03-01,100\n2026-03-02,110\n2026-03-03,99\n2026-03-04,108.9\n")
    # Returns of 0.1, -0.1 and 0.1: mean 1/30, deviation sqrt(((1/15)^2 * 2 + (2/15)^2) / 2) = sqrt(1/75).
    assert found.score.sharpe == pytest.approx(1 / 30 * 365 / (np.sqrt(1 / 75) * np.sqrt(365)))
    assert (found.score.cumulative_return, found.score.max_drawdown) == pytest.approx((0.089, 0.1))
    assert (found.score.longest_losing_run, found.score.n_values, found.notes) == (1, 4, ())


def test_a_convention_a_number_of_periods_and_a_rate_are_used() -> None:
    values = 1000 * np.cumprod(1 + np.random.default_rng(1).normal(0, 0.01, N_RETURNS + 1))
    text = "".join(f"2026-{3 + day // 25:02d}-{1 + day % 25:02d},{value}\n" for day, value in enumerate(values))
    ours, theirs = _equity(text), _equity(text, "livetradebench")
    assert (ours.score.periods_per_year, ours.score.ddof) == (365.0, 1)
    assert (theirs.score.periods_per_year, theirs.score.ddof) == (252.0, 0)
    given = _equity(text, periods_per_year=12.0, risk_free_rate=0.04)
    assert (given.score.periods_per_year, given.score.risk_free_rate, given.periods.basis) == (12.0, 0.04, "given")
    returns = np.diff(values) / values[:-1]
    by_hand = (returns.mean() * 12 - 0.04) / (returns.std(ddof=1) * np.sqrt(12))
    assert given.score.sharpe == pytest.approx(by_hand)


def test_values_of_weekdays_alone_have_252_periods_a_year() -> None:
    assert _equity("2026-03-05,1\n2026-03-06,2\n2026-03-09,3\n2026-03-10,3\n").score.periods_per_year == 252.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2026-03-01,100\n", "spacing needs two instants, there are 1; give the number of periods a year"),
        ("2026-03-01,0\n2026-03-02,0\n", "line 2: value is 0 at the beginning"),
        ("x,1\n", "some.csv has no row that can be scored"),
        ("", "some.csv has no row below its header"),
    ],
)
def test_what_has_no_figures_is_refused_in_a_line(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        _equity(text)


def test_what_is_odd_about_a_curve_is_told() -> None:
    notes = _equity("2026-03-02,2\n2026-03-01,1\n2026-03-03,2\n2026-03-04,x\n2026-03-05,3\n").notes
    assert [note.split(":")[0] for note in notes] == [
        "Bad rows",
        "The rows were not in the order of time",
        "1 step of 3 between values",
    ]
