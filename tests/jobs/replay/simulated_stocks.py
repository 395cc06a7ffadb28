"""Replays of simulated stocks: how bots did beside the index."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from predibot.sandbox.stocks.companies import DEFAULT_TICKERS
from predibot.sandbox.stocks.folder import write_stock_folder
from tests.jobs.program import Program, document_of

RECIPE = f"""
every = "1d"
venue = "stocks:stocks"
[game]
name = "portfolio_weights"
tickers = {json.dumps(DEFAULT_TICKERS)}
benchmarks = ["SPY"]
[[bots]]
strategy = "random_weights"
[[bots]]
name = "index_spy"
strategy = "index_fund"
ticker = "SPY"
[[bots]]
name = "script_sharp"
strategy = "one_shot"
model = "sandbox/sharp"
knowledge_cutoff = 2024-01-01
[[bots]]
name = "script_noisy"
strategy = "one_shot"
model = "sandbox/noisy"
knowledge_cutoff = 2024-01-01
"""


@dataclass(frozen=True)
class Beside:
    """How much more an account gained than the index, with its 95 % interval."""

    difference: float
    low: float
    high: float


def beside_the_index(folder: Path, *, seed: int, days: int) -> Mapping[str, Beside]:
    """Return how the bots of the recipe did beside SPY over so many trading days from January 2025 on."""
    folder.mkdir()
    (folder / "walk.toml").write_text(RECIPE, encoding="utf-8")
    tickers = (*DEFAULT_TICKERS, "SPY")
    write_stock_folder(folder / "stocks", seed=seed, days=days, tickers=tickers, start=date(2025, 1, 6))
    program = Program(folder, {"PREDIBOT_WORKERS": "2"})
    document = document_of(program.start("replay", "walk.toml", "--ledger", program.ledger, "--json"), seconds=3_000.0)
    program.close()
    (board,) = document["accounts"]
    return {
        pair["bot"]: Beside(pair["difference"], pair["low"], pair["high"])
        for pair in board["comparisons"]
        if pair["baseline"] == "index_spy"
    }
