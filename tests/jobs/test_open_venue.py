"""The past: a recording or a simulated world, from one instant after the other."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from predibot.config import Settings
from predibot.contracts import OpenVenue, Past, VenueRequest
from predibot.domain.event import Event
from predibot.errors import UsageError
from predibot.jobs.open_venue import open_past, open_venue
from predibot.sandbox.world.calendar import SANDBOX_ENDS_AT, SANDBOX_OPENS_AT
from predibot.venues.sandbox.past import open_sandbox_venue, sandbox_world
from tests.jobs.tiny import DAY, clock, opened
from tests.venues.payloads import NOW

WORLD = "sandbox:events=8,seed=5"


def past_of(spec: str) -> Past:
    return open_past(spec, Settings(), clock)


def listed(venue: OpenVenue) -> tuple[Event, ...]:
    """Return the events of a venue, which is closed."""
    with venue:
        return venue.venue.events(venue.now).events


def test_a_recording_answers_each_instant_as_if_it_were_opened_for_it(archive: Path) -> None:
    past = past_of(f"archive:{archive}")
    for instant in (NOW + 3 * DAY, NOW, NOW + DAY):
        assert listed(past.open_at(instant)) == listed(opened(archive, instant))


def test_a_recording_is_known_from_its_first_snapshot_to_its_last_price(archive: Path) -> None:
    past = past_of(f"archive:{archive}")
    assert (past.first_at, past.last_at, past.known_until()) == (NOW, NOW + DAY, NOW + 10 * DAY)
    past.check(NOW)
    with pytest.raises(
        UsageError, match="no snapshot at or before 2026-02-13T19:29Z; its first is of 2026-02-13T19:30"
    ):
        past.check(NOW - timedelta(minutes=1))


@pytest.mark.parametrize("kind", ["archive", "sandbox"])
def test_cut_off_it_says_at_the_instant_what_it_says_whole(kind: str, archive: Path) -> None:
    past = past_of(WORLD if kind == "sandbox" else f"archive:{archive}")
    instant = past.first_at + 2 * DAY
    assert listed(past.cut_at(instant)) == listed(past.open_at(instant)) != ()


def test_a_simulated_world_goes_on_otherwise_where_it_is_cut() -> None:
    asked = VenueRequest(WORLD, WORLD.partition(":")[2], Settings(), clock)
    other = sandbox_world(asked.argument, altered_after=SANDBOX_OPENS_AT)
    for days, same in ((0, True), (7, False)):
        later = SANDBOX_OPENS_AT + days * DAY
        as_it_was = listed(open_sandbox_venue(asked, now=later))
        assert (listed(open_sandbox_venue(asked, now=later, world=other)) == as_it_was) is same


def test_a_recordings_cut_is_gone_when_it_is_closed(archive: Path) -> None:
    with past_of(f"archive:{archive}").cut_at(NOW) as cut:
        folder = Path(cut.spec.removeprefix("archive:"))
        assert folder.is_dir()
        assert folder != archive
    assert not folder.exists()


def test_the_sandbox_is_known_as_long_as_its_world_lasts() -> None:
    past = past_of("sandbox")
    assert (past.first_at, past.known_until()) == (SANDBOX_OPENS_AT, SANDBOX_ENDS_AT)
    with pytest.raises(UsageError, match="world lasts from 2025-11-06T12:00Z to 2026-05-05T12:00Z; 2027-"):
        past.check(SANDBOX_ENDS_AT + timedelta(days=365))


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (
            "polymarket",
            "polymarket is live: nobody can ask it what it said in the past. Record it with `predibot record",
        ),
        ("archive:nowhere", "there is no archive folder"),
        ("archive:", "is written archive:FOLDER"),
        ("sandbx", "no venue 'sandbx'. Did you mean 'sandbox'?"),
        ("sandbox:seeds=1", "no sandbox option 'seeds'"),
        ("sandbox:events=20000", "a sandbox has 1 to 10,000 open events, got 20000"),
    ],
)
def test_what_has_no_past_is_refused(spec: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        past_of(spec)


@pytest.mark.parametrize("year", [1, 1969, 3000, 9999])
def test_no_venue_is_opened_at_an_instant_that_no_ledger_may_hold(archive: Path, year: int) -> None:
    with pytest.raises(UsageError, match=f"a ledger holds the years 1970 to 2999, and {year:04}-12-31T00:00Z is"):
        open_venue(
            f"archive:{archive}",
            Settings(),
            as_of=datetime(year, 12, 31, tzinfo=UTC),
            purpose="look_back",
            clock=clock,
        )
