"""What became of a replay: its instants, counted and named."""

from datetime import UTC, datetime, timedelta

from predibot.domain.decision import Status
from predibot.domain.schedule import Timetable
from predibot.jobs.replay.replay import ReplayInstant
from predibot.reports.terminal.replay import ReplayView, print_replay, progress_line
from tests.reports.views_of import piped

BEGIN = datetime(2025, 9, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
STATUSES: dict[Status, int] = {"recorded": 1_069, "failed": 1}


def played(
    day: int = 0, *, events: int = 214, made_here: int = 1_070, moved: timedelta = timedelta(0)
) -> ReplayInstant:
    at = BEGIN + day * DAY
    return ReplayInstant(at, f"daily@{day}", at + moved, events, STATUSES if events else {}, made_here, ())


def view_of(*instants: ReplayInstant, other_runs: int = 0) -> ReplayView:
    days = Timetable(BEGIN, BEGIN + (len(instants) - 1) * DAY, DAY)
    return ReplayView("daily", "sandbox", days, instants, other_runs)


def test_decisions_are_added_up_over_the_instants() -> None:
    lines = piped(print_replay, view_of(played(0), played(1))).splitlines()
    span = "2025-09-01T12:00Z to 2025-09-02T12:00Z every 1d, 2 instants"
    assert lines == ["", f"replayed daily, {span}: 2,138 recorded, 2 failed"]


def test_what_a_reader_should_know_of_the_instants_is_said() -> None:
    view = view_of(played(0, events=0), played(1, moved=-timedelta(hours=1)), played(2), other_runs=1)
    assert view.notes == (
        "1 of 3 instants had no event to play: 2025-09-01T12:00Z",
        "1 of 3 instants had been decided before as of another instant: 2025-09-02T12:00Z",
        "the ledger has 1 other run of daily, scored with these; another ledger keeps them apart",
    )
    assert piped(print_replay, view).splitlines()[2:] == [f"note: {note}" for note in view.notes]


def test_of_many_instants_five_are_named() -> None:
    (note,) = view_of(*(played(day, events=0) for day in range(7))).notes
    assert note.startswith("7 of 7 instants had no event to play: 2025-09-01T12:00Z, ")
    assert note.endswith("2025-09-05T12:00Z and 2 more, which --json names")


def test_the_document_has_every_instant() -> None:
    document = view_of(played(0), played(1, events=0, made_here=0)).document()
    assert document["totals"] == {"recorded": 1_069, "refused": 0, "failed": 1, "abstained": 0}
    assert document["instants"] == [
        {
            "instant": "2025-09-01T12:00Z",
            "run": "daily@0",
            "as_of": "2025-09-01T12:00Z",
            "events": 214,
            "decisions": {"recorded": 1_069, "refused": 0, "failed": 1, "abstained": 0},
            "made_here": 1_070,
            "receipt": None,
            "notes": [],
        },
        {
            "instant": "2025-09-02T12:00Z",
            "run": "daily@1",
            "as_of": "2025-09-02T12:00Z",
            "events": 0,
            "decisions": {"recorded": 0, "refused": 0, "failed": 0, "abstained": 0},
            "made_here": 0,
            "receipt": None,
            "notes": [],
        },
    ]


def test_whoever_waits_hears_how_far_it_is_and_how_long_it_takes() -> None:
    def line(each: ReplayInstant, number: int) -> str:
        return progress_line(each, number=number, of=27, seconds_left=600.0)

    at = "2025-09-01T12:00Z: instant"
    assert line(played(), 2) == f"{at} 2 of 27, 1,069 recorded, 1 failed, about 10 min left"
    assert line(played(made_here=0), 2) == f"{at} 2 of 27, 1,070 decided before, about 10 min left"
    assert line(played(events=0, made_here=0), 27) == f"{at} 27 of 27, no event to play"
