"""Measures `evaluate` on 100,000 decisions, and `track` of what the rules choose of 1,000 markets; never judges."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sqlmodel import SQLModel

from predibot.config import Settings
from predibot.contracts import Progress
from predibot.jobs.decide import decide
from predibot.jobs.evaluate import evaluate
from predibot.jobs.run import RunRequest
from predibot.jobs.track import track
from predibot.jobs.venues import open_venue
from predibot.ledger.queries import track_record
from predibot.ledger.rows import insert_new
from predibot.ledger.store import Store
from predibot.ledger.tables import (
    BetRow,
    BotRow,
    DecisionRow,
    EventRow,
    ForecastRow,
    InstrumentRow,
    MarketRow,
    ObservationRow,
    ResolutionRow,
    RunRow,
    TaskRow,
)
from predibot.recipe_text import RecipeText, parse_recipe
from predibot.scoring.scorecard import scorecards

pytestmark = pytest.mark.benchmark

RUNS, BOTS, EVENTS_A_RUN, EVENTS = 1_000, 10, 10, 2_000
OBSERVATIONS_A_MARKET = 60
BEGIN = datetime(2025, 1, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
Rows = Sequence[Mapping[str, Any]]


@contextmanager
def measured(what: str, seconds: dict[str, float]) -> Iterator[None]:
    """Note how long something takes."""
    began = time.perf_counter()
    yield
    seconds[what] = time.perf_counter() - began


def big_ledger(store: Store, rng: np.random.Generator) -> None:
    """Store 100,000 decisions of ten bots on events of one to five markets, with their prices and resolutions."""
    counts = rng.integers(1, 6, size=EVENTS)
    first = np.concatenate([[0], np.cumsum(counts)])
    with store.write() as connection:

        def put(model: type[SQLModel], rows: Rows) -> None:
            insert_new(connection, model, rows)

        put(
            EventRow, [{"id": e + 1, "venue": "polymarket", "event_id": str(e), "title": str(e)} for e in range(EVENTS)]
        )
        put(MarketRow, list(_markets(counts)))
        put(InstrumentRow, list(_instruments(int(first[-1]))))
        put(RunRow, [_run(number) for number in range(RUNS)])
        put(BotRow, list(_bots()))
        plan = [(run, bot, e) for run in range(RUNS) for bot in range(BOTS) for e in _played(run, rng)]
        put(TaskRow, [_task(n, *each) for n, each in enumerate(plan, 1)])
        put(DecisionRow, [_decision(n, *each) for n, each in enumerate(plan, 1)])
        bets = [(n, int(m) + 1) for n, (_, _, e) in enumerate(plan, 1) for m in range(first[e], first[e + 1])]
        put(ForecastRow, [_forecast(*bet, float(p)) for bet, p in zip(bets, rng.random(len(bets)), strict=True)])
        put(BetRow, [_bet(*bet, float(usd)) for bet, usd in zip(bets, rng.uniform(-0.2, 0.2, len(bets)), strict=True)])
        put(ObservationRow, list(_observations(int(first[-1]), rng)))
        put(ResolutionRow, list(_resolutions(int(first[-1]), rng)))


def _played(run: int, rng: np.random.Generator) -> list[int]:
    return [int(e) for e in rng.choice(EVENTS, size=EVENTS_A_RUN, replace=False)]


def _markets(counts: NDArray[np.int64]) -> Iterator[dict[str, Any]]:
    row = 0
    for e, count in enumerate(counts):
        for _ in range(count):
            row += 1
            yield {
                "id": row,
                "venue": "polymarket",
                "market_id": str(row),
                "event_row": e + 1,
                "condition_id": None,
                "token_ids_json": "[]",
                "question": "?",
            }


def _instruments(markets: int) -> Iterator[dict[str, Any]]:
    for row in range(1, markets + 1):
        for index, side in enumerate(("YES", "NO")):
            yield {
                "id": 2 * row - 1 + index,
                "venue": "polymarket",
                "kind": "binary_outcome",
                "instrument_id": f"{row}:{side}",
                "market_row": row,
                "side": side,
            }


def _run(number: int) -> dict[str, Any]:
    as_of = BEGIN + number * DAY / 3
    texts = ("recipe_json", "overrides_json", "passed_over_json", "notes_json", "code_version", "digest")
    return {
        "id": number + 1,
        "key": f"big@{number}",
        "recipe": "big",
        "slot_at": as_of,
        "as_of": as_of,
        "venue": "polymarket",
        "venue_name": "polymarket",
        "game": "dollar_per_event",
        "seed": 0,
        "created_at": as_of,
        **dict.fromkeys(texts, "{}"),
    }


def _bots() -> Iterator[dict[str, Any]]:
    for run in range(RUNS):
        for bot in range(BOTS):
            yield {
                "id": run * BOTS + bot + 1,
                "run_id": run + 1,
                "name": "market_price" if bot == 0 else f"bot{bot}",
                "strategy": "s",
                "arguments_json": "{}",
                "source_sha256": "",
            }


def _task(number: int, run: int, bot: int, e: int) -> dict[str, Any]:
    return {
        "id": number,
        "run_id": run + 1,
        "bot_id": run * BOTS + bot + 1,
        "subject_kind": "event",
        "subject_id": str(e),
        "status": "recorded",
        "failures": 0,
    }


def _decision(number: int, run: int, bot: int, e: int) -> dict[str, Any]:
    return {
        "id": number,
        "task_id": number,
        "run_id": run + 1,
        "bot_id": run * BOTS + bot + 1,
        "subject_kind": "event",
        "subject_id": str(e),
        "event_row": e + 1,
        "status": "recorded",
        "decided_at": BEGIN + run * DAY / 3,
        "message": "",
        "rationale": "because " * 20,
        "notes_json": "[]",
        "unallocated_usd": 0.0,
        "scale": 1.0,
        "cost_usd": 0.0,
        "cost_known_usd": 0.0,
        "seconds": 0.1,
    }


def _forecast(decision: int, market: int, probability: float) -> dict[str, Any]:
    return {
        "decision_id": decision,
        "market_row": market,
        "probability": probability,
        "confidence": None,
        "rationale": "because",
        "question_sha256": "0" * 64,
    }


def _bet(decision: int, market: int, usd: float) -> dict[str, Any]:
    return {
        "decision_id": decision,
        "market_row": market,
        "asked_usd": usd,
        "booked_usd": usd,
        "price_yes": 0.4,
        "price_source": "mid",
    }


def _observations(markets: int, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    prices = rng.random((markets, OBSERVATIONS_A_MARKET))
    for market in range(markets):
        for number in range(OBSERVATIONS_A_MARKET):
            yield {
                "instrument_row": 2 * market + 1,
                "at": BEGIN + number * DAY * 5.5,
                "source": "history",
                "price": float(prices[market, number]),
            }


def _resolutions(markets: int, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    for market in np.flatnonzero(rng.random(markets) < 0.7):
        settled_at = BEGIN + float(rng.uniform(1, 300)) * DAY
        yield {
            "market_row": int(market) + 1,
            "revision": 1,
            "payout_yes": float(rng.integers(0, 2)),
            "settled_at": settled_at,
            "settled_source": "venue",
            "effective_at": settled_at,
            "seen_at": settled_at,
        }


def test_evaluate_reads_and_scores_100_000_decisions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seconds: dict[str, float] = {}
    as_of = BEGIN + 400 * DAY
    with Store.open(f"sqlite:///{tmp_path}/big.db") as store:
        with measured("building", seconds):
            big_ledger(store, np.random.default_rng(1))
        with measured("reading", seconds), store.read() as connection:
            record = track_record(connection, "polymarket", as_of)
        with measured("scoring", seconds):
            cards = scorecards(record)
        with measured("evaluate", seconds):
            evaluate(store=store, venue_name="polymarket", as_of=as_of)
    sizes = f"{record.decided_at.size:,} decisions, {record.bet_usd.size:,} bets, {record.observation_at.size:,} prices"
    with capsys.disabled():
        times = ", ".join(f"{what} {taken:.2f} s" for what, taken in seconds.items())
        print(f"\nevaluate, {sizes}, {len(cards)} bots: {times} (aim: evaluate 2 s)")


def test_track_follows_1_000_markets_of_the_sandbox(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seconds: dict[str, float] = {}
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
        times = ", ".join(f"{what} {taken:.2f} s" for what, taken in seconds.items())
        print(f"\ntrack, {report.markets:,} markets, {report.observations:,} prices: {times}")


def _clock() -> datetime:
    return datetime.now(UTC)


def _nobody(_step: Progress) -> None:
    """Listen to nothing."""
