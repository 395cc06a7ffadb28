"""Measures the memory and time that `export` takes for a year's ledger, in every format; prints and never judges."""

from pathlib import Path

import numpy as np
import pytest

from predibot.ledger.store import Store
from tests.benchmarks.ledgers import Size, fill
from tests.benchmarks.memory import used_by

pytestmark = pytest.mark.benchmark

TWO_MILLION_OBSERVATIONS = Size(365, 5, 10, 2_000, 5, 200)
WAYS = {
    "csv": ("out", "--format", "csv"),
    "jsonl": ("out", "--format", "jsonl"),
    "parquet": ("out", "--format", "parquet"),
    "lines on stdout": (),
    "one document on stdout": ("--json",),
    "canonical csv": ("out", "--format", "csv", "--canonical"),
}


def test_the_memory_of_an_export_of_two_million_observations(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/year.db"
    with Store.open(address) as store:
        fill(store, TWO_MILLION_OBSERVATIONS, np.random.default_rng(1))
    print(f"\n{TWO_MILLION_OBSERVATIONS.markets * 200:,} observations and all else of a year; aim 200 MB resident")
    for way, arguments in WAYS.items():
        used = used_by("export", *arguments, "--ledger", address, folder=tmp_path)
        print(f"  {way}: {used.peak_mb:.0f} MB, {used.cpu_seconds:.0f} s CPU")
