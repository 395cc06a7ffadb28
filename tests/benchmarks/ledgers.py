"""Ledgers of a size, filled in bulk: what it would take years to decide."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from predibot.ledger.schema.column_types import to_microseconds
from predibot.ledger.schema.packed_points import POINT, pack_points
from predibot.ledger.store import Store

BEGIN = datetime(2025, 1, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
_DAY = to_microseconds(BEGIN + DAY) - to_microseconds(BEGIN)
_TAGS = ("politics", "sports", "crypto", "economy", "tech", "culture", "weather", "world")


@dataclass(frozen=True)
class Size:
    """How much there is of everything; all bots of a run play its events."""

    runs: int
    bots: int
    events_a_run: int
    events: int
    markets_an_event: int
    observations_a_market: int
    days: int = 365

    @property
    def markets(self) -> int:
        """Return how many markets there are."""
        return self.events * self.markets_an_event


MONTH = Size(30, 10, 10, 200, 3, 60, days=30)
HUNDRED_THOUSAND_DECISIONS = Size(1_000, 10, 10, 2_000, 3, 60)
MILLION_BETS = Size(1_000, 10, 20, 4_000, 5, 200)


def fill(store: Store, size: Size, rng: np.random.Generator) -> None:
    """Store decisions with forecasts, bets and quotes, and what prices and markets did."""
    with store.write() as connection:
        _fill_catalogue(connection, size)
        played = np.stack([rng.choice(size.events, size.events_a_run, replace=False) for _ in range(size.runs)])
        _fill_runs(connection, size, played)
        _fill_decisions(connection, size, played, rng)
        _fill_prices(connection, size, rng)
        _fill_resolutions(connection, size, rng)


def _fill_catalogue(connection: Connection, size: Size) -> None:
    put(
        connection,
        "events",
        ("id", "venue", "event_id", "title"),
        ((e + 1, "polymarket", str(e), f"Event {e}") for e in range(size.events)),
    )
    put(
        connection,
        "markets",
        ("id", "venue", "market_id", "event_row", "token_ids_json", "question"),
        ((m + 1, "polymarket", str(m), m // size.markets_an_event + 1, "[]", "?") for m in range(size.markets)),
    )
    put(
        connection,
        "instruments",
        ("id", "venue", "kind", "instrument_id", "market_row", "side", "currency", "lowest_price", "highest_price"),
        (
            (2 * m + index + 1, "polymarket", "binary_outcome", f"{m}:{side}", m + 1, side, "USD", 0.0, 1.0)
            for m in range(size.markets)
            for index, side in enumerate(("YES", "NO"))
        ),
    )


def _fill_runs(connection: Connection, size: Size, played: NDArray[np.int64]) -> None:
    slots = [_slot(size, run) for run in range(size.runs)]
    texts = ("recipe_json", "overrides_json", "passed_over_json", "notes_json", "code_version", "digest")
    put(
        connection,
        "runs",
        ("id", "key", "recipe", "slot_at", "as_of", "venue", "venue_name", "game", "seed", "created_at", *texts),
        (
            (run + 1, f"big@{run}", "big", at, at, "polymarket", "polymarket", "dollar_per_event", 0, at, *["{}"] * 6)
            for run, at in enumerate(slots)
        ),
    )
    put(
        connection,
        "bots",
        ("id", "run_id", "name", "strategy", "arguments_json", "source_sha256"),
        (
            (run * size.bots + bot + 1, run + 1, f"bot_{bot}", "s", "{}", "")
            for run in range(size.runs)
            for bot in range(size.bots)
        ),
    )
    events = [_event_json(size, e) for e in range(size.events)]
    put(
        connection,
        "run_events",
        ("run_id", "position", "event_row", "event_json", "payload"),
        (
            (run + 1, position, int(e) + 1, events[e], "")
            for run, row in enumerate(played)
            for position, e in enumerate(row)
        ),
    )


def _event_json(size: Size, event: int) -> str:
    tag = _TAGS[event % len(_TAGS)]
    first = event * size.markets_an_event
    markets = [
        {
            "ref": {"id": str(first + number)},
            "question": f"Will it be {first + number}?",
            "outcomes": ["Yes", "No"],
            "fees": {"rate": 0.05, "exponent": 1.0},
        }
        for number in range(size.markets_an_event)
    ]
    # As a run freezes it, without spaces.
    told = {"id": str(event), "title": f"Event {event}", "tags": [{"label": tag.title(), "slug": tag}]}
    return json.dumps(told | {"markets": markets}, separators=(",", ":"))


def _fill_decisions(connection: Connection, size: Size, played: NDArray[np.int64], rng: np.random.Generator) -> None:
    decisions = [
        (run, run * size.bots + bot + 1, int(e))
        for run, row in enumerate(played)
        for bot in range(size.bots)
        for e in row
    ]
    numbered = list(enumerate(decisions, 1))
    put(
        connection,
        "subjects",
        ("id", "venue", "kind", "subject_id", "event_row"),
        ((e + 1, "polymarket", "event", str(e), e + 1) for e in range(size.events)),
    )
    put(
        connection,
        "tasks",
        ("id", "run_id", "bot_id", "subject_row", "status", "failures"),
        ((n, run + 1, bot, e + 1, "recorded", 0) for n, (run, bot, e) in numbered),
    )
    put(
        connection,
        "decisions",
        (
            *("id", "task_id", "run_id", "bot_id", "subject_row", "status", "decided_at"),
            *("message", "rationale", "notes_json", "unallocated_usd", "scale", "cost_usd", "cost_known_usd"),
            "seconds",
        ),
        (
            (
                *(n, n, run + 1, bot, e + 1, "recorded", _slot(size, run)),
                *("", "because " * 20, "[]", 0.0, 1.0, 0.001, 0.001, 0.1),
            )
            for n, (run, bot, e) in numbered
        ),
    )
    each = size.markets_an_event
    decision = np.repeat(np.arange(1, len(decisions) + 1), each)
    market = (np.array([e for *_, e in decisions])[:, np.newaxis] * each + np.arange(1, each + 1)).ravel()
    price = rng.uniform(0.05, 0.95, decision.size)
    said, dollars = rng.random(decision.size), rng.uniform(-0.2, 0.2, decision.size)
    put_each(
        connection,
        "forecasts",
        {"decision_id": decision, "market_row": market, "probability": said, "confidence": np.floor(said * 10.0)},
        {"rationale": "because", "question_sha256": "0" * 64},
    )
    bet = {
        "decision_id": decision,
        "number": np.tile(np.arange(1, each + 1), len(decisions)),
        # Of the two instruments of a market, YES is the first.
        "instrument_row": 2 * market - (dollars >= 0.0),
        "amount": np.abs(dollars),
        "price": price,
    }
    same = {"asked": 0.2, "side": "buy", "unit": "usd", "status": "filled", "price_source": "mid"}
    put_each(connection, "orders", bet, same)
    put_each(
        connection,
        "quotes",
        {"decision_id": decision, "market_row": market, "bid": price - 0.01, "ask": price + 0.01},
        {"role": "booked", "at": 0},
    )


def _fill_prices(connection: Connection, size: Size, rng: np.random.Generator) -> None:
    points = np.zeros((size.markets, size.observations_a_market), dtype=POINT)
    step = size.days * _DAY // size.observations_a_market
    points["at"] = _slot(size, 0) + step * np.arange(size.observations_a_market)
    points["price"] = rng.random(points.shape)
    rows = ((2 * market + 1, pack_points(path)) for market, path in enumerate(points))
    put(connection, "price_paths", ("instrument_row", "points"), rows)


def _fill_resolutions(connection: Connection, size: Size, rng: np.random.Generator) -> None:
    settled = np.flatnonzero(rng.random(size.markets) < 0.7)
    at = _slot(size, 0) + rng.integers(_DAY, size.days * _DAY, settled.size)
    put_each(
        connection,
        "resolutions",
        {
            "market_row": settled + 1,
            "payout_yes": rng.integers(0, 2, settled.size),
            "settled_at": at,
            "effective_at": at,
            "seen_at": at,
        },
        {"revision": 1, "settled_source": "venue"},
    )


def _slot(size: Size, run: int) -> int:
    return to_microseconds(BEGIN) + run * size.days * _DAY // size.runs


def put_each(
    connection: Connection, table: str, arrays: dict[str, NDArray[np.generic]], same: dict[str, str | float | int]
) -> None:
    """Insert one row for each element of the arrays, the rest being the same in all."""
    rest = tuple(same.values())
    columns = [array.tolist() for array in arrays.values()]
    put(connection, table, (*arrays, *same), ((*row, *rest) for row in zip(*columns, strict=True)))


def put(connection: Connection, table: str, columns: Sequence[str], rows: Iterable[tuple[object, ...]]) -> None:
    """Insert rows of one table."""
    statement = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    driver = connection.connection.driver_connection
    assert driver is not None
    driver.executemany(statement, rows)
