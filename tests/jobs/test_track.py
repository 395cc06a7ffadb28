"""Tracking: each price and resolution stored once, whatever is asked when."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from predibot.config import Settings
from predibot.domain.clock import format_instant, parse_instant
from predibot.jobs.deciding.worker import Resources
from predibot.jobs.open_venue import open_venue
from predibot.jobs.track import track
from predibot.ledger.read.export import export_rows
from predibot.ledger.store import Store
from predibot.ledger.write.events import markets
from predibot.ledger.write.prices_and_resolutions import resolutions
from predibot.venues.archive.layout import snapshot_name
from tests.jobs.tiny import DAY, LATER, at, canonical, clock, decide_on, nobody, paid, request_of, track_on
from tests.soaks import ONE_DATABASE
from tests.venues.payloads import NOW, condition_of, event_payload, history_of, market_payload

HISTORIES = 3 + 5 + 5 + 10
"""Market 1 settles after three days, 2 and 22 after five, 3 never."""


def test_everything_since_the_decision_is_brought_home_and_nothing_twice(store: Store, archive: Path) -> None:
    decide_on(store, archive)
    first = track_on(store, archive)
    assert (first.markets, first.observations, first.resolutions, first.incomplete) == (4, HISTORIES, 4, False)
    assert min(row["at"] for row in prices_of(store)) == format_instant(NOW + DAY)
    before = canonical(store)
    again = track_on(store, archive)
    assert (again.observations, again.resolutions) == (0, 0)
    assert canonical(store) == before


def test_tracking_in_steps_comes_to_the_same_as_at_once(tmp_path: Path, archive: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as stepped, Store.open(f"sqlite:///{tmp_path}/b.db") as whole:
        decide_on(stepped, archive)
        decide_on(whole, archive)
        counts = [track_on(stepped, archive, as_of=NOW + days * DAY).observations for days in (2, 2.5, 7, 30)]
        assert counts == [8, 0, 12, 3]
        track_on(whole, archive)
        assert prices_of(stepped) == prices_of(whole)


def prices_of(store: Store) -> list[Mapping[str, Any]]:
    with store.read() as connection:
        return list(export_rows(connection, "observations"))


@ONE_DATABASE
def test_an_archive_that_grows_is_read_on_from_its_last_point(store: Store, archive: Path) -> None:
    decide_on(store, archive)
    track_on(store, archive)
    file = archive / "prices" / "30.json"
    recorded = json.loads(file.read_text())["history"]
    more = [(at(NOW + day * DAY), 0.9) for day in (11, 12)]
    file.write_text(history_of(*((point["t"], point["p"]) for point in recorded), *more))
    assert track_on(store, archive).observations == 2


@ONE_DATABASE
def test_an_earlier_run_brings_its_earlier_prices(store: Store, archive: Path) -> None:
    earlier = archive / "snapshots" / snapshot_name(NOW - 2 * DAY) / "events.json"
    earlier.parent.mkdir()
    earlier.write_text(json.dumps([event_payload(3, market_payload(3))]))
    decide_on(store, archive)
    track_on(store, archive)
    decide_on(store, archive, request_of(event_id="3"), as_of=NOW - 2 * DAY)
    assert track_on(store, archive).observations == 1, "the point of the day before"


@ONE_DATABASE
def test_looking_back_from_between_two_runs_loses_nothing_after(store: Store) -> None:
    spec, settings = "sandbox:events=6", Settings()

    def look(as_of_days: float) -> None:
        as_of = opens + as_of_days * DAY
        with open_venue(spec, settings, as_of=as_of, purpose="look_back", clock=clock) as venue:
            track(store=store, opened=venue, settings=settings, listener=nobody)

    with open_venue(spec, settings, as_of=None, purpose="decide", clock=clock) as venue:
        opens = venue.now
        listed = venue.venue.events(opens).events
        event_id = max(listed, key=lambda event: event.closes_at or opens).id
    decide_in_sandbox(store, spec, event_id, days=5)
    look(8)
    decide_in_sandbox(store, spec, event_id, days=2)
    look(3)
    look(8)
    days = sorted({parse_instant(row["at"]).toordinal() for row in prices_of(store)})
    assert days == list(range(days[0], days[0] + len(days)))
    assert len(days) >= 6


def decide_in_sandbox(store: Store, spec: str, event_id: str, *, days: float) -> None:
    """Decide on one event of the sandbox, so many days after its opening."""
    from predibot.jobs.decide import decide
    from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT

    settings, as_of = Settings(), SANDBOX_OPENS_AT + days * DAY
    with open_venue(spec, settings, as_of=as_of, purpose="decide", clock=clock) as venue:
        request = request_of(event_id=event_id)
        decide(request, venue, Resources(store, settings, clock, nobody))


def test_a_correction_is_stored_as_a_revision_beside_what_was_known(store: Store, archive: Path) -> None:
    decide_on(store, archive)
    track_on(store, archive, as_of=NOW + 8 * DAY)
    assert revisions_of(store, "22") == [0.0]
    assert track_on(store, archive).resolutions == 1
    assert revisions_of(store, "22") == [0.0, 1.0]
    stored = json.loads((archive / "resolutions.json").read_text())
    stored[condition_of(1)] = [paid(3, 1.0), paid(3, 0.0, effective_days=20)]
    (archive / "resolutions.json").write_text(json.dumps(stored))
    assert track_on(store, archive).resolutions == 1
    assert revisions_of(store, "1") == [1.0, 0.0]


def revisions_of(store: Store, market_id: str) -> list[float]:
    """Return what a market paid, revision by revision."""
    statement = resolutions.join(markets, markets.c.id == resolutions.c.market_row).select()
    with store.read() as connection:
        rows = connection.execute(statement.where(markets.c.market_id == market_id).order_by(resolutions.c.revision))
        return [row.payout_yes for row in rows]


def test_nothing_of_the_venue_is_asked_for_a_ledger_without_runs(store: Store, archive: Path) -> None:
    report = track_on(store, archive, as_of=LATER)
    assert (report.markets, report.observations, report.resolutions) == (0, 0, 0)


@ONE_DATABASE
def test_a_history_that_cannot_be_read_is_told_and_the_others_are_stored(store: Store, archive: Path) -> None:
    decide_on(store, archive)
    (archive / "prices" / "10.json").write_text("{")
    report = track_on(store, archive)
    assert report.incomplete
    assert report.observations == HISTORIES - 3
    assert any("prices of 10 could not be read" in note for note in report.notes)
