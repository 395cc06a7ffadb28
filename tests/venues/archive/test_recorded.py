"""The recorded archives as an independent reading of their files sees them."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from predibot.domain.clock import parse_instant
from predibot.venues.archive.reader import Archive


def settled_by_hand(folder: Path, condition_ids: set[str], as_of: datetime) -> int:
    """Return how many of these markets were resolved by an instant."""
    rows = json.loads((folder / "resolutions.json").read_text())
    return sum(
        condition in condition_ids and row["resolved_at"] <= as_of.timestamp() for condition, row in rows.items()
    )


def points_by_hand(folder: Path, token_id: str, since: datetime, until: datetime) -> list[tuple[float, float]]:
    """Return the points of a token's file within bounds."""
    path = folder / "prices" / f"{token_id}.json"
    rows = json.loads(path.read_text())["history"] if path.exists() else []
    return sorted((row["t"], row["p"]) for row in rows if since.timestamp() < row["t"] <= until.timestamp())


@pytest.mark.parametrize(
    ("name", "as_of", "snapshot"),
    [
        ("polymarket-2026-02", "2026-02-10T14:15:00Z", "2026-02-10T141300Z"),
        ("polymarket-2026-02", "2026-02-13T19:30:00Z", "2026-02-13T192613Z"),
        ("polymarket-daily", "2025-11-10T12:00:00Z", "2025-11-10T120000Z"),
    ],
)
def test_a_recorded_archive_is_served_as_its_files_say(shared_data: Path, name: str, as_of: str, snapshot: str) -> None:
    folder, instant, later = shared_data / name, parse_instant(as_of), parse_instant("2026-07-01T00:00:00Z")
    recorded = json.loads((folder / "snapshots" / snapshot / "events.json").read_text())
    market_ids = [market["id"] for event in recorded for market in event["markets"]]
    archive = Archive(folder)
    page = archive.events(instant)
    refs = [market.ref for event in page.events for market in event.markets]
    assert ([event.id for event in page.events], page.skipped) == ([event["id"] for event in recorded], ())
    assert [ref.id for ref in refs] == market_ids
    for ref in refs:
        path = archive.price_path(ref.instrument("polymarket", "YES"), start=instant, until=later)
        seen = [(point.at.timestamp(), point.price) for point in path.points]
        assert seen == points_by_hand(folder, ref.token_ids[0], instant, later)
    conditions = {str(ref.condition_id) for ref in refs}
    assert len(archive.resolutions(refs, as_of=later).found) == settled_by_hand(folder, conditions, later) > 0


def test_an_old_recorded_snapshot_is_quoted_from_its_history(shared_data: Path) -> None:
    folder, instant = shared_data / "polymarket-2026-02", datetime(2026, 2, 20, 12, tzinfo=UTC)
    markets = [market for event in Archive(folder).events(instant).events for market in event.markets]
    for market in markets:
        points = points_by_hand(folder, market.ref.token_ids[0], instant - timedelta(days=1), instant)
        seen = market.quote and (market.quote.at.timestamp(), market.quote.history)
        assert seen == (points[-1] if points else None)
    assert 0 < sum(market.quote is not None for market in markets) < len(markets)
