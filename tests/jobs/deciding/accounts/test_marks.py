"""Marks of what is held or ordered: at a quote of now, or at the last price with the reason for it."""

import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from predibot.ledger.store import Store
from predibot.venues.archive.layout import snapshot_name
from tests.jobs.deciding.accounts.test_walk import walk
from tests.jobs.deciding.accounts.walks import broken, rows
from tests.jobs.tiny import DAY, at, write_archive
from tests.soaks import ONE_DATABASE
from tests.venues.payloads import NOW, condition_of, history_of

pytestmark = ONE_DATABASE


def states(store: Store, day: float) -> dict[str, str]:
    """Return the state of each mark of the buyer's valuation so many days after the first snapshot, by market."""
    found = [row for row in rows(store, "marks", bot="buy_and_hold") if row["at"].startswith(f"{NOW + day * DAY:%F}")]
    return {market_of(row): row["state"] for row in found}


def market_of(row: Mapping[str, Any]) -> str:
    """Return the market of a row: the tokens of one are ten times its number, and one more."""
    return str(int(row["instrument_id"]) // 10)


def prices_end(folder: Path, market: int, day: int) -> None:
    """Let the recorded prices of a market end after a day."""
    path = folder / "prices" / f"{10 * market}.json"
    points = [(each["t"], each["p"]) for each in json.loads(path.read_text())["history"]]
    path.write_text(history_of(*(each for each in points if each[0] <= at(NOW + day * DAY))))


def test_what_is_held_is_marked_at_its_quote_and_kept_at_the_last_price_where_there_is_none(
    store: Store, tmp_path: Path
) -> None:
    folder = write_archive(tmp_path / "archive")
    (folder / "resolutions.json").write_text("{}")
    prices_end(folder, 1, 2)
    later = folder / "snapshots" / snapshot_name(NOW + 5 * DAY) / "events.json"
    events = json.loads((folder / "snapshots" / snapshot_name(NOW + DAY) / "events.json").read_text())
    for market in events[2]["markets"]:
        market["closed"] = True
    later.parent.mkdir(parents=True)
    later.write_text(json.dumps(events))
    walk(store, folder, 0, 1, 2, 3.5)
    assert states(store, 2)["1"] == states(store, 2)["3"] == "quoted"
    assert states(store, 3.5)["1"] == "stale"
    marks = {row["at"][:10]: row["price"] for row in rows(store, "marks", bot="buy_and_hold") if market_of(row) == "1"}
    assert marks[f"{NOW + 3.5 * DAY:%F}"] == marks[f"{NOW + 2 * DAY:%F}"]
    walk(store, folder, 5)
    assert states(store, 5)["3"] == "closed"
    sold = [row for row in rows(store, "journal", bot="equal_weights", kind="fill") if row["shares"] < 0.0]
    assert [row for row in sold if market_of(row) == "3" and row["at"] >= f"{NOW + 5 * DAY:%F}"] == []
    assert broken(store) == []


def test_what_no_venue_lists_any_more_keeps_its_last_price_and_is_not_traded_at_a_recorded_one(
    store: Store, tmp_path: Path
) -> None:
    folder = write_archive(tmp_path / "archive")
    (folder / "resolutions.json").write_text("{}")
    events = json.loads((folder / "snapshots" / snapshot_name(NOW + DAY) / "events.json").read_text())
    later = folder / "snapshots" / snapshot_name(NOW + timedelta(days=1.5)) / "events.json"
    later.parent.mkdir(parents=True)
    later.write_text(json.dumps(events[:2]))
    lost = {market["id"] for market in events[2]["markets"]}
    walk(store, folder, 0, 1, 2, 3)
    marks = {row["at"][:10]: row for row in rows(store, "marks", bot="equal_weights") if market_of(row) in lost}
    assert [row["state"] for row in marks.values()][-2:] == ["stale", "stale"]
    assert len({row["price"] for row in list(marks.values())[-3:]}) == 1
    traded = [row for row in rows(store, "journal", kind="fill") if market_of(row) in lost]
    assert traded and {row["at"][:10] for row in traded} == {f"{NOW + DAY:%F}"}
    late = [
        row
        for row in rows(store, "orders", bot="equal_weights")
        if market_of(row) in lost and (row["ended_at"] or "").startswith(f"{NOW + 2 * DAY:%F}")
    ]
    assert [row["status"] for row in late] == ["expired"] and "no price now" in late[0]["note"]
    assert broken(store) == []


def test_what_was_held_and_is_ordered_anew_is_settled_meanwhile(store: Store, tmp_path: Path) -> None:
    folder = write_archive(tmp_path / "archive")
    paid = {"resolved_at": at(NOW + timedelta(days=2.5)), "payouts": [1.0, 0.0]}
    (folder / "resolutions.json").write_text(json.dumps({condition_of(3): paid}))
    walk(store, folder, 0, 1, 2, 3)
    found = [row for row in rows(store, "marks", bot="equal_weights") if row["at"].startswith(f"{NOW + 3 * DAY:%F}")]
    assert {market_of(row): row["state"] for row in found}["3"] == "settled"
    (order,) = [
        row
        for row in rows(store, "orders", bot="equal_weights")
        if market_of(row) == "3" and (row["ended_at"] or "").startswith(f"{NOW + 3 * DAY:%F}")
    ]
    assert (order["status"], order["note"]) == ("expired", "its market is closed")
    assert broken(store) == []
