"""Measures `predibot score` on 100,000 rows in each format; never judges."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.benchmarks.memory import used_by

pytestmark = pytest.mark.benchmark

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
    used_by("score", "--help", folder=tmp_path)
    used = {}
    for file in _files(tmp_path):
        for options in ((), ("--pool", "median,log_odds")):
            said = tmp_path / "said.json"
            used[" ".join((file.suffix, *options))] = used_by(
                "score", str(file), "--json", *options, folder=tmp_path, said=said
            )
            assert json.loads(said.read_text())["rows"] == FORECASTERS * QUESTIONS
    with capsys.disabled():
        times = ", ".join(f"{what} {each}" for what, each in used.items())
        print(
            f"\nscore, {FORECASTERS * QUESTIONS:,} rows, {QUESTIONS // QUESTIONS_AN_EVENT:,} events (aim 1.5 s):"
            f" {times}"
        )
