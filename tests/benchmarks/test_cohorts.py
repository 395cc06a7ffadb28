"""Measures what weekly cohorts take: a week of seven bots in five of them, valuing them, and a year to evaluate."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import process_time

import numpy as np
import pytest

from predibot.config import Settings
from predibot.domain.clock import format_instant
from predibot.jobs.deciding.accounts.turn import track_accounts
from predibot.jobs.open_venue import open_past
from predibot.ledger.read.export import export_rows
from predibot.ledger.store import Store
from tests.benchmarks.cohort_ledgers import Cohorts, fill_cohorts
from tests.benchmarks.memory import Used, used_by
from tests.ledger.cohorts_by_hand import SUNDAY, WEEK

pytestmark = pytest.mark.benchmark

YEAR = Cohorts(cohorts=52, bots=7)
VENUE = "sandbox:markets=700,named=1"
BIG = f"""
venue = "{VENUE}"
every = "7d"
[game]
name = "weekly_cohort"
[[bots]]
strategy = "random_trade"
"""
SCRIPT = '[[bots]]\nname = "{0}"\nstrategy = "one_shot"\nmodel = "sandbox/{0}"\n'
SCRIPTS = ("sharp", "noisy", "overconfident", "lazy", "gullible", "restless")
BIG_STARTS = datetime(2026, 1, 11, 0, 5, tzinfo=UTC)


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


def test_a_week_of_seven_bots_in_five_cohorts_of_500_markets_is_decided_and_valued(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "big.toml").write_text(BIG + "".join(map(SCRIPT.format, SCRIPTS)), encoding="utf-8")
    address = f"sqlite:///{tmp_path}/big.db"

    def played(first: int, last: int) -> Used:
        span = ("--from", (BIG_STARTS + first * WEEK).isoformat(), "--to", (BIG_STARTS + last * WEEK).isoformat())
        return used_by("replay", "big.toml", *span, "--ledger", address, "--json", folder=tmp_path)

    played(0, 3)
    decided = played(4, 4)
    now = BIG_STARTS + 4 * WEEK + timedelta(days=1)
    with Store.open(address) as store, open_past(VENUE, Settings(), lambda: now).open_at(now) as opened:
        began = process_time()
        assert track_accounts(store=store, opened=opened, clock=lambda: now, replayed="big") == ()
        valued_seconds = process_time() - began
        with store.read() as connection:
            rows = list(export_rows(connection, "valuations"))
    assert sum(row["at"] == format_instant(now.replace(minute=0)) for row in rows) == 35
    with capsys.disabled():
        print(
            f"\n7 bots, 5 cohorts, 500 markets; load {os.getloadavg()[0]:.1f}\n  a week: {decided} (aim 60 s of CPU)"
            f"\n  35 accounts valued: {valued_seconds:.2f} s of CPU (aim 1 s)"
        )
