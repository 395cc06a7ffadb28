"""Recorded markets that move in groups: an archive of them, for data sets of pairs."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from predibot.venues.archive.layout import snapshot_name
from tests.venues.payloads import condition_of, event_payload, market_payload

ENDS = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAYS = 60
GROUPS = (("Crypto", "crypto", "Bitcoin and ether prices"), ("Politics", "politics", "the senate vote on tariffs"))
_DAY = timedelta(days=1)


def write_markets(folder: Path, *, each: int = 6, seed: int = 1, future: float = 0.5, ledger: bool = False) -> Path:
    """Write an archive with so many markets of each group, two of an event, which jump on the days of their group.

    Args:
        folder: Where.
        each: How many markets a group has.
        seed: Of their prices.
        future: The price of all markets after `ENDS`.
        ledger: Whether markets have quotes of their own, so that bots can play them.
    """
    rng = np.random.default_rng(seed)
    number, events, prices = 0, [], {}
    for label, slug, about in GROUPS:
        jumps = rng.choice(np.arange(8, DAYS), 5, replace=False)
        for first in range(0, each, 2):
            markets = []
            for _ in range(2):
                number += 1
                steps = rng.normal(0.0, 0.15, DAYS)
                steps[jumps] += rng.choice([-1.0, 1.0], 5)
                logits = np.cumsum(steps)
                prices[number] = (1.0 / (1.0 + np.exp(-logits))).round(4).tolist()
                markets.append(
                    market_payload(
                        number,
                        question=f"Will {about} end above {number}?",
                        description=f"Of {about}: resolves by rule {number}.",
                        volume=str(1000.0 * number),
                        outcomePrices=json.dumps([str(prices[number][-1]), str(round(1 - prices[number][-1], 4))]),
                        **({} if ledger else {"bestBid": None, "bestAsk": None}),
                    )
                )
            tags = [{"id": slug, "label": label, "slug": slug}, {"id": str(first), "label": "x", "slug": f"x{first}"}]
            events.append(event_payload(100 + number, *markets, tags=tags))
    _write(folder / "snapshots" / snapshot_name(ENDS) / "events.json", events)
    later = [event_payload(999, market_payload(999, question="Will the future be seen?"))]
    _write(folder / "snapshots" / snapshot_name(ENDS + _DAY) / "events.json", later)
    for token, series in prices.items():
        _write(folder / "prices" / f"{10 * token}.json", {"history": _points(series, future)})
    _write(folder / "resolutions.json", {condition_of(1): _paid(ENDS + 2 * _DAY)})
    return folder


def _points(series: Sequence[float], future: float) -> list[dict[str, float]]:
    seen = [(ENDS - (len(series) - 1 - day) * _DAY, price) for day, price in enumerate(series)]
    seen += [(ENDS + day * _DAY, future) for day in range(1, 10)]
    return [{"t": int(at.timestamp()), "p": price} for at, price in seen]


def _paid(at: datetime) -> dict[str, object]:
    return {"resolved_at": int(at.timestamp()), "payouts": [1.0, 0.0]}


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
