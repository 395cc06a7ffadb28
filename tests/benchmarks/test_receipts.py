"""Measures what a receipt costs at the end of a run, and how much of a ledger it is; prints and never judges."""

import time
from pathlib import Path
from statistics import median

import pytest
from sqlalchemy import func, select, text

from predibot.jobs.receipts import make_receipt, verify_runs
from predibot.ledger.store import Store
from predibot.ledger.write.ledger_receipts import receipts
from tests.acceptance.conftest import said_here
from tests.jobs.tiny import clock

pytestmark = pytest.mark.benchmark

BOTS, EVENTS, TIMES = 10, 10, 5


def test_what_a_receipt_costs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bots = "".join(f'[[bots]]\nname = "bot_{number}"\nstrategy = "random_bet"\n' for number in range(BOTS))
    Path("r.toml").write_text(f'venue = "sandbox:events=60"\n[selection]\nevents = {EVENTS}\n{bots}')
    assert said_here("decide", "r.toml").code == 0
    new, known, verified = [], [], []
    with Store.open("sqlite:///runs/out/predibot.db") as store:
        for _ in range(TIMES):
            with store.write() as connection:
                connection.execute(text("DELETE FROM receipts"))
            new.append(_milliseconds(lambda: make_receipt(store, 1, clock)))
            known.append(_milliseconds(lambda: make_receipt(store, 1, clock)))
            verified.append(_milliseconds(lambda: verify_runs(store)))
        with store.read() as connection:
            size = connection.execute(select(func.length(receipts.c.leaves_packed))).scalar_one()
            markets = connection.execute(text("SELECT count(*) FROM forecasts")).scalar_one()
    print(f"\n{BOTS} bots x {EVENTS} events, {markets} forecasts, CPU, median of {TIMES}:")
    for what, taken in {"a new receipt": new, "one that is there": known, "verified": verified}.items():
        print(f"{what} {median(taken):.0f} ms")
    print(f"{size / (BOTS * EVENTS):.0f} bytes a decision")


def _milliseconds(act: object) -> float:
    assert callable(act)
    began = time.process_time()
    act()
    return 1000.0 * (time.process_time() - began)
