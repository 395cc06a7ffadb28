"""Measures `predibot score` on 100,000 rows in each format; never judges."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.benchmark

ROOT = Path(__file__).resolve().parents[2]
FORECASTERS, QUESTIONS, QUESTIONS_AN_EVENT = 10, 10_000, 10


def _rows() -> Iterator[dict[str, Any]]:
    rng = np.random.default_rng(1)
    for question in range(QUESTIONS):
        outcome, price = int(rng.random() < 0.4), round(float(rng.random()), 4)
        for forecaster, said in enumerate(rng.random(FORECASTERS)):
            yield {
                "forecaster": f"bot{forecaster}",
                "question": f"question {question}",
                "probability": round(float(said), 6),
                "outcome": outcome,
                "market_probability": price,
                "cluster": f"event {question // QUESTIONS_AN_EVENT}",
                "date": f"2026-01-{1 + question % 28:02d}",
            }


def _files(folder: Path) -> Iterator[Path]:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    rows = list(_rows())
    table = pa.Table.from_pylist(rows)
    pyarrow.csv.write_csv(table, folder / "forecasts.csv")
    pyarrow.parquet.write_table(table, folder / "forecasts.parquet")
    (folder / "forecasts.jsonl").write_text("\n".join(map(json.dumps, rows)))
    yield from (folder / f"forecasts.{ending}" for ending in ("csv", "jsonl", "parquet"))


def test_score_reads_and_scores_100_000_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seconds = {}
    for file in _files(tmp_path):
        for options in ((), ("--pool", "median,log_odds")):
            command = [sys.executable, "-m", "predibot", "score", str(file), "--json", *options]
            began = time.perf_counter()
            done = subprocess.run(
                command, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, check=True, timeout=600
            )
            seconds[" ".join((file.suffix, *options))] = time.perf_counter() - began
            assert json.loads(done.stdout)["rows"] == FORECASTERS * QUESTIONS
    with capsys.disabled():
        times = ", ".join(f"{what} {taken:.2f} s" for what, taken in seconds.items())
        print(
            f"\nscore, {FORECASTERS * QUESTIONS:,} rows, {QUESTIONS // QUESTIONS_AN_EVENT:,} events: {times} (aim: 2 s)"
        )
