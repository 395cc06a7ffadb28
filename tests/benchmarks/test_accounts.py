"""Measures how long a year of daily portfolios of twenty bots takes to evaluate, and how often intervals hold."""

import math
import os
from collections.abc import Callable
from pathlib import Path
from time import process_time

import numpy as np
import pytest

from predibot.ledger.store import Store
from predibot.scoring.inference.blocks import draw_curves, growth_difference, growth_estimate, sharpe_estimate
from predibot.scoring.inference.uncertainty import Uncertainty
from tests.benchmarks.account_ledgers import Portfolios, fill_accounts
from tests.benchmarks.ledgers import BEGIN, DAY
from tests.benchmarks.memory import used_by

pytestmark = pytest.mark.benchmark

YEAR = Portfolios(bots=20, days=365)
SIMULATIONS = 1_000
Draw = Callable[[np.random.Generator, int, int], np.ndarray]


def test_a_year_of_twenty_bots_is_evaluated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    address = f"sqlite:///{tmp_path}/year.db"
    with Store.open(address) as store:
        fill_accounts(store, YEAR, np.random.default_rng(1))
    used_by("evaluate", "--help", folder=tmp_path)
    asked = ("--no-track", "--as-of", (BEGIN + 400 * DAY).isoformat(), "--ledger", address)
    cold, again = (used_by("evaluate", *asked, folder=tmp_path, said=tmp_path / "said.txt") for _ in range(2))
    with capsys.disabled():
        print(
            f"\n20 accounts, 365 slots; load {os.getloadavg()[0]:.1f}"
            f"\n  evaluate: {cold} (aim 2 s of CPU); again: {again}"
        )


def test_how_often_intervals_of_curves_hold(capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["| returns | dates | return | difference | Sharpe |", "|---|---:|---:|---:|---:|"]
    began = process_time()
    for name, draw in DESIGNS.items():
        long = np.maximum(draw(np.random.default_rng(2), 400, 5_000), -0.9)
        growth, sharpe = float(np.log1p(long).mean()), float(long.mean() / long.std())
        for dates in (30, 60, 120, 365):
            held = _held(np.maximum(draw(np.random.default_rng(3), dates, SIMULATIONS), -0.9), growth, sharpe)
            lines.append(f"| {name} | {dates} | " + " | ".join(f"{100 * share:.1f}" for share in held) + " |")
    with capsys.disabled():
        print("\n" + "\n".join(lines) + f"\n{process_time() - began:.0f} s of CPU")


def _held(returns: np.ndarray, growth: float, sharpe: float) -> tuple[float, float, float]:
    """Return how often intervals hold what is expected: of a curve, beside the next one, of its Sharpe ratio."""
    dates, curves = returns.shape
    hits = np.zeros(3)
    for first in range(0, curves, 100):
        drawn = draw_curves(returns[:, first : first + 100], Uncertainty(resamples=2_000, seed=first))
        for curve in range(100):
            series = returns[:, first + curve]
            ratio = float(series.mean() / series.std(ddof=1))
            truths = (math.expm1(dates * growth), 0.0, sharpe)
            found = (
                growth_estimate(drawn, curve),
                growth_difference(drawn, curve, (curve + 1) % 100),
                sharpe_estimate(drawn, curve, ratio, 1.0, 0.0, 1),
            )
            hits += [each.low <= truth <= each.high for each, truth in zip(found, truths, strict=True)]  # type: ignore[operator]
    return tuple(hits / curves)  # type: ignore[return-value]


def _independent(rng: np.random.Generator, dates: int, curves: int) -> np.ndarray:
    return rng.normal(0.001, 0.02, (dates, curves))


def _heavy(rng: np.random.Generator, dates: int, curves: int) -> np.ndarray:
    return 0.001 + 0.02 * rng.standard_t(3, (dates, curves)) / math.sqrt(3.0)


def _following(rng: np.random.Generator, dates: int, curves: int) -> np.ndarray:
    noise = rng.normal(0.0, 0.02, (dates + 50, curves))
    for date in range(1, len(noise)):
        noise[date] += 0.3 * noise[date - 1]
    return 0.001 + noise[50:]


def _settling(rng: np.random.Generator, dates: int, curves: int) -> np.ndarray:
    """Return what long odds give: on a tenth of the dates something settles, three in ten times with a win."""
    won = np.where(rng.random((dates, curves)) < 0.3, 0.14, -0.06)
    return np.where(rng.random((dates, curves)) < 0.1, won, 0.0) + rng.normal(0.0, 0.01, (dates, curves))


DESIGNS: dict[str, Draw] = {
    "independent": _independent,
    "heavy tails": _heavy,
    "following each other, .3": _following,
    "settling": _settling,
}
