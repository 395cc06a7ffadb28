"""A tiny archive: three events, their prices for ten days, and resolutions of every kind."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from predibot.config import Settings
from predibot.contracts import OpenVenue, Progress, Purpose
from predibot.jobs.decide import DecideReport, decide
from predibot.jobs.deciding.open_run import RunRequest
from predibot.jobs.deciding.worker import Resources
from predibot.jobs.open_venue import open_venue
from predibot.jobs.track import TrackReport, track
from predibot.ledger.read.export import CANONICAL_TABLES, export_rows
from predibot.ledger.store import Store
from predibot.recipe.parse import parse_recipe
from predibot.recipe.recipe import Recipe
from predibot.recipe.text import RecipeText
from predibot.venues.archive.layout import snapshot_name
from tests.venues.payloads import NOW, condition_of, event_payload, history_of, market_payload

DAY = timedelta(days=1)
LATER = NOW + 30 * DAY
PRICES = {1: 0.41, 2: 0.20, 22: 0.70, 3: 0.55}
"""What YES of each market costs when deciding."""
DRIFT = {1: 0.05, 2: -0.01, 22: 0.02, 3: 0.01}
"""How much it moves a day."""


def write_archive(folder: Path, *, future: float = 1.0) -> Path:
    """Write the archive, and return its folder; `future` bends all that happens after `NOW`."""
    _write(folder / "snapshots" / snapshot_name(NOW) / "events.json", _events(1.0))
    _write(folder / "snapshots" / snapshot_name(NOW + DAY) / "events.json", _events(future))
    for number, price in PRICES.items():
        before = (at(NOW - DAY), price)
        after = [(at(NOW + day * DAY), price + day * DRIFT[number] * future) for day in range(1, 11)]
        _write_text(folder / "prices" / f"{10 * number}.json", history_of(before, *after))
    _write(folder / "resolutions.json", _resolutions(future))
    return folder


def at(instant: datetime) -> int:
    """Return an instant as archives write it."""
    return int(instant.timestamp())


def paid(days: float, yes: float, **more: float) -> dict[str, object]:
    effective = {"effective_at": at(NOW + more["effective_days"] * DAY)} if more else {}
    return {"resolved_at": at(NOW + days * DAY), "payouts": [yes, 1.0 - yes], **effective}


def _events(bend: float) -> list[dict[str, object]]:
    def market(number: int) -> dict[str, object]:
        price = PRICES[number] * bend
        return market_payload(
            number,
            bestBid=None,
            bestAsk=None,
            outcomePrices=json.dumps([f"{price:.4f}", f"{1 - price:.4f}"]),
        )

    return [
        event_payload(1, market(1)),
        event_payload(2, market(2), market(22)),
        event_payload(3, market(3), volume24hr=5000 * bend),
    ]


def _resolutions(future: float) -> dict[str, object]:
    """Return what market 1 won, 2 was void, 22 lost and was corrected; 3 is open for ever."""
    if future != 1.0:
        return {condition_of(3): paid(1, 0.0)}
    return {
        condition_of(1): paid(3, 1.0),
        condition_of(2): paid(5, 0.5),
        condition_of(22): [paid(5, 0.0), paid(5, 1.0, effective_days=9)],
    }


def _write(path: Path, value: object) -> None:
    _write_text(path, json.dumps(value))


def _write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def recipe_of(*bots: str, **top: object) -> Recipe:
    """Return the recipe `tiny` with bots given as `strategy`, or as TOML lines of one."""
    keys = {"game": "dollar_per_event", "venue": "polymarket", "every": "1d"} | top
    lines = [f"{name} = {json.dumps(value)}" for name, value in keys.items()]
    for bot in bots or ("market_price", "random_bet"):
        lines += ["[[bots]]", f'strategy = "{bot}"' if "=" not in bot else bot]
    return parse_recipe(RecipeText("\n".join(lines), "tiny", "tiny"))


def request_of(recipe: Recipe | None = None, **changes: Any) -> RunRequest:
    """Return what a user asks for with this recipe."""
    recipe = recipe or recipe_of()
    return RunRequest(recipe, recipe.digest, **changes)


def clock() -> datetime:
    return datetime.now(UTC)


def nobody(_step: Progress) -> None:
    """Listen to nothing."""


def opened(folder: Path, as_of: datetime, *, purpose: Purpose = "decide") -> OpenVenue:
    return open_venue(f"archive:{folder}", Settings(), as_of=as_of, purpose=purpose, clock=clock)


def decide_on(store: Store, folder: Path, request: RunRequest | None = None, *, as_of: datetime = NOW) -> DecideReport:
    with opened(folder, as_of) as venue:
        return decide(request or request_of(), venue, Resources(store, Settings(), clock, nobody))


def track_on(store: Store, folder: Path, *, as_of: datetime = LATER) -> TrackReport:
    with opened(folder, as_of, purpose="look_back") as venue:
        return track(store=store, opened=venue, settings=Settings(), listener=nobody)


def canonical(store: Store) -> str:
    """Return what two equal ledgers agree on, byte for byte."""
    lines = []
    with store.read() as connection:
        for table in CANONICAL_TABLES:
            lines += [json.dumps([table, dict(row)]) for row in export_rows(connection, table, canonical=True)]
    return "\n".join(lines)


def canonical_at(address: str) -> str:
    """Return the canonical export of the ledger at an address."""
    with Store.open(address, create=False) as store:
        return canonical(store)


def statuses(report: DecideReport) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in report.decisions:
        found.setdefault(each.stored.bot, []).append(each.status)
    return found
