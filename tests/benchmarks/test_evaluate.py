"""Measures `evaluate` on a big ledger, and `track` of what the rules choose of 1,000 markets; never judges."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from predibot.config import Settings
from predibot.contracts import Progress
from predibot.jobs.decide import decide
from predibot.jobs.deciding.open_run import RunRequest
from predibot.jobs.deciding.worker import Resources
from predibot.jobs.open_venue import open_venue
from predibot.jobs.track import track
from predibot.ledger.store import Store
from predibot.recipe.parse import parse_recipe
from predibot.recipe.text import RecipeText
from tests.benchmarks.ledgers import BEGIN, DAY, HUNDRED_THOUSAND_DECISIONS, MILLION_BETS, MONTH, Size, fill
from tests.benchmarks.memory import Used, used_by

pytestmark = pytest.mark.benchmark

AS_OF = BEGIN + 400 * DAY


@contextmanager
def measured(what: str, seconds: dict[str, str]) -> Iterator[None]:
    """Note how long something takes, on the clock and of the processor."""
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    seconds[what] = f"{time.perf_counter() - wall:.2f} s ({time.process_time() - cpu:.2f} s of CPU)"


@pytest.mark.parametrize(
    ("size", "cold_aim", "again_aim"),
    [(MONTH, "1.0", "1.0"), (HUNDRED_THOUSAND_DECISIONS, "2", "2"), (MILLION_BETS, "6", "2")],
    ids=["a month", "100,000 decisions", "a million bets"],
)
def test_evaluate_from_a_sqlite_ledger(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], size: Size, cold_aim: str, again_aim: str
) -> None:
    address = f"sqlite:///{tmp_path}/big.db"
    with Store.open(address) as store:
        fill(store, size, np.random.default_rng(1))

    def evaluated(what: str, *options: str, as_of: datetime = AS_OF, **environment: str) -> tuple[Used, Path]:
        asked = ("--no-track", "--as-of", as_of.isoformat(), "--horizons", "1,2,7,30", "--ledger", address)
        said = tmp_path / f"{what}.txt"
        environment |= {"PREDIBOT_CACHE": str(tmp_path / "cache")}
        return used_by("evaluate", *asked, *options, folder=tmp_path, said=said, **environment), said

    # Its modules are compiled once, when it is installed.
    used_by("evaluate", "--help", folder=tmp_path)
    cold, _ = evaluated("cold")
    shown, _ = evaluated("again")
    (full, first), (again, second) = evaluated("full", "--json"), evaluated("full again", "--json")
    later, _ = evaluated("later", as_of=AS_OF + DAY)
    free, _ = evaluated("free", as_of=AS_OF + 2 * DAY, OPENBLAS_NUM_THREADS="")
    identical = first.read_bytes() == second.read_bytes()
    decisions = size.runs * size.bots * size.events_a_run
    bets = decisions * size.markets_an_event
    with capsys.disabled():
        print(
            f"\nevaluate, {decisions:,} decisions, {bets:,} bets, {size.markets:,} markets,"
            f" {size.markets * size.observations_a_market:,} prices, 10 bots, 4 horizons; load {os.getloadavg()[0]:.1f}"
            f"\n  cold, what is shown unasked: {cold} (aim {cold_aim} s, 700 MB)"
            f"\n  again: {shown} (aim {again_aim} s)"
            f"\n  all there is, --json: {full}; again: {again} (aim {again_aim} s), an identical document: {identical}"
            f"\n  a day later, what is shown unasked: {later}"
            f"\n  another day later, on as many threads as numpy likes: {free}"
        )


def test_track_follows_1_000_markets_of_the_sandbox(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seconds: dict[str, str] = {}
    # Of what is open, the rules leave out what ends too soon, too late or trades too little.
    settings, spec = Settings(), "sandbox:markets=2000"
    text = 'game = "dollar_per_event"\nvenue = "sandbox"\nevery = "1d"\n[[bots]]\nstrategy = "market_price"\n'
    recipe = parse_recipe(RecipeText(text, "big", "big"))
    request = RunRequest(recipe.with_overrides(events=1000, max_markets=0, min_volume_24h_usd=0.0), recipe.digest)
    with Store.open(f"sqlite:///{tmp_path}/big.db") as store:
        with (
            measured("decide", seconds),
            open_venue(spec, settings, as_of=None, purpose="decide", clock=_clock) as opened,
        ):
            decide(request, opened, Resources(store, settings, _clock, _nobody))
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
