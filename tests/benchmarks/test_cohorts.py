"""Measures how long a year of weekly cohorts of seven bots takes to evaluate, and to be listed."""

import os
from pathlib import Path

import numpy as np
import pytest

from predibot.ledger.store import Store
from tests.benchmarks.cohort_ledgers import Cohorts, fill_cohorts
from tests.benchmarks.memory import used_by
from tests.ledger.cohorts_by_hand import SUNDAY, WEEK

pytestmark = pytest.mark.benchmark

YEAR = Cohorts(cohorts=52, bots=7)


def test_a_year_of_cohorts_is_evaluated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    address = f"sqlite:///{tmp_path}/year.db"
    with Store.open(address) as store:
        fill_cohorts(store, YEAR, np.random.default_rng(1))
    used_by("evaluate", "--help", folder=tmp_path)
    at = ("--as-of", (SUNDAY + 80 * WEEK).isoformat(), "--ledger", address)
    cold, again = (
        used_by("evaluate", "--no-track", *at, folder=tmp_path, said=tmp_path / "said.txt") for _ in range(2)
    )
    listed = used_by("cohort", *at, folder=tmp_path, said=tmp_path / "said.txt")
    with capsys.disabled():
        print(
            f"\n52 cohorts of 7 bots; load {os.getloadavg()[0]:.1f}"
            f"\n  evaluate: {cold} (aim 2 s of CPU); again: {again}\n  cohort: {listed}"
        )
