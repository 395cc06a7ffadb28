"""Published numbers: what others printed of 200 forecasts, found again to the last decimal."""

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from predibot.scoring.arguments import Floats
from predibot.scoring.metrics.calibration import calibration_bins, expected_calibration_error, murphy_decomposition
from predibot.scoring.metrics.probability import brier_score, brier_skill_score, log_score

ARMS = ("aia", "market", "const_0.5", "base_rate (p=0.4)", "market_ens_aia_devw (0.25*aia+0.75*market)")
SIX_DECIMALS = 0.5000001e-6


@dataclass(frozen=True, slots=True)
class Published:
    """Forecasts of several arms on the same questions, and what was printed of them."""

    happened: Floats
    forecasts: Mapping[str, Floats]
    printed: Mapping[str, Any]


@pytest.fixture(scope="module")
def published(shared_data: Path) -> Published:
    folder = shared_data / "published" / "market-vs-llm"
    rows = list(csv.DictReader((folder / "scatter.csv").read_text().splitlines()))
    llm, market, happened = (np.array([float(row[name]) for row in rows]) for name in ("p_aia", "p_mkt", "y"))
    constant = np.ones(happened.size)
    forecasts = (llm, market, 0.5 * constant, 0.4 * constant, 0.25 * llm + 0.75 * market)
    printed = json.loads((folder / "published_metrics.json").read_text())
    return Published(happened, dict(zip(ARMS, forecasts, strict=True)), printed)


@pytest.mark.parametrize("arm", ARMS)
def test_published_scores_are_reproduced(published: Published, arm: str) -> None:
    p, y, printed = published.forecasts[arm], published.happened, published.printed["arms"][arm]
    assert brier_score(p, y) == pytest.approx(printed["brier"], abs=SIX_DECIMALS)
    assert log_score(p, y) == pytest.approx(printed["log_loss"], abs=SIX_DECIMALS)
    skill = brier_skill_score(p, published.forecasts["market"], y)
    assert skill == pytest.approx(printed["bss_vs_market"], abs=SIX_DECIMALS)


@pytest.mark.parametrize("arm", ARMS)
def test_published_calibration_is_reproduced(published: Published, arm: str) -> None:
    p, y, printed = published.forecasts[arm], published.happened, published.printed["arms"][arm]
    parts = murphy_decomposition(p, y)
    assert expected_calibration_error(p, y) == pytest.approx(printed["ece"], abs=SIX_DECIMALS)
    assert parts.reliability == pytest.approx(printed["murphy_reliability"], abs=SIX_DECIMALS)
    assert parts.resolution == pytest.approx(printed["murphy_resolution"], abs=SIX_DECIMALS)
    # Of all outcomes, so that it is the same for every arm; one of them leaves it out.
    assert parts.uncertainty == pytest.approx(published.printed["arms"]["aia"]["murphy_uncertainty"], abs=SIX_DECIMALS)


@pytest.mark.parametrize("arm", ["aia", "market"])
def test_the_published_reliability_diagram_is_reproduced(published: Published, arm: str) -> None:
    found = calibration_bins(published.forecasts[arm], published.happened)
    ours = np.column_stack([found.lower, found.upper, found.count, found.mean_probability, found.mean_outcome])
    assert ours == pytest.approx(np.array(published.printed["reliability"][arm]), abs=SIX_DECIMALS)
