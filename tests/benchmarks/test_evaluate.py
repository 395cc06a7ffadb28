"""Measures `evaluate` on a big ledger, and `track` of what the rules choose of 1,000 markets; never judges."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from predibot.cli.app import main
from predibot.config import Settings
from predibot.contracts import Progress
from predibot.jobs.decide import decide
from predibot.jobs.run import RunRequest
from predibot.jobs.track import track
from predibot.jobs.venues import open_venue
from predibot.ledger.queries import track_record
from predibot.ledger.store import Store
from predibot.recipe_text import RecipeText, parse_recipe
from predibot.scoring.evaluation import Question, evaluation_of
from tests.benchmarks.ledgers import BEGIN, DAY, HUNDRED_THOUSAND_DECISIONS, MILLION_BETS, Size, fill

pytestmark = pytest.mark.benchmark

AS_OF = BEGIN + 400 * DAY


@contextmanager
def measured(what: str, seconds: dict[str, str]) -> Iterator[None]:
    """Note how long something takes, on the clock and of the processor."""
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    seconds[what] = f"{time.perf_counter() - wall:.2f} s ({time.process_time() - cpu:.2f} s of CPU)"


@pytest.mark.parametrize(
    ("size", "aim"), [(HUNDRED_THOUSAND_DECISIONS, 2), (MILLION_BETS, 5)], ids=["100,000 decisions", "a million bets"]
)
def test_evaluate_from_a_sqlite_ledger(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], size: Size, aim: int
) -> None:
    seconds: dict[str, str] = {}
    address = f"sqlite:///{tmp_path}/big.db"
    with Store.open(address) as store:
        with measured("building", seconds):
            fill(store, size, np.random.default_rng(1))
        with measured("reading", seconds), store.read() as connection:
            record = track_record(connection, "polymarket", AS_OF)
    with measured("scoring", seconds):
        evaluation_of(record, AS_OF, Question(horizons_days=(1, 2, 7, 30)))
    options = ["--no-track", "--as-of", AS_OF.isoformat(), "--horizons", "1,2,7,30", "--json", "--ledger", address]
    with measured("predibot evaluate", seconds):
        code = main(["evaluate", *options])
    bots = json.loads(capsys.readouterr().out)["bots"]
    sizes = f"{record.decided_at.size:,} decisions, {record.bet_usd.size:,} bets, {record.observation_at.size:,} prices"
    with capsys.disabled():
        print(f"\n{sizes}, {size.markets:,} markets, {len(bots)} bots, 4 horizons, exit {code}; aim {aim} s")
        for what, taken in seconds.items():
            print(f"  {what}: {taken}")


def test_track_follows_1_000_markets_of_the_sandbox(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seconds: dict[str, str] = {}
    settings, spec = Settings(), "sandbox:markets=1000"
    text = 'game = "dollar_per_event"\nvenue = "sandbox"\nevery = "1d"\n[[bots]]\nstrategy = "market_price"\n'
    recipe = parse_recipe(RecipeText(text, "big", "big"))
    request = RunRequest(recipe.with_overrides(events=1000, max_markets=0, min_volume_24h_usd=0.0), recipe.digest)
    with Store.open(f"sqlite:///{tmp_path}/big.db") as store:
        with (
            measured("decide", seconds),
            open_venue(spec, settings, as_of=None, purpose="decide", clock=_clock) as opened,
        ):
            decide(request, store=store, opened=opened, settings=settings, clock=_clock, listener=_nobody)
        with open_venue(spec, settings, as_of=None, purpose="look_back", clock=_clock) as opened:
            with measured("track", seconds):
                report = track(store=store, opened=opened, settings=settings, listener=_nobody)
            with measured("track again", seconds):
                track(store=store, opened=opened, settings=settings, listener=_nobody)
    with capsys.disabled():
        times = ", ".join(f"{what} {taken}" for what, taken in seconds.items())
        print(f"\ntrack, {report.markets:,} markets, {report.observations:,} prices: {times}")


def _clock() -> datetime:
    return datetime.now(UTC)


def _nobody(_step: Progress) -> None:
    """Listen to nothing."""
