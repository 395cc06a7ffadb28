"""What every venue promises, tried on the two that the sandbox serves, each in the dialect of a real one."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import pytest

from predibot.api.record import record
from predibot.config import Settings
from predibot.contracts import OpenVenue
from predibot.domain.event import Event, MarketRef
from predibot.errors import UsageError, VenueChanged, VenueError, VenueUnavailable
from predibot.jobs.caller import Caller
from predibot.jobs.open_venue import open_past, open_venue
from predibot.sandbox.server.fault import FAULT_KINDS
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT
from predibot.venues.archive.reader import Archive
from tests.jobs.tiny import nobody

VENUES = ("sandbox", "sandbox_mana")
WEEK = timedelta(days=7)
LATER = SANDBOX_OPENS_AT + timedelta(days=40)
SETTINGS = Settings(call_deadline_seconds=60.0, list_deadline_seconds=120.0)
IMPATIENT = Settings(call_deadline_seconds=1.0, list_deadline_seconds=10.0)
"""Where waiting for what never comes right is all that more time would do."""
STOCKS_ONLY = {"limit_note", "bad_prices", "missing_days", "restated"}

pytestmark = pytest.mark.parametrize("name", VENUES)


@contextmanager
def opened(name: str, at: datetime, options: str = "events=14", settings: Settings = SETTINGS) -> Iterator[OpenVenue]:
    """Open a venue as of an instant."""
    with open_venue(
        f"{name}:{options}", settings, as_of=at, purpose="decide", clock=lambda: datetime.now(UTC)
    ) as found:
        yield found


@cache
def told(name: str, at: datetime, options: str = "events=14") -> tuple[Event, ...]:
    """Return the events of a venue as of an instant."""
    with opened(name, at, options) as found:
        return found.venue.events(at).events


def test_open_events_are_listed_with_markets_that_can_be_asked_for(name: str) -> None:
    with opened(name, SANDBOX_OPENS_AT) as found:
        page = found.venue.events(found.now)
        assert len(page.events) > 8 and page.complete and page.skipped == ()
        assert len({market.id for event in page.events for market in event.markets}) > len(page.events)
        volumes = [event.volume_24h_usd if name == "sandbox_mana" else event.volume_1wk_usd for event in page.events]
        stated = [volume for volume in volumes if volume is not None]
        assert stated == sorted(stated, reverse=True)
        for event in page.events[:4]:
            assert found.venue.event(event.id, found.now) == event
            assert found.venue.quotes(event).keys() == {each.id for each in event.markets if not each.closed}


def test_a_path_leaves_out_its_start_and_all_that_is_later(name: str) -> None:
    with opened(name, SANDBOX_OPENS_AT) as found:
        event = found.venue.events(found.now).events[0]
        yes, no = event.markets[0].instruments(name)
        whole = found.venue.price_path(yes, start=found.now - WEEK, until=found.now).points
        assert len(whole) > 20 and list(whole) == sorted(whole, key=lambda point: point.at)
        first, last = whole[3], whole[-4]
        part = found.venue.price_path(yes, start=first.at, until=last.at).points
        assert part == whole[4:-3]
        mirrored = found.venue.price_path(no, start=found.now - WEEK, until=found.now).points
        assert [(point.at, point.price) for point in mirrored] == [
            (point.at, pytest.approx(1.0 - point.price)) for point in whole
        ]


def test_an_altered_future_changes_nothing_that_is_told(name: str) -> None:
    past = open_past(f"{name}:events=2", SETTINGS, lambda: datetime.now(UTC))

    def all_told(whole: OpenVenue) -> list[object]:
        with whole as found:
            events = found.venue.events(found.now).events
            markets = [market for event in events for market in event.markets]
            paths = [
                found.venue.price_path(each, start=found.now - WEEK, until=found.now)
                for market in markets
                for each in market.instruments(name)
            ]
            return [events, paths, found.venue.resolutions([each.ref for each in markets], as_of=found.now)]

    for at in (SANDBOX_OPENS_AT, LATER):
        assert all_told(past.cut_at(at)) == all_told(past.open_at(at))


def test_settlements_are_known_once_they_are_made_and_stay(name: str) -> None:
    refs = [market.ref for event in told(name, SANDBOX_OPENS_AT) for market in event.markets]
    known: dict[str, datetime] = {}
    counts = []
    for days in (1, 10, 30, 60, 90):
        at = SANDBOX_OPENS_AT + timedelta(days=days)
        with opened(name, at) as found:
            page = found.venue.resolutions(refs, as_of=at)
        assert page.skipped == ()
        counts.append(len(page.found))
        for market, (resolution,) in page.found.items():
            assert resolution.effective_at <= at
            # Corrected is later, never sooner.
            assert known.setdefault(market, resolution.settled_at) <= resolution.settled_at
        assert known.keys() <= page.found.keys()
    assert counts == sorted(counts) and counts[-1] > counts[0]
    with opened(name, LATER) as found:
        assert found.venue.resolutions([MarketRef("unheard"), *refs[:1]], as_of=LATER).found.keys() <= {refs[0].id}


@pytest.mark.parametrize("kind", sorted(FAULT_KINDS.keys() - STOCKS_ONLY - {"disorder"}))
def test_a_fault_for_good_is_an_error_or_changes_nothing_that_is_told(name: str, kind: str) -> None:
    wrong = f"events=14,fault={kind},seconds=0"
    orderly = {event.id: event for event in told(name, SANDBOX_OPENS_AT)}
    try:
        with opened(name, SANDBOX_OPENS_AT, wrong, IMPATIENT) as found:
            page = found.venue.events(found.now)
    except (VenueChanged, VenueUnavailable):
        return
    # Whatever is not as it should be is named, and never a shorter list that says nothing.
    assert page.skipped or {event.id for event in page.events} == orderly.keys()
    assert all(event == orderly[event.id] for event in page.events if not page.skipped)


@pytest.mark.parametrize("kind", ["server_error", "rate_limit", "truncated_json", "cut_connection"])
def test_a_fault_that_passes_changes_nothing(name: str, kind: str) -> None:
    passing = f"events=14,fault={kind},times=2,seconds=0"
    assert told(name, SANDBOX_OPENS_AT, passing) == told(name, SANDBOX_OPENS_AT)


def test_a_recording_tells_what_the_venue_told(name: str, tmp_path: Path) -> None:
    folder, later = tmp_path / "archive", SANDBOX_OPENS_AT + timedelta(days=20)
    caller = Caller(
        settings=lambda: SETTINGS,
        clock=lambda: datetime.now(UTC),
        say=lambda _: None,
        progress=lambda: nullcontext(nobody),
    )
    for at in (SANDBOX_OPENS_AT, later):
        report = record(folder, caller, venue=f"{name}:events=3", as_of=at, events=0, days=5.0)
        assert report.notes == ()
    archive = Archive(folder)
    assert archive.name == name
    with opened(name, later, "events=3") as found:
        venue = found.venue
        assert venue.is_recordable
        assert archive.events(later).events == venue.events(later).events
        refs = [market.ref for at in archive.instants for each in archive.events(at).events for market in each.markets]
        assert archive.resolutions(refs, as_of=later) == venue.resolutions(refs, as_of=later)
    with opened(name, SANDBOX_OPENS_AT, "events=3") as found:
        for market in (market for event in archive.events(SANDBOX_OPENS_AT).events for market in event.markets):
            for instrument in market.instruments(name):
                start, until = SANDBOX_OPENS_AT - timedelta(days=4), SANDBOX_OPENS_AT
                kept = archive.price_path(instrument, start=start, until=until)
                assert kept == found.venue.price_path(instrument, start=start, until=until)


def test_nothing_but_errors_of_a_venue_leaves_it(name: str) -> None:
    event = told(name, SANDBOX_OPENS_AT)[0]
    refs = [market.ref for event in told(name, SANDBOX_OPENS_AT) for market in event.markets]
    # What a list does with such answers is tried with every fault above.
    calls: tuple[Callable[[OpenVenue], object], ...] = (
        lambda found: found.venue.resolutions(refs, as_of=found.now),
        lambda found: found.venue.quotes(event),
    )
    for kind in ("wrong_shape", "missing_fields", "huge_answer", "redirect"):
        for call in calls:
            with opened(name, LATER, f"events=14,fault={kind}", IMPATIENT) as found:
                try:
                    call(found)
                except (VenueError, UsageError) as error:
                    assert str(error)
