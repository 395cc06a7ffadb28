"""Measures what it costs that paid work is on the disk before anything else happens; prints and never judges."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import pytest

from predibot.domain.decision import Subject
from predibot.ledger.files.traces import Trace, Traces
from predibot.ledger.store import Store
from predibot.ledger.write.claims import Claim
from predibot.ledger.write.decisions import store_decision
from tests.ledger.by_hand import NOW, a_run, claimant, event_of, finished_with, rows_of, take

pytestmark = pytest.mark.benchmark

DECISIONS = 300


def milliseconds(act: Callable[[], object]) -> float:
    """Return how long something takes."""
    began = time.perf_counter()
    act()
    return 1000.0 * (time.perf_counter() - began)


def storing(tmp_path: Path, *, durable: bool) -> float:
    """Return the median time that the transaction of a decision takes."""
    event = event_of(1)
    done = finished_with(event, {"m1a": (0.5, 0.6)})
    taken = []
    with Store.open(f"sqlite:///{tmp_path}/{durable}.db") as store:
        run = a_run(store, event)
        for number in range(DECISIONS):
            bot_id, known = rows_of(store, run, f"bot_{number}")
            held = take(store, run, f"bot_{number}", event, claimant())
            assert isinstance(held, Claim)
            belongs = {"run_id": run.id, "bot_id": bot_id, "subject": Subject("event", "e1"), "catalogue": known}
            work = partial(store_decision, held=held, finished=done, now=NOW, **belongs)
            taken.append(milliseconds(partial(store.run_write, work, durable=durable)))
    return median(taken)


def keeping(traces: Traces) -> float:
    """Return the median time that keeping a trace takes."""
    taken = []
    for number in range(DECISIONS):
        trace = Trace()
        trace.record("mine", number=number)
        taken.append(milliseconds(partial(traces.keep, trace)))
    return median(taken)


def test_what_a_decision_that_outlives_a_power_cut_costs(tmp_path: Path) -> None:
    free, paid = storing(tmp_path, durable=False), storing(tmp_path, durable=True)
    with Store.open(f"sqlite:///{tmp_path}/traced.db") as store:
        kept = keeping(Traces(store))
    print(
        f"\nstoring a decision: {free:.1f} ms, {paid:.1f} ms where it was paid for and is synced to the disk; "
        f"keeping its trace, synced too: {kept:.1f} ms"
    )
