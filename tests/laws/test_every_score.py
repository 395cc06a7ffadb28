"""Every public function of scoring: whatever it is handed, it answers with a number or with a ValueError."""

import inspect
import math
import tracemalloc
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot import scoring
from predibot.scoring import (
    AccountRecord,
    AccountsRecord,
    BettingEvidence,
    Pair,
    Question,
    TrackRecord,
    Uncertainty,
    scorecards,
    settled_forecasts,
)
from predibot.scoring.evaluation.book import Book
from predibot.scoring.records.horizon_returns import horizon_returns, record_marks
from tests.scoring.made_records import Bet, Made, Paid, Seen, record_of

MASKED = np.ma.masked_array([0.5, 0.25], mask=[True, False])
RECORD = record_of([Made("a", bets=(Bet(0, probability=0.6),)), Made("b")], as_of=9, paid={0: Paid(2, 1.0)})
FEW = Uncertainty(resamples=50)
DAYS = tuple(datetime(2026, 1, day, tzinfo=UTC) for day in (1, 2, 3))
HELD = np.array([[0.0], [100.0], [100.0]])
CASH = np.array([500.0, 450.0, 450.0])
ACCOUNT = AccountRecord(
    "a", "tool_agent", np.arange(3), np.array([500.0, 500.0, 510.0]), np.array([0]), HELD, CASH, HELD, CASH,
    last_usd=510.0, last_cash_usd=450.0,
)  # fmt: skip
ACCOUNTS = AccountsRecord(
    "r", "portfolio_weights", "replay", "main", DAYS, ("x",), np.array([1]), np.array([[0.5], [0.5], [0.6]]), (ACCOUNT,)
)
SOUND: Mapping[str, Mapping[str, Any]] = {
    "account_board": {
        "record": ACCOUNTS, "convention": scoring.CONVENTIONS["predibot"], "uncertainty": FEW, "currency": "USD",
    },
    "annualized_return": {"values": [1.0, 2.0], "periods_per_year": 365},
    "as_of_prices": {
        "market_index": [0, 1], "observed_at": [1.0, 2.0], "prices_yes": [0.5, 0.25], "query_market": [0, 1],
        "query_at": [3.0, 4.0], "not_before": [0.0, 0.0], "max_gap_seconds": 9.0,
    },
    "benjamini_hochberg": {"p_values": [0.5, 0.25]},
    "betting_evidence": {
        "stakes": [0.5, -0.5], "prices_yes": [0.5, 0.25], "decisions": [0, 0], "events": [0, 0], "markets": [0, 1],
        "decided_at": [0.0, 0.0], "payouts_yes": [1.0, float("nan")], "settled_at": [9e4, float("nan")],
        "observation_market": [1, 1], "observation_at": [9e4, 1e5], "observation_price_yes": [0.5, 0.75], "as_of": 3e5,
    },
    "brier_pairs": {
        "forecasts": settled_forecasts(RECORD), "uncertainty": FEW, "by_edge": scoring.edge_pairs(RECORD, FEW),
    },
    "brier_score": {"probabilities": [0.5, 0.25], "outcomes": [1, 0]},
    "brier_skill_score": {"probabilities": [0.5, 0.25], "reference_probabilities": [0.25, 0.5], "outcomes": [1, 0]},
    "calibration_bins": {
        "probabilities": [0.5, 0.25], "outcomes": [1, 0], "clusters": [0, 1], "bins": 3, "scheme": "quantile",
        "confidence": 0.9,
    },
    "calibration_error_by_chance": {"probabilities": [0.5, 0.25], "bins": 3, "seed": 1, "draws": 20},
    "calmar_ratio": {"values": [2.0, 1.0], "periods_per_year": 365},
    "cluster_bootstrap": {
        "statistic": lambda rows: float(rows.mean()), "clusters": [0, 1], "seed": 1, "resamples": 50, "confidence": 0.9,
    },
    "cluster_bootstrap_mean": {
        "values": [1.0, 2.0], "clusters": [0, 1], "weights": [1.0, 2.0], "seed": 1, "resamples": 50, "confidence": 0.9,
    },
    "cluster_bootstrap_ratio": {
        "numerators": [1.0, 2.0], "denominators": [1.0, 3.0], "clusters": [0, 1], "seed": 1, "resamples": 50,
        "confidence": 0.9,
    },
    "cohen_kappa": {"one": [1, 0, 1], "other": [1, 1, 1]},
    "concentration": {"invested": [[0.5, 0.25], [0.0, 0.0]]},
    "convention_named": {"name": "predibot"},
    "cumulative_return": {"values": [1.0, 2.0]},
    "difficulty_adjusted": {"scores": [0.5, 0.25], "forecaster": [0, 1], "question": [1, 1]},
    "equity_returns": {"values": [1.0, 2.0]},
    "equity_score": {
        "values": [1.0, 2.0], "periods_per_year": 365, "ddof": 1, "risk_free_rate": 0.0, "value_at_risk_level": 0.05,
        "first_win": 1,
    },
    "edge_pairs": {"record": RECORD, "uncertainty": FEW, "found": scoring.edges(RECORD), "book": Book.of(RECORD)},
    "edges": {"record": RECORD, "max_gap_seconds": 9.0},
    "evaluation_of": {"record": RECORD, "as_of": datetime(1970, 1, 9, tzinfo=UTC), "asked": Question(uncertainty=FEW)},
    "evaluation_of_forecasts": {
        "forecasts": settled_forecasts(RECORD), "asked": Question(uncertainty=FEW), "remarks": (),
    },
    "events_needed": {"mean": 0.5, "standard_error": 0.25, "clusters": 9},
    "expected_calibration_error": {"probabilities": [0.5, 0.25], "outcomes": [1, 0], "bins": 3, "scheme": "width"},
    "factors_named": {"rationale": "news of a deal"},
    "fit_recalibration": {"probabilities": [0.5, 0.25, 0.75, 0.5], "outcomes": [1, 0, 1, 0], "method": "isotonic"},
    "fit_step": {"prices": [0.5, 0.25], "probabilities": [0.5, 0.75], "outcomes": [1, 0], "weights": [1.0, 0.5]},
    "forecast_scores": {"forecasts": settled_forecasts(RECORD), "uncertainty": FEW, "adjust": True, "draws": True},
    "horizon_gains": {
        "bets_usd": [1.0, -1.0], "prices_yes_at_decision": [0.5, 0.25], "prices_yes_at_horizon": [0.25, 0.5],
    },
    "inherited_knowledge": {"knowledge": [0, 3], "pooling": [0], "pooled": [1]},
    "kelly_fraction": {"probability": [0.5, 0.25], "price": [0.25, 0.5]},
    "knowledge_of": {
        "opened_model": [True, False], "cutoff_at": [1.0, 2.0], "is_live": [True, False], "decided_at": [1.0, 2.0],
        "event_settled_at": [1.0, 2.0],
    },
    "log_score": {"probabilities": [0.5, 0.25], "outcomes": [1, 0], "clip": 0.01},
    "longest_losing_run": {"returns": [0.5, -0.25]},
    "macro_f1": {"truth": [0, 1], "predicted": [1, 1]},
    "max_drawdown": {"values": [2.0, 1.0]},
    "murphy_decomposition": {"probabilities": [0.5, 0.25], "outcomes": [1, 0], "bins": 3},
    "notes": {"record": RECORD, "cards": scorecards(RECORD)},
    "paired_difference": {
        "values_a": [1.0, 2.0], "values_b": [2.0, 4.0], "clusters": [0, 1], "seed": 1, "resamples": 50,
        "confidence": 0.9,
    },
    "pair_verdict": {"pair": Pair("a", "b", "edge", 40, 40, 0.5, 0.25, 0.75, 0.25, 0.25, 0.25)},
    "pool_probabilities": {"matrix": [[0.5, 0.25], [0.5, 0.75]], "method": "log_odds", "extremize": 2.0},
    "price_implied_variance": {
        "shares_yes": [1.0, -2.0], "prices_yes": [0.5, 0.25], "prices_yes_later": [0.5, 0.0], "markets": [0, 0],
        "clusters": [0, 0], "bought_at": [0.0, 1.0], "held_until": [2.0, 2.0], "settled": [False, True],
        "exclusive": [0, -1],
    },
    "probability_of_being_best": {"scores": [[0.5, 0.25], [0.5, 0.75]], "clusters": [0, 1], "seed": 1, "resamples": 50},
    "quadratic_weighted_kappa": {"a": [1, 2], "b": [2, 2]},
    "quote_gains": {
        "bets_usd": [1.0, -1.0], "bids_yes": [0.5, 0.25], "asks_yes": [0.5, 0.5], "prices_yes_later": [0.25, 0.5],
        "settled": [True, False], "fee_rates": [0.0, 0.1], "fee_exponents": [1.0, 1.0],
    },
    "rank_agreements": {"orders": {"a": ["x", "y", "z"], "b": ["z", "y", "x"]}},
    "rank_correlation": {"a": [1.0, 2.0], "b": [2.0, 1.0]},
    "record_evidence": {"record": RECORD, "dollars": False, "marks": record_marks(RECORD)},
    "ranked": {"cards": scorecards(RECORD), "evidence": scoring.record_evidence(RECORD)},
    "return_pairs": {
        "record": RECORD, "returns": horizon_returns(RECORD, (1,))[0], "uncertainty": FEW, "book": Book.of(RECORD),
    },
    "rolling_delays": {
        "cash_usd": [1.0] * 4, "shares": [[1.0]] * 4, "prices": [[0.5], [0.25], [0.75], [float("nan")]],
        "delays": [1], "own_bounds": True,
    },
    "score_of_curve": {
        "instants": list(DAYS), "values": [1.0, 2.0, 1.5], "convention": scoring.CONVENTIONS["predibot"],
        "periods_per_year": 365.0, "risk_free_rate": 0.0,
    },
    "scorecards": {
        "record": RECORD, "horizons_days": (1,), "max_gap_seconds": 9.0, "convention": scoring.CONVENTIONS["predibot"],
        "uncertainty": FEW, "book": Book.of(RECORD), "found": scoring.edges(RECORD), "intervals": False,
        "adjust": False,
    },
    "settled_forecasts": {"record": RECORD},
    "shares_of_factors": {"named": [{"news"}, {"news", "position"}]},
    "sharpe_interval": {
        "returns": [0.5, -0.25, 0.1], "days": [1.0, 2.0, 3.0], "horizon_days": 1.0,
        "convention": scoring.CONVENTIONS["predibot"], "confidence": 0.9,
    },
    "sharpe_ratio": {"returns": [0.5, -0.25], "periods_per_year": 365, "ddof": 1, "risk_free_rate": 0.0},
    "slots_in_drawdown": {"values": [2.0, 1.0]},
    "smallest_detectable": {"standard_error": 0.25, "clusters": 9},
    "sortino_ratio": {"returns": [0.5, -0.25], "periods_per_year": 365, "risk_free_rate": 0.0},
    "skill_of": {
        "forecasts": settled_forecasts(RECORD), "settled_at": [2.0], "earlier_prices": [0.5],
        "pools": {"none"}, "uncertainty": FEW,
    },
    "step_from_price": {"prices": [0.5, 0.25], "probabilities": [0.5, 0.75], "step": 0.1, "price_range": (0.1, 0.9)},
    "turnover": {"target": [[0.5, 0.5]], "drifted": [[1.0, 0.0]]},
    "value_at_risk": {"returns": [0.5, -0.25], "level": 0.05},
    "verdict": {"evidence": BettingEvidence(), "edge": 0.5, "standard_error": 0.25, "events": 40},
    "volatility": {"returns": [0.5, -0.25], "periods_per_year": 365, "ddof": 1},
    "wilson_interval": {"rates": [0.5, 0.25], "counts": [4, 8], "confidence": 0.9},
    "win_rate": {"returns": [0.5, -0.25]},
}  # fmt: skip
"""Arguments of every function that it answers, by their names."""

BILLION = 10**9
"""So many of anything a machine may have the memory for; of more it refuses, and that is found without looking."""
NUMBERS: list[Any] = [
    0, 1, -1, 0.5, 1e-300, 5e-324, 1e16, 1e300, -1e300, 1.7e308, BILLION, 10**12, 2**63, 10**400, -(10**400),
    float("nan"), float("inf"), float("-inf"), np.float32(0.5), np.int8(1), np.longdouble("1e4000"), Fraction(1, 3),
]  # fmt: skip
OTHERS: list[Any] = [
    None, True, "0.5", "", b"1", "\ud800", [], {}, {0.5}, (), object(), int, len, 1j, Decimal("0.5"), np.bool_(True),
    datetime(2026, 1, 1, tzinfo=UTC), np.datetime64("2026-01-01"), np.timedelta64(1, "D"), np.array(0.5),
    np.array([]), np.array([[0.5]]), np.array([0.5 + 1j, 1.0]), np.array(["2026-01-01"] * 2, dtype="M8[D]"),
    np.array(["x", "y"]), MASKED, np.ma.masked, np.ma.masked_array(["a", "b"], mask=[True, False]),
    np.ma.masked_array([1, 2], mask=[False, True]), [np.ma.masked, 0.5], [[np.ma.masked, 0.5], [0.5, 0.5]],
    np.array([2**63, 1], dtype=np.uint64), np.array([1e300, 0.5], dtype=np.longdouble),
]  # fmt: skip
SERIES: list[Any] = [
    [one, other] for one in (*NUMBERS, None, "0.5", b"1", [], 1j, Decimal(1), True) for other in (0.5, one)
]
AWKWARD = [*NUMBERS, *OTHERS, *SERIES]
MOST_BYTES = 200_000_000


@contextmanager
def few_bytes() -> Iterator[None]:
    """Hold what is done meanwhile to its memory, which takes several times as long."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < MOST_BYTES
    finally:
        tracemalloc.stop()


def numbers_of(found: object) -> Iterator[Any]:
    """Yield what an answer is made of."""
    if is_dataclass(found) and not isinstance(found, type):
        for each in fields(found):
            yield from numbers_of(getattr(found, each.name))
    elif isinstance(found, Mapping):
        for each in found.values():
            yield from numbers_of(each)
    elif isinstance(found, list | tuple | frozenset):
        for each in found:
            yield from numbers_of(each)
    else:
        yield found


def answers(function: Callable[..., object], arguments: Mapping[str, Any]) -> None:
    """Hold that a call gives numbers or a ValueError that says something."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = function(**arguments)
    except ValueError as error:
        assert str(error)
        return
    for one in numbers_of(found):
        assert not isinstance(one, np.ma.MaskedArray | complex)


def public() -> dict[str, Callable[..., object]]:
    return {name: each for name in scoring.__all__ if inspect.isfunction(each := getattr(scoring, name))}


def test_every_public_function_is_held_to_the_law_with_every_argument_it_takes() -> None:
    assert {name: {*inspect.signature(each).parameters} - {"returns"} for name, each in public().items()} == {
        name: {*arguments} - {"returns"} for name, arguments in SOUND.items()
    }


@pytest.mark.parametrize("name", SOUND)
def test_sound_arguments_are_answered(name: str) -> None:
    assert any(isinstance(one, float | np.ndarray | int | str) for one in numbers_of(public()[name](**SOUND[name])))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", SOUND)
def test_whatever_one_argument_is_the_answer_is_a_number_or_a_value_error(name: str) -> None:
    for argument in SOUND[name]:
        for awkward in AWKWARD:
            if callable(awkward) and argument == "statistic":
                # What a caller's own function raises is the caller's.
                continue
            is_billion = awkward is BILLION or (isinstance(awkward, list) and any(each is BILLION for each in awkward))
            with few_bytes() if is_billion else nullcontext():
                answers(public()[name], {**SOUND[name], argument: awkward})


@given(name=st.sampled_from(sorted(SOUND)), data=st.data())
def test_whatever_all_arguments_are_the_answer_is_a_number_or_a_value_error(name: str, data: st.DataObject) -> None:
    chosen = {
        argument: data.draw(st.sampled_from([sound, *AWKWARD]), label=argument)
        for argument, sound in SOUND[name].items()
    }
    # An empty array is neither equal to these nor different.
    if not any(chosen.get("statistic") is each for each in (int, len)):
        answers(public()[name], chosen)


def exotic_record(seed: int, prices: list[float]) -> TrackRecord:
    """Return what three bots did at such prices, with forecasts and stakes as far from one as they may be."""
    rng = np.random.default_rng(seed)
    events = [1, 2, 3, 31][seed % 4]
    said, staked = [0.0, 1.0, 1e-300, 1.0 - 1e-16, 0.5, math.nan], [0.0, 1.0, -1.0, 1e-12, -1e-300, 0.5]

    def bets(event: int) -> tuple[Bet, ...]:
        return tuple(
            Bet(3 * event + int(m), float(rng.choice(staked)), float(rng.choice(prices)), float(rng.choice(said)))
            for m in rng.permutation(3)[: rng.integers(1, 4)]
        )

    made = [
        Made(bot, day + 0.5, bets(event), event=event) for bot in "abc" for event in range(events) for day in (0, 1)
    ]
    seen = [Seen(m, at, float(rng.choice([*prices, 0.0, 1.0]))) for m in range(3 * events) for at in (1.5, 2.5, 5.0)]
    paid = {m: Paid(4, float(rng.integers(0, 2))) for m in range(3 * events) if rng.random() < 0.6}
    record = record_of(made, seen=seen, paid=paid, as_of=6)
    exclusive = np.arange(record.payout_yes.size) // 3 if seed % 2 else None
    return replace(record, market_exclusive=exclusive)


def scores_of(record: TrackRecord) -> Iterator[Callable[[], object]]:
    yield lambda: scoring.scorecards(record, uncertainty=FEW)
    yield lambda: scoring.edge_pairs(record, FEW)
    yield lambda: scoring.brier_pairs(settled_forecasts(record), FEW, by_edge=scoring.edge_pairs(record, FEW))
    yield lambda: scoring.record_evidence(record)
    yield lambda: [scoring.return_pairs(record, each, FEW) for each in horizon_returns(record, (1, 2))]


@pytest.mark.parametrize("seed", range(8))
def test_exotic_records_have_finite_scores_and_intervals_within_the_possible(seed: int) -> None:
    record = exotic_record(seed, [1e-12, 1e-6, 0.5, 1.0 - 1e-16])
    found = [each for make in scores_of(record) for each in numbers_of(make())]
    assert not [each for each in found if isinstance(each, float) and math.isinf(each)]
    for card in scorecards(record, uncertainty=FEW):
        shares = [card.forecast.intervals.get(name) for name in ("brier", "market_brier", "accuracy")]
        for least, estimate in [(-1.0, card.edge.interval), *((0.0, each) for each in shares)]:
            if estimate is not None and estimate.low is not None and estimate.high is not None:
                assert least <= estimate.low <= estimate.estimate <= estimate.high <= 1.0


@pytest.mark.parametrize("seed", range(4))
def test_records_at_prices_beyond_all_reason_are_scored_or_refused_in_words(seed: int) -> None:
    for make in scores_of(exotic_record(seed, [5e-324, 1e-300, 1e-160, 0.5])):
        answers(make, {})
