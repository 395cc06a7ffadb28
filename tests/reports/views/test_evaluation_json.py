"""An evaluation as one JSON document; a number without a value is None."""

import json
import math
from dataclasses import replace
from typing import Any

import pytest

from predibot.reports.views.evaluation_json import evaluation_document
from predibot.scoring import BettingEvidence, BotEvidence, Evidence, calibration_bins
from predibot.scoring.evaluation.evaluation import Evaluation
from tests.reports.views_of import card, evaluation

NAN = math.nan


def written(found: Evaluation) -> Any:
    """Return the document as a program reads it; NaN would be no JSON."""
    return json.loads(json.dumps(evaluation_document(found), allow_nan=False))


def test_an_evaluation_has_the_keys_of_its_contract_in_their_order() -> None:
    document = written(evaluation("random_bet", notes=("a note",)))
    assert " ".join(document) == (
        "as_of first_results_at currency convention confidence resamples seed leaderboard conclusions missing bots "
        "evidence comparisons by parts by_category by_lead_time_days by_confidence delays sizings notes"
    )
    assert " ".join(document["bots"][0]) == (
        "bot decisions forecasts settled void brier n_brier brier_open n_brier_open clusters brier_by_event log_score "
        "accuracy calibration_error calibration_error_by_chance calibration_error_by_chance_high calibration murphy "
        "n_market market_brier market_log_score skill_vs_market adjusted_brier n_confidence confidence_and_error "
        "intervals edge horizons cost_usd cost_known_usd refused failed abstained clean unknown ahead contaminated "
        "knowledge"
    )
    assert list(document["bots"][0]["horizons"]) == ["1", "7", "settled"]
    assert " ".join(document["bots"][0]["horizons"]["1"]) == (
        "mean_return n clusters coverage sharpe market_mean_return n_market quote_mean_return n_quote friction "
        "net_mean_return n_net drift n_drift mean_return_by_event quote_mean_return_by_event open_stakes intervals"
    )


def test_numbers_without_a_value_are_null_and_the_others_are_whole() -> None:
    bot = written(evaluation("random_bet"))["bots"][0]
    assert (bot["brier"], bot["brier_open"], bot["cost_usd"], bot["cost_known_usd"]) == (0.0024782, None, None, 1.25)
    week = bot["horizons"]["7"]
    assert (week["mean_return"], week["n"], week["coverage"], week["sharpe"]) == (None, 0, 0.0, None)


def test_what_is_not_finite_is_null() -> None:
    whole = card()
    odd = replace(whole, forecast=replace(whole.forecast, brier=NAN, log_score=math.inf))
    bot = written(replace(evaluation(), cards=(odd,)))["bots"][0]
    assert (bot["brier"], bot["log_score"]) == (None, None)


def test_an_interval_says_how_it_was_made_and_on_what_it_rests() -> None:
    assert written(evaluation("random_bet"))["bots"][0]["intervals"]["brier"] == {
        "low": 0.0012,
        "high": 0.0135,
        "n": 15,
        "clusters": 12,
        "few_clusters": True,
        "cluster_standard_error": None,
        "price_standard_error": None,
        "without_best": None,
        "method": "studentised cluster bootstrap",
        "resamples_without_value": 0,
    }


def test_evidence_is_that_of_forecasts_and_of_dollars() -> None:
    strong = BettingEvidence(better=Evidence(9.0, 40.0, 86_400.0), dependence=1.5, days=7, events=3)
    found = replace(evaluation("a"), evidence=(BotEvidence("a", strong, BettingEvidence()),))
    (row,) = written(found)["evidence"]
    nothing = {"now": 1.0, "largest": 1.0, "largest_at": None, "p_value": 1.0}
    better = {"now": 9.0, "largest": 40.0, "largest_at": "1970-01-02T00:00Z", "p_value": 0.025}
    assert row == {
        "bot": "a",
        "verdict": {
            "finding": "nothing yet", "events": 0, "e_value": None, "events_needed": None, "more_than": None,
        },
        "forecasts": {"better": better, "worse": nothing, "book": nothing, "dependence": 1.5, "days": 7, "events": 3},
        "dollars": {"better": nothing, "worse": nothing, "book": nothing, "dependence": None, "days": 0, "events": 0},
        "knowledge": "clean",
    }  # fmt: skip


def test_bins_carry_how_often_it_may_really_happen() -> None:
    whole = card()
    bins = calibration_bins([0.1, 0.1, 0.9], [0, 1, 1], clusters=[1, 1, 2], bins=3)
    odd = replace(whole, forecast=replace(whole.forecast, calibration=bins, calibration_error_by_chance=0.2))
    bot = written(replace(evaluation(), cards=(odd,)))["bots"][0]
    low, empty, _ = bot["calibration"]
    assert (low["n"], low["effective_n"], low["mean_outcome"]) == (2, 1.0, 0.5)
    assert low["outcome_low"] == pytest.approx(0.5 - low["outcome_high"] + 0.5)
    assert (empty["effective_n"], empty["outcome_low"], empty["outcome_high"]) == (0.0, None, None)
    assert (bot["calibration_error_by_chance"], bot["calibration_error_by_chance_high"]) == (0.2, None)


@pytest.mark.parametrize("bots", [(), ("a", "b")])
def test_bots_keep_their_order(bots: tuple[str, ...]) -> None:
    assert [bot["bot"] for bot in written(evaluation(*bots))["bots"]] == list(bots)
