"""Measures what `predibot status` takes over a year of 25 bots on 10 events a day; prints and never judges."""

import time
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from predibot.jobs.status import status_of
from predibot.ledger.store import Store
from predibot.ledger.write.slots import SlotResult, add_schedule, begin_slot, end_slot
from tests.benchmarks.ledgers import BEGIN, DAY, Size, fill

pytestmark = pytest.mark.benchmark
YEAR = Size(365, 25, 10, 2_000, 3, 60)


def test_status_of_a_year(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/year.db"
    with Store.open(address) as store:
        fill(store, YEAR, np.random.default_rng(1))
        store.run_write(partial(add_schedule, recipe="daily", argument="daily", now=BEGIN))
        with store.write() as connection:
            for day in range(YEAR.days):
                slot_at = BEGIN + day * DAY
                begin_slot(connection, "daily", slot_at, now=slot_at)
                end_slot(connection, "daily", slot_at, SlotResult("done"), next_try_at=None, now=slot_at)
    taken = []
    for _ in range(5):
        began = time.perf_counter()
        with Store.open_to_read(address) as store:
            status_of(store, lambda: BEGIN + YEAR.days * DAY)
        taken.append(time.perf_counter() - began)
    size = (tmp_path / "year.db").stat().st_size
    decisions = YEAR.runs * YEAR.bots * YEAR.events_a_run
    print(f"\nstatus of {decisions:,} decisions, {size / 1e6:.0f} MB: {median(taken):.3f} s")
