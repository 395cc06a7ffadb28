"""What public functions of scoring refuse: each says which argument is wrong, and what was seen."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from tests.laws.test_every_score import BILLION, MASKED, SOUND, public

Refusal = tuple[Mapping[str, Any], str]
"""What is changed of sound arguments, and what is said of it."""

FORECASTS: Sequence[Refusal] = [
    ({"probabilities": [], "outcomes": []}, "probabilities is empty"),
    ({"outcomes": [1]}, "lengths differ: probabilities 2, outcomes 1"),
    ({"probabilities": [0.5, math.nan]}, r"probabilities\[1\] is nan; each must be in \[0, 1\]"),
    ({"probabilities": [25.0, 0.5]}, r"probabilities\[0\] is 25.0"),
    ({"probabilities": [-0.001, 0.5]}, r"probabilities\[0\] is -0.001"),
    ({"outcomes": [0.5, 1]}, r"outcomes\[0\] is 0.5; each must be 0 or 1"),
    ({"outcomes": [math.nan, 1]}, r"outcomes\[0\] is nan"),
    ({"probabilities": [[0.5]]}, r"probabilities has shape \(1, 1\)"),
    ({"probabilities": ["25%", "0.25"]}, "probabilities is not an array of numbers"),
    ({"probabilities": MASKED}, r"probabilities\[0\] is nan; each must be in \[0, 1\]"),
]
BINS: Sequence[Refusal] = [
    ({"bins": 0}, "bins is 0; it must be a whole number, 1 or more"),
    *(({"bins": each}, f"bins is {each}") for each in (2.5, True, math.nan)),
    ({"bins": BILLION}, "bins is 1,000,000,000; it must be at most 100,000"),
]
ACCOUNTS: Sequence[Refusal] = [
    ({"values": []}, "values is empty"),
    ({"values": [100.0, math.nan]}, r"values\[1\] is nan"),
    ({"values": [100.0, math.inf]}, r"values\[1\] is inf"),
    ({"values": [100.0, -1.0]}, r"values\[1\] is -1.0; an account is worth zero or more"),
    ({"values": [0.0, 100.0]}, r"values\[0\] is 0.0; an account must start above zero"),
]
YEARS: Sequence[Refusal] = [
    ({"periods_per_year": each}, f"periods_per_year is {each}") for each in (0.0, -1.0, math.nan, math.inf)
]
RETURNS: Sequence[Refusal] = [
    ({"returns": []}, "returns is empty"),
    ({"returns": [0.1, math.nan]}, r"returns\[1\] is nan"),
    ({"returns": [0.1, math.inf]}, r"returns\[1\] is inf"),
]


def unlike(one: str, other: str) -> list[Refusal]:
    """Return what cannot be read side by side."""
    return [
        ({one: [], other: []}, "is empty; give at least one value"),
        ({one: [1, 2], other: [1]}, "lengths differ: .* 2, .* 1"),
        ({one: [1, math.nan]}, r"\[1\] is nan; each must be a finite number"),
        ({other: [1, math.inf]}, r"\[1\] is inf"),
        ({one: [[1]]}, r"has shape \(1, 1\)"),
        ({one: [None, 1]}, r"\[0\] is nan"),
    ]


REFUSED: Mapping[str, Sequence[Refusal]] = {
    "annualized_return": [*ACCOUNTS, *YEARS],
    "as_of_prices": [
        ({"market_index": [0.5, 1]}, r"market_index\[0\] is 0.5; each must be a whole number"),
        ({"observed_at": [math.nan, 1.0]}, r"observed_at\[0\] is nan"),
        ({"prices_yes": [1.01, 0.5]}, r"prices_yes\[0\] is 1.01; each must be in \[0, 1\]"),
        ({"prices_yes": [0.5]}, "market_index 2, observed_at 2, prices_yes 1"),
        ({"query_at": [math.inf, 1.0]}, r"query_at\[0\] is inf"),
        ({"query_at": [1.0]}, "query_market 2, query_at 1"),
        ({"not_before": [math.nan, 0.0]}, "not_before has a NaN"),
        ({"not_before": [1.0]}, r"not_before has shape \(1,\)"),
        ({"max_gap_seconds": -1.0}, "max_gap_seconds is -1.0"),
        ({"max_gap_seconds": math.nan}, "max_gap_seconds is nan"),
    ],
    "benjamini_hochberg": [
        ({"p_values": []}, "p_values is empty"),
        ({"p_values": [0.1, math.nan]}, "p_values.* is nan"),
        ({"p_values": [1.1]}, "p_values.* is 1.1"),
    ],
    "betting_evidence": [
        ({"stakes": [0.5]}, "lengths differ: stakes 1, prices_yes 2"),
        ({"stakes": [0.9, -0.5]}, r"stakes\[0\] is 0.9; those of one decision add up to more than 1"),
        ({"prices_yes": [0.5, 1.0]}, r"prices_yes\[1\] is 1.0; each must be strictly between 0 and 1"),
        ({"events": [0, 1]}, r"events\[1\] is 1; a decision has one event"),
        ({"decided_at": [0.0, 1.0]}, r"decided_at\[1\] is 1.0; a decision has one event and one instant"),
        ({"decided_at": [1e300, 1e300]}, r"decided_at\[0\] is 1e\+300; give seconds since 1970"),
        ({"markets": [0, 2]}, r"markets\[1\] is 2; there are 2 of them"),
        ({"settled_at": [math.nan, math.nan]}, r"settled_at\[0\] is nan; a market has a payout and its instant"),
        ({"observation_market": [2, 1, 1]}, "lengths differ: observation_market 3"),
        ({"observation_market": [2, 1]}, r"observation_market\[0\] is 2; there are 2"),
        ({"as_of": math.nan}, "as_of is nan; give seconds since 1970"),
    ],
    "brier_score": FORECASTS,
    "brier_skill_score": [({"reference_probabilities": [0.5]}, "probabilities 2, reference_probabilities 1")],
    "calibration_bins": [*FORECASTS, *BINS, ({"scheme": "log"}, "no scheme 'log'; there are width, quantile")],
    "calibration_error_by_chance": [
        ({"probabilities": []}, "probabilities is empty"),
        ({"draws": 19}, "draws is 19"),
    ],
    "calmar_ratio": [*ACCOUNTS, *YEARS],
    "cluster_bootstrap": [({"clusters": []}, "clusters is empty"), ({"resamples": 0}, "resamples is 0")],
    "cluster_bootstrap_mean": [
        ({"values": [], "clusters": [], "weights": None}, "clusters is empty"),
        ({"clusters": [1], "weights": None}, "lengths differ: values 2, weights 2, clusters 1"),
        ({"values": [1, math.nan]}, "values.* is nan"),
        ({"weights": [1]}, "lengths differ: values 2, weights 1"),
        ({"weights": [1, -1]}, "weights.* is -1.0; each must be zero"),
        ({"seed": -1}, "seed is -1"),
        ({"confidence": 95}, "confidence is 95; it must be above 0"),
        ({"resamples": 39, "confidence": 0.95}, "resamples is 39; .* at least 40"),
        ({"resamples": BILLION}, "resamples is 1,000,000,000"),
        ({"clusters": [2.0 + 2**53, 1.0]}, r"clusters\[0\] is .*; above 2\^53"),
    ],
    "cluster_bootstrap_ratio": [
        ({"denominators": [1, -2]}, "denominators.* is -2.0; each must be zero"),
        ({"denominators": [1, math.inf]}, "denominators.* is inf"),
    ],
    "cohen_kappa": [({"one": [1], "other": [1, 0]}, "lengths differ: one 1, other 2")],
    "cumulative_return": ACCOUNTS,
    "difficulty_adjusted": [
        ({"scores": [], "forecaster": [], "question": []}, "question is empty"),
        ({"scores": [0.1]}, "lengths differ: scores 1, forecaster 2, question 2"),
        ({"scores": [math.nan, 0.1]}, "scores.* is nan"),
        ({"forecaster": [-1, 0]}, "forecaster.* is -1; each must be zero or more"),
        ({"forecaster": [0.5, 0]}, "forecaster.* is 0.5; each must be a whole number"),
        ({"forecaster": [BILLION, 0]}, r"forecaster\[0\] is 1000000000; each must be"),
    ],
    "equity_score": [
        *ACCOUNTS,
        ({"values": [100.0, 0.0, 50.0]}, r"values\[2\] is 50.0; an account that was wiped out stays at zero"),
        ({"periods_per_year": 0}, "periods_per_year is 0"),
    ],
    "expected_calibration_error": [*FORECASTS, *BINS],
    "events_needed": [({"mean": math.nan}, "mean is nan; it must be a finite number")],
    "fit_recalibration": [
        *(
            ({**changed, "method": method}, seen)
            for method in ("isotonic", "logistic")
            for changed, seen in (
                ({"probabilities": [], "outcomes": []}, "probabilities is empty"),
                ({"outcomes": [1]}, "lengths differ"),
                ({"probabilities": [0.5, math.nan, 0.75, 0.5]}, r"probabilities\[1\] is nan"),
                ({"outcomes": [1, math.nan, 1, 0]}, r"outcomes\[1\] is nan"),
                ({"probabilities": [[0.5]]}, r"shape \(1, 1\)"),
            )
        ),
        ({"method": "beta"}, "no method 'beta'; there are isotonic, logistic"),
    ],
    "horizon_gains": [
        ({"bets_usd": [math.nan, 1.0]}, r"bets_usd\[0\] is nan"),
        ({"bets_usd": [math.inf, 1.0]}, r"bets_usd\[0\] is inf"),
        ({"prices_yes_at_decision": [math.nan, 0.5]}, r"prices_yes_at_decision\[0\] is nan"),
        ({"prices_yes_at_decision": [55.0, 0.5]}, r"prices_yes_at_decision\[0\] is 55.0"),
        ({"prices_yes_at_horizon": [1.5, 0.5]}, r"prices_yes_at_horizon\[0\] is 1.5; each must be in \[0, 1\] or NaN"),
        ({"prices_yes_at_decision": [0.0, 0.5]}, r"at_decision\[0\] is 0.0; nothing can be bought of a free side"),
        ({"prices_yes_at_decision": [0.5, 1.0]}, r"prices_yes_at_decision\[1\] is 1.0; nothing can be bought"),
        ({"prices_yes_at_horizon": [0.5]}, r"shape \(2,\), which does not fit the later prices' \(1,\)"),
    ],
    "inherited_knowledge": [
        ({"knowledge": [4, 0]}, r"knowledge\[0\] is 4; there are 4, counted from 0"),
        ({"pooled": [2]}, r"pooled\[0\] is 2; there are 2 decisions"),
        ({"pooling": [-1]}, r"pooling\[0\] is -1"),
        ({"pooling": [0, 1]}, "lengths differ: pooling 2, pooled 1"),
    ],
    "kelly_fraction": [
        ({"probability": 1.5}, r"probability is 1.5; each must be in \[0, 1\]"),
        ({"probability": math.nan}, "probability is nan"),
        ({"probability": [0.5, math.inf]}, r"probability\[1\] is inf"),
        ({"price": math.nan}, "price is nan"),
        ({"price": -0.1}, "price is -0.1"),
        (
            {"probability": 0.5, "price": 0.0},
            "price is 0.0; where it is not the probability it must be strictly inside",
        ),
        ({"probability": 0.5, "price": 1}, "price is 1.0; where it is not the probability it must be strictly inside"),
        ({"probability": [1.0, 0.5], "price": 1.0}, r"price\[1\] is 1.0"),
        ({"price": [0.5, 0.5, 0.5]}, r"price has shape \(3,\), which does not fit the probability's \(2,\)"),
        ({"probability": []}, "probability is empty"),
        ({"probability": "25%"}, "probability is not an array of numbers"),
    ],
    "log_score": [
        ({"clip": "0"}, "clip is '0'; it must be a number"),
        ({"clip": 0.5}, r"clip is 0.5; it must be in \[0, 0.5\)"),
        *FORECASTS,
    ],
    "longest_losing_run": RETURNS,
    "macro_f1": [
        *unlike("truth", "predicted"),
        ({"truth": ["a", 3], "predicted": ["a", "b"]}, r"truth\[1\] is 3; give texts only, or whole numbers only"),
        ({"truth": ["1"], "predicted": [1]}, r"truth\[0\] is '1', predicted\[0\] is 1; give texts in both"),
        ({"predicted": [0.5, 1]}, r"predicted\[0\] is 0.5; each must be a whole number"),
    ],
    "max_drawdown": ACCOUNTS,
    "murphy_decomposition": [*FORECASTS, *BINS],
    "pair_verdict": [({"pair": None}, "pair is None; give a Pair")],
    "paired_difference": [
        ({"values_a": [1]}, "lengths differ: values_a 1, values_b 2"),
        ({"clusters": [1]}, "lengths differ: .*clusters 1"),
        ({"values_a": [], "values_b": [], "clusters": []}, "clusters is empty"),
        ({"values_a": [1, math.nan]}, "values_a.* is nan"),
        ({"seed": -3}, "seed is -3"),
        ({"resamples": 9}, "resamples is 9"),
    ],
    "pool_probabilities": [
        ({"matrix": [[0.5, 1.1]]}, r"matrix\[0, 1\] is 1.1; each must be in \[0, 1\], or NaN where silent"),
        ({"matrix": [[0.5], [-0.1]]}, r"matrix\[1, 0\] is -0.1"),
        ({"matrix": [[math.inf]]}, r"matrix\[0, 0\] is inf"),
        ({"matrix": [0.5, 0.5]}, r"matrix has shape \(2,\); give two dimensions, \(questions, forecasters\)"),
        ({"matrix": [[]]}, "matrix is empty"),
        ({"matrix": np.empty((0, 3))}, "matrix is empty"),
        ({"matrix": [[0.5], [0.5, 0.5]]}, "matrix is not an array of numbers"),
        ({"matrix": [["25%"]]}, "matrix is not an array of numbers"),
        *(
            ({"extremize": each}, f"extremize is {each!r}; it must be a finite number above zero")
            for each in (0.0, -1.0, math.inf, math.nan, True)
        ),
        ({"method": "mode"}, "no method 'mode'; there are mean, median, trimmed_mean, soft_trimmed_mean, log_odds"),
    ],
    "probability_of_being_best": [
        ({"scores": [0.1, 0.2]}, r"scores have shape \(2,\)"),
        ({"scores": [[0.1, math.inf], [0.1, 0.2]]}, r"scores\[0, 1\] is inf"),
        ({"scores": [[0.1, math.nan], [0.2, math.nan]]}, r"scores\[:, 1\] are all NaN"),
        ({"scores": [[0.1, 0.2]]}, "lengths differ: scores 1, clusters 2"),
        ({"resamples": 0}, "resamples is 0"),
    ],
    "quadratic_weighted_kappa": [
        *unlike("a", "b"),
        ({"b": [1, 2.5]}, r"b\[1\] is 2.5; each must be a whole number"),
        ({"a": ["good", "bad"]}, "a is not an array of numbers"),
    ],
    "quote_gains": [
        ({"bets_usd": [math.nan, 1.0]}, r"bets_usd\[0\] is nan"),
        ({"bids_yes": [1.5, 0.5]}, r"bids_yes\[0\] is 1.5"),
        ({"asks_yes": [-0.5, 0.5]}, r"asks_yes\[0\] is -0.5"),
        ({"prices_yes_later": [2.0, 0.5]}, r"prices_yes_later\[0\] is 2.0"),
        ({"fee_rates": [-0.1, 0.0]}, r"fee_rates\[0\] is -0.1; each must be zero or more, or NaN"),
        ({"fee_exponents": [math.inf, 1.0]}, r"fee_exponents\[0\] is inf"),
        ({"bids_yes": [0.4]}, "lengths differ: bets 2, bids 1"),
    ],
    "rank_correlation": unlike("a", "b"),
    "record_evidence": [({"record": None}, "record is None; give a TrackRecord")],
    "scorecards": [({"record": None}, "record is None; give a TrackRecord")],
    "sharpe_ratio": [
        *RETURNS,
        ({"periods_per_year": None}, "periods_per_year is None; it"),
        ({"periods_per_year": 0}, "periods_per_year is 0"),
        ({"periods_per_year": math.nan}, "periods_per_year is nan"),
        ({"ddof": -1}, "ddof is -1"),
        ({"risk_free_rate": math.nan}, "risk_free_rate is nan"),
    ],
    "smallest_detectable": [
        ({"standard_error": -0.1}, "standard_error is -0.1; it must be NaN or in"),
        ({"standard_error": math.inf}, "standard_error is inf"),
        ({"clusters": -1}, "clusters is -1"),
    ],
    "sortino_ratio": [
        *RETURNS,
        ({"periods_per_year": -1}, "periods_per_year is -1"),
        ({"risk_free_rate": math.inf}, "risk_free_rate is inf"),
    ],
    "turnover": [({"target": [[0.5, 0.1]], "drifted": [[0.5, 0.5]]}, "weights add up to 1")],
    "value_at_risk": [*RETURNS, *(({"level": each}, f"level is {each}") for each in (0.0, 95, math.nan))],
    "verdict": [
        ({"evidence": None}, "evidence is None; give a BettingEvidence"),
        ({"events": -1}, "events is -1"),
        ({"standard_error": -0.1}, "standard_error is -0.1"),
    ],
    "volatility": [
        *RETURNS,
        ({"returns": [1e308, -1e308]}, "volatility cannot compute with numbers this far apart"),
        ({"periods_per_year": math.inf}, "periods_per_year is inf"),
        ({"ddof": -1}, "ddof is -1"),
    ],
    "wilson_interval": [({"counts": [0, 8]}, r"counts\[0\] is 0")],
    "win_rate": RETURNS,
}
"""What is said of arguments beside which all others are sound."""


@pytest.mark.parametrize(
    ("name", "changed", "seen"), [(name, *each) for name, rows in REFUSED.items() for each in rows]
)
def test_what_is_refused_is_said_with_what_was_seen(name: str, changed: Mapping[str, Any], seen: str) -> None:
    with pytest.raises(ValueError, match=seen):
        public()[name](**{**SOUND[name], **changed})
