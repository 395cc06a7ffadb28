"""Law of archives: nothing recorded after an instant changes any answer as of it."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from predibot.venues.archive.layout import snapshot_name
from predibot.venues.archive.reader import Archive
from tests.venues.payloads import NOW, condition_of, event_payload, market_payload

MARKETS = (1, 2, 3)
HOUR = timedelta(hours=1)
OFFSETS = st.integers(-60, 60).map(lambda hours: int((NOW + hours * HOUR).timestamp()))
NONSENSE: st.SearchStrategy[object] = st.sampled_from([None, "x", -1, 7.5, [], float("nan")])
LATER = int(NOW.timestamp()) + 1


def written(folder: Path, world: dict[str, Any]) -> Archive:
    """Return an archive of a world."""
    for hours, events in world["snapshots"].items():
        place = folder / "snapshots" / snapshot_name(NOW + hours * HOUR)
        place.mkdir(parents=True)
        (place / "events.json").write_text(json.dumps(events))
    (folder / "prices").mkdir()
    for token, points in world["prices"].items():
        (folder / "prices" / f"{token}.json").write_text(json.dumps({"history": points}))
    (folder / "resolutions.json").write_text(json.dumps(world["resolutions"]))
    return Archive(folder)


def answers(archive: Archive, as_of: datetime) -> list[object]:
    """Return everything an archive says as of an instant."""
    page = archive.events(as_of)
    refs = [market.ref for event in page.events for market in event.markets]
    paths = [
        archive.price_path(ref.instrument("polymarket", side), start=as_of - 90 * HOUR, until=as_of)
        for ref in refs
        for side in ("YES", "NO")
    ]
    events = [archive.event(event.id, as_of) for event in page.events]
    payloads = [event.payload for event in page.events]
    return [page, payloads, events, paths, archive.resolutions(refs, as_of=as_of)]


points = st.lists(st.builds(lambda t, p: {"t": t, "p": p}, OFFSETS, st.floats(0, 1)), max_size=6)
rows = st.builds(
    lambda resolved, effective, yes: {"resolved_at": resolved, "effective_at": effective, "payouts": [yes, 1 - yes]},
    OFFSETS,
    OFFSETS,
    st.sampled_from([0.0, 0.5, 1.0]),
)
events = st.lists(
    st.builds(lambda price: event_payload(1, *(market_payload(n, bestBid=price) for n in MARKETS)), st.floats(0, 1)),
    min_size=1,
    max_size=1,
)
worlds = st.fixed_dictionaries(
    {
        "snapshots": st.dictionaries(st.integers(-59, 59), events, max_size=3),
        "prices": st.dictionaries(st.sampled_from([str(10 * n + side) for n in MARKETS for side in (0, 1)]), points),
        "resolutions": st.dictionaries(st.sampled_from([condition_of(n) for n in MARKETS]), st.lists(rows, max_size=3)),
    }
)
futures = st.fixed_dictionaries(
    {
        "snapshot": events | NONSENSE,
        "points": st.lists(
            st.builds(lambda t, p: {"t": LATER + t, "p": p}, st.integers(0, 10**6), NONSENSE), max_size=3
        ),
        "rows": st.lists(
            st.builds(lambda t, p: {"resolved_at": LATER + t, "payouts": p}, st.integers(0, 10**6), NONSENSE),
            max_size=2,
        ),
    }
)


@settings(max_examples=30)
@given(world=worlds, future=futures)
def test_nothing_recorded_after_an_instant_changes_an_answer_as_of_it(
    world: dict[str, Any], future: dict[str, Any]
) -> None:
    now = LATER - 1
    world["snapshots"][-60] = [event_payload(1, *(market_payload(number) for number in MARKETS))]
    altered = {
        "snapshots": {hours: found for hours, found in world["snapshots"].items() if hours <= 0}
        | {1: future["snapshot"]},
        "prices": {
            token: [point for point in found if point["t"] <= now] + future["points"]
            for token, found in world["prices"].items()
        },
        "resolutions": {
            condition: [row for row in found if max(row["resolved_at"], row["effective_at"]) <= now] + future["rows"]
            for condition, found in world["resolutions"].items()
        },
    }
    with TemporaryDirectory() as here, TemporaryDirectory() as there:
        assert answers(written(Path(here), world), NOW) == answers(written(Path(there), altered), NOW)
