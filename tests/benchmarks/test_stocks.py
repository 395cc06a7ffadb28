"""Measures how long 500 stocks of 20 years take to be read, and to be replayed for a year of weekly decisions."""

from pathlib import Path
from time import process_time

import numpy as np
import pytest

from predibot.sandbox.stocks.companies import DEFAULT_TICKERS
from predibot.venues.stocks.folder import read_folder
from tests.benchmarks.memory import used_by

pytestmark = pytest.mark.benchmark

STOCKS = 500


def test_five_hundred_stocks_of_twenty_years(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "stocks"
    folder.mkdir()
    rng = np.random.default_rng(7)
    days = np.arange(np.datetime64("2006-01-02"), np.datetime64("2026-01-01"))
    written = days[np.is_busday(days)].astype(str).tolist()
    names = [*DEFAULT_TICKERS, "QQQ", "SPY"]
    for name in [*names, *(f"T{number}" for number in range(STOCKS - len(names)))]:
        closes = (50.0 * np.exp(np.cumsum(rng.normal(0.0, 0.01, len(written))))).tolist()
        rows = (
            f"{on},{price:.4f},{price:.4f},{price:.4f},{price:.4f},1000\n"
            for on, price in zip(written, closes, strict=True)
        )
        (folder / f"{name}.csv").write_text("date,open,high,low,close,volume\n" + "".join(rows))
    (folder / "actions.csv").write_text("date,ticker,action,value\n")
    began = process_time()
    read = read_folder(folder)
    seconds = process_time() - began
    span = ("--every", "7d", "--from", "2025-01-04T00:05Z", "--to", "2025-12-27T00:05Z")
    played = used_by("replay", "stocks", "--venue", f"stocks:{folder}", *span, folder=tmp_path)
    assert read.close.shape == (len(written), STOCKS)
    with capsys.disabled():
        print(
            f"\n{STOCKS} stocks, {len(written)} days: read in {seconds:.1f} s of CPU"
            f"\n  52 weekly decisions of 6 bots, evaluated: {played} (aim 10 s of CPU with the reading)"
        )
