"""Measures what is claimed of accounts and Sharpe ratios where nobody knows anything; for docs/coverage.md."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from predibot.ledger.read.accounts.scoring import account_records
from predibot.ledger.store import Store
from predibot.scoring.accounts.board import account_board
from predibot.scoring.inference.uncertainty import Uncertainty
from predibot.scoring.metrics.conventions import CONVENTIONS
from tests.benchmarks.account_ledgers import Portfolios, fill_accounts
from tests.benchmarks.ledgers import BEGIN, DAY
from tests.scoring.account_worlds import MARKETS, SIMPLE, Held, Maker, measured, measured_shares
from tests.scoring.sharpe_worlds import WORLDS
from tests.scoring.sharpe_worlds import measured as measured_ratios

pytestmark = pytest.mark.benchmark

SIMULATIONS = 1_000
_HEAD = "| world | dates | zero held | above | below | growth held | few decide | told better |"


def _row(name: str, dates: int, found: Held) -> str:
    shares = (found.held, found.above, found.below, found.growth_held, found.few, found.told)
    return f"| {name} | {dates} | " + " | ".join(f"{100 * each:.1f}" for each in shares) + " |"


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize(("of", "seed"), [(SIMPLE, 5), (MARKETS, 8)])
def test_accounts(of: Mapping[str, Maker], seed: int, beside: bool, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(f"\n{_HEAD}")
        for name, maker in of.items():
            for dates in (30, 60):
                print(_row(name, dates, measured(maker, dates, SIMULATIONS, seed, beside=beside)))


def test_accounts_of_shares(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(f"\n{_HEAD}")
        for kind in ("normal", "t4", "garch"):
            for dates in (30, 60):
                print(_row(f"shares, {kind}", dates, measured_shares(kind, dates, SIMULATIONS)))


@pytest.mark.parametrize("events", [10, 30])
@pytest.mark.parametrize("name", WORLDS)
def test_sharpe_ratios(name: str, events: int, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        for each in measured_ratios(name, events, 300):
            shown, held = 100 * each.shown / each.made, 100 * each.held / max(each.shown, 1)
            print(f"\n| {name} | {events} | {each.bot} | {each.days} | {shown:.0f} | {held:.1f} |", end="")


def test_boards_from_ledgers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    standings: Counter[str] = Counter()
    held = shown = above = 0
    for number in range(60):
        with Store.open(f"sqlite:///{tmp_path}/{number}.db") as store:
            fill_accounts(store, Portfolios(bots=8, days=61, fair=True), np.random.default_rng([21, number]))
            with store.read() as connection:
                (record,) = account_records(connection, "sandbox", BEGIN + 400 * DAY)
        board = account_board(record, CONVENTIONS["predibot"], Uncertainty(resamples=1_000))
        for each in board.scores:
            if not each.baseline:
                standings[board.standings[each.bot]] += 1
                ends = each.intervals["cumulative_return"].interval
                shown += ends is not None
                held += ends is not None and ends[0] <= 0.0 <= ends[1]
                above += ends is not None and ends[0] > 0.0
    with capsys.disabled():
        print(f"\n{dict(standings)}; of {shown} intervals {held} hold zero, {above} lie above")
